#!/bin/bash
# gpuledger doctor in a real cluster: all is well, then one thing after another
# is broken, and the table says so.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

plugin=$abs_top_builddir/plugin/.libs/gpuledger.so
cluster_up --plugin "$plugin"
spool=$scratch/spool
mkdir -m 700 "$spool" "$spool/state"
plugstack=$scratch/plugstack.conf
conf=$scratch/site.yaml
printf 'ledger: {timezone: UTC}\n' >"$conf"
list () { printf '%s\n' "$@" >"$plugstack"; }
list "optional $plugin"

# looks at everything: the table as CHECK|STATE|FINDING in $table
examine ()
{
    table=$("$abs_top_builddir/sacct-ext/gpuledger" --config "$conf" doctor \
        -n -P -o name,state,message --spool "$spool" \
        --plugstack "$plugstack" "$@" 2>&1)
    status=$?
}
# finds CHECK STATE PATTERN TEXT
finds ()
{
    like "$(grep "^$1|" <<<"$table")" "^$1[|]$2[|].*$3" "$4"
}

# --- as it should be; a process that holds the agent's lock stands for it
exec 9>"$spool/state/agent.lock"
flock -x 9
examine
finds node.plugin ok 'first, optional' "the plugin is listed"
finds node.policy ok 'no policy=' "no policy"
finds node.spool ok '' "the spool"
finds node.room ok '0 segments' "its room"
finds node.agent ok 'it runs' "the agent"
finds node.refused ok none "nothing refused"
finds node.devices skipped 'no inventory' "no inventory waits"
finds node.munge 'ok|fail' '' "munge"
finds node.collector skipped 'no collector is configured' "no collector"
finds slurm.prolog ok 'PrologFlags=.*Alloc' "PrologFlags"
finds slurm.run_in_job ok '' "RunInJob"
finds slurm.prep ok '' "PrEpPlugins"
finds slurm.accounting ok slurmdbd "accounting"
finds slurm.tres ok "gres/gpu and the nodes' types" "AccountingStorageTRES"
finds slurm.types ok '' "types"
finds slurm.purge ok 'jobs are kept' "slurmdbd keeps jobs"
finds host.config ok '' "the configuration"
finds host.store skipped 'not the accounting host' "no store"

# --- Slurm
set_slurm () { sed -i "s|^$1=.*|$1=$2|" "$SLURM_CONF"; }
shows () { scontrol show config | grep -q "^$1 *= *$2"; }
cp "$SLURM_CONF" "$scratch/slurm.conf"
set_slurm PrologFlags NoHold
set_slurm AccountingStorageTRES gres/gpu,gres/gpu:h100
scontrol reconfigure
await 20 shows PrologFlags '.*NoHold'
examine
is "$status" 3 "exit status 3"
if scontrol show config | grep -q '^PrologFlags.*Alloc'; then
    finds slurm.prolog warn NoHold "NoHold"
else
    finds slurm.prolog fail 'without a step' "no Alloc"
fi
set_slurm PrologFlags ''
sed -i '/^PrologFlags=/d' "$SLURM_CONF"
scontrol reconfigure
await 20 shows PrologFlags '(null)'
examine
finds slurm.prolog fail 'a node without a step never runs the prolog' \
    "no PrologFlags at all"
cp "$scratch/slurm.conf" "$SLURM_CONF"
scontrol reconfigure

# what this Slurm cannot be made to say, from a scontrol that does
mkdir "$scratch/bin"
real=$(command -v scontrol)
cat >"$scratch/bin/scontrol" <<END
#!/bin/sh
"$real" "\$@" | sed -e "\$EDIT"
END
chmod 755 "$scratch/bin/scontrol"
edited ()
{
    PATH=$scratch/bin:$PATH EDIT=$1 examine
}
edited 's/^PrologFlags.*/PrologFlags = Alloc,RunInJob/'
finds slurm.run_in_job fail 'do not run' "RunInJob"
edited 's/^PrEpPlugins.*/PrEpPlugins = prep\/other/'
finds slurm.prep fail "nothing calls" "PrEpPlugins"
list "optional $plugin projects=/p policy=require # text"
edited 's/^JobSubmitPlugins.*/JobSubmitPlugins = (null)/'
finds node.policy warn 'policy=require in .*, but JobSubmitPlugins=.null. has no lua' \
    "a policy that slurmctld does not have"
edited 's/^JobSubmitPlugins.*/JobSubmitPlugins = other,lua/'
finds node.policy ok 'JobSubmitPlugins=other,lua' "a policy that it has"
list "optional $plugin policy=off"
edited 's/^JobSubmitPlugins.*/JobSubmitPlugins = (null)/'
finds node.policy ok 'no policy=' "policy=off"
list "optional $plugin"
edited 's/^AccountingStorageTRES.*/AccountingStorageTRES = cpu,mem,gres\/gpu,gres\/gpu:h100/'
finds slurm.tres warn 'without gres/gpu:1g.10gb,gres/gpu:3g.40gb' \
    "types that are not accounted"
edited 's/^AccountingStorageTRES.*/AccountingStorageTRES = cpu,mem/'
finds slurm.tres fail 'no GPU is accounted' "no GPU accounted"
edited 's/^AccountingStorageType.*/AccountingStorageType = (null)/'
finds slurm.accounting fail '' "no slurmdbd"
edited 's/gpu:h100:[0-9]*/gpu:8/'
finds slurm.types warn 'without a type on [0-9]+ node' "GPUs without a type"
edited 's/^SlurmctldHost/X/;s/.*/&/;$d;d'
finds slurm.prolog 'fail' '' "an empty answer"
printf '#!/bin/sh\necho "slurm_load_ctl_conf error: Unable to contact" >&2\nexit 1\n' \
    >"$scratch/bin/scontrol"
edited ''
finds slurm.tres unknown 'Unable to contact' "slurmctld does not answer"
rm "$scratch/bin/scontrol"

# --- the node
list "required $plugin"
examine
finds node.plugin warn "has 'required'" "required"
list 'optional /other.so' "optional $plugin"
examine
finds node.plugin warn 'plugin 2' "not the first"
list "optional $plugin" "include $scratch/more.d/*.conf"
mkdir "$scratch/more.d"
echo "optional $plugin" >"$scratch/more.d/a.conf"
examine
finds node.plugin warn '2 times' "listed twice, through an include"
list 'optional /nowhere/gpuledger.so'
examine
finds node.plugin fail 'which is not there' "a plugin that is not there"
list '# nothing'
examine
finds node.plugin fail 'does not list' "not listed"
finds node.policy skipped 'no plugin in' "and no policy"
rm "$plugstack"
examine
finds node.plugin fail 'there is no' "no plugstack.conf"
list "optional $plugin"

exec 9>&-
examine
finds node.agent fail 'is not running' "the agent does not run"
rm "$spool/state/agent.lock"
examine
finds node.agent warn 'has never run' "it never has"
chmod 777 "$spool"
examine
finds node.spool fail 'writable by others' "a spool for all"
chmod 700 "$spool"
chown games "$spool"
examine
finds node.spool fail 'belongs to user' "a spool of somebody else"
chown root "$spool"
for i in $(seq 64); do touch "$spool/$(printf %08d "$i").records"; done
examine
finds node.room fail 'is full: 64 segments' "a full spool"
rm "$spool"/*.records
mkdir "$scratch/open"
chmod 711 "$scratch" "$scratch/open"
mkdir -m 700 "$scratch/open/spool"
table=$(setpriv --reuid games --regid games --clear-groups \
    "$abs_top_builddir/sacct-ext/gpuledger" doctor -n -P \
    -o name,state,message --spool "$scratch/open/spool" 2>&1)
for what in room refused agent devices; do
    finds "node.$what" unknown '' "a spool that may not be read: node.$what"
done
mkdir -m 700 "$spool/refused"
echo x >"$spool/refused/00000001.records"
examine
finds node.refused warn 'the collector refused' "refused records"
rmdir "$spool/state"
rm -r "$spool"
examine
finds node.spool skipped 'no node' "no spool: no node"

# --- the accounting host
echo 'pools: [{name: x, nodes: "g[1"}]' >"$conf"
examine
finds host.config fail 'site.yaml:1' "a configuration that does not load"
printf 'ledger: {timezone: UTC}\n' >"$conf"
examine --store "sqlite:$scratch/none.db"
finds host.store fail "none.db" "a store that is not there"
store=sqlite:$scratch/ledger.db
"$abs_top_builddir/sacct-ext/gpuledger" --quiet --store "$store" init
examine --store "$store"
finds host.store ok 'schema' "the store"
finds host.as_of warn 'the store has no jobs' "an empty store"
finds host.nodes warn 'no node has sent anything' "no nodes"
finds host.coverage skipped 'empty' "no month to cover"
cat >"$scratch/jobs.txt" <<'END'
JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|NodeList
1|2026-09-01T00:00:00|2026-09-01T00:00:00|2026-09-02T00:00:00|COMPLETED|gres/gpu=1|games|vision|g1
END
"$abs_top_builddir/sacct-ext/gpuledger" --quiet --store "$store" import \
    --cluster lab --tz UTC --force --as-of 2026-10-05Z "$scratch/jobs.txt"
examine --store "$store"
finds host.as_of warn 'lab: [0-9]+ days old' "old facts"
finds host.coverage warn '2026-09: nodes recorded 0 %' "no node records"

# --- a real agent, on devices that this Slurm does not have
mkdir -m 700 "$scratch/other"
agent=(env SLURM_CONF=/nowhere "$abs_top_builddir/plugin/agent/gpuledger-agent"
    --config "$conf" --spool "$scratch/other" --node g1 --cluster lab
    --replay "$abs_top_srcdir/tests/data/replay/demo.replay")
"${agent[@]}" --once 2>"$scratch/agent.log"
examine --spool "$scratch/other"
finds node.agent fail 'is not running' "an agent that has ended"
finds node.devices warn 'have no Slurm index' "devices that Slurm does not know"
"${agent[@]}" >"$scratch/agent.out" 2>>"$scratch/agent.log" &
pid=$!
trap 'kill "$pid" 2>/dev/null; cleanup' EXIT
runs ()
{
    examine --spool "$scratch/other"
    grep -q '^node.agent|ok' <<<"$table"
}
await 10 runs
ok $? "an agent that runs"
kill "$pid"
wait "$pid"
store=sqlite:$scratch/nodes.db
"$abs_top_builddir/sacct-ext/gpuledger" --quiet --store "$store" init
"$abs_top_builddir/sacct-ext/gpuledger" --quiet --store "$store" ingest \
    "$scratch/other"
examine --store "$store"
finds host.nodes ok '1 node' "a node that reports"
finds host.devices warn 'on 1 node: g1' "its devices without an index"
finds host.as_of warn "no facts from Slurm's accounting" "no accounting yet"
done_testing
