#!/bin/bash
# What this release of Slurm does where releases differ and where we depend on
# it: hooks, their order and environment, devices of several types, requeue,
# resize, ids and times. Each answer is a line "# seen: WHAT: VALUE", collected
# in docs/guides/slurm-versions.md; what we rely on is also a test.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2119,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_built plugin/.libs/gpuledger.so tests/plugin/print_records \
    sacct-ext/gpuledger \
    tests/live/.libs/trace.so
cluster_up
export SBATCH_OUTPUT=$GL_SANDBOX_WORK/%j.out
trace=$GL_SANDBOX_WORK/trace
release=$(slurm_release)

install -m 666 /dev/null "$trace"
install -m 755 "$abs_top_builddir/tests/live/.libs/trace.so" \
    "$GL_SANDBOX_DIR/lib/trace.so"
for file in "$GL_SANDBOX_DIR"/node/*/plugstack.conf \
    "$GL_SANDBOX_DIR/etc/plugstack.conf"; do
    echo "optional $GL_SANDBOX_DIR/lib/trace.so $trace" >>"$file"
done

seen () { printf '# seen: %s: %s\n' "$1" "$2"; }
settled () { [ -z "$(squeue -h)" ]; }
ended () { [ -n "$(of "$1" "$2" job-end)" ]; }
of () { records "$1" | grep "^$3 .*job_id=$2 "; }
field () { grep -o " $1=[^ ]*" | cut -d= -f2 | paste -sd' '; }
query ()
{
    mariadb --defaults-file="$GL_SANDBOX_DB_OPTION_FILE" -N \
        -h "$GL_SANDBOX_DB_HOST" -P "$GL_SANDBOX_DB_PORT" \
        -u "$GL_SANDBOX_DB_USER" "$GL_SANDBOX_DB_NAME" -e "$1"
}
# traced HOOK JOB: the lines; variable NAME: their values
traced () { grep -a "^$1 .*job=$2\>" "$trace"; }
variable () { tr '\t' '\n' | sed -n "s/^$1=//p" | sort -u | paste -sd' '; }

seen version "$(slurmctld -V)"

# ------------------------------------------------- a job of one type, one node

: >"$trace"
job=$(as games sbatch --parsable --gpu-project=alpha -w g1 --gres=gpu:h100:2 \
    --wrap='sleep 1')
await 30 ended g1 "$job"
await 10 settled
seen "hooks of a batch job" "$(awk '{ sub ("context=", "", $2)
    sub ("euid=", "", $3); printf "%s(%s,%s) ", $1, $2, $3 }' "$trace")"
is "$(grep -c '^job_prolog ' "$trace")" 1 "one prolog"
is "$(grep -c '^job_epilog ' "$trace")" 1 "one epilog"
first=$(awk '$1 == "job_prolog" || ($2 == "context=2" && $1 == "init") { print $1; exit }' \
    "$trace")
is "$first" job_prolog "the prolog runs before the step begins"
names=$(traced job_prolog "$job" | tr '\t' '\n' | sed -n 's/=.*//p' | sed 1d |
    grep -v GPULEDGER | sort | paste -sd' ')
seen "variables of the prolog" "$names"
seen "variables of the epilog besides" "$(traced job_epilog "$job" |
    tr '\t' '\n' | sed -n 's/=.*//p' | sed 1d |
    grep -v GPULEDGER | sort | comm -13 <(tr ' ' '\n' <<<"$names") - | paste -sd' ')"
seen "prolog SLURM_JOB_GPUS" "$(traced job_prolog "$job" | variable SLURM_JOB_GPUS)"
seen "step SLURM_GPUS_ON_NODE" "$(traced init "$job" | variable SLURM_GPUS_ON_NODE)"
seen "step SLURMD_NODENAME" "$(traced init "$job" | variable SLURMD_NODENAME)"
seen "fields of job-start" "$(of g1 "$job" job-start | grep -o ' [a-z_]*=' |
    tr -d '= ' | paste -sd' ')"
is "$(of g1 "$job" job-start | field gpus)" 0,1 "job-start has the devices"
is "$(of g1 "$job" job-start | field project)" alpha "and the project"
is "$(of g1 "$job" step-devices | field node)" g1 "the step knows its node"

# U28: where the hooks' standard output goes
seen "stdout of the prolog" \
    "$(cd "$GL_SANDBOX_DIR/log" && grep -a 'trace says job_prolog' \
        g1.log g1.out | sed 's/:\[[^]]*\] /: /' | head -n 1)"

# U22: times that the hooks know, and those of accounting
await 30 all_settled
starts=$(SLURM_TIME_FORMAT=%s sacct -Xnp -S 2000-01-01 -j "$job" -o start,end)
hooks="$(of g1 "$job" job-start | field start_time)|$(of g1 "$job" job-end |
    field end_time)|"
seen "times of prolog and epilog, and of sacct" "$hooks $starts"
[ "$hooks" = '||' ] || is "$hooks" "$starts" "the hooks' times are accounting's"

# U11: the id of the row
row=$(query "select job_db_inx from ${GL_SANDBOX_CLUSTER}_job_table
    where id_job = $job")
seen "job_db_inx" "$row"
seen "SLUID of the prolog" "$(of g1 "$job" job-start | field sluid)"

# -------------------------------------------- U1: several types, asked untyped

: >"$trace"
cat >untyped.sh <<'EOF'
#!/bin/sh
scontrol show job -d $SLURM_JOB_ID >untyped.seen
EOF
chmod 755 untyped.sh
job=$(as games sbatch --parsable -w m1 --gres=gpu:7 untyped.sh)
await 30 ended m1 "$job"
seen "untyped gpu:7 on three types: scontrol" \
    "$(sed -n 's/^ .*GRES=//p' "$GL_SANDBOX_WORK/untyped.seen" |
        paste -sd' ')"
seen "untyped gpu:7 on three types: prolog" \
    "$(traced job_prolog "$job" | variable SLURM_JOB_GPUS)"
seen "untyped gpu:7 on three types: batch step" \
    "$(traced init "$job" | variable SLURM_JOB_GPUS)"
seen "untyped gpu:7 on three types: record of the step" \
    "$(of m1 "$job" step-devices | grep -o ' \(gpus\|devices\)=[^ ]*' | paste -sd' ')"
is "$(of m1 "$job" job-start | field devices)" 3 \
    "the prolog's list is marked as of the last type"

# ------------------------------------------------------------- U3: a requeue

: >"$trace"
job=$(as games sbatch --parsable --gpu-project=beta -w g2 --gres=gpu:h100:1 \
    --wrap='sleep 60')
await 30 in_state "$job" RUNNING
await 10 [ -n "$(of g2 "$job" job-start)" ]
requeue "$job"
started_twice () { [ "$(of g2 "$job" job-start | wc -l)" -eq 2 ]; }
await 60 started_twice
scancel "$job"
ended_twice () { [ "$(of g2 "$job" job-end | wc -l)" -eq 2 ]; }
await 30 ended_twice
seen "requeue: restart count of prolog, epilog, prolog, epilog" \
    "$(grep -aE '^job_(prolog|epilog) ' "$trace" |
        while read -r line; do
            value=$(tr '\t' '\n' <<<"$line" |
                sed -n 's/^SLURM_JOB_RESTART_COUNT=//p')
            printf '%s ' "${value:--}"
        done)"
is "$(of g2 "$job" job-start | field project)" "beta beta" \
    "both attempts have the project"
await 30 all_settled
seen "requeue: states and SLUIDs" \
    "$(sacct -DXnP -S 2000-01-01 -j "$job" -o state | paste -sd' ') $(of g2 \
        "$job" job-start | field sluid)"
seen "requeue: rows" "$(query "select job_db_inx, state
    from ${GL_SANDBOX_CLUSTER}_job_table where id_job = $job
    order by time_submit" | tr '\t' ':' | paste -sd' ')"

# ------------------------------------------------ U33: a job that shrinks

job=$(as daemon sbatch --parsable -N 2 -w 'g[1-2]' --gres=gpu:h100:1 \
    --wrap='sleep 12')
await 30 in_state "$job" RUNNING
sleep 3
scontrol update JobId="$job" NumNodes=1 >"$scratch/resize" 2>&1
seen "resize: answer" "$(paste -sd' ' "$scratch/resize")"
await 60 ended g1 "$job"
await 30 all_settled
seen "resize: rows" "$(query "select job_db_inx, time_submit, time_start, time_end,
    nodelist from ${GL_SANDBOX_CLUSTER}_job_table where id_job = $job
    order by time_submit, time_start" | tr '\t' ':' | paste -sd' ')"
for node in g1 g2; do
    seen "resize: $node, start_time and sluid of its start and end" \
        "$(for kind in job-start job-end; do
            of $node "$job" $kind | field start_time
            of $node "$job" $kind | field sluid
        done | paste -sd' ')"
done

# Each second of each device once. 20.11 leaves the devices that went in
# tres_alloc, where 1001 is gres/gpu.
ledger_init
ledger sync >"$scratch/sync" 2>&1 || note "$(cat "$scratch/sync")"
wanted=$(query "select cast(sum((time_end - greatest(time_start, time_submit)) *
    regexp_substr(tres_alloc, '(?<=,1001=)[0-9]+')) as integer)
    from ${GL_SANDBOX_CLUSTER}_job_table where id_job = $job")
seen "resize: devices of each row" "$(query "select
    regexp_substr(tres_alloc, '(?<=,1001=)[0-9]+')
    from ${GL_SANDBOX_CLUSTER}_job_table where id_job = $job
    order by time_submit" | paste -sd' ')"
is "$(ledger report usage -S "$(date -u -d yesterday +%F)" --parsable2 \
    --noheader --by user -o user,gres_seconds | grep '^daemon|')" \
    "daemon|$wanted" "a job that shrinks is counted once"

# -------------------- U2: what PrologFlags=Alloc is for: a node without a step

sed -i '/^PrologFlags=/d' "$GL_SANDBOX_DIR/etc/slurm.conf" \
    "$GL_SANDBOX_DIR"/node/*/slurm.conf
scontrol reconfigure >"$scratch/reconfigure" 2>&1
without_flags () { scontrol show config | grep -q 'PrologFlags *= (null)'; }
if await 20 without_flags; then
    sleep 2
    as games salloc -N 2 -w 'g[1-2]' --gres=gpu:h100:1 srun -N 1 -n 1 -w g1 \
        true >"$scratch/err" 2>&1
    last=$(sacct -aXnP -S 2000-01-01 -o jobid | sort -n | tail -n 1)
    await 30 ended g2 "$last"
    seen "without PrologFlags: records of the node with a step" \
        "$(records g1 | grep "job_id=$last " | cut -d' ' -f1 | paste -sd' ')"
    seen "without PrologFlags: of the node without" \
        "$(records g2 | grep "job_id=$last " | cut -d' ' -f1 | paste -sd' ')"
fi

[ "$release" -lt 2311 ] || await 30 eval '[ "$(node_states)" = idle ]'
is "$(node_states)" idle "all nodes are idle"
done_testing
