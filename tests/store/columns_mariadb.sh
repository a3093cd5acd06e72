#!/bin/sh
# The suite of columns, on MariaDB.
exec "$abs_top_srcdir/tests/support/mariadb.sh" \
    "$abs_top_builddir/tests/store/columns.t"
