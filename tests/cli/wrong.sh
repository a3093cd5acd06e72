#!/bin/sh
# Wrong use, one after the other: what is said is one line with the value and what to do
# (and the way to the help of wrong words), the status is 1 or 2, nothing is printed,
# and the ledger is what it was.
command -v sqlite3 >/dev/null || { echo '1..0 # SKIP because sqlite3 is not installed'; exit 0; }
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
trap 'umount "$work/full" 2>/dev/null; rm -rf "$work"' EXIT

gl () { "$program" --config site.yaml --store sqlite:ledger.db "$@"; }

# what is kept: every row of what is closed and decided, and every fact
state () { sqlite3 ledger.db "ATTACH 'ledger.db-ledger' AS l" 'SELECT count(*), max(hash) FROM chain; SELECT count(*) FROM segment; SELECT count(*) FROM retag'; }

# wrong STATUS TEXT VERB...: TEXT is in the line
wrong ()
{
    status=$1 text=$2
    shift 2
    gl "$@" >"$work/out" 2>"$work/err" </dev/null
    rc=$?
    said=$(grep -vc "^Try 'gpuledger .*--help'.\$" "$work/err")
    [ $rc -eq "$status" ] && [ "$said" -eq 1 ] && grep -qF -e "$text" "$work/err" &&
        grep -q '^gpuledger: ' "$work/err" && test ! -s "$work/out"
    result $? "$*"
}

cd "$work" || exit 1
cp "$abs_top_srcdir"/contrib/examples/month/* . && chmod u+w ./*
{
    gl init && gl import --cluster lab --force --as-of 2026-11-05T05:00:00Z jobs.json
    gl close --month 2026-09 --accept 'a test'
    gl close --month 2026-10 --accept 'a test'
} >"$work/err" 2>&1
[ $? -eq 3 ]
result $? "a ledger with two closed months"
sed '/^budgets:/a\  - {name: past, team: vision, amount: 1, to: 2026-01-01}' site.yaml >past.yaml
state >"$work/before"

# months
wrong 2 "'2026-13' is not a month; write e.g. 2026-10" close --month 2026-13
wrong 2 "'october' is not a month" report chargeback --month october
wrong 2 "'Last' is not a month; write e.g. 2026-10, 2026-05..2026-10, last, or -3" report usage --month Last
wrong 2 "'-0' is not a number of months; write e.g. -3" report usage --month -0
wrong 2 "700 months reach back before 1970; give fewer" report usage --month=-700
wrong 2 "'2026-05..' is not a range of months; write e.g. 2026-05..2026-10" report usage --month 2026-05..
wrong 2 "'2026-10..2026-09' ends before it begins" report usage --month 2026-10..2026-09
wrong 2 "a statement covers one month, but '-2' is several: run it once for each" statement vision --month -2
wrong 2 "'last' is not the name of one month; write e.g. 2026-10" close --month last
wrong 2 "'2026-09..2026-10' is not the name of one month" reopen --month 2026-09..2026-10 --approval 'the dean'
wrong 2 "--for: '-2' is not the name of one month" credit --for -2 vision 1 reason
wrong 2 'give --month or --list, not both' close --month 2026-11 --list
wrong 2 'give --month or --list' close
wrong 2 "unexpected argument 'now'" close --month 2026-11 now
wrong 2 'give one of them' close --month 2026-11 --check --accept 'why not'
wrong 2 '--accept needs a reason' close --month 2026-11 --accept ''
wrong 1 '2026-10 is already closed: version 1' close --month 2026-10 --accept again
wrong 2 '--month cannot be combined with -S and -E' report usage --month 2026-10 -S 2026-10-01
wrong 2 'the period ends before it begins' report usage -S 2026-10-05 -E 2026-10-01
wrong 2 "'soon' is not a time" report usage -S soon
wrong 1 'needs months that are over' report chargeback --month 2026-11 --journal
wrong 1 'needs months that are over' whatif new-rates.yaml --month 2026-11
wrong 1 'reopen 2026-10 first' reopen --month 2026-09 --approval 'the dean'
wrong 1 '2026-11 is not closed' reopen --month 2026-11 --approval 'the dean'
wrong 2 'give --month, and --approval' reopen --month 2026-10
wrong 1 'is later than 2026-11, the open month' correct --for 2027-01 vision 1 later
wrong 1 'facts are known up to 2026-11-05' budget --as-of 2030-01-01
wrong 1 'nothing is known of 2027-03 yet: the facts end at 2026-11-05' statement vision --month 2027-03

# rows
wrong 2 "--sort: report chargeback has no field 'chagre'; did you mean 'charge'?" report chargeback --sort -chagre
wrong 2 "--sort: report usage has no field ''; its fields are: account jobs" report usage --sort account,
wrong 2 "'0' is not a number of rows; write e.g. --limit 10" report usage --limit 0
wrong 2 "'-3' is not a number of rows; write e.g. --limit 10" statement vision --limit -3
wrong 2 '--journal is a format of its own' report chargeback --journal --sort -charge

# names
known='there are: vision, language, spin-off, (none)'
wrong 1 "there is no team 'nobody'; $known" statement nobody --month 2026-10
wrong 1 "there is no team 'nobody'; $known" report chargeback --month 2026-10 --team nobody
wrong 1 "there is no team 'nobody'; $known" report usage --team vision,nobody
wrong 1 "there is no team 'nobody'; $known" correct nobody 1 reason
wrong 1 "there is no team 'nobody'; $known" credit nobody 1 reason
pools='There are: h100, slices, (none)'
wrong 1 "there is no pool 'h200'; did you mean 'h100'? $pools" report chargeback --month 2026-10 --pool h200
wrong 1 "there is no pool 'h200'; did you mean 'h100'? $pools" report plan --pool h200
wrong 1 "there is no pool 'h200'; did you mean 'h100'? There are: h100, slices" credit --pool h200 vision 1 reason
wrong 1 "there is no cluster 'moon'; there are: lab" report usage --month 2026-10 -M moon
wrong 1 "there is no cluster 'moon'; there are: lab" report chargeback -M lab,moon
wrong 2 "--for: '2026-13' is not a month; write e.g. 2026-10" credit --for 2026-13 vision 1 reason
wrong 2 "--for: '2026-13' is not a month; write e.g. 2026-10" correct --for 2026-13 vision 1 reason
wrong 1 "there is no pool 'h200'; did you mean 'h100'? There are: h100, slices" correct --pool h200 vision 1 reason
wrong 1 "there is no pool '(none)'; there are: h100, slices" credit --pool '(none)' vision 1 reason
wrong 1 "there is no budget 'nobody' in force; there are: vision, corpus" budget nobody
wrong 1 "has no price 'moon' for the GPUs of pool 'h100'; it has: reserved-3y" report breakeven --against moon
wrong 2 "cannot group by 'colour'; the keys are: cluster team" report usage --by colour
wrong 2 "'team' is given twice" report usage --by team,team
wrong 2 "no field 'colour'" report usage -o colour
wrong 2 "unknown job state 'SLEEPING'; write sacct's words" report usage -s sleeping
wrong 2 "unknown report 'money'; the reports are: usage" report money
wrong 2 "unknown verb 'invoice'" invoice
# what may have been meant
wrong 2 "unknown verb 'reprot'; did you mean 'report'?" reprot
wrong 2 "unknown verb 'clsoe'; did you mean 'close'?" help clsoe
wrong 2 "help takes one verb" help report close
wrong 2 "unknown report 'chargebak'; did you mean 'chargeback'?" report chargebak
wrong 2 "unknown option '--moth'; did you mean --month?" report usage --moth 2026-10
wrong 2 "unknown option '--moth'; did you mean --month?" report usage --moth=2026-10
wrong 2 "ambiguous option '--st'; it may be: --starttime, --state, --store, --strict" report usage --st 2026-10
wrong 2 "cannot group by 'tem'; did you mean 'team'?" report usage --by user,tem
wrong 2 "has no field 'gpu_hour'; did you mean 'gpu_hours'?" report usage -o gpu_hour
wrong 1 "there is no budget 'visoin' in force; did you mean 'vision'?" budget visoin
wrong 1 "there is no budget 'Vision' in force; did you mean 'vision'?" budget Vision
wrong 2 "unknown report 'Chargeback'; did you mean 'chargeback'?" report Chargeback
wrong 1 "there is no team 'VISION'; did you mean 'vision'?" report usage --team VISION
wrong 2 "unknown option '--Month'; did you mean --month?" report usage --Month 2026-10
wrong 1 "budget 'past' is not in force at 2026-11-05T00:00:00-05:00: give --as-of, or look at its 'from'" --config past.yaml budget past
wrong 2 'cannot be combined' statement vision --csv --json
wrong 2 '--journal is a format of its own' report chargeback --journal --team vision
wrong 2 'unknown FOCUS version 2.0' report chargeback --focus=2.0
wrong 1 'the store has no job 99' explain 99
wrong 1 "unknown project 'x'; yours are: segmentation" tag 4711 x
wrong 1 "'bad tag' is not a project: 1-64 characters" tag 4711 'bad tag'
wrong 1 "labels: 'foo': a pair has no '='" tag 4711 alpha --label foo
wrong 1 "no pool has GPUs of type 'b200'" price --gres=gpu:b200:1
wrong 1 "meter 'rack-2' is not in \`meters\`" import --meter rack-2 rack-1.csv
wrong 1 'cannot open october.txt' import october.txt

# names of accounts and users that no job has: a new one is no error
unknown_name ()
{
    gl --strict report chargeback --month 2026-10 "$1" "$2" --csv >"$work/out" 2>"$work/err"
    [ $? -eq 3 ] && grep -qF -e "warning: $3" "$work/err"
    result $? "report chargeback $1 $2"
}
unknown_name -A vison "no job of the ledger has the account 'vison'; did you mean 'vision'?"
unknown_name -u ann,nobody "no job of the ledger has the user 'nobody'"
gl report chargeback --month 2026-10 -A vision,'(none)' -u ann --csv 2>"$work/err" >"$work/out"
[ $? -eq 0 ] && ! grep -q 'no job of the ledger' "$work/err"
result $? 'names that jobs have, and the word for none'

# amounts
wrong 2 'write -- before a value that begins with -' correct vision -12.50 'paid twice'
wrong 1 "'1e5' is not a number" correct vision 1e5 reason
wrong 1 "'12,50' is not a number" correct vision 12,50 reason
wrong 1 'more than the 2 decimals' correct vision 0.001 reason
wrong 1 "'-5' is not a positive amount" credit -- vision -5 reason
wrong 1 'with corrections and credits' credit --for 2026-10 vision 99999999 all
wrong 1 'correct other months with --for' correct --for 2026-10 vision 100000000000000000000 slip
wrong 2 'give a team, an amount and a reason' correct vision 12 ''
wrong 2 'must not be negative' report recharge --pool h100 --next-cost -5 --next-hours 1
wrong 2 'must be positive' report recharge --pool h100 --next-cost 5 --next-hours 0
wrong 1 "'abc' is not a published figure" report breakeven --printed abc

# disputes and hashes
wrong 1 'write its month and number, e.g. 2026-10/17' dispute raise 2026-10 reason
wrong 1 '2026-10 has 21 rows' dispute raise 2026-10/99 reason
wrong 1 '2026-11 is not closed' dispute raise 2026-11/1 reason
wrong 1 'gpuledger dispute list names them' dispute uphold 7 reason
wrong 2 '64 hexadecimal digits' verify --head abc

# configurations: file and line, key, value
configured ()
{
    text=$1
    cp site.yaml kept.yaml
    cat >>site.yaml
    wrong 1 "$text" report chargeback --month 2026-10
    mv kept.yaml site.yaml
}
lines=$(($(wc -l <site.yaml) + 1))
configured "key 'taxes' is given twice" <<'STOP'
taxes: [{name: GST, percent: "10%"}]
STOP
configured "site.yaml:$lines: unknown key 'ammount' in \`networks\`" <<'STOP'
networks: [{ammount: 5}]
STOP
swap ()
{
    text=$1
    cp site.yaml kept.yaml
    sed -i "$2" site.yaml
    wrong 1 "$text" report chargeback --month 2026-10
    mv kept.yaml site.yaml
}
swap "'25' is that many times the whole; write '25%'" 's/percent: "25%"/percent: 25/'
swap "'26' is that many times the whole; write '26%'" 's/overhead: 26%/overhead: 26/'
swap "account 'nlp' belongs to two teams" 's/accounts: \[deepstart\]/accounts: [nlp]/'
swap "is defined twice in \`teams\`" 's/name: language/name: vision/'
swap "'-1' is below 0" 's/price: 425000/price: -1/'
swap "'h200' is not in \`pools\`" 's/dgx-2025, pool: h100/dgx-2025, pool: h200/'
swap "is not a date that exists" 's/in_service: 2025-07-01/in_service: 2025-13-01/'

# stores and disks
wrong 1 "'nonsense' names no database; write sqlite:PATH" --store nonsense report usage
wrong 1 'run gpuledger init' --store sqlite:none.db report usage
gl --store sqlite:empty.db init >"$work/out" 2>&1
wrong 1 "needs months that are over: the store has no facts; fill the store with 'gpuledger sync'" \
    --store sqlite:empty.db report chargeback --month 2026-10 --journal
wrong 1 "the store has no facts; fill" --store sqlite:empty.db whatif site.yaml --month 2026-10
head -c 5000 site.yaml >junk.db
wrong 1 'file is not a database' --store sqlite:junk.db report usage
wrong 1 'cannot write /nonexistent/page: No such file' statement vision --month 2026-10 --output /nonexistent/page
if [ -w /dev/full ]; then
    gl report chargeback --month 2026-10 --focus 2>"$work/err" >/dev/full
    [ $? -eq 1 ] && grep -q 'cannot write the output: No space left on device' "$work/err" &&
        [ "$(wc -l <"$work/err")" -eq 1 ]
    result $? "output to a full disk"
fi
if [ "$(id -u)" -eq 0 ]; then
    chmod 755 "$work" && chmod 600 ledger.db
    setpriv --reuid daemon --clear-groups "$program" --config "$work/site.yaml" \
        --store "sqlite:$work/ledger.db" report usage >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && grep -q 'cannot open .*ledger.db: Permission denied' "$work/err"
    result $? "a store that one may not read"
fi
if [ "$(id -u)" -eq 0 ] && mkdir full && mount -t tmpfs -o size=1m none full 2>/dev/null; then
    cp ledger.db ledger.db-ledger full/
    head -c 2000000 /dev/zero >full/fill 2>/dev/null
    gl --store sqlite:full/ledger.db import --cluster lab late.json >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && grep -q 'make room on that file system, nothing was written' "$work/err"
    result $? "a full disk: the store says so"
    gl statement vision --month 2026-10 --html --output full/page >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && grep -q 'cannot write full/page: No space left' "$work/err" &&
        [ "$(find full -name 'page*' | wc -l)" -eq 0 ]
    result $? "and a page is not half there"
    rm full/fill
    gl --store sqlite:full/ledger.db verify >"$work/out" 2>"$work/err"
    result $? "with room again the ledger is whole"
    umount full
fi

state >"$work/after"
cmp -s "$work/before" "$work/after"
result $? "nothing of it has changed the ledger"

echo "1..$tests"
exit $failed
