#!/bin/sh
# gpuledger mine: the user's own figures, as the site's report has them, and
# nothing else.
# shellcheck source=tests/users/lib.sh disable=SC2016,SC2154
. "$abs_top_srcdir/tests/users/lib.sh"
make_store >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }

fields=project,jobs,gres_hours,charge
mine ()
{
    ledger mine --month 2026-10 "$@"
}

mine --for daemon --csv -o $fields
cp "$dir/out" "$dir/own"
ledger report chargeback --month 2026-10 -u daemon --by project --csv -o $fields
check "the figures are those of the site's report" cmp "$dir/own" "$dir/out"
check "and there are some" grep -q '^(untagged),6,10.000000,36.00$' "$dir/own"
mine --for bin --csv -o $fields
check "another user has others" says '^(untagged),2,160'

hidden='secret|games|speech|theirs|a100|cost|idle|remainder|299|300000'
for format in --json --csv --html --parsable2 ''; do
    # shellcheck disable=SC2086
    mine --for daemon $format
    check "nothing of others, pools or costs in ${format:-the table}" sh -c \
        "test $rc = 0 && ! sed 's/idle_gpu_hours//g; s/Idle GPU hours//g; s/at full cost//g' '$dir/out' '$dir/err' |
            sed '/<style>/,/<\\/style>/d' | grep -E -i '$hidden'"
done
mine --for daemon -o project,cost
check "cost cannot be asked for" \
    sh -c "test $rc = 2 && test ! -s '$dir/out' && grep -q \"unknown field 'cost'\" '$dir/err'"
mine --for daemon --sort -cost
check "nor the order by it" \
    sh -c "test $rc = 2 && test ! -s '$dir/out' && grep -q \"unknown field 'cost'\" '$dir/err'"
mine --for daemon --by day --csv -o charge
tail -n +2 "$dir/out" | sort -nr | head -n 2 >"$dir/largest"
mine --for daemon --by day --csv -o charge --sort -charge --limit 2
check "the largest charges" sh -c "test $rc = 0 && tail -n +2 '$dir/out' | cmp -s - '$dir/largest'"
mine --for daemon --by user,account,pool,node,day --csv -o user,account,pool,charge
check "any key may be asked for, and shows own rows alone" sh -c \
    "test $rc = 0 && test \$(wc -l <'$dir/out') -gt 3 &&
     ! tail -n +2 '$dir/out' | grep -v '^daemon,'"
mine --for daemon -u games
check "another's name is no option" test "$rc" = 2
ledger mine --for daemon -S 2026-11-01 -E 2026-12-01
check "that the facts end earlier is said" says 'later usage in this period is not included'
mine --for nosuchuser
check "no such user" complains "there is no user 'nosuchuser'"
ledger mine --for daemon -S 2026-10-01 -E 2026-10-02 --csv -o $fields
check "a part of a month" says '^(untagged),1,4.000000,14.40$'
finish
