# verify.awk: an auditor's check of the closed months of a ledger, written from
# docs/formats/period.md alone. It shares no code with gpuledger.
#
#     gpuledger's database -> lines of stdin, fields separated by one space; of each
#     table of closed months the names of its columns, then its rows, then the chain:
#         TABLE columns NAME...
#         TABLE MONTH VERSION NUMBER HASH VALUE...        (hex; - is NULL)
#         chain NUMBER KIND MONTH VERSION LENGTH BODY HASH      (body and hash in hex)
#     awk -v dir=TEMPORARY-DIRECTORY -f verify.awk
#
# Prints each finding, and of each closed month: "month MONTH rows N hash HEX", then
# "due MONTH TEAM UNITS" of each team and "cost MONTH POOL COST PARTS", where the parts
# are all that is charged and all that is not; "settled MONTH RULE ROWS" and "balance
# MONTH RULE TEAM USED" of rules of settlement. Exit status 1: something was found.
# Needs sha256sum; run it with LC_ALL=C.

BEGIN {
    FS = "[ ]"
    split ("usage detail close reopen correct credit dispute uphold reject", word, " ")
    lists = split ("posting cost pool entitlement comparison day team_day carbon balance", list, " ")
    for (i = 0; i < 256; i++)
        byte[sprintf ("%02x", i)] = i
    before = sprintf ("%064d", 0)
    SUM = "sha256sum | cut -c1-64 >" dir "/sum"
}

$1 != "chain" && $2 == "columns" {
    columns = NF - 2
    for (i = 1; i <= columns; i++)
        name[i] = $(i + 2)
    next
}

$1 != "chain" {
    check_row($1, $2 " version " $3)
    next
}

{
    check_entry(tolower($7), tolower($8))
    if (open != "" && open != $4 " version " $5)
        found(open ": entries without a closing")
    open = $3 <= 2 ? $4 " version " $5 : ""
    if ($3 == 3)
        end_month($4, $4 " version " $5, decode(tolower($7)))
}

END {
    if (open != "")
        found(open ": entries without a closing")
    for (of in of_day)
        if (of_day[of] != 0) {
            gsub (SUBSEP, " ", of)
            found(of ": closed_team_day is not the sum of closed_day")
        }
    for (of in rows)
        if (!(of in closed))
            found(of ": rows without a closing")
    exit wrong
}

function found(text) {
    print "finding: " text
    wrong = 1
}

function summed(    sum) {
    close (SUM)
    getline sum <(dir "/sum")
    close (dir "/sum")
    return sum
}

function bytes(hex,    i) {
    for (i = 1; i < length (hex); i += 2)
        printf "%c", byte[substr (hex, i, 2)] | SUM
}

function decode(hex,    i, text) {
    for (i = 1; i < length (hex); i += 2)
        text = text sprintf ("%c", byte[substr (hex, i, 2)])
    return text
}

# --- the rows of a list -----------------------------------------------------------------

function check_row(table, closing,    of, text, i) {
    of = closing " " table
    text = read_row()
    if ($4 != ++rows[of])
        found(of ": row " rows[of] " is missing before " $4)
    rows[of] = $4
    printf "%s", text | SUM
    if (summed() != tolower($5))
        found(of ": row " $4 " is not what its hash says")
    all[of] = all[of] text "\n"
    if (table == "closed_posting")
        add_posting(closing)
    else if (table == "closed_balance")
        add_balance(of, closing)
    else if (table == "closed_pool")
        cost[closing, field["pool"]] += field["cost"]
    else if (table == "closed_day")
        of_day[closing, field["day"], field["team"]] += field["units"] + field["other_units"]
    else if (table == "closed_team_day")
        of_day[closing, field["day"], field["team"]] -= field["units"] + field["other_units"]
}

# The canonical text of the row, and its fields.
function read_row(    i, text, value) {
    split ("", field)
    for (i = 1; i <= columns; i++) {
        if ($(i + 5) == "-")
            continue
        value = field[name[i]] = decode(tolower($(i + 5)))
        text = text (text == "" ? "" : "\t") name[i] "=" escaped(value)
    }
    return text
}

function escaped(value,    i, c, text) {
    for (i = 1; i <= length (value); i++) {
        c = substr (value, i, 1)
        text = text (c == "\\" ? "\\\\" : c == "\t" ? "\\t" : c == "\n" ? "\\n" : c)
    }
    return text
}

# Somebody pays a row unless it is a remainder, or the correction of one. A pool's cost
# is what its own rows charge, remainders included: no taxes, corrections or manual
# rows, and nothing of disposals, which stand apart.
function add_posting(closing,    own) {
    if (field["kind"] != "remainder" && field["origin"] !~ /^remainder/)
        due[closing, "team" in field ? field["team"] : "(none)"] += field["charge"]
    own = field["kind"] != "tax" && field["kind"] != "correction" && !("reason" in field)
    if (own && field["what"] != "disposal")
        parts[closing, field["pool"]] += field["charge"]
    if (settles() && !("reason" in field))
        add_settlement(closing, field["reference"], field["charge"])
}

# A row of a rule of settlement, or the site's side of one.
function settles() {
    return field["kind"] == "settlement" || (field["kind"] == "remainder" \
        && field["what"] ~ /^(waived|fees|capped|granted|prepaid_balance)$/)
}

# What a grant, a sponsor or prepaid money pays is below 0 on the team's side. A balance
# is of a team, or of all together.
function add_settlement(closing, rule, charge) {
    settled[closing, rule] += charge
    settled_rows[closing, rule]++
    if (field["kind"] != "settlement" || field["what"] !~ /^(grant|sponsor|prepaid)$/)
        return
    pays[closing, rule]
    if (charge < 0) {
        paid[closing, rule, ""] -= charge
        if ("team" in field)
            paid[closing, rule, field["team"]] -= charge
    }
}

function add_balance(of, closing,    left) {
    left = number("opening") + number("added") - number("used") - number("expired") - number("closing")
    if (left > 1e-6 || left < -1e-6)
        found(of ": row " $4 ": opening + added is not used + expired + closing")
    if (field["unit"] == "money")
        used[closing, field["rule"], field["team"]] += number("used")
}

# A rational, n/d or n.
function number(name,    part) {
    return split (field[name], part, "/") == 2 ? part[1] / part[2] : field[name] + 0
}

# --- the chain --------------------------------------------------------------------

function check_entry(body, hash,    sum) {
    if ($2 != ++last)
        found("entry " last " is missing before " $2)
    last = $2
    if (!($3 in word) || length ($4) != 7 || $5 < 1 || 2 * $6 != length (body))
        found("entry " $2 " has a column that gpuledger does not write")
    printf "%s\n%s %s %s %s %s\n", before, $2, word[$3], $4, $5, $6 | SUM
    bytes(body)
    sum = summed()
    if (sum != hash)
        found("entry " $2 " of " $4 ": its hash is " hash ", and has to be " sum)
    before = hash
}

# --- the end of a month -------------------------------------------------------------------

function said(text, name,    n, i, line) {
    n = split (text, line, "\n")
    for (i = 1; i <= n; i++)
        if (index (line[i], name "=") == 1)
            return substr (line[i], length (name) + 2)
    return ""
}

function end_month(month, closing, text,    i, of, part) {
    for (i = 1; i <= lists; i++) {
        of = closing " closed_" list[i]
        closed[of]
        if (said(text, list[i] ".rows") + 0 != rows[of] + 0)
            found(of ": " rows[of] + 0 " rows, and its closing says " said(text, list[i] ".rows"))
        printf "%s", all[of] | SUM
        if (summed() != said(text, list[i] ".digest"))
            found(of ": the rows are not those of its digest")
    }
    print "month " month " rows " rows[closing " closed_posting"] + 0 " hash " tolower($8)
    for (of in due)
        if (split (of, part, SUBSEP) && part[1] == closing)
            printf "due %s %s %d\n", month, part[2], due[of]
    for (of in cost) {
        if (split (of, part, SUBSEP) && part[1] != closing)
            continue
        printf "cost %s %s %d %d\n", month, part[2], cost[of], parts[of]
        if (cost[of] != 0 && cost[of] != parts[of])
            found(month ": the cost of pool " part[2] " is not what is charged and what is not")
    }
    end_settlement(month, closing, 10 ^ said(text, "digits"))
}

# `units`: of the currency's smallest unit in 1.
function end_settlement(month, closing, units,    of, part, amount) {
    for (of in settled) {
        if (split (of, part, SUBSEP) && part[1] != closing)
            continue
        printf "settled %s %s %d\n", month, part[2], settled_rows[of]
        if (settled[of] != 0)
            found(month ": the rows of rule " part[2] " do not add up to 0")
    }
    for (of in used) {
        if (split (of, part, SUBSEP) && part[1] != closing)
            continue
        amount = sprintf ("%.0f", used[of] * units)
        printf "balance %s %s %s %s\n", month, part[2], part[3] == "" ? "(all)" : part[3], amount
        if ((closing SUBSEP part[2]) in pays && amount != paid[of] + 0)
            found(month ": the balance of rule " part[2] " is not what its rows pay")
    }
}
