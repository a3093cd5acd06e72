# match.awk WANTED PRINTED: what a document shows is what was printed. A line
# "..." in the document stands for any number of lines, "..." within a line for
# any text; blanks at the end of a line do not count.

function pattern (text)
{
    gsub (/[][\\.^$*+?(){}|]/, "\\\\&", text)
    gsub (/\\\.\\\.\\\./, ".*", text)
    return "^" text "$"
}

# do lines w.. of the document match lines p.. of what was printed?
function matches (w, p,    next_line)
{
    for (; w <= wanted; w++) {
        if (want[w] == "...") {
            for (next_line = p; next_line <= printed + 1; next_line++)
                if (matches(w + 1, next_line))
                    return 1
            return 0
        }
        if (p > furthest) {
            furthest = p
            where = w
        }
        if (p > printed || got[p++] !~ pattern(want[w]))
            return 0
    }
    return p > printed
}

{sub (/[ \t]+$/, "")}
FILENAME == ARGV[1] {want[++wanted] = $0; next}
{got[++printed] = $0}
END {
    if (matches(1, 1))
        exit 0
    printf "wanted: %s\nprinted: %s\n", want[where], got[furthest]
    exit 1
}
