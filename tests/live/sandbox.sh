#!/bin/bash
# contrib/sandbox: two real clusters side by side, and no trace after down.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

a=$scratch/cluster.a
b=$scratch/cluster.b

in_a () { "$sandbox" exec --dir "$a" "$@"; }
in_b () { "$sandbox" exec --dir "$b" "$@"; }

# a_as USER COMMAND...
a_as ()
{
    local user=$1
    shift
    in_a setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups "$@"
}

# A process that was killed may take a moment to go.
gone () { [ -z "$(traces "$1")" ]; }
leaves_no_trace ()
{
    await 5 gone "$1"
    is "$(traces "$1")" "" "$2"
}

"$sandbox" up --dir "$a" --plugin none >"$scratch/a.log" 2>&1 &
pid=$!
"$sandbox" up --dir "$b" --plugin none >"$scratch/b.log" 2>&1
ok $? "a cluster starts"
wait $pid
ok $? "another one starts at the same time"
note "$(cat "$scratch/a.log" "$scratch/b.log")"

# Jobs of plain users on every node and kind of device.
cd "$a/work" || bail_out "no work directory"
while read -r node gres user; do
    got=$(a_as "$user" srun -w "$node" \
        --gres="$gres" sh -c 'id -un; echo $SLURMD_NODENAME' \
        2>"$scratch/err" </dev/null) || note "$(cat "$scratch/err")"
    is "$got" "$user"$'\n'"$node" "$user runs on $node with $gres"
done <<'END'
g1 gpu:h100:8 games
g2 gpu:3 lp
m1 gpu:1g.10gb:2,gpu:3g.40gb:1,gpu:h100:1 news
m1 gpu:1g.10gb:4 daemon
END
got=$(a_as games srun -p cpu id -un 2>/dev/null)
is "$got" games "games runs on c1 without a device"

# Accounting, which slurmctld sends on in its own time.
tres ()
{
    "$sandbox" exec --dir "$1" sacct -aDXnP -o user,account,alloctres,nodelist |
        sed 's/billing=[0-9]*,//; s/cpu=[0-9]*,//; s/mem=[^,]*,//'
}
wanted='games|vision|gres/gpu:h100=8,gres/gpu=8,node=1|g1
lp|vision|gres/gpu:h100=3,gres/gpu=3,node=1|g2
news|nlp|gres/gpu:1g.10gb=2,gres/gpu:3g.40gb=1,gres/gpu:h100=1,gres/gpu=4,node=1|m1
daemon|bio|gres/gpu:1g.10gb=4,gres/gpu=4,node=1|m1
games|vision|node=1|c1'
accounted () { [ "$(tres "$a")" = "$wanted" ]; }
await 20 accounted
is "$(tres "$a")" "$wanted" "accounting has users, accounts and each type"
is "$(tres "$b")" "" "the other cluster has none of these jobs"
a_as mail srun true >"$scratch/err" 2>&1
like "$(cat "$scratch/err")" "Invalid account" \
    "a user without an account is refused"

# The reader's database account, by the variables that exec sets.
query ()
{
    # shellcheck disable=SC2016
    in_a sh -c 'mariadb --defaults-extra-file=$GL_SANDBOX_DB_OPTION_FILE \
        --protocol=tcp --host=$GL_SANDBOX_DB_HOST --port=$GL_SANDBOX_DB_PORT \
        --user=$GL_SANDBOX_DB_USER $GL_SANDBOX_DB_NAME -N -e "$1"' query "$1"
}
is "$(query 'select count(*) from sandbox_job_table')" 5 \
    "the reader can read slurmdbd's tables"
like "$(query 'delete from sandbox_job_table' 2>&1)" "DELETE command denied" \
    "the reader cannot change them"

# up leaves a cluster alone that is there.
"$sandbox" up --dir "$a" --plugin none >"$scratch/err" 2>&1
is $? 1 "up refuses a directory in use"
in_a scontrol ping >/dev/null
ok $? "the cluster in it runs on"
mkdir "$scratch/mine" && : >"$scratch/mine/file"
"$sandbox" down --dir "$scratch/mine" >/dev/null 2>&1
[ -e "$scratch/mine/file" ]
ok $? "down leaves a directory alone that is no sandbox"

# A batch job without the submitter's environment, a process that left its
# step, a waiting client, a mount.
a_as games sbatch -Q -o /dev/null --export=NONE \
    --wrap 'setsid sleep 1000 & sleep 1000' >/dev/null
a_as games srun sleep 1000 2>/dev/null &
mkdir "$a/work/mnt"
mount -t tmpfs none "$a/work/mnt" || note "cannot mount here"
two_run () { [ "$(in_a squeue -h -t R | wc -l)" -eq 2 ]; }
await 20 two_run
ok $? "jobs run when the cluster is taken down"
cd / || exit 1
began=$SECONDS
"$sandbox" down --dir "$a"
ok $? "down succeeds"
[ $((SECONDS - began)) -le 10 ]
ok $? "within seconds"
wait
leaves_no_trace "$a" "no file, mount or process is left"
in_b srun -A vision true 2>/dev/null
ok $? "the other cluster runs on"

# Half of a cluster.
kill -KILL "$(cut -d' ' -f1 "$b/run/slurmctld.daemon")"
sleep 0.3
"$sandbox" status --dir "$b" >"$scratch/status" 2>&1
is $? 3 "status fails when a daemon is dead"
like "$(cat "$scratch/status")" "slurmctld: does not run" "and says which"
"$sandbox" down --dir "$b"
ok $? "down takes down what is left"
leaves_no_trace "$b" "nothing of that cluster is left"
"$sandbox" down --dir "$b" >/dev/null
ok $? "down without a cluster is no error"

# A start that is killed, at several moments: down takes what it left.
for moment in 0.3 0.7 2 3; do
    "$sandbox" up --dir "$a" --plugin none >/dev/null 2>&1 &
    sleep $moment
    kill -KILL $!
    wait $! 2>/dev/null
    "$sandbox" down --dir "$a"
    ok $? "down succeeds after up was killed at $moment s"
    leaves_no_trace "$a" "and nothing of it is left"
done

# A start that must fail: slurmd refuses a required plugin that is none.
echo junk >"$scratch/gpuledger.so"
"$sandbox" up --dir "$a" --plugin "$scratch/gpuledger.so" --plugstack required \
    >"$scratch/err" 2>&1
is $? 1 "up fails when slurmd does not start"
like "$(cat "$scratch/err")" "gpuledger.so" "and shows the log that explains it"
leaves_no_trace "$a" "and cleans up"

done_testing
