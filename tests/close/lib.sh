# shellcheck shell=sh
# lib.sh: a store with a month of made-up facts that can be closed. To be sourced.
# Sets work, program, and the functions below; failed is 1 after a failure.
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}" "${work:=}"
program=$abs_top_builddir/sacct-ext/gpuledger

# shellcheck disable=SC2034 # for who sources this
sum=$abs_top_builddir/tests/close/sum
tests=0
failed=0

result ()
{
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        echo "not ok $tests - $2"
        sed 's/^/# /' "$work/out" "$work/err" 2>/dev/null | head -n 30
        # shellcheck disable=SC2034
        failed=1
    fi
}

# Both engines, or SQLite alone where there is no MariaDB: runs the script again
# inside a private server.
with_mariadb ()
{
    if [ -z "${GPULEDGER_TEST_MYSQL:-}" ] && [ -z "${CLOSE_ALONE:-}" ] &&
        PATH=$PATH:/usr/sbin command -v mariadbd >/dev/null &&
        command -v mariadb-install-db >/dev/null; then
        CLOSE_ALONE=1 exec sh "$abs_top_srcdir/tests/support/mariadb.sh" \
            sh "$1"
    fi
}

# on_each_engine SCRIPT: runs it again for each engine, whose name is then in
# $engine; what they say is one list.
on_each_engine ()
{
    engine=${CLOSE_ENGINE:-}
    [ -z "$engine" ] || return 0
    with_mariadb "$1"
    for each in sqlite ${GPULEDGER_TEST_MYSQL:+mysql}; do
        echo "engine $each"
        CLOSE_ENGINE=$each sh "$1" || echo failed
    done | awk '
        $1 == "engine" { engine = $2; next }
        $1 == "failed" { failed = 1; next }
        /^1\.\.0/ { print; skipped = 1; next }
        /^1\.\./ { planned += substr ($1, 4); next }
        /^(not )?ok / {
            done++
            sub (/ok [0-9]+ - /, "ok " done " - " engine ": ")
        }
        { print; fflush () }
        END {
            if (!skipped)
                print "1.." planned
            exit failed
        }'
    exit
}

# url_of NAME: a store of the engine
url_of ()
{
    urls "$1" | grep "^${engine:?}:"
}

# urls NAME: the URL one of each engine, a line each
urls ()
{
    echo "sqlite:$work/$1.db"
    [ -z "${GPULEDGER_TEST_MYSQL:-}" ] || mysql_url "$1"
}

mysql_url ()
{
    # shellcheck disable=SC2059 # the URL is a format
    printf "$GPULEDGER_TEST_MYSQL\n" "$1"
}

# empty URL: a database without tables
empty ()
{
    case $1 in
    sqlite:*) rm -f "${1#sqlite:}" "${1#sqlite:}-wal" "${1#sqlite:}-shm" "${1#sqlite:}-ledger" ;;
    *)  name=${1%%\?*} name=${name##*/}
        mariadb --no-defaults --socket="$GPULEDGER_TEST_DIR/socket" --user=root \
            -e "DROP DATABASE IF EXISTS \`$name\`; CREATE DATABASE \`$name\` CHARACTER SET binary" ;;
    esac
}

# sql URL: statements from stdin, of the ledger first; columns are parted by | or a tab
sql ()
{
    case $1 in
    sqlite:*) sqlite3 -cmd "ATTACH '${1#sqlite:}' AS facts" "${1#sqlite:}-ledger" ;;
    *)  name=${1%%\?*} name=${name##*/}
        mariadb --no-defaults --socket="$GPULEDGER_TEST_DIR/socket" --user=root \
            -N -B --raw "$name" ;;
    esac
}

# closed_columns URL TABLE: the fields of a table of closed months
closed_columns ()
{
    case $1 in
    sqlite:*) echo "SELECT name FROM pragma_table_info('$2')" ;;
    *)  echo "SELECT column_name FROM information_schema.columns
            WHERE table_schema = DATABASE() AND table_name = '$2' ORDER BY ordinal_position" ;;
    esac | sql "$1" | grep -vx 'closed_month\|version\|number\|hash'
}

# closed_text URL TABLE [CONDITION]: the canonical text of its rows, in their order; as it
# is without escapes
closed_text ()
{
    closed_columns "$1" "$2" | awk -v engine="${1%%:*}" -v table="$2" -v condition="${3:-1 = 1}" '
        engine == "sqlite" { list = list (list ? " || " : "") "coalesce(char(9) || \047" $1 "=\047 || " $1 ", \047\047)" }
        engine != "sqlite" { list = list ", concat(\047" $1 "=\047, " $1 ")" }
        END {
            print "SELECT " (engine == "sqlite" ? "substr(" list ", 2)" : "concat_ws(char(9)" list ")") \
                " FROM " table " WHERE " condition " ORDER BY closed_month, version, number"
        }' | sql "$1"
}

# copy URL TO-URL: all that the store has, into another of the same engine
copy ()
{
    empty "$2"
    case $1 in
    sqlite:*) for part in '' -ledger; do
            echo ".backup '${2#sqlite:}$part'" | sqlite3 "${1#sqlite:}$part"
        done ;;
    *)  name=${1%%\?*} name=${name##*/}
        mariadb-dump --no-defaults --socket="$GPULEDGER_TEST_DIR/socket" \
            --user=root --hex-blob "$name" | sql "$2" ;;
    esac
}

# gl URL VERB...: out and err are left in files
gl ()
{
    url=$1
    shift
    "$program" --config "$work/site.yaml" --store "$url" "$@" \
        >"$work/out" 2>"$work/err"
}

# close_it URL MONTH [OPTION...]: whatever is found; only 0 and 3 are well
close_it ()
{
    to=$1 month=$2
    shift 2
    gl "$to" close --month "$month" --accept 'a test' "$@"
    rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 3 ]
}
