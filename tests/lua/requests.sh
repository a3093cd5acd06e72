#!/bin/sh
# contrib/job_submit.lua and what jobs ask for, in a Lua of its own.
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
exec "$abs_top_builddir/tests/lua/run" "$abs_top_srcdir/tests/lua/requests.lua"
