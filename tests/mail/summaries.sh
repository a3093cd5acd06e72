#!/bin/sh
# Summaries by mail: the week of each team has the figures of the reports, the month
# is the page of report summary; each once, to whom the configuration says.
: "${abs_top_srcdir:?}"
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
python3 -c 'import email.policy' 2>/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }

cp "$abs_top_srcdir/tests/cli/golden/money.yaml" "$work" && cd "$work" || exit 1
sed -i 's/{name: vision, /&mail: [ada@example.org], /; s/{name: language, /&email: lin@example.org, /' money.yaml
cp money.yaml nobody.yaml
echo 'mail: {from: billing@hpc.example.org, monthly: [Dean <dean@example.org>, cio@example.org]}' >>money.yaml
echo 'mail: {from: billing@hpc.example.org}' >>nobody.yaml
"$fill" sqlite:lab.db || exit 1
lab () { "$program" --config money.yaml --store sqlite:lab.db "$@"; }
parse () { python3 "$abs_top_srcdir/tests/mail/parse.py" "$1" parts; }
mkdir parts

# --- weeks ------------------------------------------------------------------
lab mail weekly --dry-run -n -P -o period,name,state,recipients >out 2>err
is "$?: $(cat out)" "0: 2026-10-26|language|to be sent|lin@example.org" \
    "the last week that the facts cover, to each team with anything in it or the month"
lab mail weekly --week 2026-10-12 --mbox weeks >out 2>err
is "$?: $(cat err)" "0: gpuledger: sent 2 messages; already sent: 0, failed: 0, without an address: 0" \
    "it is sent"
parse weeks | cut -d '|' -f 5,6,9 >out
is "$(cat out)" " <lin@example.org>|GPU week of 12 Oct 2026 for language|week-2026-10-12-language.csv
 <ada@example.org>|GPU week of 12 Oct 2026 for vision|week-2026-10-12-vision.csv" "with its subject and file"

# of FILE LINE FIELD: a figure of the attachment
of () { awk -F , -v line="$2" -v field="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $2 == line { print $(at[field]) }' "$1"; }
# report NAME TEAM START END FIELD: the sum of it
report ()
{
    lab report "$1" -S "$3" -E "$4" --team "$2" --by pool -n -P -o "$5" 2>/dev/null |
        awk '$1 != "" { s += $1; known = 1 } END { if (known) printf "%.2f\n", s }'
}
rounded () { awk 'NF { printf "%.2f\n", $1 }'; }
number=0 measured=0
for team in language vision; do
    number=$((number + 1))
    while read -r line start end; do
        title=$(echo "$line" | tr _ ' ')
        is "$(of parts/$number.csv "$title" spent)" "$(report chargeback $team "$start" "$end" charge | grep . || echo 0.00)" \
            "$team: $title: spent is what was charged"
        is "$(of parts/$number.csv "$title" gpu_hours | rounded)" "$(report usage $team "$start" "$end" gpu_hours)" \
            "$team: $title: GPU hours are those of report usage"
        idle=$(of parts/$number.csv "$title" idle_gpu_hours | rounded)
        is "$idle" "$(report usage $team "$start" "$end" idle_gpu_hours)" "$team: $title: so are idle ones"
        [ -z "$idle" ] || [ "$idle" = 0.00 ] || measured=$((measured + 1))
    done <<END
This_week 2026-10-12 2026-10-19
The_week_before 2026-10-05 2026-10-12
Month_to_date 2026-10-01 2026-10-19
END
done
test $measured -eq 2
result $? "some of it is measured"
# idle time: its hours x what an hour of the same pool, QOS and slice is listed at on the statements
for team in language vision '(none)'; do
    lab statement "$team" --month 2026-10 -n -P -o section,pool,qos,profile,gpu_hours,list 2>/dev/null
done | awk -F '|' '$1 == "charges" && $6 != "" {
        alike = $2 "|" $3 "|" ($4 ? $4 : "(none)"); hours[alike] += $5; list[alike] += $6
    } END { for (alike in hours) print alike "|" list[alike] / hours[alike] }' >prices
for team in language vision; do
    wanted=$(lab report usage -S 2026-10-05 -E 2026-10-12 --team $team --by pool,qos,profile \
        -n -P -o pool,qos,profile,idle_gpu_hours 2>/dev/null |
        awk -F '|' 'NR == FNR { price[$1 FS $2 FS $3] = $4; next } { sum += $4 * price[$1 FS $2 FS $3] }
            END { printf "%.1f\n", sum }' prices -)
    [ $team = language ] && file=parts/1.csv || file=parts/2.csv
    got=$(of "$file" "The week before" idle | awk '{ printf "%.1f\n", $1 }')
    is "${got:-0.0}" "$wanted" "$team: idle in money is idle hours at their list price"
done
# without costs and rates nothing has a price, and no idle time an amount of 0
{ sed '/^assets:/,$d; /^policy:/d' money.yaml; echo 'mail: {from: billing@hpc.example.org}'; } >bare.yaml
"$fill" sqlite:bare.db || exit 1
"$program" --config bare.yaml --store sqlite:bare.db mail weekly --week 2026-10-12 --mbox bare >out 2>err
mkdir bare_parts && python3 "$abs_top_srcdir/tests/mail/parse.py" bare bare_parts >out
for title in "The week before" "Month to date"; do
    is "$(of bare_parts/2.csv "$title" idle_gpu_hours) $(of bare_parts/2.csv "$title" idle)" "$(of parts/2.csv "$title" idle_gpu_hours) " \
        "$title: idle hours without a price have no amount"
done
is "$(of parts/1.csv language-month spent)" "$(lab budget language-month --as-of 2026-10-19 -n -P -o spent 2>/dev/null)" \
    "a budget is as of the end of the week"
lab mail weekly --week 2026-10-14 --mbox weeks >out 2>err
is "$?: $(tail -n 1 err)" "0: gpuledger: sent 0 messages; already sent: 2, failed: 0, without an address: 0" "once"
lab mail weekly vision --week 2026-10-21 --dry-run --mbox - >one 2>err
parse one | cut -d '|' -f 6 >out
is "$(cat out)" "GPU week of 19 Oct 2026 for vision" "of one team, and the week of a day"
lab mail weekly --week 2026-11-03 >out 2>err
is $? 1 "a week that is not over is not sent"

# --- months -----------------------------------------------------------------
lab mail monthly --month 2026-10 >out 2>err
is $? 1 "nor is a month that is not closed"
lab mail monthly --month 2026-10 --draft --mbox draft >out 2>err
is "$?: $(parse draft | cut -d '|' -f 6)" "0: GPU summary of October 2026 (provisional)" "unless a draft is asked for"
for month in 2026-08 2026-09 2026-10; do
    lab close --month $month --accept 'a test' >out 2>err
done
lab mail monthly --month 2026-10 --mbox month >out 2>err
result $? "the month is sent when it is closed"
rm -f parts/*
parse month | cut -d '|' -f 5,6,9 >out
is "$(cat out)" "Dean <dean@example.org>;  <cio@example.org>|GPU summary of October 2026|summary-2026-10.csv" \
    "to whom the configuration says"
lab report summary --month 2026-10 >wanted.txt 2>err
lab report summary --month 2026-10 --html >wanted.html 2>err
lab report summary --month 2026-10 --csv >wanted.csv 2>err
cmp wanted.txt parts/1.txt && cmp wanted.html parts/1.html && cmp wanted.csv parts/1.csv
result $? "and is what report summary prints"
lab mail monthly --month 2026-10 --mbox month >out 2>err
is "$?: $(grep -c '^From ' month)" "0: 1" "once"
"$program" --config nobody.yaml --store sqlite:lab.db mail monthly --month 2026-10 --mbox month >out 2>err
is "$?: $(grep -c 'nobody receives it: give .mail: {monthly: ADDRESS}. in nobody.yaml' err)" "3: 1" "without addresses: exit 3"
lab mail sent -n -P -o kind,period,name,state,recipients >out 2>err
is "$(cat out)" "weekly|2026-10-12|language|sent|lin@example.org
weekly|2026-10-12|vision|sent|ada@example.org
draft|2026-10||sent|Dean <dean@example.org>, cio@example.org
monthly|2026-10||sent|Dean <dean@example.org>, cio@example.org" "all of it is listed"

# --- wrong use --------------------------------------------------------------
for wrong in '' daily 'monthly vision' 'sent --again' 'weekly --month 2026-10' 'monthly --week 2026-10-05' \
    'weekly a b' 'weekly --week x' 'weekly --draft' 'weekly --mbox='; do
    # shellcheck disable=SC2086 # words
    lab mail $wrong >out 2>err
    is $? 2 "mail $wrong: wrong use"
done
lab mail statement >out 2>err
grep -q "run 'gpuledger statement --all --mail'" err
result $? "mail statement: says how"

# --- doctor
# health CONFIGURATION
health () { "$program" --config "$1" --store sqlite:lab.db doctor -n -P -o name,state,message 2>err | sed -n 's/^host.mail|//p'; }
printf '#!/bin/sh\ncat >/dev/null\n' >agent && chmod +x agent
sed "s|^mail: {|&sendmail: $work/agent, |" money.yaml >sends.yaml
is "$(health sends.yaml)" "ok|$work/agent; 2 of 2 teams have an address; mail.monthly has 2" "doctor: mail can be sent"
chmod -x agent
is "$(health sends.yaml)" "fail|mail.sendmail $work/agent: Permission denied" "a program that cannot be run"
rm agent
is "$(health sends.yaml)" "fail|mail.sendmail $work/agent: No such file or directory" "one that is not there"
touch agent && chmod +x agent && sed 's/email: lin@example.org, //' sends.yaml >silent.yaml
is "$(health silent.yaml)" "warn|$work/agent; 1 of 2 teams have an address, not language; mail.monthly has 2" "a team without an address"
sed '/^mail:/d' sends.yaml >none.yaml
is "$(health none.yaml)" "skipped|mail.from is not set" "a site without mail"

echo "1..$tests"
exit $failed
