#!/bin/bash
# What this release of slurmdbd writes, read by the ledger: a cluster runs jobs
# of every kind, nodes fail, a reservation and an account are removed; then each
# segment, event, reservation and account in the store is compared, field by
# field, with what this release's own sacct and sacctmgr say, and with what an
# import of sacct's text and JSON makes of them.
#
# With GL_VERSIONS_KEEP=DIR what was seen is kept there, for tests/sync/versions.sh.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2119,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"
# shellcheck source=tests/support/versions.sh
. "$abs_top_srcdir/tests/support/versions.sh"

need_built sacct-ext/gpuledger tests/store/dump
# so that row ids do not fit 63 bits
cluster_up --plugin none --cluster-id 3777
export SBATCH_OUTPUT=$GL_SANDBOX_WORK/%j.out
release=$(slurm_release)

query ()
{
    mariadb --defaults-file="$GL_SANDBOX_DB_OPTION_FILE" -N \
        -h "$GL_SANDBOX_DB_HOST" -P "$GL_SANDBOX_DB_PORT" \
        -u "$GL_SANDBOX_DB_USER" "$GL_SANDBOX_DB_NAME" -e "$1"
}
# submit USER OPTION...: its id
submit ()
{
    local user=$1
    shift
    as "$user" sbatch --parsable "$@"
}
ended () { ! squeue -h -j "$1" 2>/dev/null | grep -q .; }
runs () { in_state "$1" RUNNING; }

# -------------------------------------------------------- what ends by itself

sacctmgr -iQ add account closed parent=bio cluster="$GL_SANDBOX_CLUSTER"
sacctmgr -iQ add user games account=closed cluster="$GL_SANDBOX_CLUSTER"
sacctmgr -iQ add qos urgent
sacctmgr -iQ modify user news set qos+=urgent

submit games -J typed --gres=gpu:h100:2 -t 1:00:00 --wrap='sleep 1' >/dev/null
submit lp -J untyped -w m1 --gres=gpu:5 --wrap='sleep 1' >/dev/null
submit news -J array -a 1-3 --gres=gpu:h100:1 --wrap='sleep 2' >/dev/null
submit daemon -J het --gres=gpu:h100:1 : --gres=gpu:h100:3 \
    --wrap='sleep 2' >/dev/null
submit news -J cpu -p cpu --wrap='sleep 1' >/dev/null
submit news -J urgent -q urgent --mem=3000 -c 2 --gpus=h100:1 \
    --wrap='exit 3' >/dev/null
submit lp -J "a'b\"c\\d =1+1,;{}%ü" --gres=gpu:h100:1 --wrap='true' >/dev/null
closed=$(submit games -A closed -J closed --gres=gpu:h100:1 --wrap='sleep 1')
await 60 eval '[ -z "$(squeue -h)" ]'
ok $? "jobs that end by themselves"
sacctmgr -iQ delete user games account=closed
sacctmgr -iQ delete account closed
like "$(sacct -XnP -j "$closed" -o account)" '^closed$' \
    "a job of an account that is deleted"

# ---------------------------------------------------------------- what happens

# requeued, resized, suspended, cancelled while suspended
requeued=$(submit games -J requeued -w g1 --gres=gpu:h100:1 --wrap='sleep 600')
resized=$(submit daemon -J resized -N 2 -w 'g[1-2]' --gres=gpu:h100:1 \
    --wrap='sleep 600')
suspended=$(submit news -J suspended -w g1 --gres=gpu:h100:1 --wrap='sleep 600')
cut=$(submit lp -J cut -w g1 --gres=gpu:h100:1 --wrap='sleep 600')
for job in "$requeued" "$resized" "$suspended" "$cut"; do
    await 30 runs "$job"
done
# 20.11 forgets the start of a job that is requeued before it wrote that down
sleep 3
scontrol suspend "$suspended"
scontrol suspend "$cut"
requeue "$requeued" >/dev/null
scontrol update JobId="$resized" NumNodes=1 >/dev/null 2>&1
await 60 runs "$requeued"
scontrol resume "$suspended"
sleep 1
as daemon scancel "$resized"
scancel "$requeued" "$suspended" "$cut"
for job in "$requeued" "$resized" "$suspended" "$cut"; do
    await 30 ended "$job"
done
sacctmgr -iQ modify job where jobid="$requeued" set admincomment='project=x y'

# never started
never=$(submit games -J never --begin=now+1hour --gres=gpu:h100:1 --wrap=true)
scancel "$never"
held=$(submit games -J held --begin=now+1hour -a 1-4 --gres=gpu:h100:1 --wrap=true)

# a reservation, used, changed, removed
scontrol create reservation ReservationName=class StartTime=now Duration=60 \
    Nodes=g2 Accounts=vision,nlp >/dev/null
job=$(submit games -J reserved --reservation=class --gres=gpu:h100:4 \
    --wrap='sleep 1')
await 30 ended "$job"
scontrol update ReservationName=class Accounts=vision >/dev/null
sleep 1
scontrol delete ReservationName=class
scontrol create reservation ReservationName=upkeep StartTime=now Duration=60 \
    Nodes=m1 Users=root Flags=MAINT,IGNORE_JOBS >/dev/null

# nodes
job=$(submit lp -J failed -w g2 --gres=gpu:h100:2 --no-requeue \
    --wrap='sleep 600')
await 30 runs "$job"
scontrol update NodeName=g2 State=DOWN Reason='bad "PSU", row 3'
await 30 ended "$job"
sleep 1
[ "$(sinfo -hn g2 -o %T)" = idle ] || scontrol update NodeName=g2 State=RESUME
scontrol update NodeName=c1 State=DRAIN Reason='new disk'
await 30 eval '[ "$(sinfo -hn g2 -o %T)" = idle ]'

# what is still there when the ledger looks
open=$(submit daemon -J open -w g1 --gres=gpu:h100:2 --wrap='sleep 600')
frozen=$(submit news -J frozen -w g1 --gres=gpu:h100:1 --wrap='sleep 600')
await 30 runs "$open"
await 30 runs "$frozen"
sleep 1
scontrol suspend "$frozen"
told ()
{
    [ "$(sacct -XnP -j "$open,$frozen" -o state | paste -sd,)" = \
        RUNNING,SUSPENDED ]
}
await 30 told
ok $? "one job runs and one is suspended when the ledger looks"
# slurmctld tells slurmdbd of nodes once a second or so
await 10 eval '[ "$(sacctmgr -nP show event event=node format=nodename |
    grep -c c1)" -eq 1 ]'
sleep 2

# -------------------------------------------------------------------- the ledger

seen=${GL_VERSIONS_KEEP:-$scratch/seen}
versions_record "$seen"
ok $? "this release's own commands answer"
if [ "$release" -ge 2108 ]; then
    versions_record_json "$seen" 2>"$scratch/err" || note "$(cat "$scratch/err")"
fi
as_of=$(query 'SELECT UNIX_TIMESTAMP()')
versions_ledger "sqlite:$scratch/sync.db" init
versions_ledger "sqlite:$scratch/sync.db" sync --cluster "$GL_SANDBOX_CLUSTER" \
    --slurmdb "$GL_SANDBOX_DB_URL" --as-of "@$as_of" >"$scratch/log" 2>&1
ok $? "sync reads the database of $(slurmctld -V)"
note "$(cat "$scratch/log")"
versions_compare "$seen" "sqlite:$scratch/sync.db"
versions_imports "$seen" "$GL_SANDBOX_CLUSTER" "sqlite:$scratch/sync.db" \
    "$scratch" "$as_of"

# ----------------------------------------------------- what makes it worthwhile

cells=$(versions_segments_of_store "sqlite:$scratch/sync.db")
for word in REQUEUED RESIZING NODE_FAIL CANCELLED FAILED RUNNING SUSPENDED \
    PENDING COMPLETED; do
    grep -q "\"$word\"" <<<"$cells"
    ok $? "there is a segment that is $word"
done
is "$(versions_dump "sqlite:$scratch/sync.db" segment |
    versions_pick state cancelled_by | grep CANCELLED | sort -u | paste -sd' ')" \
    '"CANCELLED"|1 "CANCELLED"|2' "jobs were cancelled by their user and by root"
like "$cells" "^$held\|.*\"PENDING\".*\|$held\|-\|" "and waiting array elements"
is "$(versions_dump "sqlite:$scratch/sync.db" suspension | wc -l)" \
    "$(query "SELECT COUNT(*) FROM ${GL_SANDBOX_CLUSTER}_suspend_table")" \
    "each suspension belongs to its segment"
if [ "$release" -ge 2411 ]; then
    is "$(query "SELECT COUNT(*) FROM ${GL_SANDBOX_CLUSTER}_job_table
        WHERE job_db_inx > 9223372036854775807" | awk '{ print ($1 > 20) }')" 1 \
        "row ids are above 2^63"
fi

# again, and after what was open has ended
versions_ledger "sqlite:$scratch/sync.db" sync --cluster "$GL_SANDBOX_CLUSTER" \
    --slurmdb "$GL_SANDBOX_DB_URL" --as-of "@$as_of" >"$scratch/log" 2>&1
is "$(versions_segments_of_store "sqlite:$scratch/sync.db")" "$cells" \
    "sync after sync changes nothing"
if [ -n "${GL_VERSIONS_KEEP:-}" ]; then
    {
        echo "release $(slurmctld -V | cut -d' ' -f2)"
        echo "server $(query 'SELECT VERSION()')"
        echo "as-of $as_of"
    } >"$seen/about"
    versions_record_rows "$seen" "$GL_SANDBOX_CLUSTER" "$GL_SANDBOX_DB_NAME" \
        mariadb-dump --no-defaults --socket="$GL_SANDBOX_DIR/run/mariadb.socket" \
        --user=root
    ok $? "what was seen is kept"
fi
scancel "$open" "$frozen" "$held"
await 60 eval '[ -z "$(squeue -h)" ]'
sleep 2
versions_record "$scratch/later"
versions_ledger "sqlite:$scratch/sync.db" sync --cluster "$GL_SANDBOX_CLUSTER" \
    --slurmdb "$GL_SANDBOX_DB_URL" >"$scratch/log" 2>&1
ok $? "sync reads it again when all has ended"
versions_compare "$scratch/later" "sqlite:$scratch/sync.db"
done_testing
