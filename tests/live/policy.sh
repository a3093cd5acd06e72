#!/bin/bash
# policy=require on a real cluster: new allocations that ask for GPUs without a
# valid tag are refused by srun, sbatch and salloc with a message that helps;
# tagged ones, those for CPUs, and whatever runs inside an allocation, run.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2119,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_built plugin/.libs/gpuledger.so tests/plugin/print_records
cat >"$scratch/projects" <<'END'
# projects of the test
alpha games news
beta  games
gamma daemon
END
cluster_up --plugin-args "projects=$scratch/projects policy=require"
export SBATCH_OUTPUT=$GL_SANDBOX_WORK/%j.out

jobs_known () { scontrol -o show job | grep -c '^JobId='; }

# refused TEXT PATTERN COMMAND...: by each of the three, and no job is made.
refused ()
{
    local text=$1 pattern=$2 client rc jobs
    shift 2
    for client in 'srun true' 'sbatch --wrap=true' 'salloc true'; do
        jobs=$(jobs_known)
        # shellcheck disable=SC2086
        as games timeout 60 ${client%% *} --gres=gpu:h100:1 "$@" \
            ${client#* } >"$scratch/out" 2>"$scratch/err" </dev/null
        rc=$?
        [ $rc -ne 0 ] && [ $rc -ne 124 ]
        ok $? "${client%% *} refuses $text (exit $rc)"
        like "$(cat "$scratch/err")" "$pattern" "${client%% *} says why"
        is "$(jobs_known)" "$jobs" "${client%% *} made no job"
    done
}

refused "a missing tag" 'no project given: .*yours are: alpha, beta'
refused "an unknown tag" "unknown project 'delta'; yours are: alpha, beta" \
    --gpu-project=delta
refused "another user's tag" "unknown project 'gamma'; yours are: alpha, beta" \
    --gpu-project=gamma
refused "an empty tag" '[Pp]roject' --gpu-project=
refused "a tag with a slash" 'Invalid --gpu-project argument' \
    --gpu-project=../etc/passwd
refused "a formula" 'Invalid --gpu-project argument' --gpu-project='=1+1'
refused "a tag with a newline" 'Invalid --gpu-project argument' \
    --gpu-project=$'alpha\nbeta'
refused "a tag of 65 characters" 'Invalid --gpu-project argument' \
    --gpu-project="$(printf 'a%.0s' {1..65})"
refused "a label without a value" 'Invalid --gpu-label argument' \
    --gpu-project=alpha --gpu-label=model-size

printf '#!/bin/sh\n#SBATCH --gpu-project=delta --gres=gpu:h100:1\ntrue\n' >unknown.sh
as games sbatch unknown.sh >"$scratch/out" 2>"$scratch/err"
ok $(($? == 0)) "sbatch refuses an unknown tag in a directive"
like "$(cat "$scratch/err")" "unknown project 'delta'; yours are: alpha, beta" \
    "and says why"

# missing TEXT COMMAND...: one submission without a tag, refused.
missing ()
{
    local text=$1 rc jobs
    shift
    jobs=$(jobs_known)
    as games timeout 60 "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    rc=$?
    [ $rc -ne 0 ] && [ $rc -ne 124 ]
    ok $? "refused: $text (exit $rc)"
    like "$(cat "$scratch/err")" 'no project given: .*yours are: alpha, beta' \
        "$text: the client says why"
    is "$(jobs_known)" "$jobs" "$text: no job"
}
printf '#!/bin/sh\n#SBATCH --gpus=1\ntrue\n' >gpu.sh
printf '#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH --gres=gpu:h100:1\ntrue\n' >het.sh
printf '#!/bin/sh\ntrue --gres=gpu:h100:1\n' >cpu.sh
missing "a directive for GPUs" sbatch gpu.sh
missing "SBATCH_GPUS" env SBATCH_GPUS=1 sbatch cpu.sh
missing "the second component of a command line" \
    sbatch -n1 : -n1 --gres=gpu:h100:1 --wrap=true
missing "the second component of a script" sbatch het.sh
missing "the second component of srun" srun -n1 true : -n1 --gres=gpu:h100:1 true

# What asks for no GPUs runs without a tag.
as games sbatch --wait cpu.sh --gpus=1 >/dev/null 2>"$scratch/err"
ok $? "sbatch for CPUs runs without a tag"
unlike "$(cat "$scratch/err")" gpuledger "in silence"
is "$(as games srun id -un 2>&1)" games "srun likewise"
is "$(as games salloc srun id -un 2>/dev/null)" games "salloc likewise"
as games srun -n1 true : -n1 true 2>"$scratch/err"
ok $? "a het job for CPUs likewise"
as games srun --gpu-project=delta true 2>"$scratch/err"
ok $? "an unknown tag does not stop a job for CPUs"
like "$(cat "$scratch/err")" "unknown project 'delta'" "its user is told"
as games sbatch --wait <gpu.sh >/dev/null 2>"$scratch/err"
ok $? "a script from standard input is left to job_submit"

# What is valid runs.
is "$(as games srun --gpu-project=alpha --gres=gpu:h100:1 id -un \
    2>/dev/null)" games "srun runs with a known tag"
is "$(as games salloc --gpu-project=beta --gres=gpu:h100:1 srun id -un \
    2>/dev/null)" games "salloc runs with a known tag, and srun inside it"
as games sbatch --wait --gpu-project=alpha --wrap=true >/dev/null 2>&1
ok $? "sbatch runs with a known tag"
printf '#!/bin/sh\n#SBATCH --gpu-project=beta\nsrun true\n' >known.sh
as games sbatch --wait known.sh >/dev/null 2>&1
ok $? "sbatch runs with a known tag in a directive, and srun inside it"
as news env GPULEDGER_PROJECT=alpha srun true 2>/dev/null
ok $? "srun runs with a known tag from the environment"

# Inside an allocation nobody asks again, and a nested submission inherits.
as games sbatch -Q --gpu-project=alpha --wrap='sleep 30' -J holder
await 20 eval '[ -n "$(squeue -h -n holder -t R -o %i)" ]'
holder=$(squeue -h -n holder -o %i)
as games srun --jobid="$holder" --overlap true 2>"$scratch/err"
ok $? "srun --jobid needs no tag"
scancel "$holder"
as games sbatch --wait --gpu-project=beta \
    --wrap='sbatch --wait --wrap=true' >/dev/null 2>"$scratch/err"
ok $? "a submission inside a job inherits its tag"

await 30 all_settled
is "$(for node in $GL_SANDBOX_NODES; do records "$node"; done |
    grep '^job-start' | grep -o ' project=[a-z]*' | sort | uniq -c |
    tr -s ' ' | sed 's/^ //' | paste -sd,)" \
    "4 project=alpha,4 project=beta,1 project=delta" "the nodes have the tags of all jobs"
is "$(node_states)" idle "all nodes are idle"

done_testing
