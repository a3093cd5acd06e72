#!/bin/bash
# gpuledger setup on an accounting host, next to a real slurmdbd with its MariaDB: from
# nothing to the first usage report, again, and back.
# shellcheck source=tests/setup/lib.sh
. "${abs_top_srcdir:?}/tests/setup/lib.sh" || exit 1
setup_needs jq
setup_host_with_slurmdb "$0" "$@"

# Slurm's files, with what sites write: defaults, an include, two lines in one
cat >/etc/slurm/slurm.conf <<'END'
# of the site
clustername=lab
GresTypes=gpu AccountingStorageTRES=gres/gpu,gres/gpu:h100,gres/gpu:1g.10gb,gres/gpu:3g.40gb
include nodes-%c.conf
PartitionName=gpu Nodes=ALL Default=YES
END
cat >/etc/slurm/nodes-lab.conf <<'END'
NodeName=DEFAULT CPUs=64 RealMemory=512000
NodeName=g[001-002],g1 Gres=gpu:h100:8 \
    State=UNKNOWN
NodeName=m1 Gres="gpu:1g.10gb:4,gpu:3g.40gb:1,gpu:h100:2" # one GPU is cut
NodeName=c[1-4]
END
answers=(--yes --timezone Europe/Oslo --currency EUR)

# --- nothing is changed by a dry run
host_state >"$work/before"
ends 3 "a dry run" gl setup --dry-run "${answers[@]}"
host_state | cmp -s - "$work/before"
result $? "which changes nothing"
says "it shows the lines of the configuration" '^ *[+]   currency: EUR'
says "the command that makes the user" 'would run useradd .* gpuledger'
says "and the SQL" "GRANT SELECT ON .slurm\\\\_acct\\\\_db.\.\* TO 'gpuledger_reader'@'127.0.0.1'"

# --- asked on a terminal: an empty answer takes the proposal, a wrong one is asked again
printf '\n\nEurope/Oslo\neuro\nNOK\n' |
    script -qec "$program setup --dry-run" /dev/null >"$work/out" 2>&1
says "the cluster is proposed" '^Name of the cluster .* \[lab\]: '
says "and the database" "^.*Database of slurmdbd \[mysql://gpuledger_reader@127.0.0.1:$slurmdb_db_port/slurm_acct_db"
says "a wrong currency is refused" "'euro' is not a currency"
says "the answers are taken" 'currency: NOK'
says "and the time zone" 'timezone: Europe/Oslo'
printf '\n' | script -qec "$program setup --dry-run --cluster lab --timezone UTC --currency SEK" \
    /dev/null >"$work/out" 2>&1
silent "what an option says is not asked" '^(Name of the cluster|Currency)'
says "and is taken" 'currency: SEK'

# --- without an administrator of the database
ends 3 "all but the database" gl setup "${answers[@]}"
says "the SQL is left to the administrator" 'mariadb </etc/gpuledger/setup-reader.sql'
silent "no password is printed" "IDENTIFIED BY '[0-9a-f]"
says "sync waits" '^waiting +the store has the usage'
[ "$(stat -c '%a %U %G' $conf)" = '640 root gpuledger' ]
result $? "owner and mode of the configuration"
[ "$(stat -c '%a %U %G' /etc/gpuledger/slurmdb.cnf)" = '640 root gpuledger' ]
result $? "and of the password"
[ "$(stat -c '%a %U' /etc/gpuledger/setup-reader.sql)" = '600 root' ]
result $? "and of the SQL"
[ "$(stat -c '%a %U %G' /var/lib/gpuledger /var/lib/gpuledger-ledger | xargs)" = \
    '750 gpuledger gpuledger 750 root gpuledger' ] &&
    [ "$(stat -c '%U' /var/lib/gpuledger/facts.db /var/lib/gpuledger-ledger/ledger.db | xargs)" = \
        'gpuledger root' ]
result $? "facts are of the services' user, and closed months of root"

# --- with one
ends 3 "with --run-sql" gl setup "${answers[@]}" --run-sql
says "the account is made" '^done now +an account can read'
says "the first report" '^ *vision '
says "systemd does not run here" 'systemctl enable --now gpuledger-sync.timer .* gpuledger-anchor.timer gpuledger-backup.timer'
says "figures are left" "$conf:[0-9]+: .price. of .assets."
[ ! -e /etc/gpuledger/setup-reader.sql ]
result $? "the SQL is not left behind"

# --- again
host_state >"$work/before"
ends 3 "a second run" gl setup "${answers[@]}" --run-sql
host_state | cmp -s - "$work/before"
result $? "changes nothing"
silent "and does not say that it did" '^done now'

# --- doctor proves each step, and names the command that mends it
ends 3 "doctor" gl doctor --json
jq -e '[.rows[] | select(.name | startswith("setup.")) | {(.name): .state}] | add ==
    {"setup.user": "ok", "setup.configuration": "ok", "setup.reader": "ok",
     "setup.services": "warn", "setup.figures": "warn"}' "$work/out" >/dev/null
result $? "it has a check for each step"
jq -e '.rows[] | select(.name == "setup.services") | .remedy == "gpuledger setup"' "$work/out" >/dev/null
result $? "with its remedy"
jq -e --arg conf "$conf:" '.rows[] | select(.name == "setup.figures").message |
    [scan("[^ ,]+:[0-9]+: `[a-z_]+` of `[a-z]+`")] | length == 16 and all(startswith($conf))' "$work/out" >/dev/null
result $? "and every figure to fill, by file and line"
jq -e '.rows[] | select(.name == "host.store").state == "ok"' "$work/out" >/dev/null
result $? "the store is proved by a check of its own"
for check in $(sed -n 's/.*\.check = "\([^"]*\)".*/\1/p' "$abs_top_srcdir"/sacct-ext/setup/steps_*.c | sort -u); do
    jq -e --arg check "$check" 'any(.rows[]; .name == $check)' "$work/out" >/dev/null
    result $? "doctor has the check $check, which proves a step"
done
mv /etc/gpuledger/slurmdb.cnf "$work"
gl doctor -n -P -o name,state,remedy
says "an account that cannot connect" '^setup.reader[|]warn[|]gpuledger setup'
mv "$work/slurmdb.cnf" /etc/gpuledger

ends 3 "a quiet run" gl --quiet setup "${answers[@]}"
[ ! -s "$work/out" ] && [ ! -s "$work/err" ]
result $? "prints nothing"

# --- figures
gl report usage -S now-1day -E now --by pool
says "usage needs no figures" '^ *h100 '
ends 1 "charges do" gl report chargeback --month "$(date +%Y-%m)"
says "the message names the first by file and line" "$conf:[0-9]+: .gpu. of .pools."
sed -i 's/in_service: TODO/in_service: 2026-01-01/; s/^ *gpu: TODO/    gpu: H100-SXM5-80GB/; s/: TODO/: 2/' $conf
ends 0 "a filled cost book has charges" gl report chargeback --month "$(date +%Y-%m)"

# --- what somebody wrote is theirs
host_state >"$work/before"
gl setup "${answers[@]}"
host_state | cmp -s - "$work/before"
result $? "setup does not change an edited configuration"
echo 'NodeName=a[1-2] Gres=gpu:a100:4' >>/etc/slurm/nodes-lab.conf
ends 3 "new nodes" gl setup "${answers[@]}"
says "are shown as lines to add" '^ *nodes: .a\[1-2\].'
host_state | grep -v nodes-lab.conf >"$work/after"
grep -v nodes-lab.conf "$work/before" | cmp -s - "$work/after"
result $? "and nothing is written"

# --- back
host_state >"$work/before"
ends 0 "a dry run of the removal" gl setup --remove --run-sql --dry-run
host_state | cmp -s - "$work/before"
result $? "which removes nothing"
says "and says what it would" 'would remove /etc/gpuledger/slurmdb.cnf'
ends 0 "removed" gl setup --remove --run-sql
says "the configuration stays, because it was edited" "$conf stays"
says "and the ledger, with its place" '/var/lib/gpuledger/facts.db'
[ ! -e /etc/gpuledger/slurmdb.cnf ] &&
    ! slurmdb_sql -e 'SELECT user FROM mysql.user' | grep gpuledger
result $? "the database account is gone"
ends 0 "verify: the ledger is whole" gl verify
ends 0 "removed again" gl setup --remove --run-sql

# --- a full disk: the step fails, nothing is half-written, and the next run goes on
mount -t tmpfs -o size=64k tmpfs /etc/gpuledger
dd if=/dev/zero of=/etc/gpuledger/full bs=4k >/dev/null 2>&1
ends 1 "a full disk" gl setup "${answers[@]}"
says "the file is named" '^failed +the configuration .*: /etc/gpuledger/.*No space left'
[ "$(ls -A /etc/gpuledger)" = full ]
result $? "no part of a file is left"
rm /etc/gpuledger/full
ends 3 "with room" gl setup "${answers[@]}"
[ -s $conf ]
result $? "it goes on from there"
umount /etc/gpuledger

# --- what is missing is listed
mv /etc/slurm /etc/no-slurm
mv $conf $conf.mine
ends 2 "without Slurm's files" gl setup --yes
says "the options that are needed: the cluster" '^  --cluster NAME: .*--slurm-conf'
says "and the database" '^  --slurmdb URL: .*--slurmdbd-conf'
ends 2 "a wrong answer" gl setup --yes --cluster lab --slurmdb 'mysql://u@h/d' --currency euro
says "is named" "^  --currency CODE: 'euro' is not a currency"
ends 2 "a kind of host that is mistyped" gl setup nod
says "gets a proposal" "did you mean node"
setup_end
