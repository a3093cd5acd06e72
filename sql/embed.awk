# Turn sql/*.sql into the table that lib/store/schema.c includes: one row a
# statement, whether it is of the ledger file, and whether it makes a view. A statement
# ends with a line that ends with ';'. Comments run from "--" to the end of the line.
# strict=no: for SQLite before 3.37, which has no strict tables.
FNR == 1 {
    engine = FILENAME ~ /mysql/ ? "DB_MYSQL" : "DB_SQLITE"
    view = FILENAME ~ /views\.sql/ ? "true" : "false"
    # closed months, which views are of, are in SQLite's ledger file
    ledger = FILENAME ~ /ledger\.sql|sqlite_views\.sql/ ? "true" : "false"
}
{
    sub (/[ \t]*--.*/, "")
    if ($0 == "")
        next
    last = sub (/;$/, "")
    if (strict == "no" && engine == "DB_SQLITE")
        sub (/^\) STRICT,?/, ")")
    gsub (/\\/, "\\\\")
    gsub (/"/, "\\\"")
    if (!open)
        printf "    {%s, %s, %s,", engine, ledger, view
    printf "\n     \"%s\\n\"", $0
    open = !last
    if (last)
        print "},"
}
