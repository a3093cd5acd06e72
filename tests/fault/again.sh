#!/bin/sh
# What comes twice, late, in another order or out of a backup is stored once.
PATH=$PATH:/usr/sbin
if ! command -v munged > /dev/null; then
    echo "1..0 # SKIP because munged is not installed"
    exit 0
fi
exec "${abs_top_builddir:-.}/tests/fault/again"
