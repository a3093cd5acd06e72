# Turn sql/ENGINE.sql into the table that lib/store/schema.c includes: one row a
# statement. A statement ends with a line that ends with ';'. Comments run from
# "--" to the end of the line.
FNR == 1 {
    engine = FILENAME ~ /mysql/ ? "DB_MYSQL" : "DB_SQLITE"
}
{
    sub (/[ \t]*--.*/, "")
    if ($0 == "")
        next
    last = sub (/;$/, "")
    gsub (/\\/, "\\\\")
    gsub (/"/, "\\\"")
    if (!open)
        printf "    {%s,", engine
    printf "\n     \"%s\\n\"", $0
    open = !last
    if (last)
        print "},"
}
