#!/bin/bash
# Jobs that are submitted through a real slurmrestd with a token, as Open OnDemand
# and Slinky submit them: no plugin runs, and job_submit.lua finds the project in
# the job's environment, or in its comment where the site says so.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2119,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_release 2205 "its slurmrestd has no openapi/v0.0.38"
for tool in slurmrestd curl jq; do
    command -v $tool >/dev/null || bail_out "$tool is not installed"
done
projects=$scratch/projects
printf 'alpha  games\nfolds  account:bio\n' >"$projects"
sed -e "s|projects = \"[^\"]*\"|projects = \"$projects\"|" \
    -e 's|comment_is_project = false|comment_is_project = true|' \
    "$abs_top_srcdir/contrib/job_submit.lua" >"$scratch/job_submit.lua"
cluster_up --plugin none --rest --job-submit-lua "$scratch/job_submit.lua"

token=$(scontrol token username=games lifespan=3600)
token=${token#*=}

# ask TOKEN PATH [CURL-ARGUMENT]...: what slurmrestd answers
ask ()
{
    local token=$1 path=$2
    shift 2
    curl -sS --max-time 120 --unix-socket "$GL_SANDBOX_REST" \
        -H 'X-SLURM-USER-NAME: games' -H "X-SLURM-USER-TOKEN: $token" \
        -H 'Content-Type: application/json' "$@" \
        "http://localhost/slurm/v0.0.38/$path"
}
# job FILTER...: the description of a job, changed by filters of jq
job ()
{
    local filter all=".current_working_directory = \"$GL_SANDBOX_WORK\""
    for filter; do
        all="$all | $filter"
    done
    jq -n "{name: \"rest\", standard_output: \"/dev/null\",
            standard_error: \"/dev/null\",
            environment: {PATH: \"/usr/bin:/bin\"}} | $all"
}
# submit JOB...: several are the components of a het job; the JobId, or the error
submit ()
{
    local key=job value=$1
    if [ $# -gt 1 ]; then
        key=jobs value=$(printf '%s' "$@" | jq -s .)
    fi
    jq -n --argjson value "$value" \
        "{script: \"#!/bin/sh\\ntrue\\n\", $key: \$value}" |
        ask "$token" job/submit -d @- >"$scratch/answer"
    jq -r 'if .job_id then .job_id
           else .errors[0].error // .errors[0].description end' "$scratch/answer"
}
comment_of ()
{
    scontrol -o show job "$1" | sed -n 's/.* AdminComment=\(gpuledger.*[^ ]\) *$/\1/p' |
        sed 's/ *[A-Z][A-Za-z]*=.*//; s/ *$//'
}
jobs_known () { scontrol -o show job | grep -c '^JobId='; }
# refused TEXT JOB...
refused ()
{
    local text=$1 jobs
    shift
    jobs=$(jobs_known)
    is "$(submit "$@")" "Access/permission denied" "$text: refused"
    is "$(jobs_known)" "$jobs" "$text: no job is made"
}

like "$(ask "$token" ping)" '"ping": "UP"' "slurmrestd answers to a token"
unlike "$(ask "${token}x" ping)" '"ping": "UP"' "and not to a wrong one"

gpus='.gres = "gpu:h100:1"'
tag='.environment.GPULEDGER_PROJECT = "alpha"'

a=$(submit "$(job "$gpus" "$tag" '.environment.GPULEDGER_LABELS = "run=7"')")
is "$(comment_of "$a")" \
    "gpuledger: project=alpha source=environment labels=run=7" \
    "GPULEDGER_PROJECT of the environment is the project"
b=$(submit "$(job '.gpus = "h100:1"' '.comment = "alpha"')")
is "$(comment_of "$b")" "gpuledger: project=alpha source=comment" \
    "so is the comment, where the site says so"
c=$(submit "$(job '.comment = "my third try"')")
is "$(comment_of "$c")" "" "a job without GPUs needs none"
d=$(submit "$(job '.partition = "cpu"')" "$(job "$gpus" "$tag")")
is "$(comment_of "$((d + 1))")" "gpuledger: project=alpha source=environment" \
    "a component of a het job has its own"
refused "GPUs without a project" "$(job "$gpus")"
refused "GPUs of each node without a project" "$(job '.gpus_per_node = "1"')"
refused "a comment that is no project" "$(job "$gpus" '.comment = "my third try"')"
refused "another account's project" \
    "$(job "$gpus" '.environment.GPULEDGER_PROJECT = "folds"')"
refused "a project with control characters" \
    "$(job "$gpus" '.environment.GPULEDGER_PROJECT = "alpha\u001b[31m"')"
refused "a het job of which one component has no project" \
    "$(job "$gpus" "$tag")" "$(job "$gpus")"

await 90 all_settled
for job in "$a" "$b" "$c" "$d"; do
    is "$(state_of "$job" | head -1)" COMPLETED "job $job runs"
done
is "$(sacct -XnP -j "$a" -o admincomment)" "$(comment_of "$a")" \
    "the database has the admin_comment"

# The ledger resolves it.
ledger_init
ledger --quiet sync >"$scratch/out" 2>&1 || note "$(cat "$scratch/out")"
like "$(ledger explain "$a" 2>&1)" 'alpha' "and the ledger has the project"

done_testing
