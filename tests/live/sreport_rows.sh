#!/bin/bash
# Where sreport is wrong, with rows that no job of a minute can make: the real
# slurmdbd, whose zone is New York, rolls them up. Each case is named after the
# trap and says what sreport prints, what the ledger prints and what is right by
# the arithmetic beside it. Real jobs are in sreport.sh.
# shellcheck disable=SC2154
set -uo pipefail
PATH=$PATH:/usr/sbin:/sbin
: "${abs_top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${abs_top_builddir:=$PWD}"
export TZ=America/New_York
# shellcheck source=tests/support/slurmdb.sh
. "$abs_top_srcdir/tests/support/slurmdb.sh"

missing=$(slurmdb_missing)
[ -n "$missing" ] || missing=$(command -v sreport >/dev/null || echo sreport)
[ -z "$missing" ] || { echo "1..0 # SKIP because $missing is not installed"; exit 0; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/gl-sreport.XXXXXX") || exit 1
trap 'slurmdb_stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
slurmdb_start "$dir" || { echo "Bail out! no private slurmdbd"; exit 1; }
slurmdb_sacctmgr add cluster lab >/dev/null

number=0 failed=0
result ()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        failed=1
    fi
}
is ()
{
    [ "$1" = "$2" ]
    result $? "$3"
    [ "$1" = "$2" ] || printf '# wanted: %s\n# got:    %s\n' "$2" "$1"
}
# wrong_by NAME THEIRS WRONG OURS RIGHT TEXT: sreport says what the trap makes of
# it, the ledger what is right, and these differ.
wrong_by ()
{
    echo "# $1: sreport $2 (by the trap $3), ledger $4, right is $5"
    [ "$2" = "$3" ] && [ "$4" = "$5" ] && [ "$2" != "$5" ]
    result $? "trap $1: $6"
}

sql () { slurmdb_sql -N slurm_acct_db; }
zone=UTC
gl ()
{
    cat >"$dir/site.yaml" <<END
ledger: {timezone: $zone, currency: USD}
clusters: [{name: lab, slurmdb: "$slurmdb_url"}]
END
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$dir/site.yaml" \
        --store "sqlite:$dir/ledger.db" "$@" 2>"$dir/err"
}

# The cases have an hour or a day of their own from here on; 02:00 in New York.
base=$(date -d '2025-10-06 02:00' +%s)
hour=3600 day=86400
sql <<END
SET sql_mode = '';
INSERT INTO tres_table (creation_time, deleted, id, type, name) VALUES
    (1, 0, 1001, 'gres', 'gpu');
INSERT INTO acct_table (creation_time, name, description, organization)
    VALUES (1, 'vision', '', '');
INSERT INTO user_table (creation_time, name) VALUES (1, 'anna'), (1, 'bert');
INSERT INTO lab_event_table (time_start, time_end, node_name, cluster_nodes,
    reason, state, tres) VALUES
    ($((base - day)), 0, '', 'g1', '', 0, '1=64,3=0,1001=8');
END
slurmdb_sacctmgr add account vision cluster=lab >/dev/null 2>&1
slurmdb_sacctmgr add user anna,bert account=vision cluster=lab >/dev/null 2>&1
association () { sql <<<"SELECT id_assoc FROM lab_assoc_table WHERE user = '$1'"; }
anna=$(association anna) bert=$(association bert)
echo "# associations $anna $bert"

# job ID BEGIN SECONDS TRES [ASSIGNMENTS]: of anna, since base
job ()
{
    sql <<END
SET sql_mode = '';
INSERT INTO lab_job_table SET id_job = $1, time_submit = $((base + $2)),
    time_eligible = $((base + $2)), time_start = $((base + $2)),
    time_end = $((base + $2 + $3)), state = 3, tres_alloc = '1=8,4=1,$4',
    job_name = 'train', account = 'vision', id_assoc = $anna, id_user = 1001,
    \`partition\` = 'gpu', id_qos = 1, cpus_req = 8, nodelist = 'g1',
    nodes_alloc = 1, timelimit = 60, het_job_offset = 4294967294;
${5:+UPDATE lab_job_table SET $5 WHERE id_job = $1;}
END
}
stamp () { date -d "@$1" +%FT%T; }
# roll BEGIN SECONDS
roll ()
{
    slurmdb_sacctmgr roll "$(stamp $((base + $1)))" \
        "$(stamp $((base + $1 + $2)))" >"$dir/roll" 2>&1 </dev/null ||
        echo "# roll: $(cat "$dir/roll")"
}
# asked BEGIN SECONDS ARGUMENT...: sreport
asked ()
{
    local from=$((base + $1)) to=$((base + $1 + $2))
    shift 2
    SLURM_CONF=$dir/slurm.conf sreport -nP -t Seconds "$@" \
        start="$(stamp $from)" end="$(stamp $to)"
}
# theirs USER BEGIN SECONDS [TRES]: what sreport gives a user
theirs ()
{
    asked "$2" "$3" -T "${4:-gres/gpu}" cluster AccountUtilizationByUser |
        awk -F '|' -v u="$1" '$3 == u { n = $6 } END { print n + 0 }'
}
cluster () { asked "$1" "$2" -T gres/gpu cluster Utilization | cut -d'|' -f3; }
# ours USER BEGIN SECONDS
ours ()
{
    local n
    n=$(gl report usage -S "@$((base + $2))" -E "@$((base + $2 + $3))" -u "$1" \
        --by user -o gres_seconds -P -n)
    echo "${n:-0}"
}
seen=0
sync ()
{
    seen=$((seen + 1))
    gl sync --cluster lab --full --force --as-of "@$((base + 60 * day + seen))"
}

# ---------------------------------------------------------------- the rows

job 1 0 $hour 1001=8                        # 02:00, oversubscribed
job 2 0 $((hour / 2)) 1001=4
job 3 $((2 * hour)) $((3 * hour)) 3=1000,1001=1 # 04:00 to 07:00, with energy
job 4 $((6 * hour)) $((2 * hour)) 1001=1    # 08:00 to 10:00, later 09:00
job 5 $((10 * hour)) $hour 1001=2 "time_eligible = 0"
job 6 $((12 * hour)) $((hour / 2)) 1001=2 "id_resv = 7" # 14:00, in a reservation
job 7 $((13 * hour)) $((2 * hour)) 1001=2 "id_resv = 8" # outlives its window
sql <<END
SET sql_mode = '';
INSERT INTO lab_resv_table (id_resv, deleted, assoclist, flags, nodelist,
    resv_name, time_start, time_end, tres, unused_wall) VALUES
    (7, 0, ',$anna,$bert,', 0, 'g1', 'class', $((base + 12 * hour)),
        $((base + 13 * hour)), '1=64,1001=8', 0),
    (8, 0, ',$anna,', 0, 'g1', 'lab', $((base + 13 * hour)),
        $((base + 14 * hour)), '1=64,1001=2', 0);
END
# a local day of 25 hours: 2025-11-02
november=$(($(date -d '2025-11-02 00:00' +%s) - base))
job 8 $november $((25 * hour)) 1001=1

gl --quiet init
sync || echo "# $(cat "$dir/err")"
roll 0 $((16 * hour))
roll $((november - day)) $((3 * day + hour))

# ------------------------------------------------------- and what is said

is "$(theirs anna 0 $hour) $(ours anna 0 $hour)" \
    "$((10 * hour)) $((10 * hour))" "two jobs: both say the same of anna"
wrong_by "clamped oversubscription" "$(cluster 0 $hour)" $((8 * hour)) \
    "$(ours anna 0 $hour)" $((8 * hour + 4 * hour / 2)) \
    "sreport cuts what is more than the cluster has, silently"

wrong_by "energy counted per hour" \
    "$(theirs anna $((2 * hour)) $((3 * hour)) energy)" $((3 * 1000)) \
    "$(gl report usage -S "@$((base + 2 * hour))" -E "@$((base + 5 * hour))" \
        -u anna --by user -o gres_seconds,energy_kwh -P -n)" "$((3 * hour))|" \
    "1000 J once, three times by sreport; the ledger reads no energy of Slurm's"

is "$(theirs anna $((7 * hour)) $hour) $(ours anna $((7 * hour)) $hour)" \
    "$hour $hour" "a second hour"
sql <<<"UPDATE lab_job_table SET time_end = time_end - $hour WHERE id_job = 4"
roll $((6 * hour)) $((2 * hour))
sync
is "$(theirs anna $((6 * hour)) $hour) $(ours anna $((6 * hour)) $hour)" \
    "$hour $hour" "the job turns out to be shorter: its first hour"
wrong_by "vanished usage stays" "$(theirs anna $((7 * hour)) $hour)" $hour \
    "$(ours anna $((7 * hour)) $hour)" 0 "the hour that is none any more"

wrong_by "time_eligible = 0 skipped" "$(theirs anna $((10 * hour)) $hour)" 0 \
    "$(ours anna $((10 * hour)) $hour)" $((2 * hour)) \
    "an hour of two GPUs is in no figure of sreport"

# What sreport takes for idle is the time without any job, of all eight GPUs.
given=$((8 * hour / 2 / 2))
wrong_by "idle reservation" "$(theirs anna $((12 * hour)) $hour)" \
    $((2 * hour / 2 + given)) "$(ours anna $((12 * hour)) $hour)" \
    $((2 * hour / 2)) \
    "anna used two GPUs for half an hour and gets half of what was idle"
wrong_by "idle reservation of another" \
    "$(theirs bert $((12 * hour)) $hour)" $given \
    "$(ours bert $((12 * hour)) $hour)" 0 \
    "bert used nothing and gets the other half"

is "$(cluster $((13 * hour)) $hour)" $((2 * hour)) \
    "within its reservation a job is in the cluster's time"
wrong_by "job outside its reservation's window" \
    "$(cluster $((14 * hour)) $hour)" 0 "$(ours anna $((14 * hour)) $hour)" \
    $((2 * hour)) "sreport's cluster does not have it, though its user does"

# The day of slurmdbd's zone. A ledger has the zone that it says.
days ()
{
    gl report usage -S 2025-11-02 -E 2025-11-03 --by day -o gres_seconds -P -n
}
wrong_by "days by the server's midnight" \
    "$(theirs anna $november $((25 * hour)))" $((25 * hour)) "$(days)" \
    $((20 * hour)) "the second of November of a ledger in UTC begins at 20:00"
zone=America/New_York
is "$(days)" $((25 * hour)) "in New York that day has 25 hours, as sreport says"
in_utc () { (export TZ=UTC; theirs "$@"); }
is "$(in_utc anna $((november - 4 * hour)) $day)" $((20 * hour)) \
    "asked from UTC, it answers by the hour"

# The ledger's own word on all of this: each difference has its cause.
zone=UTC
gl report reconcile -S "@$base" -E "@$((base + 16 * hour))" --csv >"$dir/reconcile"
is $? 0 "reconcile explains every difference of these hours"
is "$(awk -F, '$1 == "usage" { print $(NF - 1) }' "$dir/reconcile" | sort -u |
    paste -sd' ')" "clamped eligible_zero reserved reserved_idle vanished" \
    "and names the traps"

echo "1..$number"
exit $failed
