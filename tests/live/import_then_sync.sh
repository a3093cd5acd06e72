#!/bin/bash
# The same jobs from two sources, in either order: each segment once. Import of
# sacct's text or JSON and sync from slurmdbd's database lead to the same
# ledger, also for jobs that were still running at the first of the two.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2119,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_built sacct-ext/gpuledger
cluster_up --plugin none
export SBATCH_OUTPUT=$GL_SANDBOX_WORK/%j.out

cat >again.sh <<'END'
#!/bin/bash
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && exec sleep 2
sleep 600
END
as games sbatch -Q --gres=gpu:h100:2 --wrap='sleep 2'
as news sbatch -Q -a 1-3 --gres=gpu:h100:1 --wrap='sleep 2'
as daemon sbatch -Q --gres=gpu:h100:1 : --gres=gpu:h100:3 --wrap='sleep 2'
as lp sbatch -Q -w m1 --gres=gpu:1g.10gb:3,gpu:h100:1 --wrap='sleep 2'
as games sbatch -Q -N 2 --gres=gpu:h100:1 --wrap='sleep 3'
as news sbatch -Q -p cpu --wrap='sleep 1'
again=$(as games sbatch --parsable --gres=gpu:h100:1 again.sh)
long=$(as daemon sbatch --parsable --gres=gpu:h100:4 --wrap='sleep 600')
await 30 in_state "$again" RUNNING
sleep 2
requeue "$again"
only_long ()
{
    [ "$(squeue -h -o %i)" = "$long" ] &&
        [ "$(sacct -aDXnP -S 2000-01-01 -o end | grep -c Unknown)" -eq 1 ]
}
await 60 only_long
ok $? "all jobs but one have ended"

# What sacct tells, in a zone that is not the ledger's, and as JSON.
tell ()
{
    TZ=America/New_York sacct -aDXP -S 2000-01-01 -o ALL >"$scratch/$1.txt"
    sacct -aD -S 2000-01-01 --json >"$scratch/$1.json"
}

# in_ledger NAME VERB...: on a ledger of that name.
in_ledger ()
{
    local name=$1
    shift
    "$abs_top_builddir/sacct-ext/gpuledger" \
        --config "$scratch/gpuledger.yaml" \
        --store "sqlite:$scratch/$name.db" "$@" >>"$scratch/log" 2>&1
}
import_text ()
{
    in_ledger "$1" import --trust-text --cluster sandbox \
        --tz America/New_York "$scratch/$2.txt"
}

ledger_init
ledgers='text-sync json-sync sync-text sync-json sync text json'
for name in $ledgers; do
    in_ledger "$name" init || bail_out "$(cat "$scratch/log")"
done

# While one job still runs ...
tell early
import_text text-sync early && in_ledger sync-text sync &&
    in_ledger json-sync import --cluster sandbox "$scratch/early.json" &&
    in_ledger sync-json sync
ok $? "the first reading, with a running job"
scancel "$long"
await 60 all_settled
ok $? "the last job has ended"
# ... and after all have ended, from the other source.
tell late
in_ledger text-sync sync && in_ledger json-sync sync &&
    import_text sync-text late &&
    in_ledger sync-json import --cluster sandbox "$scratch/late.json"
ok $? "the second reading, from the other source"
in_ledger sync sync && import_text text late &&
    in_ledger json import --cluster sandbox "$scratch/late.json"
ok $? "each source alone"
note "$(cat "$scratch/log")"

# usage NAME: everything that both sources know.
usage ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --config "$scratch/gpuledger.yaml" \
        --store "sqlite:$scratch/$1.db" report usage \
        -S "$(date -u -d yesterday +%F)" \
        --by cluster,account,user,qos,partition,node,gres_type,state --csv \
        -o cluster,account,user,qos,partition,node,gres_type,state,jobs,segments,unknown_jobs,gres_seconds,gres_hours,gpu_hours
}

usage sync >"$scratch/sync.csv" 2>"$scratch/err" || note "$(cat "$scratch/err")"
note "$(cat "$scratch/sync.csv")"
for name in $ledgers; do
    is "$(usage "$name" 2>&1)" "$(cat "$scratch/sync.csv")" \
        "$name: the same usage as from sync alone"
done

# And that usage is what sacct -D says.
total=$(SLURM_TIME_FORMAT=%s sacct -aDXnP -S 2000-01-01 \
    -o start,end,alloctres | awk -F '|' '
        match ($3, /gres\/gpu=[0-9]+/) {
            sum += ($2 - $1) * substr ($3, RSTART + 9, RLENGTH - 9)
        }
        END { print sum }')
is "$(awk -F , 'NR > 1 { sum += $12 } END { print sum }' \
    "$scratch/sync.csv")" "$total" "its total is that of sacct -D"
[ "$total" -gt 40 ]
ok $? "which is not nothing"
like "$(cat "$scratch/sync.csv")" ',REQUEUED,' "and has a requeued segment"

done_testing
