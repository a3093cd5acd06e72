#!/bin/sh
# Prolog and epilog through the packaged slurmstepd, which loads the plugin and
# calls the hooks as slurmd would; status and output are what slurmd sees.
. "$abs_top_srcdir/tests/plugin/harness.sh"

project=SPANK__SLURM_SPANK_OPTION_gpuledger_gpu_project
labels=SPANK__SLURM_SPANK_OPTION_gpuledger_gpu_label
esc=$(printf '\033')
newline='
'

# passes TEXT: status 0 and nothing in slurmd's log
quiet_pass () {
    test $rc = 0 && ! test -s "$dir/log"
}
# one line of log and status 0
one_line () {
    test $rc = 0 && test "$(wc -l <"$dir/log")" = 1 && log_has 'is not recorded'
}

for mark in required optional; do
    plugstack $mark "spool=$spool"
    clear_spool
    hook prolog SLURM_JOB_GPUS=0,1 CUDA_VISIBLE_DEVICES=0,1 \
        SLURM_JOB_ACCOUNT=vision SLURM_JOB_PARTITION=gpu \
        SLURM_JOB_USER=alice SLURM_JOB_RESTART_COUNT=2 \
        SLURM_JOB_START_TIME=1790848799 SLURM_JOB_END_TIME=1790852399 \
        SLURM_JOB_SLUID=s0123456789ABC SLURM_HET_JOB_ID=41 \
        SLURM_JOB_RESERVATION=class $project=alpha $labels=run=7,size=7b \
        SPANK_GPULEDGER_SOURCE=environment SPANK_GPULEDGER_LABELS_SOURCE=option
    check "$mark: prolog with everything passes in silence" quiet_pass
    check "$mark: it records the job" record_has \
        '^job-start cluster=unit node=g1 job_id=42 uid=1000 gid=1000 user=alice account=vision partition=gpu reservation=class start_time=1790848799 end_time=1790852399 sluid=s0123456789ABC restart_count=2 het_job_id=41 gpus=0,1 visible_devices=0,1 devices=3 project=alpha project_source=2 labels=run=7,size=7b labels_source=1 '
    hook epilog SLURM_JOB_EXIT_CODE=256 SLURM_JOB_DERIVED_EC=9
    check "$mark: epilog passes in silence" quiet_pass
    check "$mark: it records the end" record_has \
        '^job-end .*exit_code=256 derived_ec=9 '
done

plugstack required "spool=$spool"
clear_spool
hook prolog
check "minimal environment: recorded without what is missing" record_has \
    '^job-start cluster=unit node=g1 job_id=42 uid=1000 gid=1000 project_source=0 plugin_version'
hook prolog
hook epilog
hook epilog
check "prolog twice and epilog twice: four records" record_count '^job-' 4
check "each with a key of its own" \
    test "$("$print_records" -e "$spool" | grep -o 'key=[^ ]*' | sort -u | wc -l)" = 4
check "nothing is remembered after the epilog" \
    test "$(ls "$spool/state" | paste -sd,)" = cluster,node

clear_spool
hook prolog SLURM_JOB_ACCOUNT=vision SLURM_JOB_PARTITION=cpu
hook epilog SLURM_JOB_ACCOUNT=vision SLURM_JOB_PARTITION=cpu
check "a job without devices: the prolog says that there are none" record_has \
    '^job-start .*account=vision partition=cpu devices=1 project'
check "the epilog says nothing of them" record_has \
    '^job-end .*account=vision partition=cpu project'
clear_spool
hook prolog CUDA_VISIBLE_DEVICES=2,3
check "20.11: devices by the one variable that it has" record_has \
    '^job-start .* gpus=2,3 visible_devices=2,3 devices=3 '
clear_spool
hook prolog CUDA_VISIBLE_DEVICES=0 CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50
check "a share of a device is none" record_has \
    '^job-start .*gid=1000 visible_devices=0 project'
clear_spool
hook prolog CUDA_VISIBLE_DEVICES=NoDevFiles
check "and so is a word" record_has \
    '^job-start .*gid=1000 visible_devices=NoDevFiles project'

clear_spool
hook epilog SLURM_JOBID=77 SLURM_UID=0 SLURM_JOB_GID=0
check "epilog alone, with the job id only: the user is unknown, not root" \
    record_has '^job-end cluster=unit node=g1 job_id=77 project_source=0 plugin'
clear_spool
hook prolog SLURM_UID=0 SLURM_JOB_GID=0 SLURM_JOB_ACCOUNT=root SLURM_JOB_USER=root
check "a job of root that has an account is root's" record_has \
    'uid=0 gid=0 user=root account=root'

# default=account
clear_spool
plugstack required "spool=$spool" default=account
hook prolog
check "default=account: an untagged job says that its account decides" \
    record_has 'project_source=4 '
hook epilog $project=alpha
check "default=account: a tag stands" record_has 'project=alpha project_source=5 '

# hostile text
plugstack required "spool=$spool"
long=$(head -c 100000 /dev/zero | tr '\0' a)
clear_spool
n=0
for tag in "a${newline}b" "a'b" 'a"b' '=cmd|/c calc' '../../etc/passwd' \
    "${esc}[31mred" '(null)' '' '-x' '%s%n' '$(reboot)' "$long"; do
    n=$((n + 1))
    hook prolog "$project=$tag" "$labels=k=$tag" "SPANK_GPULEDGER_SOURCE=$tag"
    quiet_pass || not_ok "hostile tag $n passes in silence"
done
check "$n hostile tags pass in silence and are refused, not kept" \
    record_count 'project_source=0 rejected=3 ' $n
check "a source without a tag means nothing" record_count 'project=' 0
clear_spool
for source in default none unknown OPTION "option$newline" "$long" "$esc"; do
    hook prolog "$project=alpha" "SPANK_GPULEDGER_SOURCE=$source"
done
check "a source that no client writes is refused and marked" record_count \
    'project=alpha project_source=5 rejected=4 ' 7
clear_spool
hook prolog "SLURM_JOB_RESERVATION=$long" "SLURM_JOB_ACCOUNT=x${newline}y" \
    "SLURM_JOB_GPUS=$long" SLURM_JOB_RESTART_COUNT=99999999999999999999 \
    SLURM_JOB_START_TIME=0x10 "SLURM_JOB_USER=$long" SLURM_JOB_PARTITION=p
check "over-long and broken values are left out and noted" record_has \
    'job_id=42 uid=1000 gid=1000 partition=p project_source=0 .* omitted=33472$'

# The largest environment that the kernel passes on: 128 KiB a string; a
# megabyte in pieces.
set --
for i in 0 1 2 3 4 5 6 7 8 9; do set -- "$@" "SPANK_X$i=$long"; done
clear_spool
hook prolog "$@" "$project=alpha"
check "a megabyte of SPANK_ variables changes nothing" record_has 'project=alpha'

# spools that cannot be written
clear_spool
plugstack required "spool=$dir/missing"
hook prolog
check "missing spool: one line, status 0" one_line
check "and nothing made" test ! -e "$dir/missing"
hook epilog
check "missing spool, epilog: one line, status 0" one_line
plugstack required "spool=$dir/slurm.conf"
hook prolog
check "spool is a file: one line, status 0" one_line
plugstack required "spool=$spool"
for mode in 770 707 1777; do
    chmod $mode "$spool"
    hook prolog
    check "spool of mode $mode: one line, status 0" one_line
done
chmod 700 "$spool"
chown 65534 "$spool"
hook prolog
check "spool of another user: one line, status 0" one_line
chown 0 "$spool"
ln -s "$spool" "$dir/link"
plugstack required "spool=$dir/link"
hook prolog
check "spool is a link: one line, status 0" one_line
plugstack required "spool=$spool"
mkfifo -m 600 "$spool/00000001.records"
hook prolog
check "a pipe in place of the segment: one line, status 0, no waiting" one_line
rm "$spool/00000001.records"

if mount -t tmpfs -o size=8k,mode=700 gpuledger "$spool" 2>"$dir/log"; then
    mounted=$spool
    n=0
    while hook prolog "SLURM_JOB_RESERVATION=$(head -c 120 /dev/zero | tr '\0' r)" &&
        test ! -s "$dir/log" && test $n -lt 100; do
        n=$((n + 1))
    done
    check "full disk (8 KiB, after $n records): one line, status 0" one_line
    check "full disk: what was written before is there" \
        test "$(records | grep -c '^job-start')" -ge $((n - 1))
    hook epilog
    check "full disk, epilog: one line, status 0" one_line
    mount -o remount,ro "$spool"
    hook prolog
    check "read-only spool: one line, status 0" one_line
    mount -o remount,rw,size=64k "$spool"
    hook prolog
    check "room again: recorded behind the torn record" \
        test "$(records | grep -c '^job-start')" -gt "$n"
    umount "$spool"
    mounted=
else
    ok "full and read-only disk # SKIP mount of a tmpfs is not allowed here"
fi

# arguments
clear_spool
plugstack required "spool=$spool" nonsense policy=maybe default= spool=relative =
hook prolog
check "wrong arguments: ignored, recorded, status 0" record_count '^job-start' 1
check "wrong arguments: at debug level only" test ! -s "$dir/log"
plugstack required
hook prolog
check "no arguments: status 0" test $rc = 0

# twice in plugstack.conf: the same file, and a copy
clear_spool
cp "$plugin" "$dir/copy.so"
cat >"$dir/plugstack.conf" <<END
required $plugin spool=$spool
required $plugin spool=$spool
required $dir/copy.so spool=$spool
END
hook prolog
check "listed three times: one record" record_count '^job-start' 1
hook epilog
check "listed three times, epilog: one record" record_count '^job-end' 1

# many at once
clear_spool
plugstack required "spool=$spool"
pids=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    (hook prolog SLURM_JOBID=$i) &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid"; done
check "16 prologs at once: 16 records" record_count '^job-start' 16
check "none torn" test "$(records | grep -c stats)" = 0

finish
