#!/bin/bash
# The plugin in a real cluster: what the nodes recorded of real jobs, what is
# refused at submit, and that no node is ever drained.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_release 2108 "the prolog has no account, and a step shows one type only"

plugin=$abs_top_builddir/plugin/.libs/gpuledger.so
records ()
{
    "$abs_top_builddir/tests/plugin/print_records" "$scratch/cluster/ledger/$1"
}
# of NODE JOB KIND: the records, one a line
of () { records "$1" | grep "^$3 .*job_id=$2 "; }
ended () { [ -n "$(of "$1" "$2" job-end)" ]; }
# The last job's id from the output of sbatch.
submit () { as games sbatch --parsable -o /dev/null "$@" 2>"$scratch/err"; }
# refused TEXT PATTERN COMMAND...
refused ()
{
    local text=$1 pattern=$2 out rc
    shift 2
    out=$("$@" 2>&1 </dev/null)
    rc=$?
    is "$((rc != 0))" 1 "$text: refused"
    like "$out" "$pattern" "$text: says why"
}

printf '%s\n' alpha 'beta games' 'gamma news' 'viz account:vision' \
    >"$scratch/projects"
cluster_up --plugin "$plugin" \
    --plugin-args "projects=$scratch/projects policy=require"
ledger=$scratch/cluster/ledger

# What the agent keeps of prices. The devices are numbered as gres.conf has them;
# that this is so is asked of slurmctld below.
mkdir -m 700 "$ledger/m1/state"
(umask 077
    printf '%s\n' "gpuledger-prices 1" "node m1" "currency EUR" \
        "until $(($(date +%s) + 3600))" "price 5000 1g.10gb" "price 20000 3g.40gb" \
        "price 36000 h100" end >"$ledger/m1/prices"
    printf '%s\n' "gpuledger-devices 1" "0 1g.10gb" "1 1g.10gb" "2 1g.10gb" \
        "3 1g.10gb" "4 3g.40gb" "5 h100" "6 h100" end >"$ledger/m1/state/devices")

# --- a batch job with devices of three types, its steps and its children
cat >mixed.sh <<'END'
#!/bin/sh
#SBATCH --gpu-project=alpha --gpu-label=run=1 -w m1
#SBATCH --gres=gpu:1g.10gb:2,gpu:3g.40gb:1,gpu:h100:1
scontrol -d show job $SLURM_JOB_ID >mixed.scontrol
unset GPULEDGER_PAGER
env | grep ^GPULEDGER_ | sort >mixed.told
srun --gres=gpu:h100:1 sh -c "env | grep ^GPULEDGER_ | sort" >step.told
srun --gres=none sh -c "env | grep ^GPULEDGER_ | sort" >none.told
srun --gres=gpu:h100:1 true
srun --gres=gpu:h100:1 true
srun true
unset SLURM_JOB_GPUS
printf '#!/bin/sh\n#SBATCH --gpu-project=beta -w g1 -o /dev/null\n' |
    sbatch --parsable >directive.id
sbatch --parsable -w g1 -o /dev/null --wrap=true >inherits.id
srun --gres=none sbatch --parsable -w g1 -o /dev/null --wrap=true >step.id
END
chmod 755 mixed.sh
job=$(submit -W mixed.sh)
await 20 ended m1 "$job"
like "$(of m1 "$job" job-start)" \
    'node=m1 .*user=games account=vision partition=gpu .*devices=3 project=alpha project_source=1 labels=run=1 labels_source=1 ' \
    "a mixed job: its start"
is "$(of m1 "$job" job-start | wc -l)" 1 "one job-start"
is "$(of m1 "$job" job-end | wc -l)" 1 "one job-end"
# IDX:0-1 and the like, from slurmctld, against the batch step's list
idx=$(sed -n 's/.*GRES=//p' mixed.scontrol | grep -o 'IDX:[0-9,-]*' |
    sed 's/IDX://' | tr ',' '\n' | while IFS=- read -r from to; do
        [ -n "$from" ] && seq "$from" "${to:-$from}"
    done | sort -n | paste -sd,)
is "$(of m1 "$job" step-devices | grep devices=1 | grep -o ' gpus=[^ ]*')" \
    " gpus=$idx" "the batch step shows all devices that slurmctld gave ($idx)"
is "$(paste -sd' ' mixed.told)" \
    "GPULEDGER_PRICE_CURRENCY=EUR GPULEDGER_PRICE_PER_HOUR=6.60 GPULEDGER_PROJECT=alpha GPULEDGER_PROJECT_JOB=alpha" \
    "the batch step is told its project and the price of its devices"
is "$(paste -sd' ' step.told)" \
    "GPULEDGER_PRICE_CURRENCY=EUR GPULEDGER_PRICE_PER_HOUR=3.60 GPULEDGER_PROJECT=alpha GPULEDGER_PROJECT_JOB=alpha" \
    "a step of srun is told that of its own"
is "$(paste -sd' ' none.told)" "GPULEDGER_PROJECT=alpha GPULEDGER_PROJECT_JOB=alpha" \
    "a step without devices is told no price"
is "$(of m1 "$job" step-devices | grep -c devices=2)" 2 \
    "each new set of a step once: the h100 twice is one record"
await 20 ended g1 "$(cat directive.id)"
await 20 ended g1 "$(cat inherits.id)"
await 20 ended g1 "$(cat step.id)"
like "$(of g1 "$(cat directive.id)" job-start)" 'project=beta project_source=1 ' \
    "a job from inside: its directive wins over the parent's tag"
like "$(of g1 "$(cat inherits.id)" job-start)" \
    'project=alpha project_source=3 labels=run=1 labels_source=3 ' \
    "a job from inside without a tag inherits"
like "$(of g1 "$(cat step.id)" job-start)" 'project=alpha project_source=3 ' \
    "a job from inside a step inherits"

# --- srun and salloc
as games srun --gpu-project=beta -w g2 --gres=gpu:2 sh -c 'echo $SLURM_JOB_ID' \
    >srun.id 2>"$scratch/err"
await 20 ended g2 "$(cat srun.id)"
like "$(of g2 "$(cat srun.id)" job-start)" 'gpus=0,1 .*project=beta project_source=1 ' \
    "srun: tag and devices"
like "$(of g2 "$(cat srun.id)" step-devices)" 'gpus=0,1 devices=2 .*step_id=0 ' \
    "srun: devices of its step"
GPULEDGER_PROJECT=beta as games salloc -w g2 --gres=gpu:1 sh -c \
    'echo $SLURM_JOB_ID; srun true' >salloc.id 2>"$scratch/err"
await 20 ended g2 "$(cat salloc.id)"
like "$(of g2 "$(cat salloc.id)" job-start)" 'project=beta project_source=2 ' \
    "salloc: tag from the environment; srun inside is not asked"

# --- array, het job, two nodes, requeue
job=$(submit --gpu-project=beta -a 1-2 -w g1 --wrap=true)
settled () { [ -z "$(squeue -h)" ]; }
await 30 settled
sleep 1
is "$(records g1 | grep '^job-start' | grep -c "job_id=\($job\|$((job + 1))\) .*project=beta")" 2 \
    "array: each task has the tag"
is "$(records g1 | grep '^job-start' | grep "job_id=\($job\|$((job + 1))\) " |
    grep -v ' gpus=' | grep -c ' devices=1 ')" 2 \
    "and each start says that the task has no GPU"
job=$(submit --gpu-project=beta -w g1 : -w g2 --wrap=true)
await 30 settled
await 10 ended g2 $((job + 1))
like "$(of g1 "$job" job-start)" "het_job_id=$job .*project=beta" \
    "het job: first component"
like "$(of g2 $((job + 1)) job-start)" "het_job_id=$job .*project=beta" \
    "het job: second component"
job=$(submit --gpu-project=beta -N2 -w 'g[1-2]' --gres=gpu:1 --wrap=true)
await 20 ended g1 "$job"
await 20 ended g2 "$job"
is "$(of g1 "$job" job-start | wc -l)$(of g2 "$job" job-start | wc -l)" 11 \
    "two nodes: one job-start on each, also where no step ran"
job=$(submit --gpu-project=beta -w g1 --gres=gpu:1 --wrap='sleep 60')
await 20 in_state "$job" RUNNING
# before its step was there the first attempt would have shown nothing
shown () { [ "$(of g1 "$job" step-devices | wc -l)" = "$1" ]; }
await 20 shown 1
scontrol requeue "$job"
await 20 ended g1 "$job"
# slurmd compares whole seconds: an attempt within the second in which the
# former one was revoked is taken for that one, and its prolog does not run
sleep 2
scontrol release "$job" 2>/dev/null
scontrol update job "$job" StartTime=now 2>/dev/null
started_twice () { [ "$(of g1 "$job" job-start | wc -l)" = 2 ]; }
await 200 started_twice
# the prolog runs before the step that shows the devices
await 20 shown 2
scancel "$job"
ended_twice () { [ "$(of g1 "$job" job-end | wc -l)" = 2 ]; }
await 20 ended_twice
is "$(of g1 "$job" job-start | grep -c project=beta)" 2 \
    "requeue: two starts with the tag"
is "$(of g1 "$job" step-devices | wc -l)" 2 "requeue: devices of each attempt"

# --- what is refused
printf '#!/bin/sh\n' >empty.sh
chmod 755 empty.sh
for program in sbatch srun salloc; do
    refused "$program, missing" 'no project given: .*; yours are: alpha, beta, viz$' \
        as games $program -G1 ./empty.sh
    refused "$program, unknown" "unknown project 'gamma'; yours are: alpha, beta, viz\$" \
        as games $program -G1 --gpu-project=gamma ./empty.sh
    refused "$program, malformed" 'the value is refused' \
        as games $program --gpu-project='=cmd' ./empty.sh
done
job=$(submit --gpu-project=beta -w g1 --wrap='sleep 30')
await 20 in_state "$job" RUNNING
is "$(as games srun --overlap --jobid="$job" echo through 2>&1)" through \
    "srun --jobid needs no tag"
scancel "$job"

# --- a broken spool never stops a job or drains a node
breaks ()
{
    local text=$1 user
    shift
    "$@"
    user=$(as games srun --gpu-project=beta -w c1 -p cpu id -un 2>"$scratch/err")
    is "$user" games "$text: the job runs"
    await 20 settled
}
breaks "spool missing" mv "$ledger/c1" "$ledger/gone"
breaks "spool is a file" touch "$ledger/c1"
rm "$ledger/c1"
breaks "spool of another user" install -d -o games "$ledger/c1"
rm -r "$ledger/c1"
breaks "spool open to all" install -d -m 777 "$ledger/c1"
rm -r "$ledger/c1"
mkdir -m 700 "$ledger/c1"
mount -t tmpfs -o size=4k,mode=700 none "$ledger/c1" && {
    for i in 1 2 3 4 5 6 7 8; do
        as games srun --gpu-project=beta -w c1 -p cpu true 2>/dev/null
    done
    breaks "spool full" true
    umount "$ledger/c1"
}
all_idle () { [ "$(node_states)" = idle ]; }
await 30 all_idle
is "$(node_states)" idle "no node is drained"
unlike "$(cat "$scratch"/cluster/log/slurmd*.log 2>/dev/null)" \
    'failed with rc|Prolog.*error|spank.*failed' "slurmd saw no hook fail"
cd /
"$sandbox" down --dir "$scratch/cluster" >&2

# --- job_submit: what no user can go around
sed "s#/etc/gpuledger/projects#$scratch/projects#" \
    "$abs_top_srcdir/contrib/job_submit.lua" >"$scratch/job_submit.lua"
cluster_up --plugin "$plugin" --plugin-args policy=off \
    --job-submit-lua "$scratch/job_submit.lua"
printf '#!/bin/sh\n' >empty.sh
chmod 755 empty.sh
for program in sbatch srun salloc; do
    refused "job_submit, $program, missing" \
        'no project given: .*; yours are: alpha, gamma' \
        as news $program --gres=gpu:1 ./empty.sh
done
refused "job_submit, by user" "unknown project 'beta'; yours are: alpha, gamma\$" \
    as news sbatch --gres=gpu:1 --gpu-project=beta empty.sh
refused "job_submit, by account" "unknown project 'viz'; yours are: alpha, gamma\$" \
    as news sbatch --gres=gpu:1 --gpu-project=viz empty.sh
job=$(submit --gpu-project=viz --gpu-label=run=7,size=7b empty.sh)
other=$(as lp sbatch --parsable -o /dev/null --gpu-project=alpha empty.sh)
await 30 all_settled
comment_of () { sacct -Xnp -S 2000-01-01 -j "$1" -o admincomment; }
is "$(comment_of "$job")" \
    "gpuledger: project=viz source=option labels=run=7,size=7b|" \
    "job_submit: the account's project passes into admin_comment"
is "$(comment_of "$other")" "gpuledger: project=alpha source=option|" \
    "job_submit: an open project passes into admin_comment"
held=$(submit -H --gpu-project=viz empty.sh)
refused "an admin_comment of the owner's" 'Access/permission denied' \
    as games scontrol update job "$held" AdminComment='gpuledger: project=x'
like "$(scontrol show job "$held")" 'AdminComment=gpuledger: project=viz ' \
    "it stays as job_submit wrote it"
scancel "$held"

done_testing
