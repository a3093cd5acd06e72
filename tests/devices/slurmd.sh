#!/bin/sh
# What the installed slurmd prints with -G, read as the order of its devices.
# No Slurm daemon runs: slurmd -G only reads its configuration; from 24.11 on it
# tries munge, too.
# shellcheck disable=SC2154
set -u

skip () { echo "1..0 # SKIP because $*"; exit 0; }

print_table=$abs_top_builddir/tests/devices/print_table
PATH=$PATH:/usr/sbin:/sbin
slurmd=$(command -v slurmd) || skip "slurmd is not installed"
# what /proc/PID/exe says: Debian has alternatives
slurmd=$(readlink -f "$slurmd")
[ "$(id -u)" = 0 ] || skip "device files are made by root only"

dir=$(mktemp -d) || exit 1
munged=''
cleanup ()
{
    [ -z "$munged" ] || { kill "$munged"; wait "$munged"; } 2>/dev/null
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$dir"
mkdir "$dir/dev" "$dir/nvidia-caps" "$dir/spool" "$dir/munge"
for i in 0 1 2 3 10 11; do
    mknod "$dir/dev/nvidia$i" c 195 "$i" 2>/dev/null ||
        skip "device files cannot be made here"
    mknod "$dir/nvidia-caps/nvidia-cap$i" c 235 "$i"
done

(umask 077 && head -c 128 /dev/urandom >"$dir/munge/key")
munged --foreground --force --num-threads=1 --key-file="$dir/munge/key" \
    --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
    --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" \
    >"$dir/munge/out" 2>&1 &
munged=$!
for _ in $(seq 100); do
    [ -S "$dir/munge/socket" ] && break
    sleep 0.05
done

# several files for one device: Slurm 21.08 and later
several='x2'
case $("$slurmd" -V) in *' 20.'*) several='' ;; esac

host=$(uname -n)
host=${host%%.*}
cat >"$dir/slurm.conf" <<END
ClusterName=table
SlurmctldHost=$host
SlurmdSpoolDir=$dir/spool
AuthInfo=socket=$dir/munge/socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
NodeName=x1 NodeHostname=$host CPUs=2 Gres=gpu:b:2,gpu:a:2
NodeName=x3 NodeHostname=$host CPUs=2 Gres=gpu:a:2,gpu:b:2
NodeName=x4 NodeHostname=$host CPUs=2 Gres=gpu:4
NodeName=x5 NodeHostname=$host CPUs=2
END
cat >"$dir/gres.conf" <<END
NodeName=x1 Name=gpu Type=b File=$dir/dev/nvidia[2-3]
NodeName=x1 Name=gpu Type=a File=$dir/dev/nvidia[0-1]
NodeName=x3 Name=gpu Type=b File=$dir/dev/nvidia[2-3]
NodeName=x3 Name=gpu Type=a File=$dir/dev/nvidia[0-1]
NodeName=x4 Name=gpu File=$dir/dev/nvidia[10-11,2,0]
END
if [ "$several" ]; then
    echo "NodeName=x2 NodeHostname=$host CPUs=2 Gres=gpu:s:2,gpu:w:1" \
        >>"$dir/slurm.conf"
    cat >>"$dir/gres.conf" <<END
NodeName=x2 Name=gpu Type=w File=$dir/dev/nvidia2
NodeName=x2 Name=gpu Type=s MultipleFiles=$dir/dev/nvidia1,$dir/nvidia-caps/nvidia-cap0,$dir/nvidia-caps/nvidia-cap1
NodeName=x2 Name=gpu Type=s MultipleFiles=$dir/dev/nvidia0,$dir/nvidia-caps/nvidia-cap[2-3]
END
    echo CgroupPlugin=cgroup/v1 >"$dir/cgroup.conf"
fi

plan=0
# expect NODE TEXT: what is read, with the directory left out
expect () {
    plan=$((plan + 1))
    "$print_table" run "$slurmd" "$dir/slurm.conf" "$1" >"$dir/out" 2>&1
    seen=$(sed "s|$dir/||g" "$dir/out")
    if [ "$seen" = "$2" ]; then
        echo "ok $plan - $1"
    else
        echo "not ok $plan - $1"
        printf '%s\n' "seen:" "$seen" "expected:" "$2" | sed 's/^/# /'
        SLURM_CONF=$dir/slurm.conf "$slurmd" -G -N "$1" 2>&1 |
            sed 's/^/# slurmd -G: /'
    fi
}

echo "# $("$slurmd" -V)"
expect x1 '0 b dev/nvidia2
1 b dev/nvidia3
2 a dev/nvidia0
3 a dev/nvidia1'
[ -z "$several" ] || expect x2 '0 s dev/nvidia1 nvidia-caps/nvidia-cap0 nvidia-caps/nvidia-cap1
1 s dev/nvidia0 nvidia-caps/nvidia-cap2 nvidia-caps/nvidia-cap3
2 w dev/nvidia2'
expect x3 '0 a dev/nvidia0
1 a dev/nvidia1
2 b dev/nvidia2
3 b dev/nvidia3'
expect x4 '0 - dev/nvidia10
1 - dev/nvidia11
2 - dev/nvidia2
3 - dev/nvidia0'
expect x5 ''
echo "1..$plan"
