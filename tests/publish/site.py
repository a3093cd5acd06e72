"""site.py DIR: every link of every page leads to a page or file of the site, each page has its
data next to it, nothing is loaded, no page is large, and no heading is over nothing."""
import csv
import html.parser
import json
import os
import sys
import urllib.parse

MAX_PAGE = 200 * 1024
problems = []
anchors = []
known = {}


def complain(page, what):
    problems.append(f"{page}: {what}")


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.path = path
        self.ids = set()
        self.links = []
        self.robots = None
        self.policy = ""
        self.columns = set()  # of its tables
        self.words = []  # of "What the columns mean"
        self.heading = ""
        self.filled = True  # something follows the last heading
        self.inside = ""

    def handle_endtag(self, tag):
        if tag == self.inside:
            self.inside = ""

    def handle_data(self, text):
        if self.inside == "h2":
            self.heading += text
        elif text.startswith("Nothing in this period"):
            self.filled = True
        elif self.inside == "th":
            self.columns.add(text)
        elif self.inside == "dt" and self.heading == "What the columns mean":
            self.words.append(text)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag == "h2":
            if not self.filled:
                complain(self.path, f"nothing under '{self.heading}'")
            self.heading, self.filled = "", False
        if tag in ("td", "dd", "svg", "h3", "ul") or (tag == "p" and self.heading == "What the columns mean"):
            self.filled = True
        if tag in ("h2", "dt") or (tag == "th" and a.get("scope") == "col"):
            self.inside = tag
        if "id" in a:
            self.ids.add(a["id"])
        if tag in ("script", "link", "iframe", "object", "form"):
            complain(self.path, f"<{tag}>")
        if any(name.startswith("on") for name in a):
            complain(self.path, f"an event handler in <{tag}>")
        if tag == "img" and not a.get("src", "").startswith("data:image/"):
            complain(self.path, f"loads {a.get('src')}")
        if tag == "a":
            self.links.append(a["href"])
        if tag == "meta" and a.get("name") == "robots":
            self.robots = a["content"]
        if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy":
            self.policy = a["content"]


def check(root, path):
    full = os.path.join(root, path)
    text = open(full, encoding="utf-8").read()
    page = Page(path)
    page.feed(text)
    if not page.filled:
        complain(path, f"nothing under '{page.heading}'")
    for word in page.words:
        if word not in page.columns:
            complain(path, f"explains a column '{word}' that it does not have")
    if os.path.getsize(full) > MAX_PAGE:
        complain(path, f"{os.path.getsize(full)} bytes")
    if page.robots != "noindex, nofollow":
        complain(path, "robots may index it")
    if not page.policy.startswith("default-src 'none'"):
        complain(path, "no policy")
    stem = full[: -len(".html")]
    json.load(open(stem + ".json", encoding="utf-8"))
    if "-job-" not in path:
        rows = list(csv.reader(open(stem + ".csv", encoding="utf-8", newline="")))
        if not rows or any(len(row) != len(rows[0]) for row in rows):
            complain(path, "its CSV is no table")
    targets = set()
    ids = page.ids
    for link in page.links:
        url = urllib.parse.urlparse(link)
        if url.scheme or url.netloc or link.startswith("/"):
            complain(path, f"leads out of the site: {link}")
            continue
        target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(url.path)))
        if target.startswith("..") or not os.path.isfile(os.path.join(root, target)):
            complain(path, f"broken link {link}")
        targets.add(target)
        if url.fragment:
            anchors.append((path, target, url.fragment))
    known[path] = ids
    return targets


def main(root):
    pages = [os.path.relpath(os.path.join(where, name), root)
             for where, _, names in os.walk(root) for name in names if name.endswith(".html")]
    if len(pages) < 10:
        complain(root, f"{len(pages)} pages")
    leads = {page: check(root, page) for page in pages}
    reached, todo = set(), ["index.html"]
    while todo:
        page = todo.pop()
        if page not in reached:
            reached.add(page)
            todo += [target for target in leads.get(page, ()) if target.endswith(".html")]
    for page in sorted(set(pages) - reached):
        complain(page, "no way leads there from the index")
    for page, target, anchor in anchors:
        if anchor not in known.get(target, ()):
            complain(page, f"no section {target}#{anchor}")
    for problem in problems[:20]:
        print("#", problem)
    return 1 if problems else 0


sys.exit(main(sys.argv[1]))
