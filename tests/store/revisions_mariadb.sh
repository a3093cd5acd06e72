#!/bin/sh
# The suite of revisions, on MariaDB.
exec "$abs_top_srcdir/tests/support/mariadb.sh" \
    "$abs_top_builddir/tests/store/revisions.t"
