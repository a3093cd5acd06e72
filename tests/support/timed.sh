#!/bin/sh
# timed.sh TEST [ARGUMENT]...: runs it. Where $GL_TEST_TIMES names a file, a line
# is added to it: how many seconds the test took, and its name. A test that still
# runs after $GL_TEST_LIMIT seconds (1800) hangs: it is terminated and fails, so
# that the run ends and names it.
begin=$(date +%s)
limit=${GL_TEST_LIMIT:-1800}
timeout -k 30 "$limit" "$@"
status=$?
[ $status -ne 124 ] && [ $status -ne 137 ] ||
    echo "Bail out! $1 still ran after $limit seconds"
if [ -n "${GL_TEST_TIMES:-}" ]; then
    echo "$(($(date +%s) - begin)) tests/${1##*/tests/}" >>"$GL_TEST_TIMES"
fi
exit $status
