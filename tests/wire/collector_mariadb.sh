#!/bin/sh
# collector.sh on a throw-away MariaDB.
# shellcheck disable=SC2154
exec "$abs_top_srcdir/tests/support/mariadb.sh" \
    "$abs_top_srcdir/tests/wire/collector.sh"
