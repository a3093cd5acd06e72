#!/bin/sh
# contrib/job_submit.lua and the file of limits, in a Lua of its own.
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
exec "$abs_top_builddir/tests/lua/run" "$abs_top_srcdir/tests/lua/limits.lua"
