# verify.awk: an auditor's check of the closed months of a ledger, written from
# docs/formats/period.md alone. It shares no code with gpuledger.
#
#     gpuledger's database -> lines of stdin, fields separated by one space:
#         NUMBER KIND MONTH VERSION LENGTH BODY HASH      (body and hash in hex)
#     awk -v dir=TEMPORARY-DIRECTORY -f verify.awk
#
# Prints each finding, and of each closed month: "month MONTH rows N hash HEX", then
# "due MONTH TEAM UNITS" of each team and "cost MONTH POOL COST PARTS", where the parts
# are all that is charged and all that is not. Exit status 1: something was found.
# Needs sha256sum; run it with LC_ALL=C.

BEGIN {
    split ("row cost pool detail close reopen correct credit dispute uphold reject entitlement comparison usage day",
           word, " ")
    for (i = 0; i < 256; i++)
        byte[sprintf ("%02x", i)] = i
    before = sprintf ("%064d", 0)
    rows_file = dir "/rows"
}

{
    check_entry(tolower($6), tolower($7))
    if ($2 == 5)
        end_month(decode(tolower($6)))
    else if ($2 <= 4 || $2 >= 12)
        of_month(tolower($6))
}

END {
    if (count > 0)
        found("rows of " month " without a closing")
    exit wrong
}

function found(text) {
    print "finding: " text
    wrong = 1
}

# --- the chain --------------------------------------------------------------------

function check_entry(body, hash,    cmd, sum) {
    if ($1 != ++last)
        found("entry " last " is missing before " $1)
    last = $1
    if (!($2 in word) || length ($3) != 7 || $4 < 1 || 2 * $5 != length (body))
        found("entry " $1 " has a column that gpuledger does not write")
    cmd = "sha256sum >" dir "/sum"
    printf "%s\n%s %s %s %s %s\n", before, $1, word[$2], $3, $4, $5 | cmd
    bytes(body, cmd)
    close (cmd)
    getline sum <(dir "/sum")
    close (dir "/sum")
    if (substr (sum, 1, 64) != hash)
        found("entry " $1 " of " $3 ": its hash is " hash ", and has to be " substr (sum, 1, 64))
    before = hash
}

function bytes(hex, cmd,    i) {
    for (i = 1; i < length (hex); i += 2)
        printf "%c", byte[substr (hex, i, 2)] | cmd
}

function decode(hex,    i, text) {
    for (i = 1; i < length (hex); i += 2)
        text = text sprintf ("%c", byte[substr (hex, i, 2)])
    return text
}

# --- the entries of a month -----------------------------------------------------------

function of_month(body,    text) {
    month = $3
    if ($2 == 4 || $2 == 14)
        return
    text = decode(body)
    read_fields(text)
    if ($2 == 1)
        add_row(text)
    else if ($2 == 3)
        cost[field["pool"]] += field["cost"]
}

function read_fields(text,    n, i, part, at) {
    split ("", field)
    n = split (text, part, "\t")
    for (i = 1; i <= n; i++) {
        at = index (part[i], "=")
        field[substr (part[i], 1, at - 1)] = substr (part[i], at + 1)
    }
}

# Somebody pays a row unless it is a remainder, or the correction of one. A pool's cost
# is what its own rows charge, remainders included: no taxes, corrections or manual
# rows, and nothing of disposals, which stand apart.
function add_row(text,    own) {
    printf "%s\n", text >rows_file
    count++
    if (field["kind"] != "remainder" && field["origin"] !~ /^remainder/)
        due["team" in field ? field["team"] : "(none)"] += field["charge"]
    own = field["kind"] != "tax" && field["kind"] != "correction" && !("reason" in field)
    if (own && field["what"] != "disposal")
        parts[field["pool"]] += field["charge"]
}

# --- the end of a month -------------------------------------------------------------------

function said(text, name,    n, i, line) {
    n = split (text, line, "\n")
    for (i = 1; i <= n; i++)
        if (index (line[i], name "=") == 1)
            return substr (line[i], length (name) + 2)
    return ""
}

function end_month(text,    sum, of) {
    printf "" >rows_file
    close (rows_file)
    ("sha256sum <" rows_file) | getline sum
    close ("sha256sum <" rows_file)
    if (said(text, "rows") + 0 != count)
        found($3 ": " count " rows, and its closing says " said(text, "rows"))
    if (substr (sum, 1, 64) != said(text, "digest"))
        found($3 ": the rows are not those of its digest")
    print "month " $3 " rows " count + 0 " hash " tolower($7)
    for (of in due)
        printf "due %s %s %d\n", $3, of, due[of]
    for (of in cost) {
        printf "cost %s %s %d %d\n", $3, of, cost[of], parts[of]
        if (cost[of] != 0 && cost[of] != parts[of])
            found($3 ": the cost of pool " of " is not what is charged and what is not")
    }
    split ("", due)
    split ("", cost)
    split ("", parts)
    count = 0
    printf "" >rows_file
    close (rows_file)
}
