#!/bin/sh
# Budgets at the command: exit codes, each threshold once, mail, the file of
# limits, running jobs, and what is asked for wrongly.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

cp "$abs_top_srcdir/tests/cli/golden/money.yaml" "$work" && cd "$work" || exit 1
"$fill" sqlite:lab.db || exit 1
lab () { "$program" --quiet --config money.yaml --store sqlite:lab.db "$@"; }
field () { lab budget "$1" -n -P -o "$2"; }

lab budget >out
is $? 3 "something is to be looked at: exit code 3"
lab budget old-machines >out
is $? 0 "of what is not known nobody is told: exit code 0"

# The same sum as the report's.
month=$(lab report chargeback --month 2026-11 --team language --json |
    jq -r .totals.charge)
is "$(field language-month spent)" "$month" "spent is what was charged"
year=$(lab report chargeback -S 2026-07-01 -E 2026-11-03T23:00 --team language \
    --json | jq -r .totals.charge)
is "$(field language-year spent)" "$year" "in a fiscal year as well"
hours=$(lab report usage -S 2026-10-01 -E 2026-11-03T23:00 --project corpus \
    -n -P -o gpu_hours | awk '{s += $1} END {printf "%.2f", s}')
is "$(field corpus spent)" "$hours" "GPU hours are those of report usage"

# Of one alone the days of all others are not told apart.
lab budget -n -P -o budget >names
for day in 2026-10-05 2026-10-20 2026-11-02; do
    lab budget --as-of $day -n -P >all
    while IFS= read -r name; do
        lab budget "$name" --as-of $day -n -P
    done <names | cmp - all
    result $? "$day: a budget alone says what it says among others"
done

# Two GPUs, whose limit is 3 November, 23:00 (the clock is set back on the 1st). On
# 30 October 48 hours of it lie in the month, 120 in the fiscal year.
sed 's/name: language-month, team: language, amount: 12000/name: language-month, team: language, gpu_hours: 12000/
     s/amount: 40000, period: year/gpu_hours: 40000, period: year/' \
    money.yaml >hours.yaml
held ()
{
    "$program" --quiet --config hours.yaml --store sqlite:lab.db budget "$1" \
        --as-of 2026-10-30 -n -P -o encumbered
}
is "$(held language-month)" 96.00 "running jobs hold their limit, in the period"
is "$(held language-year)" 240.00 "and all of it in a longer period"

# A team that is renamed in October keeps its budget of the year, by either name.
sed 's/^\( *- {name: \)language\(, .*\)}$/\1language\2, to: 2026-10-20}\n\1tongues\2, from: 2026-10-20, aliases: [language]}/' \
    money.yaml >renamed.yaml
renamed () { "$program" --quiet --config "$1" --store sqlite:lab.db budget language-year -n -P -o "$2"; }
grep -q 'name: tongues, .*aliases: \[language\]' renamed.yaml
result $? "the team is renamed"
both=$("$program" --quiet --config renamed.yaml --store sqlite:lab.db report chargeback \
    -S 2026-07-01 -E 2026-11-03T23:00 --team language,tongues --json | jq -r .totals.charge)
is "$(renamed renamed.yaml spent)" "$both" "a budget by the old name has what both names spent"
sed 's/team: language,/team: tongues,/' renamed.yaml >new.yaml
is "$(renamed new.yaml spent)" "$both" "by the new name as well"
is "$(renamed renamed.yaml scope)" "$(renamed new.yaml scope)" "and is shown by the new one"

# Once.
lab budget --mail --once >first
is $? 3 "the first time there is something new"
lab budget --mail --once >second
is $? 0 "the second time there is not"
test ! -s second
result $? "and no mail"
lab mail sent -P -n -o kind,period,name,content,state,recipients | sort >told
is "$(grep -c '^budget|.*|sent|' told)" "$(wc -l <told)" "what was sent is listed with other mail"
is "$(sed -n 's/^To: //p' first | tr -d ' ' | tr ',' '\n' | grep @ | sort -u)" "$(cut -d'|' -f6 told | grep @ | sort -u)" "and with its addresses"
sqlite3 lab.db "DELETE FROM mail WHERE content = 'forecast'"
lab budget --mail --once >third
is $? 3 "what was not told is told"
is "$(grep -c '^Alert  *forecast above 100 %$' third)" \
    "$(grep -c '^Subject' third)" "and nothing else"
is "$(grep -c '^From gpuledger ' first)" "$(grep -c '^Subject: ' first)" \
    "a mail has one head"
lab mail sent -P -n -o kind,period,name,content,state,recipients | sort | cmp -s - told
result $? "and is recorded again"
lab budget --mail >all
is "$(grep -c '^From gpuledger ' all)" "$(grep -c '^From gpuledger ' first)" "without --once all are sent"
lab budget --once >out 2>errors
is "$?:$(head -1 errors)" "2:gpuledger: --once needs --mail" "--once is of mail"
sqlite3 lab.db "DELETE FROM mail"
lab budget --mail --once --output /proc/none >out 2>errors
is "$?:$(sqlite3 lab.db "SELECT count(*) FROM mail")" "1:0" "what could not be printed is not recorded"

# Limits.
lab budget --output-limits limits >out
cat >wanted <<'END'
gpuledger-limits 1
as_of 1793764800
until 1793937600
refuse project corpus budget corpus, FY2027-Q2: 80.6 % spent, forecast 247.7 %
refuse untagged nlp budget corpus, FY2027-Q2: 80.6 % spent, forecast 247.7 %
end 2
END
cmp limits wanted
result $? "the file of limits refuses what is above hard, without the tag as well"
sed 's/soft: "50%", hard: "80%"/soft: "10%", hard: "80%"/' money.yaml >soft.yaml
"$program" --quiet --config soft.yaml --store sqlite:lab.db budget \
    --output-limits limits >out
grep -q '^warn account nlp budget language-month' limits &&
    grep -q '^warn account speech budget language-month' limits &&
    grep -q '^end 4$' limits
result $? "a team's accounts are warned above soft"
mkdir readonly && : >readonly/limits && chmod 500 readonly
if [ "$(id -u)" -ne 0 ]; then
    lab budget --output-limits readonly/limits >out 2>errors
    is $? 1 "a file that cannot be replaced is an error"
fi
chmod 700 readonly

lab budget nobody >out 2>errors
is $? 1 "a budget that does not exist is an error"
grep -q "there is no budget 'nobody' in force; there are: language-month" errors
result $? "which names the budgets"
lab budget --as-of 2027-01-01 >out 2>errors
is $? 1 "the future is not known"
lab budget --window 3 >out 2>errors
is $? 2 "a window is one of three"
lab budget --mail --csv >out 2>errors
is $? 2 "mail is no table"

echo "1..$tests"
