#!/bin/sh
# The suite of nodes, on MariaDB.
exec "$abs_top_srcdir/tests/support/mariadb.sh" \
    "$abs_top_builddir/tests/store/nodes.t"
