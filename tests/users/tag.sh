#!/bin/sh
# gpuledger tag: whose job, which project, which of its submissions; audited.
# shellcheck source=tests/users/lib.sh disable=SC2016,SC2154
. "$abs_top_srcdir/tests/users/lib.sh"
command -v sqlite3 >/dev/null || skip_all "sqlite3 is not installed"
make_store >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }

tag ()
{
    ledger tag "$@"
}
# Who changed what to what: one line each, as the store has it.
audit ()
{
    sqlite3 "$dir/ledger.db" .dump | grep -c "INSERT INTO retag"
}
audited ()
{
    test "$(audit)" = "$1"
}

tag 101 alpha --for daemon
check "own job, own project: all attempts of the job" \
    says '^job 101 of lab: (untagged) -> alpha (3 segments)$'
check "each of them is audited" audited 3
tag 101 alpha --for daemon
check "once more: nothing to do" says 'already belongs to alpha'
check "and nothing audited" audited 3
tag 101 beta --for daemon
check "a project of the job's account; the last change is the one before" \
    says 'alpha -> beta (3 segments)'
tag 101 open --for daemon
check "a project of everybody" says 'beta -> open'
ledger report usage --month 2026-10 -u daemon --by project --csv -o project,jobs
check "reports show the new project" says '^open,1$'
ledger explain 101
check "and explain says why" says "audited re-tag"
tag 101 theirs --for daemon
check "somebody else's project is refused, and mine are named" \
    complains "unknown project 'theirs'; yours are: alpha, beta, open$"
tag 101 nosuch --for daemon
check "an unknown project is refused" complains "unknown project 'nosuch'"
tag 102 beta --for daemon
check "a project of another account is refused" \
    complains "unknown project 'beta'; yours are: alpha, open$"
tag 101 past --for daemon
check "a project that had ended when the job ran is refused" \
    complains "unknown project 'past'"
tag 201 open --for daemon
check "somebody else's job is not there" \
    complains "the ledger has no job 201 of yours$"
tag 999 open --for daemon
check "no more than one that nobody has" \
    complains "the ledger has no job 999 of yours$"
check "what was refused is not audited" audited 9

tag 102 alpha --for daemon
check "of a JobId that recurs the latest" says '(1 segment)'
tag 102 alpha --submit 2026-05-01T00:00:00 --for daemon
check "or the one of that moment" says '(untagged) -> alpha (1 segment)'
tag 102 past --submit 2026-05-01 --for daemon
check "by the projects of that time" says 'alpha -> past'
tag 102 open --submit 2026-05-02 --for daemon
check "no submission at that moment" \
    complains 'was not submitted at 2026-05-02; its last submission was at 2026-[0-9-]*T[0-9:]*Z$'

tag 110_1 alpha --for daemon
check "a task of an array" says '^job 110_1 of lab: (untagged) -> alpha (1 segment)'
tag 110 open --for daemon
check "the array as a whole" says '(2 segments)'
tag 120+1 alpha --for daemon
check "a component of a het job" says '(1 segment)'
tag 120 alpha --for daemon
check "the het job: what is not there yet" says '(1 segment)'
tag 301 open --for bin
check "a job that two clusters have" complains 'name one with --cluster'
tag 301 open --cluster two --for bin
check "named" says '^job 301 of two'

before=$(audit)
for project in '' 'a b' "a'b" '=cmd' '../x' '-x' "$(printf 'a\033[m')" \
    "$(head -c 100 /dev/zero | tr '\0' a)"; do
    ledger tag --for daemon -- 101 "$project"
    test "$rc" = 1 || before=broken
done
check "malformed projects are refused" audited "$before"
tag 101 alpha --label a --for daemon
check "malformed labels are refused" complains '^gpuledger: labels: '
tag 101 alpha --label run=7 --label size=7b --for daemon
check "labels, several" says 'open -> alpha (3 segments)'
ledger report usage --month 2026-10 -u daemon --by label:run --csv -o label:run,jobs
check "and reports have them" says '^7,1$'
check "are kept" sh -c "sqlite3 '$dir/ledger.db' .dump | grep -q 'run=7,size=7b'"
for job in x 0 101_ 101_x -- 101.1 99999999999999999999; do
    ledger tag --for daemon -- "$job" open
    test "$rc" = 1 || before=broken
done
check "what is no job is refused" test "$before" != broken
tag 101
check "usage" test "$rc" = 2
tag 101 open --for nosuchuser
check "no such user" complains "there is no user 'nosuchuser'"

if test "$(id -u)" = 0; then
    tag 201 theirs
    check "root: any job" says '^job 201 of lab: (untagged) -> theirs'
    tag 201 nosuch
    check "root: only projects that there are" complains "unknown project 'nosuch'"
fi
sed -i '/^projects:/,$d' "$dir/site.yaml"
tag 101 anything --for daemon
check "without a list of projects any tag" says 'alpha -> anything'
finish
