#!/bin/sh
# Who is not the collector cannot empty a spool.
PATH=$PATH:/usr/sbin
if ! command -v munged > /dev/null; then
    echo "1..0 # SKIP because munged is not installed"
    exit 0
fi
exec "${abs_top_builddir:-.}/tests/fault/impostor"
