# Turns the tables of docs/glossary.md into the rows of a C table, one a line, for
# sort. A cell's links, emphasis and code become plain text.
BEGIN { FS = "|" }

function plain(text) {
    gsub(/^ +| +$/, "", text)
    while (match(text, /\[[^]]*\]\([^)]*\)/)) {
        link = substr(text, RSTART, RLENGTH)
        word = substr(link, 2, index(link, "](") - 2)
        text = substr(text, 1, RSTART - 1) word substr(text, RSTART + RLENGTH)
    }
    gsub(/[*`]/, "", text)
    gsub(/[\\"]/, "\\\\&", text)
    return text
}

function wrong(why) {
    printf "%s:%d: %s\n", FILENAME, FNR, why >"/dev/stderr"
    failed = 1
    exit 1
}

!/^\|/ || /^\| Term \|/ || /^\|[-|]+$/ { next }
NF != 5 { wrong("a term has three cells: term, meaning, source") }
{
    term = plain($2)
    if (term == "" || plain($3) == "" || plain($4) == "")
        wrong("an empty cell")
    if (tolower(term) in seen)
        wrong("'" term "' is defined twice")
    seen[tolower(term)] = 1
    printf "    {\"%s\", \"%s\", \"%s\"},\n", term, plain($3), plain($4)
}
END {
    if (!failed && length(seen) == 0)
        wrong("no terms")
}
