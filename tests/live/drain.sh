#!/bin/bash
# Whatever is wrong with the plugin, its spool, its arguments or the tags: jobs
# run, and no node drains.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2119,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_built plugin/.libs/gpuledger.so tests/plugin/print_records \
    tests/live/.libs/forge.so
cluster_up
g1=$GL_SANDBOX_DIR/node/g1
spool=$GL_SANDBOX_LEDGER/g1
export SBATCH_OUTPUT=$GL_SANDBOX_WORK/%j.out

# Slurm loads the plugin anew for each prolog, step and epilog, so that what is
# changed here holds from the next job on.
plugstack () { echo "$*" >"$g1/plugstack.conf"; }
usual="optional $GL_SANDBOX_DIR/lib/gpuledger.so spool=$spool"

settled () { [ -z "$(squeue -h)" ] && [ "$(node_states)" = idle ]; }

# survives TEXT [OPTION...]: a batch job with a step completes on g1, and the
# node takes the next one.
survives ()
{
    local text=$1 id
    shift
    id=$(as games sbatch --parsable -w g1 --gres=gpu:h100:2 "$@" \
        --wrap='srun true' 2>"$scratch/err")
    await 60 settled
    is "$(state_of "$id")" COMPLETED "$text: the job completes"
    is "$(node_states)" idle "$text: no node drains"
    [ "$(scontrol show node g1 | grep -c Reason=)" -eq 0 ] ||
        note "$(scontrol show node g1 | grep Reason=)"
}

log_lines () { grep -c gpuledger "$GL_SANDBOX_DIR/log/g1.log"; }

survives "all well" --gpu-project=alpha
like "$(records g1)" '^job-start .* project=alpha' "all well: the record is there"
like "$(records g1)" '^job-end ' "all well: the end too"

before=$(log_lines)
mv "$spool" "$spool.away"
survives "spool directory missing" --gpu-project=alpha
[ "$(log_lines)" -gt "$before" ]
ok $? "spool directory missing: the log says so"
[ ! -e "$spool" ]
ok $? "spool directory missing: the plugin does not make one"

: >"$spool"
survives "spool is a file" --gpu-project=alpha
rm "$spool"
ln -s "$GL_SANDBOX_DIR/nowhere" "$spool"
survives "spool is a dangling link" --gpu-project=alpha
rm "$spool"

mkdir -m 700 "$spool"
if mount -t tmpfs -o size=16k,mode=700 none "$spool"; then
    head -c 65536 /dev/zero >"$spool/ballast" 2>/dev/null
    survives "spool full" --gpu-project=alpha
    rm "$spool/ballast"
    survives "spool with room again" --gpu-project=beta
    like "$(records g1)" '^job-start .* project=beta' \
        "spool with room again: the record is there"
    mount -o remount,ro "$spool"
    survives "spool read-only" --gpu-project=alpha
    umount "$spool"
else
    note "cannot mount here: full and read-only file systems are not tried"
fi

chmod 777 "$spool"
survives "spool open to everybody" --gpu-project=alpha
rmdir "$spool" 2>/dev/null || rm -r "$spool"
mv "$spool.away" "$spool"

plugstack "$usual nonsense=1 policy=perhaps default= =x projects=/nowhere"
survives "wrong arguments" --gpu-project=alpha
plugstack "optional $GL_SANDBOX_DIR/lib/gpuledger.so spool=relative/path"
survives "relative spool" --gpu-project=alpha
plugstack "optional $GL_SANDBOX_DIR/lib/gpuledger.so spool="
survives "empty spool" --gpu-project=alpha
plugstack "$usual
$usual"
survives "plugin listed twice" --gpu-project=alpha
plugstack "required $GL_SANDBOX_DIR/lib/gpuledger.so spool=/nowhere"
survives "required, spool missing" --gpu-project=alpha
plugstack "optional $GL_SANDBOX_DIR/lib/nothing.so"
survives "plugin missing on the node"
plugstack "$usual"

# The client refuses hostile tags ...
for tag in $'a\nb' 'a"b' "a'b" '=cmd' '../x' $'\e[31m'; do
    as games sbatch -w g1 --gpu-project="$tag" --wrap=true \
        >"$scratch/out" 2>"$scratch/err"
    is $? 255 "sbatch refuses the tag $(printf %q "$tag")"
done
{
    printf '#!/bin/sh\n#SBATCH --gpu-project='
    head -c 1000000 /dev/zero | tr '\0' a
    printf '\ntrue\n'
} >megabyte.sh
as games sbatch -w g1 megabyte.sh >"$scratch/out" 2>"$scratch/err"
ok $(($? == 0)) "sbatch refuses a tag of 1 MB"

# ... but a user may bring a client that does not, and then Slurm hands the
# text to root's prolog as it is.
forger_up
for tag in good $'a\nb' 'a"b' '=cmd' '../x' $'\e[31m' \
    "$(printf 'a%.0s' {1..100000})"; do
    name=$(printf '%q' "$tag" | cut -c 1-20)
    before=$(records g1 | grep -c '^job-start')
    forge games "$tag" srun -w g1 true 2>"$scratch/err"
    is $? 0 "forged tag $name: the job runs"
    await 30 settled
    is "$(node_states)" idle "forged tag $name: no node drains"
    is "$(records g1 | grep -c '^job-start')" $((before + 1)) \
        "forged tag $name: the node has its record"
    last=$(records g1 | grep '^job-start' | tail -n 1)
    if [ "$tag" = good ]; then
        like "$last" ' project=good' "a forged tag arrives at all"
    else
        unlike "$last" ' project=' "forged tag $name: no project is recorded"
        like "$last" ' rejected=1' "forged tag $name: that it came is"
    fi
done

# Prolog and epilog out of order, as slurmd runs them, beside real jobs.
hook ()
{
    env -i SLURM_CONF="$g1/slurm.conf" SLURM_JOBID="$2" SLURM_UID=5 \
        SLURM_JOB_GID=60 SLURMD_NODENAME=g1 SLURM_JOB_GPUS=0,1 \
        SPANK__SLURM_SPANK_OPTION_gpuledger_gpu_project=alpha \
        "$(command -v slurmstepd)" spank "$1" </dev/null >"$scratch/hook.log" 2>&1
}
for order in 'prolog prolog epilog' 'epilog' 'prolog epilog epilog'; do
    for which in $order; do
        hook "$which" 99999
        is $? 0 "$which of '$order' succeeds"
    done
done
id=$(as games sbatch --parsable -w g1 --gres=gpu:h100:2 --gpu-project=alpha \
    --wrap='sleep 4' 2>/dev/null)
await 20 in_state "$id" RUNNING
hook prolog "$id"
is $? 0 "a second prolog of a running job succeeds"
hook epilog "$id"
is $? 0 "an early epilog of a running job succeeds"
await 60 settled
is "$(state_of "$id")" COMPLETED "that job completes"
survives "after all of this" --gpu-project=alpha

done_testing
