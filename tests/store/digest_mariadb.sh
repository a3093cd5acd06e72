#!/bin/sh
# The same on MariaDB.
exec "$abs_top_srcdir/tests/support/mariadb.sh" \
    "$abs_top_builddir/tests/store/digest.t"
