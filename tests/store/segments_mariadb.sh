#!/bin/sh
# The suite of segments, on MariaDB.
exec "$abs_top_srcdir/tests/support/mariadb.sh" \
    "$abs_top_builddir/tests/store/segments.t"
