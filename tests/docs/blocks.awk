# blocks.awk -v dir=DIR DOCUMENT: the commands and the configuration of the code
# blocks of a document, each in a file of its own in DIR:
#
#   N.sh    a command of a block marked sh (a line each; a line that begins with
#           a blank, or follows a backslash, belongs to the one before), or of
#           one marked console (behind "$ ")
#   N.want  what the console block shows below it
#   N.rc    the exit status that its comment tells ("# exit 3: ..."), else 0
#   N.at    where it stands
#   N.yaml  a block marked yaml
#
# and in DIR/wrong the commands in blocks that are marked as neither, which
# nobody would try.

function begin (line)
{
    number++
    printf "%s:%d\n", FILENAME, FNR >(dir "/" number ".at")
    print line >(dir "/" number ".sh")
    print (match (line, /# exit [0-9]/) ? substr (line, RSTART + 7, 1) : 0) \
        >(dir "/" number ".rc")
    more = line ~ /\\$/
}

BEGIN {number = 0}

# the blanks before a block of a list
match ($0, /^ *```/) && RLENGTH - 3 <= (kind == "" ? 9 : indent) {
    if (kind != "")
        kind = ""
    else {
        indent = RLENGTH - 3
        kind = substr ($0, RLENGTH + 1)
        if (kind == "")
            kind = "text"
        if (kind == "yaml") {
            number++
            printf "%s:%d\n", FILENAME, FNR >(dir "/" number ".at")
            printf "" >(dir "/" number ".yaml")
        }
        more = shown = 0
    }
    next
}
kind == "" {
    if (/^    +(\$ )?(gpuledger|sacct|hledger) /)
        printf "%s:%d: a command in no block\n", FILENAME, FNR >(dir "/wrong")
    next
}
{line = substr ($0, indent + 1)}
kind == "sh" {
    if (more || line ~ /^[ \t]/) {
        print line >(dir "/" number ".sh")
        more = line ~ /\\$/
    } else if (line !~ /^(#.*)?$/)
        begin(line)
    next
}
kind == "console" {
    if (line ~ /^\$ /) {
        begin(substr (line, 3))
        shown = 0
    } else if (more) {
        print line >(dir "/" number ".sh")
        more = line ~ /\\$/
    } else {
        print line >(dir "/" number ".want")
    }
    next
}
kind == "yaml" {print line >(dir "/" number ".yaml"); next}
line ~ /^(\$ )?(gpuledger|sacct|hledger) / && line !~ /^gpuledger (cursor )?[0-9]+$/ {
    printf "%s:%d: a command in a block of %s\n", FILENAME, FNR, kind \
        >(dir "/wrong")
}
END {print number >(dir "/count")}
