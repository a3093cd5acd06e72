# slurmdb.sh: a private MariaDB with the schema that the real slurmdbd makes.
# To be sourced by tests and the bench.
#
#   slurmdb_start DIR      mariadbd on a socket and a free loopback port, and
#                          slurmdbd beside it; 1 if a program is missing
#   slurmdb_stop           ends both and waits for them
#   slurmdb_sql DB [...]   the stock client as root, statements from stdin
#   slurmdb_sacct [...]    sacct of the private slurmdbd; sacctmgr likewise
#
# DIR is the caller's to make and to remove. Sets slurmdb_url, with an account
# that has what sql/accounts.sql gives, slurmdb_socket and slurmdb_cnf. Needs
# no munge: slurmdbd runs with auth/none and as the caller.

slurmdb_missing ()
{
    for program in mariadbd mariadb mariadb-install-db slurmdbd sacctmgr; do
        command -v "$program" >/dev/null || { echo "$program"; return; }
    done
}

# slurmdb_or_skip [TOOL]...: ends the test where something is not installed.
slurmdb_or_skip ()
{
    missing=$(slurmdb_missing)
    for tool in "$@"; do
        [ -n "$missing" ] || command -v "$tool" >/dev/null || missing=$tool
    done
    [ -z "$missing" ] ||
        { echo "1..0 # SKIP because $missing is not installed"; exit 0; }
}

# check STATUS NAME: a result; $dir/err is shown of one that fails.
number=0
check ()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        [ ! -s "$dir/err" ] || sed 's/^/# /' "$dir/err"
        failed=1
    fi
}

# A port that nobody listens on just now.
slurmdb_port ()
{
    awk -v seed="$$$1$(date +%N)" 'BEGIN {
        while ((getline line < "/proc/net/tcp") > 0) {
            split (line, field, " ")
            split (field[2], address, ":")
            used[address[2]] = 1
        }
        srand (seed % 2147483647)
        do
            port = 20000 + int (rand () * 10000)
        while (sprintf ("%04X", port) in used)
        print port
    }'
}

# slurmdb_wait COMMAND...: until it succeeds, at most 60 s.
slurmdb_wait ()
{
    slurmdb_deadline=$(($(date +%s) + 60)) # Slurm's clients try for 9 s themselves
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt "$slurmdb_deadline" ] || return 1
        sleep 0.2
    done
}

slurmdb_sql ()
{
    mariadb --no-defaults --socket "$slurmdb_socket" --user root "$@"
}

slurmdb_conf ()
{
    cat >"$slurmdb_dir/slurmdbd.conf" <<END
AuthType=auth/none
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$slurmdb_dbd_port
SlurmUser=$(id -un)
LogFile=$slurmdb_dir/slurmdbd.log
PidFile=$slurmdb_dir/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$slurmdb_db_port
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
END
    chmod 600 "$slurmdb_dir/slurmdbd.conf"
    cat >"$slurmdb_dir/slurm.conf" <<END
ClusterName=lab
SlurmctldHost=localhost(127.0.0.1)
AuthType=auth/none
SlurmUser=$(id -un)
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$slurmdb_dbd_port
AccountingStorageUser=$(id -un)
NodeName=n1
PartitionName=p Nodes=ALL
END
}

slurmdb_sacct () { SLURM_CONF=$slurmdb_dir/slurm.conf sacct "$@"; }
slurmdb_sacctmgr () { SLURM_CONF=$slurmdb_dir/slurm.conf sacctmgr -i "$@"; }

# slurmdb_start_db DIR [OPTION...]: the server alone, on what DIR/data holds, if it
# was there before.
slurmdb_start_db ()
{
    slurmdb_dir=$1
    shift
    slurmdb_socket=$slurmdb_dir/db.sock
    [ -d "$slurmdb_dir/data/mysql" ] ||
        sh "$abs_top_srcdir/tests/support/mariadb_files.sh" "$slurmdb_dir/data" \
            >"$slurmdb_dir/install.log" 2>&1 || return 1
    slurmdb_db_port=$(slurmdb_port 1)
    mariadbd --no-defaults --user="$(id -un)" --datadir="$slurmdb_dir/data" \
        --tmpdir="$slurmdb_dir" \
        --socket="$slurmdb_socket" --pid-file="$slurmdb_dir/db.pid" \
        --bind-address=127.0.0.1 --port="$slurmdb_db_port" \
        --innodb-flush-log-at-trx-commit=0 "$@" \
        </dev/null >"$slurmdb_dir/db.log" 2>&1 &
    slurmdb_db_pid=$!
    slurmdb_wait slurmdb_sql -e 'SELECT 1'
}

slurmdb_start_dbd ()
{
    slurmdb_dbd_port=$(slurmdb_port 2)
    slurmdb_conf
    slurmdb_sql <<END || return 1
CREATE DATABASE IF NOT EXISTS slurm_acct_db;
CREATE USER IF NOT EXISTS slurm@'127.0.0.1' IDENTIFIED BY 'slurm';
GRANT ALL ON slurm_acct_db.* TO slurm@'127.0.0.1';
END
    slurmdb_resume_dbd
}

# slurmdb_resume_dbd: one that has been ended, with what it left
slurmdb_resume_dbd ()
{
    SLURM_CONF=$slurmdb_dir/slurmdbd.conf slurmdbd -D \
        </dev/null >"$slurmdb_dir/slurmdbd.out" 2>&1 &
    slurmdb_dbd_pid=$!
    slurmdb_wait slurmdb_sacctmgr show cluster
}

# The reader's account and its URL.
slurmdb_account ()
{
    slurmdb_cnf=$slurmdb_dir/reader.cnf
    (umask 077; printf '[client]\npassword=reader\n' >"$slurmdb_cnf")
    slurmdb_sql <<END || return 1
CREATE USER IF NOT EXISTS reader@'127.0.0.1' IDENTIFIED BY 'reader';
GRANT SELECT ON slurm_acct_db.* TO reader@'127.0.0.1';
END
    slurmdb_host=127.0.0.1:$slurmdb_db_port
    slurmdb_url="mysql://reader@$slurmdb_host/slurm_acct_db"
    slurmdb_url="$slurmdb_url?option-file=$slurmdb_cnf"
}

slurmdb_start ()
{
    slurmdb_start_db "$@" && slurmdb_start_dbd && slurmdb_account
}

slurmdb_end ()
{
    [ -n "$1" ] || return 0
    kill "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}

slurmdb_stop ()
{
    slurmdb_end "$slurmdb_dbd_pid"
    slurmdb_end "$slurmdb_db_pid"
    slurmdb_dbd_pid='' slurmdb_db_pid=''
}
