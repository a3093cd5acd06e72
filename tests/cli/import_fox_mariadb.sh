#!/bin/sh
# import_fox.sh with a throw-away MariaDB beside SQLite.
exec "$abs_top_srcdir/tests/support/mariadb.sh" \
    "$abs_top_srcdir/tests/cli/import_fox.sh"
