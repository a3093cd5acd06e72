#!/bin/bash
# gpuledger setup on nodes and login hosts: Slurm's own clients and slurmd's configuration
# find the plugin; what others wrote in plugstack.conf stays; and back.
# shellcheck source=tests/setup/lib.sh
. "${abs_top_srcdir:?}/tests/setup/lib.sh" || exit 1
setup_needs srun
setup_host "$0" "$@"
printf '%s\n' ClusterName=lab SlurmctldHost=localhost NodeName=g001 \
    'PartitionName=gpu Nodes=g001' >/etc/slurm/slurm.conf
stack=/etc/slurm/plugstack.conf
mount -t tmpfs tmpfs /run || exit 1
mount -t tmpfs tmpfs /var/spool || exit 1

# No systemd runs here: a systemctl that knows which units are on, in $work/units, and which
# process slurmd is, in $work/slurmd. The one that restart makes has the plugin, as slurmd has it.
mkdir -p /run/systemd/system "$work/bin" "$work/units"
cat >"$work/bin/systemctl" <<END
#!/bin/sh
verb=\$1
shift
for unit; do
    case \$verb:\$unit in
    *:--*) ;;
    enable:*) touch "$work/units/\$unit" ;;
    disable:*) rm "$work/units/\$unit" ;;
    is-enabled:*) [ -e "$work/units/\$unit" ] && echo enabled && exit 0; echo disabled; exit 1 ;;
    show:slurmd.service) cat "$work/slurmd" 2>/dev/null || echo 0 ;;
    restart:slurmd.service)
        [ ! -e "$work/broken" ] || { sleep 600 >/dev/null 2>&1 </dev/null & echo \$! >"$work/slurmd"; exit 0; }
        python3 -c 'import mmap, sys, time
with open (sys.argv[1], "rb") as file:
    plugin = mmap.mmap (file.fileno (), 0, prot=mmap.PROT_READ)
    time.sleep (600)' "\$(cat "$work/so")" >/dev/null 2>&1 </dev/null &
        echo \$! >"$work/slurmd"
        for n in 1 2 3 4 5 6 7 8 9 10; do grep -q gpuledger.so /proc/\$!/maps && break; sleep 0.2; done ;;
    is-active:*) [ -e "$work/units/\$unit" ] && echo active && exit 0; echo inactive; exit 3 ;;
    esac
done
END
chmod 755 "$work/bin/systemctl"
PATH=$work/bin:$PATH

# --- the plugin is not installed yet
ends 2 "a node whose accounting host is unknown" gl setup login --yes
says "the option that is missing" '^  --collector HOST'
ends 3 "no plugin" gl setup login --collector ledger1
says "the package is named" 'there is no /.*/gpuledger.so: install slurm-gpuledger-plugin'
so=$(sed -n 's/.*there is no \(\/[^ ]*\): install.*/\1/p' "$work/out")
echo "$so" >"$work/so"
[ "$(stat -c '%a %U' $conf)" = '644 root' ]
result $? "everybody reads where the collector is"
grep -q 'hosts: \[ledger1\]' $conf
result $? "and it is there"

# --- a login host
place=$(dirname "$(dirname "$so")")
mount -t tmpfs tmpfs "$place" && mkdir "$(dirname "$so")" &&
    cp "$abs_top_builddir/plugin/.libs/gpuledger.so" "$so" || exit 1
option () { srun --help 2>&1 | grep -q -e --gpu-project; }
! option
result $? "srun has no --gpu-project"
ends 0 "with the plugin" gl setup login
option
result $? "srun has --gpu-project"
[ ! -e /var/spool/gpuledger ] && [ -z "$(ls "$work/units")" ]
result $? "a login host has neither spool nor agent"
host_state >"$work/before"
ends 0 "a second run" gl setup login
says "says that nothing is to do" 'nothing to do: all steps are done'
host_state | cmp -s - "$work/before"
result $? "and changes nothing"
ends 0 "removed" gl setup login --remove
! option
result $? "srun has it no more"
[ "$(cat $stack)" = '' ]
result $? "plugstack.conf is empty again"

# --- a node, with a plugin of the site
printf '# of the site\noptional /nowhere/other.so\n' >$stack
cp $stack "$work/stack"
ends 0 "a node" gl setup node --collector ledger1,ledger2:6828
says "the agent is enabled and started" 'ran systemctl enable --now gpuledger-agent.service'
says "slurmd reads the plugin when it starts" 'slurmd reads it when it starts'
silent "none runs under systemd" 'restart slurmd'
[ "$(stat -c '%a %U %G' /var/spool/gpuledger)" = '700 root root' ]
result $? "the spool is root's"
[ "$(grep -c . $stack)" = 4 ] && grep -v '^#' $stack | head -n 1 | grep -q "^optional $so$" &&
    tail -n 2 $stack | cmp -s - "$work/stack"
result $? "our plugin is the first one, and the site's line is unchanged"
grep -Fq 'hosts: [ledger1, "ledger2:6828"]' $conf
result $? "both collectors"
host_state >"$work/before"
ends 0 "a second run" gl setup node
host_state | cmp -s - "$work/before"
result $? "changes nothing"

# --- a node on which something broke: only that is done again
rm "$work/units/gpuledger-agent.service"
ends 0 "an agent that was switched off" gl setup node
says "is switched on" '^done now +the agent runs'
[ "$(grep -c '^done now' "$work/out")" = 1 ]
result $? "and nothing else is done"
sed -i 's/^optional.*gpuledger.so/required gpuledger.so/' $stack
ends 3 "a required plugin" gl setup node
says "drains nodes: it is said, and not changed" "has 'required'"
sed -i "s|^required gpuledger.so|optional $so|" $stack

# --- slurmd started before the plugin was there
sleep 600 &
echo $! >"$work/slurmd"
ends 0 "a slurmd without the plugin" gl setup node --dry-run
says "would start again" 'would run systemctl restart slurmd.service'
ends 0 "a slurmd without the plugin" gl setup node
says "starts again" '^done now +slurmd runs with the plugin: running jobs go on'
kill %1
ends 0 "a second run" gl setup node
says "finds the plugin in it" '^done +slurmd runs with the plugin'
says "and changes nothing" 'nothing to do: all steps are done'
cp "$so" "$so.new" && mv "$so.new" "$so"
ends 0 "a plugin that was replaced" gl setup node --dry-run
says "is not the one in slurmd" 'would run systemctl restart slurmd.service'
kill "$(cat "$work/slurmd")"
touch "$work/broken"
sleep 600 &
echo $! >"$work/slurmd"
ends 3 "a slurmd that does not load it" gl setup node
says "is left to the administrator" "list the plugin in slurmctld's plugstack.conf"
kill %% "$(cat "$work/slurmd")"
rm "$work/slurmd" "$work/broken"

# --- back, with records in the spool that no collector has
touch /var/spool/gpuledger/00000001.records
echo '# mine' >>$conf
ends 0 "removed" gl setup node --remove
cmp -s $stack "$work/stack"
result $? "plugstack.conf is as the site wrote it"
[ ! -e "$work/units/gpuledger-agent.service" ]
result $? "the agent is disabled"
says "the spool stays, because of its records" '/var/spool/gpuledger stays'
says "and the edited configuration" "$conf stays"

# --- the package's file, which Debian's plugstack.conf includes
rm -r /etc/slurm/plugstack.conf*
mkdir /etc/slurm/plugstack.conf.d
echo "optional $so" >/etc/slurm/plugstack.conf.d/gpuledger.conf
echo "include /etc/slurm/plugstack.conf.d/*.conf" >$stack
host_state | grep slurm >"$work/before"
ends 0 "as the packages leave it" gl setup login
host_state | grep slurm | cmp -s - "$work/before"
result $? "plugstack.conf needs no change"
: >$stack
ends 0 "a plugstack.conf that does not include it" gl setup login
grep -q '^include /etc/slurm/plugstack.conf.d/gpuledger.conf$' $stack && option
result $? "includes it, and srun has --gpu-project"
setup_end
