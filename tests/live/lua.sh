#!/bin/bash
# contrib/job_submit.lua in a real slurmctld: the policy holds against clients
# without the plugin, looks at the account too, and leaves the project in
# admin_comment, in slurmctld and in the database.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2119,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_release 2108 "slurmctld reads job_submit.lua from /etc/slurm only"

need_built plugin/.libs/gpuledger.so tests/live/.libs/forge.so
projects=$scratch/projects
cat >"$projects" <<'END'
alpha  games
folds  account:bio
shared
END
sed "s|projects = \"[^\"]*\"|projects = \"$projects\"|" \
    "$abs_top_srcdir/contrib/job_submit.lua" >"$scratch/job_submit.lua"
grep -q "$projects" "$scratch/job_submit.lua" ||
    bail_out "the allow-list of job_submit.lua cannot be set"

# The plugin itself refuses nothing here.
cluster_up --plugin-args policy=off --job-submit-lua "$scratch/job_submit.lua"
export SBATCH_OUTPUT=$GL_SANDBOX_WORK/%j.out

forger_up

jobs_known () { scontrol -o show job | grep -c '^JobId='; }

# refused TEXT PATTERN USER COMMAND...
refused ()
{
    local text=$1 pattern=$2 user=$3 rc jobs
    shift 3
    jobs=$(jobs_known)
    as "$user" timeout 60 "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    rc=$?
    [ $rc -ne 0 ] && [ $rc -ne 124 ]
    ok $? "$text: refused (exit $rc)"
    like "$(cat "$scratch/err")" "$pattern" "$text: the user learns why"
    is "$(jobs_known)" "$jobs" "$text: no job is made"
}

refused "srun without a tag" 'no project given: .*yours are: alpha, shared' \
    games srun --gres=gpu:h100:1 true
refused "sbatch without a tag" 'no project given: .*yours are: alpha, shared' \
    games sbatch --gpus=1 --wrap=true
refused "salloc without a tag" 'no project given: .*yours are: alpha, shared' \
    games salloc --gpus-per-node=1 true
refused "whole nodes with GPUs without a tag" 'no project given' \
    games sbatch -N1 --exclusive --wrap=true
refused "the second component of a het job without a tag" 'no project given' \
    games sbatch -p cpu -n1 : -p gpu -n1 --gres=gpu:h100:1 --wrap=true
refused "an unknown tag" "unknown project 'nope'; yours are: alpha, shared" \
    games srun --gres=gpu:h100:1 --gpu-project=nope true
refused "another user's tag" "unknown project 'alpha'; yours are: shared" \
    news srun --gres=gpu:h100:1 --gpu-project=alpha true
refused "another account's tag" "unknown project 'folds'; yours are: shared" \
    root srun -A vision --gres=gpu:h100:1 --gpu-project=folds true
# forged TEXT PATTERN PROJECT: by a client without the plugin.
forged ()
{
    refused "$1" "$2" games env SLURM_CONF="$forger/slurm.conf" \
        ${3+FORGED_PROJECT="$3"} srun --gres=gpu:h100:1 true
}
forged "no plugin, no tag" 'no project given'
forged "no plugin, an unknown tag" "unknown project 'nope'" nope
forged "no plugin, a tag of somebody else" "unknown project 'folds'" folds
forged "no plugin, a formula" 'not a project name' "=cmd|' /C'!A0"
forged "no plugin, a newline" 'not a project name' $'alpha\nbeta'
forged "no plugin, 100000 characters" 'not a project name' \
    "$(printf 'a%.0s' {1..100000})"

# What asks for no GPU passes.
for arguments in '-p cpu' '-p gpu' '-p cpu --exclusive' '--gres=gpu:0'; do
    # shellcheck disable=SC2086
    as games timeout 60 srun $arguments true 2>"$scratch/err"
    ok $? "srun $arguments needs no tag"
    is "$(grep gpuledger "$scratch/err")" "" "and nobody is told anything"
done
as games timeout 60 srun --gpu-project=nope true 2>"$scratch/err"
ok $? "a job without GPUs and with an unknown tag passes"
like "$(cat "$scratch/err")" "unknown project 'nope'" "and its user is told"

# comment_of JOBID: in slurmctld.
comment_of ()
{
    scontrol show job "$1" | sed -n 's/ *AdminComment=\(.*[^ ]\) *$/\1/p'
}

# submit USER OPTION...: a job that is held, so that it can be looked at.
submit ()
{
    local user=$1
    shift
    as "$user" sbatch --parsable --hold "$@" --wrap='srun true' \
        2>"$scratch/err" || note "$(cat "$scratch/err")"
}

a=$(submit games --gpu-project=alpha)
is "$(comment_of "$a")" "gpuledger: project=alpha source=option" \
    "a known tag of the user is kept in admin_comment"
b=$(submit games --gpu-project=shared --gpu-label=model-size=7b)
is "$(comment_of "$b")" \
    "gpuledger: project=shared source=option labels=model-size=7b" \
    "and so are labels"
c=$(submit daemon --gpu-project=folds)
is "$(comment_of "$c")" "gpuledger: project=folds source=option" \
    "a tag of the user's default account is accepted"
d=$(submit root -A bio --gpu-project=folds)
is "$(comment_of "$d")" "gpuledger: project=folds source=option" \
    "a tag of the account that was asked for is accepted"
e=$(forge games alpha sbatch --parsable --hold --wrap=true)
like "$(comment_of "$e")" '^gpuledger: project=alpha' \
    "a client without the plugin may name the project"

f=$(as games env SLURM_CONF="$forger/slurm.conf" GPULEDGER_PROJECT=alpha \
    sbatch --parsable --hold --gpus=1 --wrap=true)
is "$(comment_of "$f")" "gpuledger: project=alpha source=environment" \
    "without the plugin the variable in the job's environment names the project"

as games scontrol update JobId="$a" AdminComment=mine 2>"$scratch/err"
ok $(($? == 0)) "the owner cannot change admin_comment"
is "$(comment_of "$a")" "gpuledger: project=alpha source=option" \
    "and it is unchanged"
scontrol update JobId="$d" Account=vision 2>"$scratch/err"
ok $(($? == 0)) "a job does not move to an account that lacks its project"
scontrol update JobId="$b" Account=vision 2>"$scratch/err"
ok $? "a job moves to an account that may use its project"

sacctmgr -i add user games account=bio >/dev/null
as games scontrol update JobId="$a" Account=bio 2>"$scratch/err"
ok $? "its user moves a job to another account with a project of the user"
g=$(submit games -p cpu)
as games scontrol update JobId="$g" Partition=gpu Gres=gpu:h100:4 \
    2>"$scratch/err"
ok $(($? == 0)) "a job without a project is given no GPUs"
unlike "$(scontrol show job "$g")" 'gres/gpu' "and has none"
as games scontrol update JobId="$g" Partition=gpu 2>"$scratch/err"
ok $(($? == 0)) "nor moves to nodes with GPUs, as it may be exclusive"
as games scontrol update JobId="$a" Gres=gpu:h100:4 2>"$scratch/err"
ok $? "a job with a project is given GPUs"
like "$(scontrol show job "$a")" 'gres/gpu=4' "and has them"
scancel "$g"

# They run; what slurmctld held is in the database, and a requeue keeps it.
scontrol release "$a" "$b" "$c" "$d" "$e" "$f"
await 60 all_settled
for job in "$a" "$b" "$c" "$d" "$e" "$f"; do
    is "$(state_of "$job")" COMPLETED "job $job runs, with its step"
    is "$(sacct -XnP -j "$job" -o admincomment)" "$(comment_of "$job")" \
        "the database has its admin_comment"
done
id=$(as games sbatch --parsable --gpu-project=alpha --wrap='sleep 3')
await 20 in_state "$id" RUNNING
requeue "$id"
await 60 all_settled
is "$(sacct -DXnP -j "$id" -o admincomment | uniq -c | tr -s ' ')" \
    " 2 gpuledger: project=alpha source=option" "a requeued job keeps it"

# A fault of ours stops nobody.
rm "$projects"
sleep 11
as games srun --gres=gpu:h100:1 true 2>"$scratch/err"
ok $? "without an allow-list jobs pass"
like "$(grep gpuledger "$GL_SANDBOX_DIR/log/slurmctld.log")" \
    'projects are not checked' "and slurmctld's log says so"
await 20 all_settled
is "$(node_states)" idle "all nodes are idle"

done_testing
