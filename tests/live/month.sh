#!/bin/bash
# A small month on a real cluster: every kind of job, then project, quantity,
# account and user of each in the ledger, against (End - Start) x devices of
# sacct -D and against the devices of scontrol show job -d.
#
# Each job has a name and the same text as label `case`, so that a report by
# label:case is a report by job.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2119,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_built plugin/.libs/gpuledger.so tests/plugin/print_records \
    sacct-ext/gpuledger
cp "$abs_top_srcdir/contrib/examples/sandbox.projects" "$scratch/projects"
cluster_up --plugin-args "projects=$scratch/projects policy=warn"
export SBATCH_OUTPUT=$GL_SANDBOX_WORK/%x.%j.out

# ------------------------------------------------------------------- the jobs

# Which project, user and account each case must come out with.
cat >"$scratch/wanted" <<'END'
directive segmentation games vision
srun translation news nlp
salloc folding daemon bio
array tracking games vision
het translation news nlp
requeue tracking games vision
cancelled-pending folding daemon bio
cancelled-running folding daemon bio
mixed folding daemon bio
two-node segmentation games vision
untagged (untagged) lp vision
suspended translation news nlp
parent segmentation games vision
child tracking games vision
heir segmentation games vision
END

# The devices of running jobs, which slurmctld forgets when they end.
(
    while sleep 0.4; do
        scontrol -o show job -d >>"$scratch/seen" 2>/dev/null
    done
) &
watcher=$!

# tagged CASE: the options of a case, by its line in the table.
tagged ()
{
    local project
    project=$(awk -v name="$1" '$1 == name { print $2 }' "$scratch/wanted")
    echo "-J $1 --gpu-label=case=$1 --gpu-project=$project"
}

id_of () { squeue -h -n "$1" -o %i | head -n 1; }
runs () { [ -n "$(squeue -h -n "$1" -t R -o %i)" ]; }

cat >directive.sh <<'END'
#!/bin/bash
#SBATCH --gpu-project=segmentation --gpu-label=case=directive
#SBATCH -J directive --gres=gpu:h100:2
sleep 6
END
cat >child.sh <<'END'
#!/bin/bash
#SBATCH --gpu-project=tracking --gpu-label=case=child
#SBATCH -J child --gres=gpu:h100:1
sleep 3
END
# The heir says nothing but its own case: the project is the parent's.
cat >parent.sh <<'END'
#!/bin/bash
#SBATCH --gpu-project=segmentation --gpu-label=case=parent
#SBATCH -J parent --gres=gpu:h100:1
sbatch child.sh
sbatch -J heir --gpu-label=case=heir --gres=gpu:h100:1 --wrap='sleep 2'
sleep 3
END
cat >requeue.sh <<'END'
#!/bin/bash
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && exec sleep 3
sleep 600
END
chmod 755 ./*.sh

# shellcheck disable=SC2046
submit_all ()
{
    as games sbatch directive.sh
    as games sbatch parent.sh
    as games sbatch $(tagged array) -a 1-3 --gres=gpu:h100:1 --wrap='sleep 4'
    as news sbatch $(tagged het) --gres=gpu:h100:1 : --gres=gpu:h100:2 \
        --wrap='srun --het-group=0,1 sleep 4'
    as games sbatch $(tagged requeue) --gres=gpu:h100:1 requeue.sh
    as daemon sbatch $(tagged cancelled-running) --gres=gpu:h100:1 \
        --wrap='sleep 600'
    as daemon sbatch $(tagged mixed) -w m1 \
        --gres=gpu:1g.10gb:2,gpu:3g.40gb:1,gpu:h100:1 --wrap='sleep 5'
    as games sbatch $(tagged two-node) -N 2 --gres=gpu:h100:2 \
        --wrap='sleep 4'
    as lp sbatch -J untagged --gpu-label=case=untagged \
        --gres=gpu:h100:1 --wrap='sleep 3'
    as news sbatch $(tagged suspended) --gres=gpu:h100:3 --wrap='sleep 6'
    as news srun $(tagged srun) --gres=gpu:h100:1 sleep 3 &
    as daemon salloc $(tagged salloc) --gres=gpu:h100:1 srun sleep 3 &
    # finds no room while the others run
    as daemon sbatch $(tagged cancelled-pending) -N 2 --gres=gpu:h100:8 \
        --wrap=true
} 2>>"$scratch/submit.err"

submit_all >>"$scratch/submit.err"
sleep 1
cancelled=$(id_of cancelled-pending)
scancel "$cancelled"

await 40 runs suspended
sleep 1
scontrol suspend "$(id_of suspended)"
await 40 runs requeue
sleep 2
requeue "$(id_of requeue)"
await 40 runs cancelled-running
scancel "$(id_of cancelled-running)"
sleep 2
scontrol resume "$(id_of suspended)"

await 120 all_settled
ok $? "every job has ended"
kill $watcher
grep -v '^Submitted batch job' "$scratch/submit.err" |
    while read -r line; do note "$line"; done

# -------------------------------------------------- what Slurm says about them

# name|user|account|jobid|start|end|elapsed|devices by type, in epoch seconds
SLURM_TIME_FORMAT=%s sacct -aDXnP -S 2000-01-01 \
    -o jobname,user,account,jobidraw,start,end,elapsedraw,alloctres |
    # a job that never ran starts at its end, or at None since 24.11
    awk -F "|" -v OFS="|" '$5 == "None" { $5 = $6 } { print }' \
    >"$scratch/sacct"
note "$(cat "$scratch/sacct")"

# quantities: "case gres_seconds suspended_gres_seconds gpu_hours segments",
# one line a case; a 1g.10gb is 1/7 of a GPU, a 3g.40gb 3/7.
awk -F '|' '
    function count(type,    at) {
        at = index ("," $8, ",gres/gpu:" type "=")
        return at ? substr ($8, at + length ("gres/gpu:" type "=")) + 0 : 0
    }
    {
        seconds = $6 - $5
        devices = count("h100") + count("1g.10gb") + count("3g.40gb")
        sevenths = 7 * count("h100") + count("1g.10gb") + 3 * count("3g.40gb")
        if (seconds * devices == 0)
            next
        gres[$1] += seconds * devices
        suspended[$1] += (seconds - $7) * devices
        part[$1] += seconds * sevenths
        segments[$1]++
    }
    function hours(p,    millionths) {
        millionths = int ((p * 2000000 + 25200) / 50400)
        return sprintf ("%d.%06d", int (millionths / 1000000),
                        millionths % 1000000)
    }
    END {
        for (name in gres) {
            print name, gres[name], suspended[name], hours(part[name]), \
                segments[name]
            all += gres[name]; allpart += part[name]; n += segments[name]
            allsuspended += suspended[name]
        }
        print "TOTAL", all, allsuspended, hours(allpart), n
    }' "$scratch/sacct" | sort >"$scratch/quantities"

quantity () { awk -v c="$1" -v f="$2" '$1 == c { print $f }' "$scratch/quantities"; }

# The test tests what it says only if the jobs were what they should be.
is "$(quantity requeue 5)" 2 "the requeued job has two segments"
is "$(quantity array 5)" 3 "the array has three"
is "$(quantity het 5)" 2 "the het job has two"
is "$(awk -F '|' -v id="$cancelled" '$4 == id { print $1, $6 - $5 }' \
    "$scratch/sacct")" "cancelled-pending 0" "one job was cancelled while pending"
is "$(quantity cancelled-pending 5)" "" \
    "the job cancelled while pending has no GPU time"
[ "$(quantity suspended 3)" -ge 3 ]
ok $? "the suspended job was suspended"
[ "$(quantity cancelled-running 2)" -ge 1 ]
ok $? "the job cancelled while running has GPU time"
is "$(grep -c '^mixed|.*1g.10gb=2,gres/gpu:3g.40gb=1,gres/gpu:h100=1' \
    "$scratch/sacct")" 1 "the mixed job had three types on one node"

# --------------------------------------------------- what the nodes saw of them

# "jobid node index,index,..." from lines "jobid node index", each once: a
# requeued job may have had several sets on one node.
join_devices ()
{
    sort -u | sort -k1,1n -k2,2 -k3,3n | awk '
        $1 " " $2 != key { if (key) print key, list; key = $1 " " $2; list = $3; next }
        { list = list "," $3 }
        END { if (key) print key, list }'
}

# Of each running job seen, by scontrol ("GRES=gpu:h100:2(IDX:0-1),..." after
# the nodes that it holds for).
sed 's/ \+/ /g' "$scratch/seen" | grep 'JobState=RUNNING' |
    awk '{
        for (i = 2; i <= NF; i++) {
            if ($i ~ /^Nodes=/)
                nodes = substr ($i, 7)
            if ($i !~ /^GRES=.*IDX/)
                continue
            text = $i
            while (match (text, /IDX:[0-9,-]+/)) {
                list = substr (text, RSTART + 4, RLENGTH - 4)
                print substr ($1, 7), nodes, list
                text = substr (text, RSTART + RLENGTH)
            }
        }
    }' | sort -u |
    while read -r id nodes list; do
        for node in $(scontrol show hostnames "$nodes"); do
            tr ',' '\n' <<<"$list" | while IFS=- read -r from to; do
                seq -f "$id $node %g" "$from" "${to:-$from}"
            done
        done
    done | join_devices >"$scratch/devices.scontrol"

# The same by the records: what prolog, epilog and steps showed together.
for node in $GL_SANDBOX_NODES; do
    records "$node"
done >"$scratch/records"
awk '{
    job = node = gpus = ""
    for (i = 2; i <= NF; i++) {
        if ($i ~ /^job_id=/) job = substr ($i, 8)
        if ($i ~ /^node=/) node = substr ($i, 6)
        if ($i ~ /^gpus=/) gpus = substr ($i, 6)
    }
    n = split (gpus, each, ",")
    for (i = 1; i <= n; i++)
        print job, node, each[i]
}' "$scratch/records" | join_devices >"$scratch/devices.records"

[ "$(wc -l <"$scratch/devices.scontrol")" -ge 17 ]
ok $? "the devices of all jobs were seen"

# 20.11 shows nobody on the node more than the last type that was asked for.
if [ "$(slurm_release)" -lt 2108 ]; then
    mixed=$(awk -F '|' '$1 == "mixed" { print $4 }' "$scratch/sacct")
    sed -i "s/^\\($mixed m1\\) 0,1,4,5$/\\1 5/" "$scratch/devices.scontrol"
fi

while read -r id node list; do
    name=$(awk -F '|' -v id="$id" '$4 == id { print $1; exit }' "$scratch/sacct")
    got=$(awk -v id="$id" -v node="$node" '$1 == id && $2 == node { print $3 }' \
        "$scratch/devices.records")
    is "$got" "$list" "devices of $name (job $id) on $node"
done <"$scratch/devices.scontrol"

# -------------------------------------------------- what the ledger makes of it

ledger_init
ledger sync >"$scratch/sync" 2>&1
ok $? "sync succeeds"
for node in $GL_SANDBOX_NODES; do
    ledger ingest "$GL_SANDBOX_LEDGER/$node" >>"$scratch/sync" 2>&1
    ok $? "ingest of the spool of $node succeeds"
done
note "$(cat "$scratch/sync")"

usage ()
{
    ledger report usage -S "$(date -u -d yesterday +%F)" --parsable2 \
        --noheader "$@"
}

usage --by label:case,project,user,account \
    -o label:case,project,user,account,gres_seconds,suspended_gres_seconds,gpu_hours,segments \
    >"$scratch/usage"
ok $? "report usage succeeds"
note "$(cat "$scratch/usage")"

while read -r name project user account; do
    [ -n "$(quantity "$name" 2)" ] || continue
    is "$(grep "^$name|" "$scratch/usage")" \
        "$name|$project|$user|$account|$(quantity "$name" 2)|$(quantity \
            "$name" 3)|$(quantity "$name" 4)|$(quantity "$name" 5)" \
        "$name: project, user, account and quantity"
done <"$scratch/wanted"
is "$(grep -c . "$scratch/usage")" "$(($(grep -c . "$scratch/quantities") - 1))" \
    "the ledger has no other usage"
is "$(usage --by cluster -o gres_seconds,suspended_gres_seconds,gpu_hours,segments)" \
    "$(quantity TOTAL 2)|$(quantity TOTAL 3)|$(quantity TOTAL 4)|$(quantity \
        TOTAL 5)" "the total"

# The devices once more, as the ledger tells them: explain joins what prolog,
# epilog and steps showed, also where the prolog sees one of several types.
requeued=$(awk -F "|" "\$1 == \"requeue\" { print \$4; exit }" "$scratch/sacct")
while read -r id node list; do
    [ "$id" != "$requeued" ] || continue # has two sets, one a segment
    ledger explain "$id" --json >"$scratch/explain" 2>&1
    is "$(jq -r --argjson id "$id" --arg gpus "gpus_$node" ".segments[].steps
        | select(.[0].facts.id_job == (\$id | tostring))
        | .[] | select(.step == \"devices\") | .facts[\$gpus]" \
        "$scratch/explain")" "$list" "explain: devices of job $id on $node"
done <"$scratch/devices.scontrol"

# By node and by type, where the sums must split as the devices did.
is "$(usage --by label:case,node -o label:case,node,gres_seconds |
    grep '^two-node|')" \
    "two-node|g1|$(($(quantity two-node 2) / 2))
two-node|g2|$(($(quantity two-node 2) / 2))" "the two-node job by node"
mixed=$(($(quantity mixed 2) / 4))
is "$(usage --by label:case,gres_type -o label:case,gres_type,gres_seconds |
    grep '^mixed|' | sort)" \
    "mixed|1g.10gb|$((2 * mixed))
mixed|3g.40gb|$mixed
mixed|h100|$mixed" "the mixed job by type"

# Who cancelled: root, whose scancel it was.
ledger report waste --month "$(date -u -d "@$(awk -F '|' \
    '$1 == "cancelled-running" { print $6; exit }' "$scratch/sacct")" +%Y-%m)" \
    -o section,cause,wasted_gpu_hours --parsable2 --noheader >"$scratch/waste" 2>&1
is "$(grep '|cancelled' "$scratch/waste" | grep -v '^job|' | tr '\n' ' ')" \
    "jobs|cancelled_by_operator|$(quantity cancelled-running 4) " \
    "report waste: the job that root cancelled"

# Reading everything once more changes nothing.
usage --by label:case,project,user,account,node,gres_type >"$scratch/first"
ledger sync >/dev/null 2>&1
ledger sync --full >/dev/null 2>&1
for node in $GL_SANDBOX_NODES; do
    ledger ingest "$GL_SANDBOX_LEDGER/$node" >/dev/null 2>&1
done
usage --by label:case,project,user,account,node,gres_type >"$scratch/second"
cmp "$scratch/first" "$scratch/second" >/dev/null
ok $? "a second sync and ingest change nothing"
[ -s "$scratch/first" ]
ok $? "and there was something to change"

is "$(node_states)" idle "all nodes are idle"

done_testing
