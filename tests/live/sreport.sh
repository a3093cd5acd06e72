#!/bin/bash
# Against Slurm's own report: real jobs, moved into the past by whole hours,
# rolled up by the real slurmdbd. Where sreport is right, the ledger says the
# same to the second, by account and user, by user and account, and in total.
# Where it is wrong, a case that is named after the trap says what sreport
# prints, what the ledger prints and, from the rows, what is right.
#
# sreport knows no current hour. So that real jobs lie in the past, this test
# moves their rows in the private database; each group by a number of whole
# hours of its own, so that one trap does not spoil another's hour. Rows that no
# job of a minute can make are in sreport_rows.sh.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2119,SC2317
export TZ=UTC
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_built sacct-ext/gpuledger
command -v sreport >/dev/null || skip_all "sreport is not installed"
cluster_up --plugin none
export SBATCH_OUTPUT=/dev/null

sql ()
{
    mariadb --no-defaults --socket="$scratch/cluster/run/mariadb.socket" \
        --user=root -N slurm_acct_db -e "$1" | tr '\t' '|'
}

# Weights that nobody can bill by, on the slices of m1.
scontrol create PartitionName=slim Nodes=m1 MaxTime=INFINITE State=UP \
    TRESBillingWeights=GRES/gpu:1g.10gb=0.142857 || bail_out "no partition slim"

# ------------------------------------------------------------------- the jobs

id_of () { squeue -h -n "$1" -o %i | head -n 1; }
runs () { [ -n "$(squeue -h -n "$1" -t R -o %i)" ]; }
gone () { [ -z "$(squeue -h -n "$1" -o %i)" ]; }

cat >again.sh <<'END'
#!/bin/bash
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && exec sleep 2
sleep 600
END
submit_all ()
{
    as games sbatch -J plain --gres=gpu:h100:2 --wrap='sleep 3'
    as lp sbatch -J untyped -w g2 --gres=gpu:3 --wrap='sleep 4'
    as games sbatch -J array -a 1-3 --gres=gpu:h100:1 --wrap='sleep 2'
    as news sbatch -J het --gres=gpu:h100:1 : --gres=gpu:h100:2 \
        --wrap='sleep 3'
    as news sbatch -J again --gres=gpu:h100:1 again.sh
    as games sbatch -J resized -N 2 --gres=gpu:h100:1 --wrap='sleep 600'
    as daemon sbatch -J cancelled --gres=gpu:h100:1 --wrap='sleep 600'
    as news sbatch -J suspended -c 4 --gres=gpu:h100:3 --wrap='sleep 600'
    as root sbatch -J twice -A vision -w m1 --gres=gpu:h100:1 --wrap='sleep 2'
    as root sbatch -J twice -A nlp -w m1 --gres=gpu:h100:1 --wrap='sleep 3'
    as daemon sbatch -J mixed -w m1 --gres=gpu:1g.10gb:2,gpu:3g.40gb:1 \
        --wrap='sleep 4'
    as daemon sbatch -J weighed -p slim --gres=gpu:1g.10gb:1 --wrap='sleep 3'
    as lp sbatch -J without -p cpu --wrap='sleep 2'
    # finds no room while the others run
    as lp sbatch -J waiting -N 2 --gres=gpu:h100:8 --wrap='sleep 1'
} >/dev/null 2>"$scratch/submit.err"
# All of it within an hour: jobs are moved by whole hours below, and slurmdbd rolls an
# hour up by itself as soon as it is over.
left=$((3600 - $(date +%s) % 3600))
[ $left -gt 180 ] || sleep $left
submit_all
note "$(cat "$scratch/submit.err")"

await 30 runs suspended
sleep 1
scontrol suspend "$(id_of suspended)"
await 30 runs resized
scontrol update JobId="$(id_of resized)" NumNodes=1
await 30 runs again
sleep 1
requeue "$(id_of again)"
scancel "$(id_of cancelled)"
sleep 1
scontrol resume "$(id_of suspended)"
sleep 1
scancel "$(id_of suspended)" "$(id_of resized)"

# One reservation in which a job of the one of its two users runs, and one that
# only begins later but is flexible: its job runs at once, outside the window.
await 60 all_settled
scontrol create reservation ReservationName=class Nodes=m1 Users=lp,news \
    StartTime=now Duration=60 >/dev/null || bail_out "no reservation"
scontrol create reservation ReservationName=later Nodes=g2 Users=lp \
    StartTime=now+1hour Duration=60 Flags=FLEX >/dev/null ||
    bail_out "no flexible reservation"
as lp sbatch -Q -J inside --reservation=class --gres=gpu:h100:2 \
    --wrap='sleep 3'
as lp sbatch -Q -J outside --reservation=later --gres=gpu:h100:2 \
    --wrap='sleep 2'
reserved_ended () { gone inside && gone outside; }
await 30 reserved_ended
# the reservation is held for longer than its job
sleep 2
scontrol delete reservation class
scontrol delete reservation later

await 60 all_settled || bail_out "the jobs do not end"
ok 0 "every job has ended"
note "$(sql "SELECT job_name, id_job, time_eligible, time_start, time_end, state,
    id_resv, tres_alloc FROM sandbox_job_table ORDER BY 2, time_submit")"

# --------------------------------------------------------------- what is asked

ledger_init

# roll_up FROM TO: by slurmdbd, of hours, days and months; epoch seconds.
roll_up ()
{
    sacctmgr -i roll "$(date -d "@$1" +%FT%T)" "$(date -d "@$2" +%FT%T)" \
        >"$scratch/roll.out" 2>&1
}

# asked FROM ARGUMENT...: sreport of one hour, fields by |.
asked ()
{
    local from=$1
    shift
    sreport -nP -t Seconds "$@" start="$(date -d "@$from" +%FT%T)" \
        end="$(date -d "@$((from + 3600))" +%FT%T)" 2>>"$scratch/sreport.err"
}

# told FROM ARGUMENT...: the ledger of the same hour.
told ()
{
    local from=$1
    shift
    ledger report usage -S "@$from" -E "@$((from + 3600))" -P -n "$@" \
        2>>"$scratch/report.err"
}
# of every cell, as sreport splits it; it has a line only where there is usage
ours () { told "$1" --by account,user -o account,user,gres_seconds |
    grep -v '|0$' | sort; }
theirs () { asked "$1" -T gres/gpu cluster AccountUtilizationByUser |
    awk -F '|' '$3 != "" && $6 { print $2 "|" $3 "|" $6 }' | sort; }
their_users () { asked "$1" -T gres/gpu cluster UserUtilizationByAccount |
    awk -F '|' '$6 { print $4 "|" $2 "|" $6 }' | sort; }
of_user () { awk -F '|' -v u="$2" '$2 == u { n += $3 } END { print n + 0 }' \
    <<<"$1"; }
# what sreport says of the cluster: Allocated Down Planned-down Idle Planned
utilization () { asked "$1" -T "$2" cluster Utilization |
    awk -F '|' '{ print $3, $4, $5, $6, $7 }'; }

# The rows' own word: GPU seconds of [FROM, FROM + 1 h), jobs WHERE. No job
# holds anything before it was submitted, whatever a resized one's row says.
row_seconds ()
{
    sql "SELECT COALESCE(SUM((LEAST(time_end, $1 + 3600)
            - GREATEST(time_start, time_submit, $1))
            * REGEXP_SUBSTR(tres_alloc, '(?<=\\\\b1001=)[0-9]+')), 0)
        FROM sandbox_job_table WHERE time_start < $1 + 3600
            AND time_end > GREATEST($1, time_start, time_submit)
            AND tres_alloc LIKE '%1001=%' AND ${2:-1}"
}

# ------------------------------------------------------- trap: the current hour

# If the hour has just turned, there is one job more in the new one.
hour=$(($(date +%s) / 3600 * 3600))
if [ "$(row_seconds $hour)" -eq 0 ]; then
    as games srun --gres=gpu:h100:1 sleep 1
    await 30 all_settled
fi
before=$hour
ledger sync >"$scratch/sync.log" 2>&1
roll_up $((hour - 3600)) "$(date +%s)"
now=$(row_seconds "$before")
[ "$now" -gt 0 ]
ok $? "jobs ran in the current hour"
is "$(theirs "$before")" "" "trap current hour: sreport has nothing of it"
is "$(told "$before" --by cluster -o gres_seconds)" "$now" \
    "trap current hour: the ledger has it as the rows have it, up to as-of"

# ------------------------------------------------------------------ moving rows

# move HOURS WHERE: job rows, and what hangs on them.
move ()
{
    sql "UPDATE sandbox_suspend_table SET time_start = time_start - $1 * 3600,
            time_end = time_end - $1 * 3600 WHERE job_db_inx IN
            (SELECT job_db_inx FROM sandbox_job_table WHERE $2);
        UPDATE sandbox_job_table SET time_submit = time_submit - $1 * 3600,
            time_eligible = time_eligible - $1 * 3600,
            time_start = time_start - $1 * 3600,
            time_end = time_end - $1 * 3600 WHERE $2"
}
resized="job_name = 'resized'" reserved="job_name IN ('inside', 'outside')"
move 48 "NOT ($resized OR $reserved)"
move 44 "$resized"
move 40 "$reserved"
sql "UPDATE sandbox_resv_table SET time_start = time_start - 40 * 3600,
        time_end = time_end - 40 * 3600;
    UPDATE sandbox_event_table SET time_start = time_start - 72 * 3600
        WHERE node_name = ''"

rm "$scratch/ledger.db"
ledger --quiet init
ledger sync >"$scratch/sync.log" 2>&1
ok $? "sync"
first=$(sql "SELECT MIN(time_start) DIV 3600 * 3600 FROM sandbox_job_table
    WHERE time_start > 0")
roll_up "$first" "$before"
ok $? "slurmdbd rolls the hours up"

# hours_of WHERE: those in which such jobs ran; two if the hour turned.
hours_of ()
{
    sql "SELECT DISTINCT (time_start + seq * 3600) DIV 3600 * 3600
        FROM sandbox_job_table, seq_0_to_1 WHERE ($1) AND time_start > 0
        AND (time_start + seq * 3600) DIV 3600 * 3600 < time_end ORDER BY 1"
}
# total NAME WHERE FUNCTION: what a function says of those hours, added up by
# account and user.
total ()
{
    local hour
    for hour in $(hours_of "$1"); do
        "$2" "$hour"
    done | awk -F '|' '{ n[$1 "|" $2] += $3 }
        END { for (key in n) print key "|" n[key] }' | sort
}
# sum WHERE FUNCTION ARGUMENT...: one number a line.
sum ()
{
    local hour where=$1 function=$2
    shift 2
    for hour in $(hours_of "$where"); do
        "$function" "$hour" "$@"
    done | awk '{ n += $1 } END { print n + 0 }'
}

# ----------------------------------------------------- where sreport is right

plain="NOT ($resized OR $reserved)"
wanted=$(total "$plain" ours)
note "$wanted"
[ "$(grep -c . <<<"$wanted")" -eq 6 ]
ok $? "six associations used GPUs"
is "$(total "$plain" theirs)" "$wanted" \
    "by account and user sreport and the ledger agree to the second"
is "$(total "$plain" their_users)" "$wanted" "by user and account, too"
rows=$(sum "$plain" row_seconds)
is "$(sum "$plain" utilization gres/gpu)" "$rows" \
    "sreport's cluster has what the rows have"
is "$(awk -F '|' '{ n += $3 } END { print n }' <<<"$wanted")" "$rows" \
    "and so has the ledger"
for type in h100 1g.10gb 3g.40gb; do
    typed () { told "$1" --by gres_type -o gres_type,gres_seconds |
        awk -F '|' -v type="$type" '$1 == type { print $2 }'; }
    is "$(sum "$plain" utilization gres/gpu:$type)" "$(sum "$plain" typed)" \
        "devices of type $type, too"
done

# --------------------------------------------------------- where it is wrong

# trap NAME THEIRS WRONG OURS RIGHT TEXT: sreport says what the trap makes of
# it, the ledger what is right, and these are not the same.
trap_case ()
{
    note "$1: sreport $2 (by the trap $3), ledger $4, the rows say $5"
    [ "$2" = "$3" ] && [ "$4" = "$5" ] && [ "$2" != "$5" ]
    ok $? "trap $1: $6"
}

row () { sql "SELECT $2 FROM sandbox_job_table WHERE job_name = '$1'"; }
held=$(row suspended 'time_end - time_start')
paused=$(sql "SELECT SUM(s.time_end - s.time_start) FROM sandbox_suspend_table s
    JOIN sandbox_job_table j USING (job_db_inx) WHERE job_name = 'suspended'")
[ "$paused" -gt 0 ]
ok $? "the suspended job was suspended"
cpu_seconds () { asked "$1" -T cpu cluster AccountUtilizationByUser |
    awk -F '|' '$3 == "news" { print $6 }'; }
all_cpu=$(sql "SELECT SUM((time_end - time_start)
        * REGEXP_SUBSTR(tres_alloc, '(?<=^1=)[0-9]+'))
    FROM sandbox_job_table JOIN sandbox_assoc_table USING (id_assoc)
    WHERE user = 'news' AND time_start > 0")
is "$(sum "$plain" cpu_seconds)" $((all_cpu - 4 * paused)) \
    "trap suspended: sreport takes it off the CPUs"
is "$(of_user "$(total "$plain" theirs)" news)" \
    "$(sum "$plain" row_seconds "id_user = $(id -u news)")" \
    "trap suspended: and not off the GPUs, as the ledger"
suspended () { told "$1" -u news --by user -o suspended_gres_seconds; }
is "$(sum "$plain" suspended)" $((3 * paused)) \
    "trap suspended: the ledger shows beside it how much was suspended"
note "of 3 x $held device-seconds, 3 x $paused were suspended"

# hours SEVENTHS: seconds of sevenths of a GPU as hours, rounded as reports do
hours_of_sevenths ()
{
    awk -v p="$1" 'BEGIN {
        n = int (p * 1000000 / 25200)
        rest = p * 1000000 - n * 25200
        if (rest > 12600 || (rest == 12600 && n % 2))
            n++
        printf "%d.%06d\n", n / 1000000, n % 1000000 }'
}
mixed=$(row mixed 'time_end - time_start')
weighed=$(row weighed 'time_end - time_start')
slices=$(sum "$plain" utilization gres/gpu:1g.10gb)
slices=$((slices + $(sum "$plain" utilization gres/gpu:3g.40gb)))
if [ "$(hours_of "$plain" | wc -l)" -eq 1 ]; then
    hour=$(hours_of "$plain")
    trap_case "MIG slices as whole GPUs" $slices $((3 * mixed + weighed)) \
        "$(told "$hour" -u daemon --by gres_type -o gres_type,gpu_hours |
            grep -v h100 | paste -sd' ')" \
        "1g.10gb|$(hours_of_sevenths $((2 * mixed + weighed))) 3g.40gb|$(
            hours_of_sevenths $((3 * mixed)))" \
        "a seventh of a GPU is one GPU to sreport"
else
    note "the hour turned: hours of slices are not compared"
fi
is $slices $((3 * mixed + weighed)) "trap MIG slices: sreport counts each as one"

billed () { asked "$1" -T billing cluster AccountUtilizationByUser |
    awk -F '|' '$3 == "daemon" { print $6 }'; }
unweighed=$(sql "SELECT SUM((time_end - time_start)
        * REGEXP_SUBSTR(tres_alloc, '(?<=\\\\b5=)[0-9]+'))
    FROM sandbox_job_table WHERE id_user = $(id -u daemon)
    AND job_name <> 'weighed'")
is "$(row weighed "tres_alloc NOT LIKE '%5=_%' AND tres_alloc LIKE '%1001=1%'")" \
    1 "trap billing: one device of weight 1/7 is stored as billing nothing"
is "$(sum "$plain" billed)" "$unweighed" \
    "trap billing: and sreport bills nothing for it"
is "$(of_user "$(total "$plain" ours)" daemon)" \
    "$(sum "$plain" row_seconds "id_user = $(id -u daemon)")" \
    "trap billing: the ledger never looks at it"

waited=$(row waiting 'time_end - time_eligible')
[ "$waited" -gt 0 ]
ok $? "a job waited for 16 GPUs"
planned () { utilization "$1" "$2" | cut -d' ' -f5; }
is "$(sum "$plain" planned gres/gpu)" 0 \
    "trap planned: sreport says that nobody waited for a GPU"
[ "$(sum "$plain" planned cpu)" -ge $((2 * waited)) ]
ok $? "trap planned: but for CPUs, as long as that job waited"
idle () { utilization "$1" gres/gpu | cut -d' ' -f4; }
is "$(sum "$plain" idle)" \
    "$(($(hours_of "$plain" | wc -l) * 23 * 3600 - rows))" \
    "trap planned: 16 x $waited GPU-seconds of demand are plain idle"

# 22.05 and earlier give the new row of a resized job the start of the old one.
right=$(sql "SELECT SUM((time_end - GREATEST(time_start, time_submit))
        * REGEXP_SUBSTR(tres_alloc, '(?<=\\\\b1001=)[0-9]+'))
    FROM sandbox_job_table WHERE $resized")
twice=$(sql "SELECT SUM((time_end - time_start)
        * REGEXP_SUBSTR(tres_alloc, '(?<=\\\\b1001=)[0-9]+'))
    FROM sandbox_job_table WHERE $resized")
[ "$(sql "SELECT COUNT(*) FROM sandbox_job_table WHERE $resized")" -eq 2 ]
ok $? "the resized job has two rows"
got=$(of_user "$(total "$resized" theirs)" games)
mine=$(of_user "$(total "$resized" ours)" games)
if [ "$twice" -eq "$right" ]; then
    is "$got $mine" "$right $right" "a resized job is counted once by both"
else
    trap_case resize "$got" "$twice" "$mine" "$right" \
        "sreport counts what was before the resize twice"
fi

# Reservations.
inside=$(row inside '2 * (time_end - time_start)')
outside=$(row outside '2 * (time_end - time_start)')
is "$(of_user "$(total "$reserved" ours)" lp)" $((inside + outside)) \
    "jobs in reservations are jobs to the ledger"
is "$(of_user "$(total "$reserved" theirs)" lp)" $((inside + outside)) \
    "and to sreport, by account: Slurm $(slurm_release) reserves no GPUs"
allocated () { utilization "$1" "$2" | cut -d' ' -f1; }
in_cluster () { told "$1" --by cluster -o gres_seconds; }
trap_case "job in a reservation" "$(sum "$reserved" allocated gres/gpu)" 0 \
    "$(sum "$reserved" in_cluster)" $((inside + outside)) \
    "sreport's cluster has not a second of it, inside the window or outside"
# Of CPUs, which it does reserve, the idle ones are usage of whoever may use
# them.
given () { asked "$1" -T cpu cluster AccountUtilizationByUser |
    awk -F '|' '$3 == "news" { print $6 }'; }
is "$(sql "SELECT COUNT(*) FROM sandbox_job_table WHERE $reserved
    AND id_user = $(id -u news)")" 0 "news ran nothing in the reservation"
[ "$(sum "$reserved" given)" -gt 0 ]
ok $? "trap idle reservation: sreport gives him CPU-seconds nevertheless"
is "$(total "$reserved" ours | grep -c '|news|')" 0 \
    "trap idle reservation: the ledger gives him none"
# The ledger's own word on all of this: each difference has its cause.
ledger report reconcile -S "@$first" -E "@$before" --csv >"$scratch/reconcile" \
    2>>"$scratch/report.err"
is $? 0 "reconcile explains every difference of these hours"
note "$(cat "$scratch/reconcile")"
like "$(cat "$scratch/reconcile")" ',reserved,' "and names the reservation"
note "$(sort -u "$scratch/sreport.err" "$scratch/report.err")"

done_testing
