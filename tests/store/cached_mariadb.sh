#!/bin/sh
# The suite of what is kept, on MariaDB.
exec "$abs_top_srcdir/tests/support/mariadb.sh" \
    "$abs_top_builddir/tests/store/kept.t"
