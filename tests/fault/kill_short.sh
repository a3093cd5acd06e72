#!/bin/sh
# Fifty rounds of tests/fault/kill on SQLite, or with the argument "mariadb" on
# MariaDB, where two of the nodes are whole agents: as many records and nodes as
# two processors take in a few seconds. The whole of it:
# tests/fault/kill --rounds 1000 --nodes 50 --records 200000 [--mariadb]
for tool in munged ${1:+mariadbd mariadb-install-db}; do
    PATH=$PATH:/usr/sbin:/usr/libexec
    if ! command -v "$tool" > /dev/null; then
        echo "1..0 # SKIP because $tool is not installed"
        exit 0
    fi
done
exec "${abs_top_builddir:-.}/tests/fault/kill" --rounds 50 --seed "${SEED:-3}" \
    --nodes 10 --records 10000 ${1:+--mariadb --agents 2}
