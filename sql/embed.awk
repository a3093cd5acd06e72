# Turn sql/ENGINE/NNNN.sql into the table that lib/store/migrate.c includes: one
# row a statement. A statement ends with a line that ends with ';'. Comments
# run from "--" to the end of the line.
FNR == 1 {
    parts = split (FILENAME, part, "/")
    engine = part[parts - 1] == "mysql" ? "DB_MYSQL" : "DB_SQLITE"
    number = part[parts] + 0
}
{
    sub (/[ \t]*--.*/, "")
    if ($0 == "")
        next
    last = sub (/;$/, "")
    gsub (/\\/, "\\\\")
    gsub (/"/, "\\\"")
    if (!open)
        printf "    {%s, %d,", engine, number
    printf "\n     \"%s\\n\"", $0
    open = !last
    if (last)
        print "},"
}
