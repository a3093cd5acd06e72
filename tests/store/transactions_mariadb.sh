#!/bin/sh
# The suite of transactions, on MariaDB.
exec "$abs_top_srcdir/tests/support/mariadb.sh" \
    "$abs_top_builddir/tests/store/transactions.t"
