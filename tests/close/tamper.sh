#!/bin/sh
# Whatever is changed in the store of what was closed is found, and told by month,
# row and field; in both engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
with_mariadb "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"

# tampered SQL PATTERN LABEL: run on a chain that is put back afterwards
tampered ()
{
    echo "$1" | sql "$url" >"$work/out" 2>"$work/err"
    rc=$?
    [ $rc -eq 0 ] && gl "$url" verify
    rc=$?
    [ $rc -eq 3 ] && grep -q -e "$2" "$work/out"
    result $? "$engine: $3"
    sql "$url" <<END
DELETE FROM chain; INSERT INTO chain SELECT * FROM chain_copy;
DELETE FROM snapshot; INSERT INTO snapshot SELECT * FROM snapshot_copy;
END
}

# refused SQL PATTERN LABEL: verify finds it, and no page of the month is made of it
refused ()
{
    echo "$1" | sql "$url" >"$work/out" 2>"$work/err"
    gl "$url" verify
    [ $? -eq 3 ] && grep -q -e "$2" "$work/out"
    result $? "$engine: $3: verify"
    gl "$url" statement vision --month 2026-10
    [ $? -eq 1 ] && grep -q '^gpuledger.*entry [0-9]* of the chain.*gpuledger verify' "$work/err"
    result $? "$engine: $3: statement"
    gl "$url" report chargeback --month 2026-10
    [ $? -eq 1 ] && grep -q 'entry [0-9]* of the chain' "$work/err"
    result $? "$engine: $3: chargeback"
    sql "$url" <<END
DELETE FROM chain; INSERT INTO chain SELECT * FROM chain_copy;
END
}

# The byte at a place of the body of an entry becomes another.
flip ()
{
    case $engine in
    sqlite) echo "UPDATE chain SET body = substr(body, 1, $2 - 1) || CASE substr(body, $2, 1) WHEN '7' THEN '8' ELSE '7' END || substr(body, $2 + 1) WHERE number = $1" ;;
    *)  echo "UPDATE chain SET body = CONCAT(SUBSTR(body, 1, $2 - 1), CASE SUBSTR(body, $2, 1) WHEN '7' THEN '8' ELSE '7' END, SUBSTR(body, $2 + 1)) WHERE number = $1" ;;
    esac
}

site >"$work/site.yaml"
for url in $(urls tamper); do
    engine=${url%%:*}
    october >"$work/rows"
    empty "$url" && gl "$url" init && import "$url" 2026-12-05T00:00:00 &&
        close_it "$url" 2026-10 && gl "$url" credit --for 2026-10 vision 1 'a reason' &&
        gl "$url" dispute raise 2026-10/1 'not ours' && close_it "$url" 2026-11
    result $? "$engine: two closed months"
    sql "$url" <<'END'
CREATE TABLE chain_copy AS SELECT * FROM chain;
CREATE TABLE snapshot_copy AS SELECT * FROM snapshot;
END
    gl "$url" verify
    result $? "$engine: as they were written"
    cp "$work/out" "$work/$engine.verified"
    last=$(echo 'SELECT max(number) FROM chain' | sql "$url")
    close=$(echo "SELECT number FROM chain WHERE kind = 5 AND month = '2026-10'" | sql "$url")
    decided=$(echo 'SELECT min(number) FROM chain WHERE kind = 8' | sql "$url")

    tampered "UPDATE chain SET body = replace(body, 'charge=', 'charge=9') WHERE number = 2" \
        '^2026-10 version 1, row 2 (entry 2): it was changed: charge$' "an amount"
    tampered "UPDATE chain SET body = replace(body, 'user=cy', 'user=ann') WHERE number = 2" \
        '^2026-10 version 1, row 2 (entry 2): it was changed: user$' "a text"
    tampered "UPDATE chain SET body = replace(body, 'gpu_seconds=', 'gpu_seconds=1') WHERE number = 3" \
        '^2026-10 version 1, row 3 (entry 3): it was changed: gpu_seconds$' "a quantity"
    tampered "UPDATE chain SET hash = (SELECT hash FROM chain_copy WHERE number = 1) WHERE number = 2" \
        '^2026-10 version 1, row 2 (entry 2): its hash was changed$' "a hash"
    tampered "UPDATE chain SET number = 1000 WHERE number = 1; UPDATE chain SET number = 1 WHERE number = 2; UPDATE chain SET number = 2 WHERE number = 1000" \
        '^2026-10 version 1, row 1 (entry 1): it was changed' "the order of two rows"
    tampered "DELETE FROM chain WHERE number = 2" \
        '^entry 2 is missing' "a row that was deleted"
    tampered "DELETE FROM chain WHERE number = 2" \
        '^2026-10 version 1: it was closed with [0-9]* rows and has' "and how many there were"
    tampered "INSERT INTO chain SELECT $last + 1, kind, '2026-12', version, body, hash FROM chain_copy WHERE number = 1" \
        '^2026-12 version 1: 1 rows without a closing$' "a row that was added"
    tampered "UPDATE chain SET month = '2026-11' WHERE number = 2" \
        'row 1 (entry 2): it was changed' "the month of a row"
    tampered "UPDATE chain SET version = 2 WHERE number = 2" \
        '(entry 2): it was changed' "the version of a row"
    tampered "UPDATE chain SET kind = 2 WHERE number = 2" \
        '^2026-10 version 1, cost (entry 2): it was changed' "the kind of an entry"
    tampered "UPDATE chain SET body = replace(body, 'accept=a test', 'accept=nothing') WHERE number = $close" \
        "^2026-10 version 1, close (entry $close): it was changed" "why it was closed"
    tampered "DELETE FROM chain WHERE number = $close" \
        "^entry $close is missing" "the closing itself"
    tampered "UPDATE chain SET body = replace(body, 'a reason', 'no reason') WHERE number = $decided" \
        "^2026-11 version 1, credit (entry $decided): it was changed" "a credit by hand"
    tampered "DELETE FROM snapshot" \
        '^2026-10 version 1: the configuration that priced it is gone$' "the configuration, gone"
    blob=BLOB
    [ "$engine" = sqlite ] || blob=BINARY
    tampered "UPDATE snapshot SET body = CAST(replace(body, '300000', '400000') AS $blob)" \
        '^2026-10 version 1: the configuration that priced it was changed$' "the configuration, changed"

    refused "UPDATE chain SET body = replace(body, 'charge=', 'charge=9') WHERE number = 2" \
        'row 2 (entry 2): it was changed' "a charge"
    refused "DELETE FROM chain WHERE number = 2" '^entry 2 is missing' "a row that is gone"
    refused "INSERT INTO chain SELECT $last + 1, kind, month, version + 1, body, hash FROM chain_copy WHERE number = $close" \
        'closed a second time without a reopening' "a second closing"
    refused "UPDATE chain SET kind = 1 WHERE number = $close" \
        "row .* (entry $close): it was changed" "a closing as a row"
    if [ "$engine" = sqlite ]; then
        refused "UPDATE chain SET kind = kind + 4294967296 WHERE number = 2" \
            '(entry 2): its kind is 429496729[0-9], which is none' "a kind beyond 32 bits"
        refused "UPDATE chain SET version = version + 4294967296 WHERE number = 2" \
            '(entry 2): its version is 4294967297' "a version beyond 32 bits"
        refused "UPDATE chain SET month = month || char(0) || 'x' WHERE number = 2" \
            '(entry 2): its month is not 7 characters' "a month with a NUL"
        echo "UPDATE chain SET kind = kind + 4294967296 WHERE number = $close" | sql "$url"
        ! close_it "$url" 2026-10 && [ $rc -eq 1 ] && grep -q "entry $close of the chain" "$work/err"
        result $? "$engine: a hidden closing does not let the month be closed again"
        echo "UPDATE chain SET kind = 5 WHERE number = $close" | sql "$url"
        gl "$url" statement vision --month 2026-10 && cp "$work/out" "$work/whole"
        sql "$url" <<'END'
CREATE INDEX planted ON chain (month, number) WHERE number <> 2;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE INDEX planted ON chain (month, number)' WHERE name = 'planted';
END
        gl "$url" statement vision --month 2026-10 && cmp "$work/out" "$work/whole"
        result $? "$engine: an index without a row hides no row"
        gl "$url" verify
        [ $? -eq 3 ] && grep -q 'integrity check: .*planted' "$work/out" &&
            grep -q 'not make this part of the schema: index planted' "$work/out"
        result $? "$engine: and verify finds the index"
        echo 'DROP INDEX planted' | sql "$url"
    fi

    # any byte of any entry
    missed=0
    for n in $(seq 12); do
        number=$(awk -v n="$n" -v last="$last" 'BEGIN { srand (n); print 1 + int (rand () * last) }')
        length=$(echo "SELECT length(body) FROM chain WHERE number = $number" | sql "$url")
        place=$(awk -v n="$n" -v most="$length" 'BEGIN { srand (n + 100); print 1 + int (rand () * most) }')
        flip "$number" "$place" | sql "$url"
        gl "$url" verify
        if [ $? -ne 3 ] || ! grep -q "(entry $number): it was changed" "$work/out"; then
            missed=$((missed + 1))
            echo "# byte $place of entry $number"
        fi
        sql "$url" <<'END'
DELETE FROM chain; INSERT INTO chain SELECT * FROM chain_copy;
END
    done
    [ $missed -eq 0 ]
    result $? "$engine: 12 bytes anywhere"
    gl "$url" verify && cmp "$work/out" "$work/$engine.verified"
    result $? "$engine: put back, it is as it was written"
done

echo "1..$tests"
exit $failed
