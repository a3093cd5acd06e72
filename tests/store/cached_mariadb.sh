#!/bin/sh
# The suite of the cache, on MariaDB.
exec "$abs_top_srcdir/tests/support/mariadb.sh" \
    "$abs_top_builddir/tests/store/cached.t"
