#!/bin/sh
# The tests of a server.
exec "$abs_top_srcdir/tests/support/mariadb.sh" \
    "$abs_top_builddir/tests/store/server.t"
