#!/bin/sh
# timed.sh TEST [ARGUMENT]...: runs it. Where $GL_TEST_TIMES names a file, a line
# is added to it: how many seconds the test took, how many seconds of processor time
# it and the processes that it waited for used, and its name. A test that still
# runs after $GL_TEST_LIMIT seconds (1800) hangs: it is terminated and fails, so
# that the run ends and names it.
begin=$(date +%s)
limit=${GL_TEST_LIMIT:-1800}
timeout -k 30 "$limit" "$@"
status=$?
[ $status -ne 124 ] && [ $status -ne 137 ] ||
    echo "Bail out! $1 still ran after $limit seconds"
if [ -n "${GL_TEST_TIMES:-}" ]; then
    # the last line of times: user and system time of children, 1m2.345s each
    times >"$GL_TEST_TIMES.$$"
    used=$(tail -n 1 "$GL_TEST_TIMES.$$" | awk '{
        n = split ($0, part, /[ms ]+/)
        print int (part[1] * 60 + part[2] + part[3] * 60 + part[4] + 0.5)
    }')
    rm -f "$GL_TEST_TIMES.$$"
    echo "$(($(date +%s) - begin)) $used tests/${1##*/tests/}" >>"$GL_TEST_TIMES"
fi
exit $status
