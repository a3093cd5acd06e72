# shellcheck shell=sh
# reports.sh: sourced after tap.sh by tests that look at all reports: fixed facts in
# $work, a command for each site (lab, money, ...), and cases, the reports.
golden=$abs_top_srcdir/tests/cli/golden
fox=$abs_top_srcdir/tests/data/slurm/fox_2025-09-26.sacct.gz

# The configuration is named without a directory: its name is part of what
# explain prints.
cp "$golden"/*.yaml "$abs_top_srcdir/contrib/examples/h100-64.yaml" \
    "$abs_top_srcdir/contrib/examples/decisions.yaml" \
    "$abs_top_srcdir/contrib/examples/published_examples.json" "$work" && cd "$work" || exit 1
{ cat money.yaml; cat <<'END'
entitlements:
  - {team: language, pool: slices, gpu_hours: 60, per_gpu_hour: 5.25, unused: carry, to: 2026-10-20}
  - {team: language, pool: slices, gpu_hours: 60, per_gpu_hour: 5.75, unused: carry, from: 2026-10-20}
  - {team: vision, pool: h100, share: 10%, per_month: 2500}
END
} >paid.yaml
"$fill" sqlite:lab.db || exit 1
"$program" --quiet --store sqlite:fox.db init || exit 1
"$program" --quiet --store sqlite:fox.db import --cluster fox \
    --trust-text --tz Europe/Oslo "$fox" || exit 1

lab () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }
funds () { "$program" --quiet --config funds.yaml --store sqlite:lab.db "$@"; }
h100 () { "$program" --quiet --config h100-64.yaml "$@"; }
ask () { "$program" --quiet --config decisions.yaml "$@"; }
money () { "$program" --quiet --config money.yaml --store sqlite:lab.db "$@"; }
paid () { "$program" --quiet --config paid.yaml --store sqlite:lab.db "$@"; }
fox () { "$program" --quiet --store sqlite:fox.db "$@"; }

# One line a file: its name, the store, the arguments.
cases ()
{
    for report in usage chargeback utilization energy breakeven; do
        for format in table parsable2 csv json html; do
            case $format in
            table) option= ;;
            *) option=--$format ;;
            esac
            echo "$report.$format lab report $report $option"
        done
    done
    cat <<END
usage_all_keys.csv lab report usage --by cluster,team,account,user,project,label:experiment,qos,partition,pool,gpu,gres_type,profile,node,state,month,day --csv -S 2026-10-15 -E 2026-10-17
usage_hours.parsable2 lab report usage --by hour,project -P -S 2026-11-01 -E 2026-11-01T06:00
usage_filtered.csv lab report usage -A vision,nlp -u ann,cy --state completed,failed --by account,user,state --csv
usage_nodes.json lab report usage --by node --json
usage_profiles.csv lab report usage --by pool,profile,node --csv
usage_retag.csv lab report usage --by project,user --csv
usage_fields.table lab report usage -o gres_hours,account -n
chargeback_filtered.json lab report chargeback -A vision --by account,project,pool --json
chargeback_split.csv lab report chargeback -S 2026-10-05 -E 2026-11-02T06:00 --by month,account --csv
chargeback_days.csv lab report chargeback --by day,pool --pool slices --csv
idle.table lab report idle
idle.csv lab report idle --by node,day --csv
energy_nodes.csv lab report energy --by node,month --csv -S 2026-10-05 -E 2026-11-01
utilization_nodes.csv lab report utilization --by node,day --csv -S 2026-10-20 -E 2026-10-22
utilization_users.table lab report utilization --by pool,user
breakeven_one.csv lab report breakeven --pool slices --csv
breakeven_h100.table h100 report breakeven --max-age 3y --against aws-p5-3yr --printed 40.5%
breakeven_h100.csv h100 report breakeven --max-age 2y --against aws-p5-2026 --csv
plan.table lab report plan
plan.csv lab report plan --pool h100 --max-age any --against reserved-3y -S 2026-10-05 -E 2026-10-20 --csv
plan.json lab report plan --json
demand.table lab report demand --month 2026-10
demand.csv lab report demand -S 2026-10-10 -E 2026-10-14 --csv
demand.json lab report demand -S 2026-10-10 -E 2026-10-11 --json
demand.html lab report demand --month 2026-10 --html
recharge.table lab report recharge
recharge.csv lab report recharge --csv
recharge_funds.table funds report recharge
recharge_funds.csv funds report recharge --csv
claims.table h100 report breakeven --check published_examples.json
claims.csv h100 report breakeven --check published_examples.json --csv
decide.table ask report decide
decide.csv ask report decide --csv
decide.json ask report decide --json
decide.html ask report decide --html
usage_days.html lab report usage --by day --html
usage_users.html lab report usage --by user,project --html
usage_users.table lab report usage --by user,project
explain_measured.text lab explain 102
explain_retag.text lab explain 105
explain_slices.text lab explain 106
explain_array.json lab explain 200_7 --json
explain_requeue.text lab explain 220
explain_refused.text lab explain 103
explain_unknown.text lab explain 111
explain_no_gpu.text lab explain 240
explain_funds.text funds explain 102
summary.table money report summary --month 2026-10
summary.html money report summary --month 2026-10 --html
summary.csv money report summary --month 2026-10 --csv
statement.table money statement language --month 2026-11
statement.parsable2 money statement language --month 2026-11 -P
statement.csv money statement language --month 2026-11 --csv
statement.json money statement language --month 2026-11 --json
statement.html money statement language --month 2026-11 --html
statement_october.html money statement vision --month 2026-10 --html
statement_none.csv money statement (none) --month 2026-10 --csv
statement_unpriced.table money statement vision --month 2026-10
budget.table money budget
budget.parsable2 money budget -P
budget.csv money budget --csv
budget.json money budget --json
budget.html money budget --html
budget_mail.text money budget --mail
budget_october.csv money budget language-month --as-of 2026-10-29 --window 7 --csv
paid_chargeback.table paid report chargeback --month 2026-10
paid_entitlements.table paid report entitlements
paid_entitlements.csv paid report entitlements --csv
paid_entitlements.json paid report entitlements --json
paid_statement.table paid statement language --month 2026-10
paid_statement.csv paid statement vision --month 2026-10 --csv
paid_statement.html paid statement language --month 2026-10 --html
fox_accounts.csv fox report usage --month 2025-09 --by account --csv
fox_types.json fox report usage --month 2025-09 --by gres_type,state --json
fox_days.table fox report usage --month 2025-09 --by day
fox_utilization.table fox report utilization --month 2025-09
END
}
