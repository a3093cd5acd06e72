#!/bin/sh
# The words of pages, guides and messages: each term of docs/glossary.md is in use,
# and words of our own that a reader has to guess are in none of them.
set -u
: "${abs_top_srcdir:?}"
cd "$abs_top_srcdir" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tests=0

result ()
{
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        echo "not ok $tests - $2"
        sed 's/^/# /' "$work/found"
    fi
}

documents="README.md docs/gpuledger.1 docs/gpuledger-agent.8 docs/gpuledger-collector.8
    docs/gpuledger.yaml.5.in $(echo docs/guides/*.md)"

formats="docs/ARCHITECTURE.md $(echo docs/formats/*.md)"

# Each line of the documents, and each string of the programs, behind its place.
# shellcheck disable=SC2086
awk '{print FILENAME ":" FNR ":" $0}' $documents >"$work/documents"
find lib sacct-ext plugin -name '*.[ch]' -exec awk '
    /^[ \t]*#[ \t]*include/ || /^[ \t]*\/?\*/ {next}
    {
        line = $0
        while (match (line, /"([^"\\]|\\.)*"/)) {
            print FILENAME ":" FNR ":" substr (line, RSTART + 1, RLENGTH - 2)
            line = substr (line, RSTART + RLENGTH)
        }
    }' {} + >"$work/strings"
[ -s "$work/documents" ] && [ "$(wc -l <"$work/strings")" -gt 3000 ]
result $? "documents and strings are there"

# INSTEAD OF, one a line, as an extended regular expression of whole words.
cat >"$work/words" <<'END'
(un)?told
stands?
besides?
by hand
brought
held
estates?
remainders?
drawn
carried (in|out|on|over)
worth
whole months?
given back
borne
taken off
not charged:
(paid )?beforehand
gone
nobody held
idle %
price of idle
END

# Columns of the database and keys of closed months are no text for people.
exceptions='store/[a-z_]*\.c:[0-9]*:.*gone|ledger/bill\.c:[0-9]*:remainder$|journal_month\.c:[0-9]*:remainder:$'

while read -r word; do
    grep -hiE ":.*(^|[^a-zA-Z_-])($word)([^a-zA-Z_-]|\$)" "$work/documents" "$work/strings" |
        grep -vE "$exceptions" >"$work/found"
    test ! -s "$work/found"
    result $? "nothing says: $word"
done <"$work/words"

# Each term is in the documents or in what programs print.
sed -n 's/^| \([^|]*[^ |]\) *|.*/\1/p' docs/glossary.md | grep -v '^Term$\|^--' >"$work/terms"
# shellcheck disable=SC2086
{ cut -d: -f3- "$work/documents" "$work/strings"; cat $formats; } | tr '\n' ' ' | tr -s ' ' >"$work/text"
while read -r term; do
    grep -qiF "$term" "$work/text" || echo "$term"
done <"$work/terms" >"$work/found"
test "$(wc -l <"$work/terms")" -gt 45 && test ! -s "$work/found"
result $? "each term of the glossary is in use"

for page in README.md docs/gpuledger.1 docs/gpuledger-agent.8 docs/gpuledger-collector.8 \
    docs/gpuledger.yaml.5.in docs/guides/*.md; do
    grep -q 'glossary' "$page" || echo "$page"
done >"$work/found"
test ! -s "$work/found"
result $? "each guide and manual page names the glossary"

echo "1..$tests"
