#!/bin/bash
# What gpuledger setup reads of slurm.conf is what slurmctld reads of it: defaults in several
# lines, an include, quotes, comments, continued lines. Slurm's own answer is the oracle:
# each node's GPUs, CPUs and memory.
# shellcheck source=tests/setup/lib.sh
. "${abs_top_srcdir:?}/tests/setup/lib.sh" || exit 1
PATH=$PATH:/usr/sbin
setup_needs slurmctld scontrol
[ "$(id -u)" -eq 0 ] || { echo '1..0 # SKIP because slurmctld runs as root here'; exit 0; }
# shellcheck source=tests/support/slurmdb.sh
. "$abs_top_srcdir/tests/support/slurmdb.sh" || exit 1
work=$(mktemp -d) || exit 1
controller=
finish () { [ -z "$controller" ] || { kill "$controller"; wait "$controller"; } 2>/dev/null; rm -rf "$work"; }
trap finish EXIT
trap 'exit 1' HUP INT TERM

mkdir "$work/state"
cat >"$work/slurm.conf" <<END
clustername = "lab"   # quotes and blanks
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$(slurmdb_port 3)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
StateSaveLocation=$work/state
SlurmctldPidFile=$work/slurmctld.pid
GresTypes=gpu,nvme
NodeName=DEFAULT CPUs=64 RealMemory=512000 State=DOWN
Include nodes-%c.conf
nodename=DEFAULT RealMemory=1000
# NodeName=no[1-9] Gres=gpu:h100:8
NodeName=c[1-3] NodeAddr=127.0.1.[1-3] CPUs=16
NODENAME=u1 NodeAddr=127.0.1.4 gres=gpu:4
NodeSet=fast Feature=a
NodeSet=few Nodes=m1,r2n[08-09]
PartitionName=DEFAULT AllowAccounts=alpha,beta
PartitionName=gpu Nodes=g[001-002],few,c1 Default=YES
PartitionName=fast Nodes=fast AllowAccounts=ALL TRESBillingWeights="CPU=1.0,Mem=0.25G"
PartitionName=DEFAULT AllowAccounts=gamma
partitionname=rest nodes=r[1-2]n[08,10]
END
cat >"$work/nodes-lab.conf" <<'END'
NodeName=g[001-002],h1 Gres="gpu:h100:8,nvme:2" Feature=a,b NodeAddr=127.0.1.[11-13] \
    Weight=5 Reason="not # here"
NodeName=m[1-2] NodeAddr=127.0.1.[21-22] Gres=gpu:1g.10gb:4,gpu:3g.40gb:1,gpu:h100:2 CPUs=32 # a comment
    NodeName=r[1-2]n[08-10]	NodeAddr=127.0.1.[31-36]	Gres=gpu:a100:2 RealMemory=2000 CPUs=8
END
export SLURM_CONF=$work/slurm.conf
slurmctld -D -c >"$work/log" 2>&1 &
controller=$!
# nodes: of Slurm: NODE TYPE COUNT CPUS MEMORY for whole GPUs, NODE slices TYPE:COUNT,...
nodes () { scontrol -o show node 2>/dev/null; }
slurmdb_wait sh -c "! kill -0 $controller || scontrol -o show node | grep -q NodeName=u1" &&
    kill -0 "$controller" 2>/dev/null ||
    { sed 's/^/# /' "$work/log"; echo 'Bail out! no slurmctld'; exit 1; }
nodes | awk '
    function value(key) { return match($0, "(^| )" key "=[^ ]*") ? substr($0, RSTART + index(substr($0, RSTART), "=")) : "" }
    {
        node = value("NodeName"); sub(/ .*/, "", node)
        gres = value("Gres"); sub(/ .*/, "", gres)
        cpus = value("CPUTot"); sub(/ .*/, "", cpus)
        memory = value("RealMemory"); sub(/ .*/, "", memory)
        slices = ""
        count = split(gres, item, ",")
        for (i = 1; i <= count; i++) {
            parts = split(item[i], part, ":")
            if (part[1] != "gpu") continue
            type = parts == 3 ? part[2] : "gpu"
            if (type ~ /^[0-9]g\./) slices = slices (slices == "" ? "" : ",") type ":" part[parts]
            else print node, type, part[parts], cpus, memory
        }
        if (slices != "") print node, slices, cpus, memory
    }' | sort >"$work/wanted"

# The same of the proposal: a line for each node of each pool.
"$abs_top_builddir/sacct-ext/gpuledger" --config "$work/new.yaml" setup --dry-run --yes \
    --slurmdb mysql://gpuledger_reader@127.0.0.1:1/slurm_acct_db >"$work/out" 2>&1 </dev/null
grep -q 'cluster lab, 5 pools' "$work/out"
result $? "five kinds of nodes with GPUs"
sed -n 's/^ *+ //p' "$work/out" | awk '
    function done_pool() { if (nodes != "") print nodes, (layout != "" ? layout : type " " gpus), cpus, memory; nodes = "" }
    /^[a-z]/ { done_pool(); on = ($1 == "pools:"); next }
    !on { next }
    /^  - name:/ { done_pool(); layout = type = gpus = cpus = memory = "" }
    { word = $2; gsub(/["\[\]]/, "", word) }
    /^    nodes:/ { nodes = $0; sub(/^    nodes: /, "", nodes); gsub(/"/, "", nodes) }
    /^    gres:/ { type = word }
    /^    layout:/ { layout = word }
    /^    gpus_per_node:/ { gpus = word }
    /^    cpus_per_node:/ { cpus = word }
    /^    memory_per_node:/ { memory = word }' |
    while read -r list rest; do
        scontrol show hostnames "$list" | sed "s/\$/ $rest/"
    done | sort >"$work/got"
diff "$work/wanted" "$work/got" >"$work/diff"
result $? "GPUs, CPUs and memory of each node are those of slurmctld"
sed 's/^/# /' "$work/diff"
[ "$(wc -l <"$work/wanted")" -eq 14 ]
result $? "of 12 nodes with 14 kinds of devices"

# Of each pool and partition the number of nodes, and those in none, by Slurm's partitions.
names () { scontrol show hostnames "$1"; }
sed -n 's/^ *+ //p' "$work/out" | sed -n '/^pools:/,/^assets:/p' >"$work/pools"
sed -n 's/^  - name: //p; s/^    nodes: //p' "$work/pools" | tr -d '"' | paste - - |
    while read -r pool list; do
        names "$list" | sort >"$work/pool"
        : >"$work/all"
        scontrol -o show partition | sed 's/^PartitionName=\([^ ]*\).* Nodes=\([^ ]*\).*/\1 \2/' |
            while read -r partition nodes; do
                names "$nodes" | sort | tee -a "$work/all" | comm -12 - "$work/pool" | sed "s/.*/$pool $partition/"
            done
        sort -u "$work/all" | comm -13 - "$work/pool" | sed "s/.*/$pool none/"
    done | sort | uniq -c | awk '{ print $2, $3, $1 }' >"$work/wanted"
awk '
    /^  - name:/ { pool = $3 }
    /^    nodes:/ { list = $2; gsub(/"/, "", list) }
    /^    # partition/ { sub(/:/, "", $3); print pool, $3, ($4 == "all" ? "all " list : $4) }
    /^    # .* in no partition/ { print pool, "none", ($2 == "all" ? "all " list : $2) }' "$work/pools" |
    while read -r pool partition count list; do
        [ "$count" = all ] && count=$(names "$list" | wc -l)
        echo "$pool $partition $count"
    done | sort >"$work/got"
diff "$work/wanted" "$work/got" >"$work/diff"
result $? "and so are the partitions of each pool, with sets of nodes"
sed 's/^/# /' "$work/diff"
[ "$(grep -c . "$work/wanted")" -ge 8 ] && grep -q ' none ' "$work/wanted"
result $? "of eight or more"
for says in 'gpu: 2 of 3 nodes, AllowAccounts=alpha,beta' 'fast: all nodes, TRESBillingWeights=CPU=1.0,Mem=0.25G' \
    'rest: 4 of 6 nodes, AllowAccounts=gamma'; do
    grep -q "# partition $says\$" "$work/pools"
    result $? "partition $says"
done
[ $failed -eq 0 ] || sed 's/^/# /' "$work/wanted" "$work/out"
setup_end
