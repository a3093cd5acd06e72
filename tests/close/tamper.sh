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

# saved_sql STATEMENTS: in which `saved` is the store as it was
saved_sql ()
{
    { [ "$engine" = mysql ] || echo "ATTACH '$work/saved.db-ledger' AS saved;"; echo "$1"; } | sql "$url"
}

put_back ()
{
    saved_sql "$(for table in chain snapshot closed_posting closed_day closed_team_day closed_carbon closed_waste closed_wasteful_job closed_demand; do
        echo "DELETE FROM $table; INSERT INTO $table SELECT * FROM saved.$table;"
    done)"
}

# planted SQL PATTERN UNDO LABEL: verify finds what is not of gpuledger's schema
planted ()
{
    echo "$1" | sql "$url" >"$work/out" 2>"$work/err"
    rc=$?
    [ $rc -eq 0 ] && gl "$url" verify
    rc=$?
    [ $rc -eq 3 ] && grep -q -e "$2" "$work/out"
    rc=$?
    echo "$3" | sql "$url" >>"$work/out" 2>>"$work/err"
    gl "$url" verify >>"$work/out" && [ $rc -eq 0 ]
    result $? "$engine: $4"
}

# tampered SQL PATTERN LABEL: run on a chain that is put back afterwards
tampered ()
{
    saved_sql "$1" >"$work/out" 2>"$work/err"
    rc=$?
    [ $rc -eq 0 ] && gl "$url" verify
    rc=$?
    [ $rc -eq 3 ] && grep -q -e "$2" "$work/out"
    result $? "$engine: $3"
    put_back
}

# refused SQL PATTERN LABEL: verify finds it, and no page of the month is made of it
refused ()
{
    saved_sql "$1" >"$work/out" 2>"$work/err"
    gl "$url" verify
    [ $? -eq 3 ] && grep -q -e "$2" "$work/out"
    result $? "$engine: $3: verify"
    gl "$url" statement vision --month 2026-10
    [ $? -eq 1 ] && grep -q '^gpuledger.*changed in the store.*gpuledger verify' "$work/err"
    result $? "$engine: $3: statement"
    gl "$url" report chargeback --month 2026-10
    [ $? -eq 1 ] && grep -q 'changed in the store' "$work/err"
    result $? "$engine: $3: chargeback"
    put_back
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
    copy "$url" "$(url_of saved)"
    gl "$url" verify
    result $? "$engine: as they were written"
    cp "$work/out" "$work/$engine.verified"
    last=$(echo 'SELECT max(number) FROM chain' | sql "$url")
    close=$(echo "SELECT number FROM chain WHERE kind = 3 AND month = '2026-10'" | sql "$url")
    decided=$(echo 'SELECT min(number) FROM chain WHERE kind = 6' | sql "$url")

    row="closed_month = '2026-10' AND number"
    saved_row="SELECT * FROM saved.closed_posting WHERE closed_month = '2026-10' AND number = 1"
    tampered "UPDATE closed_posting SET charge = charge + 9 WHERE $row = 2" \
        '^2026-10 version 1, row 2: it was changed: charge$' "an amount"
    tampered "UPDATE closed_posting SET user = 'eve' WHERE $row = 2" \
        '^2026-10 version 1, row 2: it was changed: user$' "a text"
    tampered "UPDATE closed_posting SET gpu_seconds = '1' WHERE $row = 3" \
        '^2026-10 version 1, row 3: it was changed: gpu_seconds$' "a quantity"
    tampered "UPDATE closed_posting SET reason = '' WHERE $row = 3" \
        '^2026-10 version 1, row 3: it was changed$' "an empty text"
    tampered "UPDATE closed_day SET units = units + 1 WHERE $row = 2" \
        '^2026-10 version 1, day 2: it was changed$' "what is charged for a day"
    tampered "UPDATE closed_posting SET hash = (SELECT hash FROM ($saved_row) s) WHERE $row = 2" \
        '^2026-10 version 1, row 2: its hash was changed$' "the hash of a row"
    tampered "UPDATE chain SET hash = (SELECT hash FROM saved.chain WHERE number = 1) WHERE number = 2" \
        '(entry 2): its hash was changed$' "the hash of an entry"
    tampered "UPDATE closed_posting SET number = 1000 WHERE $row = 1; UPDATE closed_posting SET number = 1 WHERE $row = 2; UPDATE closed_posting SET number = 2 WHERE $row = 1000" \
        '^2026-10 version 1, closed_posting: the rows are not those that were closed: ' "the order of two rows"
    tampered "DELETE FROM closed_posting WHERE $row = 2" \
        '^2026-10 version 1, closed_posting: row 3 is in the place of row 2$' "a row that was deleted"
    tampered "DELETE FROM closed_posting WHERE $row = 2" \
        '^2026-10 version 1, closed_posting: it was closed with [0-9]* rows and has' "and how many there were"
    tampered "DELETE FROM chain WHERE number = 2" '^entry 2 is missing' "an entry that was deleted"
    tampered "UPDATE closed_posting SET closed_month = '2026-12' WHERE $row = 1" \
        '^2026-12 version 1, closed_posting: 1 rows without a closing$' "the month of a row"
    tampered "UPDATE closed_posting SET version = 2 WHERE $row = 2" \
        '^2026-10 version 2, closed_posting: 1 rows without a closing$' "the version of a row"
    tampered "INSERT INTO chain (number, kind, month, version, hash, body) SELECT $last + 1, kind, '2026-12', version, hash, body FROM saved.chain WHERE number = 1" \
        '^2026-12 version 1: entries without a closing$' "an entry that was added"
    tampered "UPDATE chain SET month = '2026-11' WHERE number = 2" \
        '(entry 2): it was changed' "the month of an entry"
    tampered "UPDATE chain SET version = 2 WHERE number = 2" \
        '(entry 2): it was changed' "the version of an entry"
    tampered "UPDATE chain SET kind = 1 WHERE number = 2" \
        '^2026-10 version 1, usage (entry 2): it was changed' "the kind of an entry"
    tampered "UPDATE chain SET body = replace(body, 'accept=a test', 'accept=nothing') WHERE number = $close" \
        "^2026-10 version 1, close (entry $close): it was changed" "why it was closed"
    tampered "DELETE FROM chain WHERE number = $close" \
        "^entry $close is missing" "the closing itself"
    tampered "UPDATE chain SET body = replace(body, 'a reason', 'no reason') WHERE number = $decided" \
        "^2026-11 version 1, credit (entry $decided): it was changed" "a manual credit"
    tampered "DELETE FROM snapshot" \
        '^2026-10 version 1: the configuration that priced it is missing$' "the configuration, gone"
    blob=BLOB
    [ "$engine" = sqlite ] || blob=BINARY
    tampered "UPDATE snapshot SET body = CAST(replace(body, '300000', '400000') AS $blob)" \
        '^2026-10 version 1: the configuration that priced it was changed$' "the configuration, changed"

    refused "UPDATE closed_posting SET charge = charge + 9 WHERE $row = 2" \
        'row 2: it was changed' "a charge"
    refused "DELETE FROM closed_posting WHERE $row = 2" 'row 3 is in the place of row 2' "a row that is gone"
    refused "DELETE FROM chain WHERE number = 2" '^entry 2 is missing' "an entry that is gone"
    refused "INSERT INTO chain (number, kind, month, version, hash, body) SELECT $last + 1, kind, month, version + 1, hash, body FROM saved.chain WHERE number = $close" \
        'closed a second time without a reopening' "a second closing"
    refused "UPDATE chain SET kind = 1 WHERE number = $close" \
        "usage (entry $close): it was changed" "a closing as usage"
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
        echo "UPDATE chain SET kind = 3 WHERE number = $close" | sql "$url"
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

    # the schema
    made='gpuledger did not make this part of the schema'
    planted 'CREATE TABLE more (a INTEGER)' "^$made: table more" 'DROP TABLE more' "a table"
    planted 'CREATE VIEW seen_too AS SELECT * FROM seen' "^$made: view seen_too" 'DROP VIEW seen_too' "a view"
    planted 'CREATE INDEX chain_kind ON chain (kind)' "^$made: index .*chain_kind" \
        "DROP INDEX chain_kind$([ "$engine" = sqlite ] || echo ' ON chain')" "an index of the chain"
    if [ "$engine" = sqlite ]; then
        planted 'CREATE INDEX facts.some ON segment (cluster) WHERE id_job <> 4' \
            "^$made: index some: .*WHERE id_job <> 4" 'DROP INDEX some' "a partial index of another table"
        planted "CREATE TRIGGER facts.less AFTER INSERT ON segment BEGIN UPDATE segment SET time_end = 0; END" \
            "^$made: trigger less" 'DROP TRIGGER less' "a trigger"
        planted 'DROP INDEX segment_ended' '^this part of the schema is missing: index segment_ended' \
            'CREATE INDEX facts.segment_ended ON segment (cluster, state, time_end)
    WHERE state = 7 OR state = 8 OR state = 9
' "an index that is gone"
        planted 'ALTER TABLE snapshot ADD COLUMN more TEXT' "^$made so: table snapshot: .*more TEXT" \
            'ALTER TABLE snapshot DROP COLUMN more' "a column"
        planted 'DROP INDEX segment_ended; CREATE INDEX facts.segment_ended ON segment (cluster, state, time_end) WHERE state = 7' \
            "^$made so: index segment_ended: .*WHERE state = 7'" \
            'DROP INDEX segment_ended; CREATE INDEX facts.segment_ended ON segment (cluster, state, time_end)
    WHERE state = 7 OR state = 8 OR state = 9
' "an index that became another partial one"
        planted "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ' STRICT', '') WHERE name = 'chain'" \
            "^$made so: table chain:" \
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = 'chain'" "a table without its types"
    else
        checked () { echo "SHOW GLOBAL STATUS LIKE 'Com_check'" | sql "$url" | tr -cd 0-9; }
        had=$(checked)
        gl "$url" verify && [ "$(checked)" -eq $((had + 1)) ]
        result $? "$engine: verify has the server check the tables"
        planted 'CREATE TRIGGER less BEFORE INSERT ON segment FOR EACH ROW SET NEW.time_end = 0' \
            "^$made: trigger less: segment" 'DROP TRIGGER less' "a trigger"
        # with the rights of gpuledger_init in sql/accounts.sql alone
        sql "$url" <<'END'
CREATE TRIGGER less BEFORE INSERT ON segment FOR EACH ROW SET NEW.time_end = 0;
CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DO DELETE FROM chain WHERE number = 2;
CREATE USER ledger@localhost;
END
        sed -n '/^GRANT SELECT, INSERT/,/;/p' "$abs_top_srcdir/sql/accounts.sql" |
            sed 's/ON gpuledger\.\*/ON tamper.*/; s/TO .*/TO ledger@localhost;/' | sql "$url"
        as_ledger=$(echo "$url" | sed 's/root@/ledger@/')
        "$program" --config "$work/site.yaml" --store "$as_ledger" verify >"$work/out" 2>"$work/err"
        [ $? -eq 3 ] && grep -q "^$made: trigger less" "$work/out" && grep -q "^$made: event nightly" "$work/out" &&
            [ "$(grep -c "^$made" "$work/out")" -eq 2 ]
        result $? "$engine: the rights of accounts.sql suffice to find them"
        echo 'DROP TRIGGER less; DROP EVENT nightly; DROP USER ledger@localhost' | sql "$url"
        planted 'CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DO DELETE FROM chain WHERE number = 2' \
            "^$made: event nightly" 'DROP EVENT nightly' "an event"
        planted 'CREATE PROCEDURE p () DELETE FROM seen' "^$made: procedure p" 'DROP PROCEDURE p' "a procedure"
        planted 'ALTER TABLE segment DROP KEY segment_ended' '^this part of the schema is missing: index segment.segment_ended' \
            'ALTER TABLE segment ADD KEY segment_ended (cluster, state, time_end)' "an index that is gone"
        planted 'ALTER TABLE segment DROP KEY segment_ended, ADD KEY segment_ended (cluster, time_end)' \
            "^$made so: index segment.segment_ended: it is '(cluster, time_end)', and is to be '(cluster, state, time_end)'" \
            'ALTER TABLE segment DROP KEY segment_ended, ADD KEY segment_ended (cluster, state, time_end)' "an index of other columns"
        planted 'ALTER TABLE chain MODIFY kind BIGINT NOT NULL' \
            "^$made so: column chain.kind: it is 'bigint not null', and is to be 'tinyint unsigned not null'" \
            'ALTER TABLE chain MODIFY kind TINYINT UNSIGNED NOT NULL' "a column of another type"
        planted 'ALTER TABLE chain ADD CONSTRAINT few CHECK (number < 100000)' "^$made: check chain.few" \
            'ALTER TABLE chain DROP CONSTRAINT few' "a constraint"
        planted 'ALTER TABLE seen ENGINE=MyISAM' "^$made so: table seen: it is 'myisam binary'" \
            'ALTER TABLE seen ENGINE=InnoDB' "a table of another engine"
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
        put_back
    done
    [ $missed -eq 0 ]
    result $? "$engine: 12 bytes anywhere"
    # any field of a row
    missed=0
    for column in $(closed_columns "$url" closed_posting); do
        case $column in
        list | cost | charge | *_units | adjustment_*) more="coalesce($column, 0) + 1" ;;
        *)  more="'eve'" ;;
        esac
        echo "UPDATE closed_posting SET $column = $more WHERE $row = 1" | sql "$url"
        gl "$url" verify
        if [ $? -ne 3 ] || ! grep -q "^2026-10 version 1, row 1: it was changed: $column\$" "$work/out"; then
            missed=$((missed + 1))
            echo "# column $column"
        fi
        put_back
    done
    [ $missed -eq 0 ]
    result $? "$engine: each field of a row"
    gl "$url" verify && cmp "$work/out" "$work/$engine.verified"
    result $? "$engine: put back, it is as it was written"
done

echo "1..$tests"
exit $failed
