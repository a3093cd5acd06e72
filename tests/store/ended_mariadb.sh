#!/bin/sh
# The suite of jobs by how they ended, on MariaDB.
exec "$abs_top_srcdir/tests/support/mariadb.sh" \
    "$abs_top_builddir/tests/store/ended.t"
