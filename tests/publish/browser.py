"""browser.py BROWSER SITE AXE: one page of each kind of a published site in chromium or firefox, and
two that verbs print: hours, with a map of the hours, and keys, with more columns than paper has room for.

A line for each problem, "CHECK PAGE: what"; none for what is right. AXE is the file axe.min.js, or
"-" for none. The site's names of a team, a user and a project are hostile: tests/publish/browser.sh.
"""
import base64
import html
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "support"))
import browsers  # noqa: E402

WIDTHS = (360, 768, 1280)
PAPER = 688  # of A4 between margins of 14 mm, in CSS pixels
MAX_PAGE = 200 * 1024

# Functions of the scripts below. A box that may be scrolled to the side hides what is cut.
COMMON = """
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const name = e => e.tagName.toLowerCase() + (e.getAttribute('class') ? '.' + e.getAttribute('class').trim() : '')
    + ' "' + e.textContent.trim().slice(0, 40) + '"';
const shown = e => e.checkVisibility() && e.getClientRects().length > 0;
const problems = [];
const complain = (check, what) => problems.push([check, what]);
"""

LAYOUT = COMMON + """
const root = document.documentElement;
if (root.scrollWidth > root.clientWidth)
    complain('overflow', `the page is ${root.scrollWidth} pixels wide, of ${root.clientWidth}`);
for (const e of all('main *').filter(e => shown(e) && !(e.closest('thead')?.clientWidth <= 1))) {
    const style = getComputedStyle(e), box = e.getBoundingClientRect();
    if (style.overflowX != 'visible' && e.scrollWidth > e.clientWidth + 1 && style.display != 'inline'
        && box.width > 1 && !e.closest('svg'))
        complain('cut', `${name(e)}: ${e.scrollWidth} of ${e.clientWidth}`);
    if (e.scrollWidth <= e.clientWidth + 1 && (box.right > root.clientWidth + 1 || box.left < -1) && box.width > 1)
        complain('cut', `${name(e)} is from ${Math.round(box.left)} to ${Math.round(box.right)}`);
}
const texts = all('svg text').filter(shown);
for (const e of texts) {
    const size = parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a;
    if (size < 10)
        complain('charts', `${name(e)} has ${size.toFixed(1)} pixels`);
}
const boxes = texts.map(e => e.getBoundingClientRect());
for (let i = 0; i < texts.length; i++)
    for (let k = i + 1; k < texts.length; k++)
        if (boxes[i].left < boxes[k].right - 1 && boxes[k].left < boxes[i].right - 1
            && boxes[i].top < boxes[k].bottom - 3 && boxes[k].top < boxes[i].bottom - 3)
            complain('charts', `${name(texts[i])} is over ${name(texts[k])}`);
"""

# On a telephone a table of many columns is a list of cards, each value with the title of its column.
CARDS = """
for (const table of all('table').filter(t => shown(t) && all('thead th', t).length > 3)) {
    const titles = all('thead th', table).map(e => e.textContent);
    for (const row of all('tbody tr, tfoot tr', table))
        for (const [i, cell] of [...row.cells].entries()) {
            const label = getComputedStyle(cell, '::before').content;
            if (i > 0 && cell.textContent && label != JSON.stringify(titles[i]))
                complain('cards', `${name(cell)} is labelled ${label}, not ${titles[i]}`);
        }
    const beside = row => [...row.cells].slice(1).find(shown); // a subtotal has empty cells
    if (all('tbody tr', table).some(row => beside(row)
        && row.cells[0].getBoundingClientRect().bottom > beside(row).getBoundingClientRect().top + 1))
        complain('cards', 'a table is no list of cards: ' + titles.join(', '));
}
"""

STILL = COMMON + """
if (document.scripts.length || all('iframe, object, embed, link, form').length)
    complain('hostile', 'a script or frame');
for (const e of all('img:not(.logo), main b'))
    if (e.tagName == 'IMG' || !/^(Note|Please note)$/.test(e.textContent))
        complain('hostile', 'an element of a name: ' + e.outerHTML);
for (const e of all('*'))
    if ([...e.attributes].some(a => a.name.startsWith('on')))
        complain('hostile', 'an event handler: ' + name(e));
for (const e of all('svg:not([aria-hidden=true])'))
    if (!e.firstElementChild || e.firstElementChild.tagName != 'title' || !e.firstElementChild.textContent)
        complain('svg', name(e) + ' has no title');
for (const e of all('svg[aria-hidden=true] text'))
    complain('svg', name(e) + ' is hidden from readers');
"""

PRINTED = COMMON + """
const width = document.documentElement.clientWidth;
for (const e of all('table, svg, dl, h1, h2, p').filter(shown))
    if (e.getBoundingClientRect().right > width + 1 || e.scrollWidth > e.clientWidth + 1 && e.clientWidth)
        complain('print', `${name(e)} ends at ${Math.round(e.getBoundingClientRect().right)} of ${width}`);
for (const e of all('thead').filter(e => shown(e) && e.clientWidth > 1))
    if (getComputedStyle(e).display != 'table-header-group')
        complain('print', 'the header of a table is not repeated');
"""

# Tables as the page prints them: the cells of the head, those of each row, and all.
TABLES = COMMON + """
const visible = e => !(e.closest('thead')?.clientWidth <= 1);
return all('table').filter(shown).map(t => ({
    head: all('thead th', t).map(e => e.innerText), cells: all('th, td', t).filter(visible).map(e => e.innerText),
    rows: all('tbody tr', t).map(r => r.innerText)}));
"""

AXE = """
const found = await axe.run(document, {resultTypes: ['violations'], runOnly: {type: 'tag', values:
    ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}});
return found.violations.map(v => ['axe', `${v.id}: ${v.nodes.length} times, first ${v.nodes[0].html.slice(0, 150)} `
    + v.nodes[0].failureSummary.slice(0, 200)]);
"""


def kinds(site):
    """One page of each kind, and what of the hostile names it must show."""
    team = next(name for name in os.listdir(os.path.join(site, "team")) if name.startswith("=2E"))
    job = next(name for name in sorted(os.listdir(os.path.join(site, "team", team)))
               if name.startswith("2026-10-job-") and name.endswith(".html"))
    team_name, user, project = "../<b>vi'sion", "<img src=x onerror=alert(1)>\"&'", "a-long-name-of-a-project-" + "9" * 39
    return {"index": [team_name], "month/2026-10": [team_name], "month/2026-10-chargeback": [team_name],
            "month/2026-10-waste": [team_name],
            f"team/{team}/index": [team_name], f"team/{team}/2026-09": [team_name, user],
            f"team/{team}/2026-10": [team_name, user, project], f"team/{team}/2026-10-users": [user],
            f"team/{team}/2026-10-projects": [user, project], f"team/{team}/{job[:-5]}": [team_name],
            "month/2026-10-decisions": [], "pool/h100": [], "utilization": [], "demand": [], "closing": [], "definitions": [], "verify": [],
            "hours": [], "keys": [team_name, user, project]}


def url(site, page):
    return "file://" + urllib.parse.quote(os.path.abspath(os.path.join(site, page))) + ".html"


def say(page, problems):
    for check, what in problems:
        print(f"{check} {page}: {what}".replace("\n", " "))


def squeezed(text):
    return re.sub(r"\s", "", text)


# --- in Chromium ----------------------------------------------------------------

def reported(browser):
    """What the page did other than to be there."""
    for method, event in browser.events:
        if method != "Network.requestWillBeSent":
            yield "console", f"{method} {event}"
        elif not event["request"]["url"].startswith(("file:", "data:")):
            yield "requests", event["request"]["url"]


def unnamed(browser):
    """Images without a name, as readers of a screen have it."""
    for node in browser.call("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        if not node["ignored"] and role in ("image", "img") and not node.get("name", {}).get("value"):
            yield "svg", f"an {role} has no name"


def look(browser, site, page, names):
    browser.media()
    for width in WIDTHS:
        browser.size(width)
        browser.open(url(site, page))
        cards = CARDS if width == WIDTHS[0] else ""
        yield from ((check, f"at {width}: {what}") for check, what in browser.script(LAYOUT + cards + "return problems"))
        yield from reported(browser)
    yield from browser.script(STILL + "return problems")
    yield from unnamed(browser)
    text = squeezed(browser.script("return document.body.textContent"))
    yield from (("hostile", f"{name} is no text") for name in names if squeezed(name) not in text)


def axe(browser, site, page, source):
    for scheme in ("light", "dark"):
        for width in (WIDTHS[0], WIDTHS[-1]):
            browser.media("screen", scheme)
            browser.size(width)
            browser.open(url(site, page))
            browser.script(source)
            yield from ((check, f"{scheme} at {width}: {what}") for check, what in browser.script(AXE))


def pages_of(pdf):
    """The words of each page: (text, left, right, bottom), and the size of the paper."""
    text = subprocess.run(["pdftotext", "-bbox", pdf, "-"], check=True, stdout=subprocess.PIPE).stdout.decode()
    for width, height, body in re.findall(r'<page width="([\d.]+)" height="([\d.]+)">(.*?)</page>', text, re.S):
        words = re.findall(r'<word xMin="([-\d.]+)" yMin="[-\d.]+" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</word>', body)
        yield float(width), float(height), [(html.unescape(word), float(left), float(right), float(bottom))
                                            for left, right, bottom, word in words]


def paper(browser, site, page):
    browser.media("print")
    browser.size(PAPER)
    browser.open(url(site, page))
    yield from browser.script(PRINTED + "return problems")
    tables = browser.script(TABLES)
    data = browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, preferCSSPageSize=True)["data"]
    with tempfile.NamedTemporaryFile(suffix=".pdf") as pdf:
        pdf.write(base64.b64decode(data))
        pdf.flush()
        pages = list(pages_of(pdf.name))
        raw = subprocess.run(["pdftotext", "-raw", pdf.name, "-"], check=True, stdout=subprocess.PIPE).stdout.decode()
    yield from on_paper(pages)
    sheets = [squeezed(sheet) for sheet in raw.split("\f")]
    whole = "".join(sheets)
    for table in tables:
        lost = [cell for cell in table["cells"] if squeezed(cell) not in whole]
        if lost:
            yield "print", f"{len(lost)} cells are not on paper, first '{lost[0]}'"
        yield from headed(table, sheets)


def on_paper(pages):
    for number, (width, height, words) in enumerate(pages, 1):
        outside = [word for word, left, right, bottom in words if left < 20 or right > width - 20]
        if outside:
            yield "print", f"{len(outside)} words of page {number} are cut, first '{outside[0]}'"
        if not words or (number == 1 < len(pages) and max(word[3] for word in words) < height * 0.6):
            yield "print", f"page {number} is half empty"


def headed(table, sheets):
    """A sheet that has rows of a table has its head, too."""
    head = squeezed("".join(table["head"]))
    for number, sheet in enumerate(sheets, 1):
        rows = [row for row in map(squeezed, table["rows"]) if len(row) > 30 and row in sheet]
        if len(table["head"]) > 2 and rows and head not in sheet:
            yield "print", f"page {number} has rows of the table {table['head']} without its head, as '{rows[0]}'"


def chromium(site, source):
    with browsers.Chromium() as browser:
        for page, names in kinds(site).items():
            say(page, look(browser, site, page, names))
            say(page, paper(browser, site, page))
            if source:
                say(page, axe(browser, site, page, source))
            size = os.path.getsize(os.path.join(site, page + ".html"))
            if size > MAX_PAGE:
                say(page, [("size", f"{size} bytes")])


# --- in Firefox -------------------------------------------------------------------

def firefox(site):
    """Its window is never as narrow as a telephone: a frame is."""
    with browsers.Firefox() as browser, tempfile.NamedTemporaryFile("w", suffix=".html") as frame:
        for page in kinds(site):
            for width in WIDTHS:
                frame.seek(0)
                frame.truncate()
                frame.write(f'<iframe width="{width}" height="900" style="border:0" src="{url(site, page)}"></iframe>')
                frame.flush()
                browser.open("file://" + frame.name)
                browser.enter_frame()
                if browser.script("return innerWidth") != width:
                    say(page, [("overflow", f"the frame is not {width} wide")])
                cards = CARDS if width == WIDTHS[0] else ""
                say(page, [(check, f"at {width}: {what}") for check, what in
                           browser.script(LAYOUT + cards + "return problems")])
            for link in browser.script("return [...document.links].map(a => a.href)"):
                say(page, broken(link))


def broken(link):
    parts = urllib.parse.urlparse(link)
    path = urllib.parse.unquote(parts.path)
    if parts.scheme != "file" or not os.path.isfile(path):
        yield "links", link
    elif parts.fragment and f'id="{parts.fragment}"' not in open(path, encoding="utf-8").read():
        yield "links", link


def main(which, site, source):
    try:
        if which == "firefox":
            firefox(site)
        else:
            chromium(site, None if source == "-" else open(source, encoding="utf-8").read())
    except (browsers.Failed, OSError) as error:
        print(f"{which} failed: {error}", file=sys.stderr)
        return 1
    return 0


sys.exit(main(*sys.argv[1:]))
