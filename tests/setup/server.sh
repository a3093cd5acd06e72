#!/bin/bash
# gpuledger setup with a store on a MariaDB server: three accounts with the rights of
# docs/decisions/least-power.md, and no more.
# shellcheck source=tests/setup/lib.sh
. "${abs_top_srcdir:?}/tests/setup/lib.sh" || exit 1
setup_host_with_slurmdb "$0" "$@"
printf '%s\n' ClusterName=lab AccountingStorageTRES=gres/gpu,gres/gpu:h100 \
    'NodeName=g[1-2] Gres=gpu:h100:8' >/etc/slurm/slurm.conf
answers=(--yes --timezone UTC --currency USD)
store=mysql://gpuledger@127.0.0.1:$slurmdb_db_port/gpu_ledger

# --- the administrator runs the SQL, in two turns: accounts, then rights on the tables
ends 3 "the SQL of the accounts is printed" gl --store "$store" setup "${answers[@]}"
says "with a database of its own" 'CREATE DATABASE IF NOT EXISTS .gpu_ledger.'
ends 0 "it runs" slurmdb_sql -e 'source /etc/gpuledger/setup-reader.sql;
source /etc/gpuledger/setup-accounts.sql'
ends 3 "the tables are made" gl setup "${answers[@]}"
says "the SQL of the rights is printed" "GRANT INSERT, UPDATE, DELETE ON .gpu_ledger.\.segment"
ends 0 "it runs, too" slurmdb_sql -e 'source /etc/gpuledger/setup-grants.sql'
ends 3 "the usage is read" gl setup "${answers[@]}"
says "the first report" '^ *vision '
grep -q "^  store: .*/gpu_ledger?" /etc/gpuledger/gpuledger.yaml
result $? "the configuration names the store, for all commands"
ends 0 "a report needs no --store" gl report usage -S 2026-09-21 -E 2026-09-22
[ "$(stat -c '%a' /etc/gpuledger/{store,ledger,init}.cnf | xargs)" = '640 600 600' ]
result $? "only root reads the passwords of the ledger and of init"

# --- the server's own word on their rights
can () { slurmdb_sql -N -r -e "SHOW GRANTS FOR '$1'@'127.0.0.1'"; }
can gpuledger_reader | grep -Eq 'GRANT SELECT ON .slurm\\_acct\\_db' && ! can gpuledger_reader |
    grep -Eq 'INSERT|UPDATE|DELETE|ALL PRIVILEGES'
result $? "gpuledger_reader reads slurmdbd's database and nothing else"
can gpuledger | grep -q 'INSERT.*segment' && ! can gpuledger | grep -Eq '(INSERT|UPDATE|DELETE).*chain'
result $? "gpuledger writes facts and no closed month"
can gpuledger_ledger | grep -q 'INSERT.*chain' && ! can gpuledger_ledger | grep -Eq '(UPDATE|DELETE).*chain'
result $? "gpuledger_ledger adds to the chain and changes nothing in it"
ends 3 "doctor" gl doctor -n -P -o name,state,message
says "finds the same" '^host.ledger[|]ok'
says "and the account that reads slurmdbd's database" '^setup.reader[|]ok'

# --- again, and back
host_state >"$work/before"
gl setup "${answers[@]}"
host_state | cmp -s - "$work/before"
result $? "a second run changes nothing"
ends 0 "removed" gl setup --remove --run-sql
! slurmdb_sql -N -e 'SELECT user FROM mysql.user' | grep -q gpuledger
result $? "the accounts are gone"
[ "$(slurmdb_sql -N -e 'SELECT COUNT(*) > 30 FROM gpu_ledger.segment')" = 1 ]
result $? "the ledger stays"
says "and is named" 'the ledger stays: mysql://.*/gpu_ledger'
setup_end
