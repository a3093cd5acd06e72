#!/bin/sh
# The PDFs of the published site: they say what is due, names stay text, they are made where a page
# differs and nowhere else, and a run that is killed leaves no part of one.
# PDFs of a closed month stay. doctor looks for WeasyPrint.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
for tool in python3 weasyprint pdftotext pdfinfo; do
    command -v $tool >/dev/null || { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done

cp "$abs_top_srcdir"/contrib/examples/month/* "$work" && cd "$work" || exit 1
sed -i "s|name: vision|name: '<b>vi''sion'|; s|team: vision|team: '<b>vi''sion'|" site.yaml
sed -i 's/"user": "bob"/"user": "a-name-of-a-user-that-is-longer-than-a-column-has-room-for-and-has-no-space-in-it-at-all"/' jobs.json
lab () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }
sed -i 's/go_live: 2026-09-01/go_live: 2026-10-01/' site.yaml
lab init && lab import --cluster lab --as-of 2026-11-01T04:00:00Z jobs.json || exit 1
pdfs () { [ ! -d "$1" ] || (cd "$1" && find . -name '*.pdf' | sort); }
team=team/=3Cb=3Evi=27sion

# --- without WeasyPrint
mkdir bin
PATH=$work/bin lab publish none --pdf 2>err
is "$?:$(cat err)" "1:gpuledger: cannot make PDFs: weasyprint: No such file or directory; install WeasyPrint (package weasyprint), or publish without --pdf and publish.pdf" \
    "without WeasyPrint, the message says what to install"
is "$(ls -d none 2>/dev/null)" "" "and nothing is written"
printf '#!/bin/sh\ncase $1 in --version) echo 1;; *) echo no fonts >&2; exit 1;; esac\n' >bin/weasyprint && chmod +x bin/weasyprint
PATH=$work/bin:$PATH lab publish none --pdf 2>err
is "$?:$(cat err)" "1:gpuledger: cannot make month/2026-10.pdf: weasyprint failed with exit code 1: no fonts" \
    "where it fails, the message has the page and the reason"
printf '#!/bin/sh\nprintf "%%%%PDF-1.7 half"\n' >bin/weasyprint
PATH=$work/bin:$PATH lab publish none --pdf 2>err
is "$?:$(cat err):$(pdfs none)" "1:gpuledger: cannot make month/2026-10.pdf: weasyprint wrote no PDF:" "half a PDF is none"
lab publish none --pfd 2>err
is "$?:$(head -1 err)" "2:gpuledger: unknown option '--pfd'; did you mean --pdf?" "a slip of the keys"

# --- what they say
lab publish site --pdf
result $? "published with PDFs"
is "$(pdfs site)" "$(cd site && find . -path './month/2026-??.html' -o -path './team/*/2026-??.html' | sed 's/html$/pdf/' | sort)" \
    "one for each month and each statement"
python3 "$abs_top_srcdir/tests/publish/site.py" site
result $? "and pages lead to them"
cat >due.py <<'END'
"""due.py DIR: the PDFs of statements without the amount that the CSV of the team's history has."""
import csv, glob, os, re, subprocess, sys
for history in sorted(glob.glob(sys.argv[1] + "/team/*/index.csv")):
    for row in csv.DictReader(open(history, encoding="utf-8")):
        pdf = os.path.join(os.path.dirname(history), row["month"] + ".pdf")
        text = subprocess.run(["pdftotext", "-layout", pdf, "-"], check=True, stdout=subprocess.PIPE).stdout.decode()
        digits = r"\s?".join(row["due"])  # in groups of three
        if not re.search(r"Due\b.*\n\s*" + digits + r"\b", text):
            print(pdf, row["due"])
END
is "$(python3 due.py site):$?" ":0" "each statement says the amount due, first of all"
pdftotext -layout "site/$team/2026-10.pdf" text
grep -q "Statement for <b>vi'sion" text
result $? "the name of a team stays text"
! grep -E 'JSON|CSV|›' text
result $? "what leads to other pages is not on paper"
is "$(for pdf in $(pdfs site); do pdfinfo "site/$pdf" | grep -E '^(Page size|.*Date):' | tr -s ' '; done | sort -u)" \
    "Page size: 595.276 x 841.89 pts (A4)" "all are A4, and have no date of their own"
is "$(strings -a "site/$team/2026-10.pdf" | grep -c -e '/URI' -e "$work")" 0 "they have no address and no path"

grep -q '^ *1.Oct *4.Oct' text
result $? "charts have the text of their axes"
is "$(for pdf in $(pdfs site); do pdftotext -bbox "site/$pdf" -; done |
    sed -n 's/.*xMin="\([-0-9.]*\)".*xMax="\([-0-9.]*\)".*>\(.*\)<.word>/\1 \2 \3/p' |
    awk '{n++} $1 < 30 || $2 > 565 {print} END {print (n > 500 ? "words" : "few words")}')" words "no word is beyond the margins"

# --- when they are made
find site -name '*.pdf' -exec touch -d 2001-01-01 {} +
sed -i 's/per_gpu_hour: 3.60/per_gpu_hour: 3.70/' site.yaml
cat >bin/weasyprint <<END
#!/bin/sh
echo "\$*" >>$work/calls
PATH=$PATH exec weasyprint "\$@"
END
spied () { PATH=$work/bin:$PATH lab publish site "$@"; }
spied --pdf
is "$(grep -vc version calls)" "$(find site -name '*.pdf' -newermt 2001-01-02 | grep -c .)" "a new price: WeasyPrint runs for the pages that differ"
rm calls && spied --pdf
is "$(grep -vc version calls)" 0 "and for none the next time"
rm "site/$team/2026-10.pdf" calls && spied --pdf
is "$(grep -vc version calls):$(ls "site/$team/2026-10.pdf")" "1:site/$team/2026-10.pdf" "a PDF that somebody removed is made again"
lab publish site
is "$?:$(pdfs site)$(grep -rl '\.pdf"' site)" "0:" "without --pdf they are removed, and no page leads to one"
echo 'publish: {pdf: yes}' >>site.yaml
lab publish site && lab publish --pdf again && diff -r site again
result $? "publish.pdf is --pdf"

# --- a closed month
lab close --month 2026-10 --accept 'an example' >closed
is "$?:$(sed -n 's/^\(2026-10 is closed\):.*/\1/p' closed)" "3:2026-10 is closed" "the month is closed"
rm -f calls && spied
is "$(grep -vc version calls)" "$(pdfs site | grep -c .)" "its PDFs are made again"
pdftotext -layout "site/$team/2026-10.pdf" text
grep -q 'closed [0-9A-Za-z ]*, version 1' text && grep -q "$(sed -n 's/^hash \(.\{16\}\).*/\1/p' closed)" text
result $? "and say that it is closed, with its hash"
is "$(python3 due.py site):$?" ":0" "their amounts are those of the closing"
rm calls && sed -i 's/per_gpu_hour: 3.70/per_gpu_hour: 3.80/' site.yaml && spied
is "$(grep -vc version calls)" 0 "a later price makes none of them again"
rm -r again && cp -r site again # made elsewhere below, they have the same bytes

# --- doctor
health () { "$program" --config "$1" --store sqlite:lab.db doctor -n -P -o name,state,message 2>err | sed -n 's/^host.pdf|//p'; }
is "$(health site.yaml)" "ok|WeasyPrint can be run" "doctor: publish.pdf is set, and WeasyPrint is there"
PATH=$work/none "$program" --config site.yaml --store sqlite:lab.db doctor -n -P -o name,state,message >out 2>err
is "$(sed -n 's/^host.pdf|//p' out)" \
    "fail|cannot make PDFs: weasyprint: No such file or directory; install WeasyPrint (package weasyprint), or publish without --pdf and publish.pdf" \
    "where WeasyPrint is missing, it says so"
sed '/^publish:/d' site.yaml >none.yaml
is "$(health none.yaml)" "skipped|publish.pdf is not set" "a site without PDFs"

# --- killed while the next one is made
killed=0
whole=0
for n in 0 1 2 3; do
    rm -rf cut
    "$program" --quiet --config site.yaml --store sqlite:lab.db publish cut &
    pid=$!
    while kill -0 $pid && [ "$(pdfs cut | grep -c .)" -lt $n ]; do sleep 0.05; done 2>/dev/null
    sleep 0.2
    kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null
    for pdf in $(pdfs cut); do
        cmp "cut/$pdf" "again/$pdf" || break 2
        whole=$((whole + 1))
    done
done
is "$n:$([ $killed -gt 0 ] && [ $whole -gt 0 ] && echo killed)" "3:killed" "a run that is killed leaves whole PDFs alone"
lab publish cut && diff -r cut again
result $? "and the next one finishes the site"

echo "1..$tests"
exit $failed
