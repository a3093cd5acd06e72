#!/bin/sh
exec "$(dirname "$0")/kill_short.sh" mariadb
