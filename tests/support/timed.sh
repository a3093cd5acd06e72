#!/bin/sh
# timed.sh TEST [ARGUMENT]...: runs it. Where $GL_TEST_TIMES names a file, a line
# is added to it: how many seconds the test took, and its name.
begin=$(date +%s)
"$@"
status=$?
if [ -n "${GL_TEST_TIMES:-}" ]; then
    echo "$(($(date +%s) - begin)) tests/${1##*/tests/}" >>"$GL_TEST_TIMES"
fi
exit $status
