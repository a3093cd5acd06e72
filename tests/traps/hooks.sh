#!/bin/bash
# Traps of prolog and epilog: the packaged slurmstepd calls the hooks of the
# built plugin as slurmd would; no daemon runs.
# shellcheck source=tests/traps/lib.sh disable=SC1091,SC2034,SC2119,SC2154,SC2317
: "${abs_top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${abs_top_builddir:=$PWD}"
. "$abs_top_srcdir/tests/plugin/harness.sh"
. "$abs_top_srcdir/tests/traps/lib.sh"

write_site
project=SPANK__SLURM_SPANK_OPTION_gpuledger_gpu_project

fresh ()
{
    clear_spool
    plugstack required "spool=$spool"
    rm -f "$dir"/ledger.db*
    gl --quiet init
}
# one line in slurmd's log at most, and status 0
harmless () { [ "$rc" -eq 0 ] && [ "$(wc -l <"$dir/log")" -le 1 ]; }
# job ID USER UID: an hour of one GPU, from now on
job ()
{
    local now
    now=$(date +%s)
    printf '%s\n' 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList|UID' \
        "$1|$now|$now|$((now + 3600))|COMPLETED|gres/gpu=1|$2|vision|g1|$3" \
        >"$dir/jobs"
    gl import --force --cluster unit "$dir/jobs" && gl ingest "$spool" || wrong="$wrong
# not taken in: $(tail -n 1 "$dir/err")"
}
told ()
{
    gl report usage -S "$(date -u -d yesterday +%F)" -E "$(date -u \
        -d '2 days' +%F)" --by "$1" -o "$1,gres_seconds" -P -n
}

trap_33_tag_lost ()
{
    local each
    fresh
    hook prolog "$project=alpha" SLURM_JOB_GPUS=0 SLURM_JOB_USER=ann
    hook epilog "$project=alpha"
    job 42 ann 1000
    same "$(told project)" "alpha|3600" "the option reaches the report"
    # by salloc, srun, sbatch, of arrays, het jobs and children: real ones run
    # there, each with a line that says which project it must come out with
    for each in directive srun salloc array het requeue child heir; do
        holds "tests/live/month.sh runs the case $each" grep -Eq \
            "^$each [a-z]+ [a-z]+ [a-z]+$" "$abs_top_srcdir/tests/live/month.sh"
    done
    holds "and it is among the tests" \
        grep -q tests/live/month.sh "$abs_top_srcdir/tests/live.am"
    holds "a client with --export=NONE is tried" grep -qe "--export=NONE" \
        "$abs_top_srcdir/tests/plugin/client.sh" \
        "$abs_top_srcdir/tests/live/month.sh"
    # scrontab, which calls no init_post_opt, is not tried anywhere
}

trap_34_spank_failure_drains_nodes ()
{
    fresh
    plugstack required "spool=$dir/nowhere"
    hook prolog SLURM_JOB_GPUS=0
    holds "prolog without a spool" harmless
    hook epilog
    holds "epilog without a spool" harmless
    plugstack required "spool=$spool" nonsense=1
    hook prolog "$project=$(head -c 100000 /dev/zero | tr '\0' x)"
    holds "prolog with a tag of 100 kB" harmless
    nm -D --defined-only "$plugin" >"$dir/symbols"
    holds "a failing init never drains the node" grep -q \
        slurm_spank_init_failure_mode "$dir/symbols"
}

trap_35_no_shared_state_between_prolog_and_epilog ()
{
    fresh
    hook prolog "$project=alpha" SLURM_JOB_GPUS=0
    holds "what the epilog needs is on the disk" test -e "$spool/state/42.project"
    hook epilog
    same "$(records | cut -d' ' -f1 | sort | paste -sd' ')" "job-end job-start" \
        "one record each, and no other hook was called"
    holds "and nothing is left of it" test ! -e "$spool/state/42.project"
}

trap_47_epilog_with_job_id_only ()
{
    fresh
    hook epilog SLURM_JOBID=77 SLURM_UID=0 SLURM_JOB_GID=0
    same "$(records | grep -c '^job-end .*job_id=77')" 1 "it is recorded"
    same "$(records | grep -c ' uid=')" 0 "without a user: root did not run it"
    job 78 ann 1000
    same "$(told user)" "ann|3600" "nobody is billed for it"
}

trap_48_inherited_tag ()
{
    fresh
    hook prolog "$project=alpha" SPANK_GPULEDGER_SOURCE=inherited \
        SLURM_JOB_GPUS=0 SLURM_JOB_USER=ann
    job 42 ann 1000
    same "$(told project)" "alpha|3600" "it counts"
    gl explain 42 >"$dir/explain"
    holds "and says that it was inherited" \
        grep -q "the job that submitted it" "$dir/explain"
    holds "the guide says so, too" grep -qi inherit \
        "$abs_top_srcdir/docs/guides/researcher.md"
}

run_traps
