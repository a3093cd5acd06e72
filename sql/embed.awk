# Turn sql/*.sql into the table that lib/store/schema.c includes: one row a
# statement, and whether it is of the ledger file. A statement ends with a line that ends with ';'. Comments run from
# "--" to the end of the line.
FNR == 1 {
    engine = FILENAME ~ /mysql/ ? "DB_MYSQL" : "DB_SQLITE"
    ledger = FILENAME ~ /ledger\.sql/ ? "true" : "false"
}
{
    sub (/[ \t]*--.*/, "")
    if ($0 == "")
        next
    last = sub (/;$/, "")
    gsub (/\\/, "\\\\")
    gsub (/"/, "\\\"")
    if (!open)
        printf "    {%s, %s,", engine, ledger
    printf "\n     \"%s\\n\"", $0
    open = !last
    if (last)
        print "},"
}
