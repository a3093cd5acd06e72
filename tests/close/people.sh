#!/bin/sh
# Whose a team is: by institution, class and cost center sums are those of the
# teams, in an open month and in a closed one, whatever the configuration says
# later; statements of institutions are the sum of their teams'; a team that was
# renamed is found by each of its names; in both engines.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
# shellcheck source=tests/close/lib.sh
. "$abs_top_srcdir/tests/close/lib.sh"
for tool in sqlite3 jq; do
    command -v $tool >/dev/null ||
        { echo "1..0 # SKIP because $tool is not installed"; exit 0; }
done
on_each_engine "$0"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export LC_ALL=C.UTF-8
# shellcheck source=tests/close/facts.sh
. "$abs_top_srcdir/tests/close/facts.sh"
url=$(url_of lab)

# people CLASS: vision is of Uni by its account, language by its address, others of none
people ()
{
    rates=3.00 others=speech center=CC-1 site |
        sed 's/\(name: language, \)/\1email: ada@cs.uni.example, /'
    cat <<END
institutions:
  - {name: "Uni, West", accounts: ["vis*"], email_domains: uni.example, billing_address: Main St, class: $1}
settlement:
  - {name: codes, rule: split, teams: [language], split: {CC-201: 60%, CC-202: 40%}}
taxes:
  - {name: VAT, percent: 25%, teams: [vision]}
END
}

views='report chargeback --by institution
report chargeback --by class,institution
report chargeback --by cost_center --sort -charge
report chargeback --by institution,pool,user --limit 2
report chargeback --by team
statement --institution (none)
statement --institution Uni,_West'

# pages DIRECTORY: of October, but for what says that it is closed
pages ()
{
    mkdir -p "$1"
    echo "$views" | while read -r view; do
        for output in -P --csv --json --html; do
            # shellcheck disable=SC2086
            set -- "$1" $view
            to=$1
            shift
            [ "$3" != Uni,_West ] || set -- statement --institution 'Uni, West'
            gl "$url" "$@" --month 2026-10 $output || exit 1
            plain "$work/out" >"$to/$(echo "$view $output" | tr ' ,' '__')"
            set -- "$to"
        done
    done
}

# plain FILE: without what says that the month is closed
plain ()
{
    sed -E '/2026-10 is closed: version 1, hash/d; /October.{1,2}2026 is closed/d; /Provisional: the month/d
        /^ *"period hash":/d; s/closed [0-9][^,]*, version 1/not closed/; s/[0-9a-f]{64}//g
        s/EUR, (provisional|closed)/EUR/; s/ · period hash [^<·]*//g; s/,$//' "$1"
}

# sums KEY [MONTHS]: lines of the key and what is due before taxes
sums ()
{
    gl "$url" report chargeback --month "${2:-2026-10}" --by "$1" --json &&
        jq -r --arg key "$1" '.rows[] | [.[$key],
            ([.charge, .credit, .settlement, .service, .correction]
                | map (tonumber? // 0) | add * 100 | round)] | join ("|")' "$work/out" |
        sort >"$work/sums"
}

# due TEAM MONTH
due ()
{
    gl "$url" statement "$1" --month "$2" --json && jq -r .totals.due "$work/out"
}

people academic >"$work/site.yaml"
october >"$work/rows"
empty "$url" && gl "$url" init && import "$url" 2026-11-03T00:00:00
result $? "facts"
sums team && total=$(awk -F'|' '{ t += $2 } END { print t }' "$work/sums") &&
    cp "$work/sums" "$work/teams" && [ "$total" -gt 0 ]
result $? "what teams have to pay"
for key in institution class cost_center; do
    sums $key
    cp "$work/sums" "$work/out"
    [ "$(awk -F'|' '{ t += $2 } END { print t }' "$work/sums")" = "$total" ]
    result $? "by $key the sum is the same"
done
sums institution
uni=$(awk -F'|' '$1 != "others" { t += $2 } END { print t }' "$work/teams")
printf '%s\n' "(none)|$((total - uni))" "Uni, West|$uni" | diff - "$work/sums" >"$work/out"
result $? "an institution has the sum of its teams"
sums cost_center
grep -q '^CC-1|' "$work/sums" && grep -q '^CC-201|' "$work/sums" && grep -q '^(none)|' "$work/sums"
result $? "cost objects are cost centers"
gl "$url" report chargeback --month 2026-10 -o institution,team,charge
sed -n '/^Institution /,/^$/p' "$work/out" | sed '/^$/d; s/^-*$/=/' | awk '$1 == "=" { sum = 1; next }
    sum { all = $NF } $(NF - 1) == "Total" { t += $NF; n++ }
    END { exit !(n == 2 && all > 0 && sprintf ("%.2f", t) == all) }'
result $? "subtotals add up to the total"
gl "$url" report chargeback --month 2026-10 --csv -n -o institution,team && cp "$work/out" "$work/rows.csv" &&
    printf '%s\n' '(none),others' '"Uni, West",language' '"Uni, West",vision' | diff - "$work/rows.csv" >"$work/out"
result $? "data has a column instead"
gl "$url" report usage --month 2026-10 --by class -P -n -o class,jobs
cp "$work/out" "$work/usage"
printf '%s\n' '(none)|1' 'academic|4' | diff - "$work/usage" >"$work/out"
result $? "usage by class"
gl "$url" statement language --month 2026-10 --json &&
    [ "$(jq -r '.parameters | .institution, .["bill to"], .class' "$work/out" | tr '\n' '|')" = \
        'Uni, West|Main St|academic|' ]
result $? "a statement says whose it is"

# institution NAME TEAM...: what it has to pay and its taxes are those of its teams
institution ()
{
    name=$1
    shift
    for team; do
        gl "$url" statement "$team" --month "${month:-2026-10}" --json &&
            jq -r '[.totals.due, .totals.taxes // "0", ([.rows[] | select (.section == "charges") | .gpu_hours // 0 | tonumber] | add), .parameters.statement] | join (" ")' "$work/out"
    done >"$work/teams"
    gl "$url" statement --institution "$name" --month "${month:-2026-10}" --json &&
        jq -r '[.totals.due, .totals.taxes // "0", .totals.gpu_hours, (.rows | length), (.rows | map (.statement) | join (" "))] | join (" ")' \
            "$work/out" >"$work/institution"
    cat "$work/institution" >>"$work/teams"
    cp "$work/teams" "$work/out"
    awk -v teams=$# 'NR <= teams { due += $1; tax += $2; id = id " " $4; next }
        { exit !(sprintf ("%.2f", due) == $1 && $1 != 0 && $4 == teams && index ($0, id)) }' "$work/teams"
}
institution 'Uni, West' language vision && cp "$work/teams" "$work/uni"
result $? "the statement of an institution is the sum of its teams'"
awk 'NR == 3 { exit !($2 > 0 && $2 == tax) } { tax += $2 }' "$work/uni"
result $? "with their taxes"
gl "$url" statement --institution 'Uni, West' --month 2026-10 --json &&
    [ "$(jq -r '.parameters["bill to"]' "$work/out")" = 'Main St' ]
result $? "and names the address"
institution '(none)' others
result $? "that of none too"
gl "$url" statement vision --institution 'Uni, West'
[ $? -eq 2 ] && grep -q 'give no team' "$work/err" && gl "$url" statement --all "$work/all" --institution x
[ $? -eq 2 ] && grep -q 'exclude each other' "$work/err"
result $? "not with a team, or all of them"
gl "$url" statement --institution Uni,West --month 2026-10
[ $? -eq 1 ] && grep -q "there is no institution 'Uni,West'; did you mean 'Uni, West'" "$work/err"
result $? "a wrong name of one"

pages "$work/open"
result $? "pages of the open month"
close_it "$url" 2026-10 && pages "$work/closed" && diff -r "$work/open" "$work/closed" >"$work/out"
result $? "closed: the same pages"

# Everything that pages could follow: another class, no rule for language, a new name
# of vision from November on.
people industry |
    sed '/cost_center/s/.*/  - {name: vision, accounts: [vision], cost_center: CC-9, institution: Other, to: 2026-11-01}\
  - {name: sight, accounts: [vision], aliases: [vision, eyes], cost_center: CC-9, from: 2026-11-01}/
        s/email: ada@cs.uni.example, //; /^institutions/a\  - {name: Other}' >"$work/site.yaml"
row 43 2026-10-10T00:00:00 2026-10-11T00:00:00 COMPLETED 2 ann vision >>"$work/rows"
row 50 2026-11-03T00:00:00 2026-11-03T10:00:00 COMPLETED 2 ann vision >>"$work/rows"
import "$url" 2026-12-02T00:00:00 && pages "$work/later" &&
    diff -r "$work/open" "$work/later" >"$work/out"
result $? "still the same pages under another configuration"
sums institution 2026-10..2026-11 && cp "$work/sums" "$work/both" &&
    sums team 2026-10..2026-11 &&
    [ "$(awk -F'|' '{ t += $2 } END { print t }' "$work/sums")" = \
        "$(awk -F'|' '{ t += $2 } END { print t }' "$work/both")" ]
result $? "over both months the sums are the same"

month=2026-11 institution 'Uni, West' sight vision
result $? "corrections are of the institution of the month that bills them"

[ "$(due vision 2026-10)" = "$(due sight 2026-10)" ] && [ "$(due eyes 2026-10)" = "$(due sight 2026-10)" ] &&
    [ "$(due eyes 2026-10)" != 0.00 ]
result $? "the statement of a closed month by later names"
[ "$(due eyes 2026-11)" = "$(due sight 2026-11)" ] && [ "$(due sight 2026-11)" != 0.00 ]
result $? "and of an open one by an alias"
gl "$url" report chargeback --month 2026-10..2026-11 --team eyes --by month,team -P -n -o month,team &&
    printf '%s\n' '2026-10|vision' '2026-11|sight' '2026-11|vision' | diff - "$work/out" >"$work/names"
rc=$?
cp "$work/names" "$work/out"
result $rc "--team takes an alias for all names"
gl "$url" credit eyes 5.00 'a test' && gl "$url" statement sight --month 2026-11 --json &&
    jq -e '.rows[] | select (.section == "credits" and .charge == "-5.00")' "$work/out" >/dev/null
result $? "a credit goes to the team by an alias"
gl "$url" statement eyez --month 2026-11
[ $? -eq 1 ] && grep -q "there is no team 'eyez'; did you mean 'eyes'" "$work/err"
result $? "what is near to an alias is offered"
before=$(due sight 2026-11)
cat >"$work/charges.csv" <<'END'
date,team,service,quantity,unit,unit_price,amount,currency,source,reference
2026-11-05,eyes,storage,10,TB,2,20.00,EUR,netapp,1
END
gl "$url" import --charges "$work/charges.csv" &&
    [ "$(due sight 2026-11)" = "$(jq -rn "($before + 25) * 100 | round / 100" | xargs printf %.2f)" ]
result $? "and so do imported charges, with the tax of vision"
gl "$url" verify
result $? "verified"

echo "1..$tests"
exit $failed
