#!/bin/sh
# The published site in Chromium and Firefox, on a telephone, a tablet, a desk and paper: one page of
# each kind, with hostile names of a team, a user, a project and a QOS.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
for tool in python3 chromium pdftotext; do
    command -v $tool >/dev/null || { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
skip ()
{
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP skipped, because $2"
}

cp "$abs_top_srcdir"/contrib/examples/month/* "$work" && cd "$work" || exit 1
python3 - <<'END' || exit 1
import json
jobs = json.load(open("jobs.json"))
many = []
for job in jobs["jobs"]:
    if job["user"] == "ann":
        job["user"] = "<img src=x onerror=alert(1)>\"&'/../../../../tmp/x"
    if job["user"] == "bob":
        job.update(user="b\u00f6b" * 40, qos="<i>&amp;",
                   comment={"administrator": "gpuledger: project=a-long-name-of-a-project-" + "9" * 39})
    if job["job_id"] == 4417:  # and many short ones, for a table of several sheets of paper
        for number in range(90):
            start = job["time"]["start"] + 600 * number
            time = dict(job["time"], submission=start, start=start, end=start + 300, elapsed=300)
            many.append(dict(job, job_id=9000 + number, time=time, state={"current": ["COMPLETED"]}))
jobs["jobs"] += many
json.dump(jobs, open("evil.json", "w"))
END
nines=$(printf '9%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13)
sed -i "s|name: vision|name: '../<b>vi''sion'|; s|team: vision|team: '../<b>vi''sion'|
s|name: alpha|name: a-long-name-of-a-project-$nines$nines$nines|" site.yaml
echo 'publish: {job_rows: 100}' >>site.yaml
lab () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }
lab init && lab import --cluster lab --as-of 2026-11-05T05:00:00Z evil.json || exit 1
lab close --month 2026-09 --accept 'an example' >out
[ $? -eq 3 ] && lab publish site || exit 1
lab report usage --by hour -S 2026-10-05 -E 2026-10-12 --html >site/hours.html || exit 1
lab report usage --by cluster,team,account,user,project,qos,partition,pool,gpu,node,state --month 2026-10 --html >site/keys.html || exit 1

# npm fetches axe-core, which looks for barriers; the other checks do not need it
axe=-
if ! command -v npm >/dev/null; then
    why="npm is not installed"
elif npm install --prefix axe --no-save --ignore-scripts --no-audit --no-fund --loglevel=error axe-core@4 >npm.log 2>&1; then
    axe=axe/node_modules/axe-core/axe.min.js
else
    why="npm cannot install axe-core: $(tr '\n' ' ' <npm.log | cut -c 1-150)"
fi

look ()
{
    browser=$1
    python3 "$abs_top_srcdir/tests/publish/browser.py" "$browser" site "$2" >found 2>err
}
# none CHECK NAME: the browser found nothing of that kind
none ()
{
    grep "^$1 " found | cut -c 1-300 | sed 's/^/# /' | head -12
    ! grep -q "^$1 " found
    result $? "$browser: $2"
}

look chromium "$axe"
result $? "chromium opens each kind of page"
none console "no page has anything to say to the console"
none requests "nothing is loaded from elsewhere"
none overflow "no page is wider than the window"
none cut "nothing is cut"
none cards "wide tables are cards on a telephone, and each value has the title of its column"
none charts "the text of charts is large enough, and none is over another"
none svg "each drawing has a title and a name"
none hostile "names stay text"
none print "on paper no table is cut, heads are repeated, and no page is half empty"
none size "no page is larger than 200 KB"
if [ "$axe" = - ]; then
    skip "chromium: axe" "$why"
else
    none axe "axe-core finds no barrier, light and dark"
fi

if ! command -v firefox-esr >/dev/null; then
    skip firefox "firefox-esr is not installed"
else
    look firefox -
    result $? "firefox opens each kind of page"
    none overflow "no page is wider than the window"
    none cut "nothing is cut"
    none cards "wide tables are cards on a telephone, and each value has the title of its column"
    none charts "the text of charts is large enough, and none is over another"
    none links "each link leads to a file and section"
fi

echo "1..$tests"
exit $failed
