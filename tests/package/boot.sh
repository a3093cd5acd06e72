# shellcheck shell=bash
# boot.sh: sourced after tree.sh. systemd as process 1 of a tree, as on a site's host: with
# processes, mounts, control groups, a host name and a network of its own.
#
#     boot TREE || ...       # $booted is then its process; a test that cannot boot is skipped
#     booted COMMAND...      # as root of the tree
#     halt                   # services stop, and nothing is left

# "${control_groups[@]}" COMMAND...: in the directory of this machine's unified control groups
# shellcheck disable=SC2016
control_groups=(unshare --mount bash -c '
    mkdir -p "$1" && mount -t cgroup2 cgroup2 "$1" && cd "$1" && shift && exec "$@"
    ' bash "${work:?}/cgroup")

# can_boot: prints why not
can_boot ()
{
    "${control_groups[@]}" sh -c 'mkdir gpuledger-test.$$ && rmdir gpuledger-test.$$' 2>/dev/null ||
        { echo 'control groups cannot be made'; return 1; }
    unshare --mount --pid --fork --cgroup --uts --ipc --net true 2>/dev/null ||
        { echo 'namespaces cannot be made'; return 1; }
}

boot ()
{
    # What may change this machine is read-only: /sys and /proc/sys.
    # shellcheck disable=SC2016
    "${control_groups[@]}" sh -c '
        mkdir "$1" && echo $$ >"$1/cgroup.procs" && cd / &&
            exec unshare --mount --pid --fork --kill-child --cgroup --uts --ipc --net bash -c "$2" bash "$3"
    ' sh "gpuledger-test.$$" '
        tree=$1
        mount --bind "$tree" "$tree" && mount -t proc proc "$tree/proc" &&
            mount --bind "$tree/proc/sys" "$tree/proc/sys" &&
            mount -o remount,bind,ro "$tree/proc/sys" &&
            mount -t sysfs -o ro sysfs "$tree/sys" && mount -t cgroup2 cgroup2 "$tree/sys/fs/cgroup" &&
            mount -t tmpfs -o mode=755 tmpfs "$tree/run" && mount -t tmpfs -o mode=755 tmpfs "$tree/dev" ||
            exit
        for device in null zero full random urandom tty; do
            touch "$tree/dev/$device" && mount --bind "/dev/$device" "$tree/dev/$device" || exit
        done
        mkdir "$tree/dev/pts" "$tree/dev/shm" && ln -s pts/ptmx "$tree/dev/ptmx" &&
            ln -s /proc/self/fd "$tree/dev/fd" &&
            mount -t tmpfs -o mode=1777 tmpfs "$tree/dev/shm" &&
            mount -t devpts -o newinstance,ptmxmode=0666 devpts "$tree/dev/pts" &&
            exec chroot "$tree" env -i container=gpuledger PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
    ' "$1" </dev/null &
    boot_job=$! booted=
    for _ in $(seq 100); do
        booted=$(pgrep -P $boot_job -x systemd) && break
        kill -0 $boot_job 2>/dev/null || return 1
        sleep 0.1
    done
    # "degraded" is running, too: the tree has services that need a real machine
    for _ in $(seq 100); do
        case $(booted systemctl is-system-running 2>/dev/null) in
        running | degraded) return 0 ;;
        esac
        sleep 0.3
    done
    return 1
}

booted ()
{
    nsenter --target "$booted" --all --root --wd env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}

halt ()
{
    [ -n "${boot_job:-}" ] || return 0
    [ -z "$booted" ] || timeout 20 nsenter --target "$booted" --all --root --wd systemctl exit >/dev/null 2>&1
    for _ in $(seq 200); do
        kill -0 "$boot_job" 2>/dev/null || break
        sleep 0.1
    done
    kill -9 "$boot_job" 2>/dev/null
    wait "$boot_job" 2>/dev/null
    boot_job=
    "${control_groups[@]}" find "gpuledger-test.$$" -depth -type d -exec rmdir '{}' +
}

at_end () { halt; }
why=$(can_boot) || skip "$why"

# --- what booted hosts need -------------------------------------------------------------

# eventually COMMAND...
eventually () { for _ in $(seq 100); do "$@" && return; sleep 0.3; done; return 1; }
# address: Slurm resolves no name on a host that has only 127.0.0.1
address () { booted ip address add 192.0.2.1/32 dev lo; }

# start_slurmdbd TREE: of the booted tree, with the server of databases and the cluster lab
start_slurmdbd ()
{
    cat >"$1/etc/slurm/slurmdbd.conf" <<'END'
DbdHost=localhost
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageUser=slurm
StorageLoc=slurm_acct_db
PidFile=/run/slurmdbd.pid
END
    booted sh -c 'chown slurm /etc/slurm/slurmdbd.conf && chmod 600 /etc/slurm/slurmdbd.conf' &&
        eventually booted mariadb -e 'CREATE DATABASE IF NOT EXISTS slurm_acct_db' &&
        booted mariadb -e "CREATE USER slurm@localhost IDENTIFIED VIA unix_socket;
            GRANT ALL ON slurm_acct_db.* TO slurm@localhost" &&
        booted systemctl start slurmdbd && eventually booted sacctmgr -i add cluster lab
}
