#!/bin/sh
# The manual says what the program does: the same verbs and options, and each
# example block, run as it stands, prints what is printed there. The host is in no
# zone of the examples: they do not depend on it.
TZ=America/New_York
export TZ
page=$abs_top_srcdir/docs/gpuledger.1
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

# Options of the program: "-M --clusters" or "--csv", from its help.
program_options ()
{
    "$program" "$@" --help | sed -n '/^Options:/,/^$/{
        s/^  \(-[A-Za-z]\), \(--[a-z0-9-]*\).*/\1 \2/p
        s/^      \(--[a-z0-9-]*\).*/\1/p
    }'
}

# Options of the page between two headings: ".It Fl M , -clusters Ar LIST".
page_options ()
{
    awk -v from="$1" '
        $0 == from {on = 1; next}
        /^\.S[hs] / {on = 0}
        on && /^\.It Fl / {
            sub (/^\.It Fl /, ""); sub (/ (Ns|Ar) .*/, "")
            if (split ($0, part, " , ") == 2)
                print "-" part[1] " -" part[2]
            else
                print "-" $0
        }' "$page"
}

# lint SOURCE: what mandoc finds, but for pages elsewhere, which depend on the
# machine.
lint ()
{
    what="mandoc finds no fault in ${1##*/}"
    if ! command -v mandoc >/dev/null; then
        tests=$((tests + 1))
        echo "ok $tests - $what # SKIP because mandoc is not installed"
        return
    fi
    mandoc -T lint "$1" >"$work/found" 2>&1
    grep -v -e 'mandoc.db' -e 'referenced manual not found' "$work/found" \
        >"$work/lint"
    sed 's/^/# /' "$work/lint"
    test -s "$1" && test ! -s "$work/lint"
    result $? "$what"
}

for source in "$page" "$abs_top_builddir/docs/gpuledger.yaml.5" \
    "$abs_top_srcdir/docs/gpuledger-collector.8" \
    "$abs_top_srcdir/docs/gpuledger-agent.8"; do
    lint "$source"
done

"$program" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' >"$work/verbs"
sed -n 's/^\.Ss \([a-z]*\)$/\1/p' "$page" >"$work/page"
diff "$work/page" "$work/verbs" | sed 's/^/# /'
cmp -s "$work/page" "$work/verbs"
result $? "the page has the program's verbs, in their order"

while read -r verb; do
    program_options "$verb" >"$work/program"
    page_options ".Ss $verb" >"$work/page"
    diff "$work/page" "$work/program" | sed 's/^/# /'
    cmp -s "$work/page" "$work/program"
    result $? "the page has the options of $verb, in their order"
    "$program" "$verb" --help | grep -q '^Example:'
    result $? "the help of $verb has an example"
done <"$work/verbs"
"$program" --help | sed -n '/^Common options:/,/^$/{
    s/^  \(-[A-Za-z]\), \(--[a-z0-9-]*\).*/\1 \2/p
    s/^      \(--[a-z0-9-]*\).*/\1/p
}' >"$work/program"
page_options ".Sh DESCRIPTION" >"$work/page"
cmp -s "$work/page" "$work/program"
result $? "the page has the common options, in their order"

# The examples, in a directory of their own, with a sacct that prints what a
# small cluster would: JSON, or the columns of -o with the times of its own zone.
mkdir "$work/bin" "$work/run" && cd "$work/run" || exit 1
cp "$abs_top_srcdir/contrib/examples/h100-64.yaml" .
cat >"$work/jobs.json" <<'END'
{"jobs": [
 {"job_id": 4711, "user": "ann", "account": "vision", "state": {"current": "COMPLETED"},
  "time": {"submission": 1791244800, "start": 1791248400, "end": 1791266400, "elapsed": 18000},
  "tres": {"allocated": [{"type": "cpu", "name": null, "count": 2}, {"type": "gres", "name": "gpu:h100", "count": 2}, {"type": "gres", "name": "gpu", "count": 2}]}},
 {"job_id": 4712, "user": "bob", "account": "vision", "state": {"current": "FAILED"},
  "time": {"submission": 1791244800, "start": 1791252000, "end": 1791255600, "elapsed": 3600},
  "tres": {"allocated": [{"type": "cpu", "name": null, "count": 1}, {"type": "gres", "name": "gpu:h100", "count": 1}, {"type": "gres", "name": "gpu", "count": 1}]}},
 {"job_id": 4713, "user": "ann", "account": "vision", "state": {"current": "COMPLETED"},
  "time": {"submission": 1791331200, "start": 1791331200, "end": 1791340200, "elapsed": 9000},
  "tres": {"allocated": [{"type": "cpu", "name": null, "count": 1}, {"type": "gres", "name": "gpu:h100", "count": 1}, {"type": "gres", "name": "gpu", "count": 1}]}},
 {"job_id": 4714, "user": "cy", "account": "nlp", "state": {"current": "TIMEOUT"},
  "time": {"submission": 1791417600, "start": 1791417600, "end": 1791504000, "elapsed": 86400},
  "tres": {"allocated": [{"type": "cpu", "name": null, "count": 4}, {"type": "gres", "name": "gpu:h100", "count": 4}, {"type": "gres", "name": "gpu", "count": 4}]}},
 {"job_id": 4715, "user": "cy", "account": "nlp", "state": {"current": "COMPLETED"},
  "time": {"submission": 1793318400, "start": 1793318400, "end": 1793322000, "elapsed": 3600},
  "tres": {"allocated": [{"type": "cpu", "name": null, "count": 4}]}}
]}
END
cat >"$work/bin/sacct" <<END
#!/bin/sh
case " \$* " in *' --json '*) exec cat "$work/jobs.json" ;; esac
while [ \$# -gt 1 ] && [ "\$1" != -o ]; do
    shift
done
exec jq -r --arg columns "\$2" -f "$work/text.jq" "$work/jobs.json"
END
cat >"$work/text.jq" <<'END'
def moment: strflocaltime ("%Y-%m-%dT%H:%M:%S");
($columns | split (",")) as $names | ($columns | gsub (","; "|")),
(.jobs[] | {
    JobIDRaw: .job_id, Submit: (.time.submission | moment),
    Start: (.time.start | moment), End: (.time.end | moment),
    ElapsedRaw: .time.elapsed, State: .state.current, User: .user, Account: .account,
    AllocTRES: [.tres.allocated[] | "\(if .type == "gres" then "gres/" + .name else .type end)=\(.count)"] | join (",")
} as $job | [$names[] | $job[.] | tostring] | join ("|"))
END
cat >"$work/bin/gpuledger" <<END
#!/bin/sh
exec "$program" --quiet --store sqlite:ledger.db "\$@"
END
chmod +x "$work/bin/sacct" "$work/bin/gpuledger"
PATH=$work/bin:$PATH

# A block is commands ("$ ", continued by "\") and what they print.
awk -v dir="$work" '
    /^\.Bd -literal/ {block++; on = 1; next}
    /^\.Ed/ {on = 0}
    on {
        gsub (/\\e/, "\\")
        if (/^\$ /) {
            print substr ($0, 3) >(dir "/block." block); more = /\\$/
        } else if (more) {
            print >(dir "/block." block); more = /\\$/
        } else
            print >(dir "/wanted." block)
    }
    END {print block >(dir "/blocks")}' "$page"
block=0
while [ "$block" -lt "$(cat "$work/blocks")" ]; do
    block=$((block + 1))
    touch "$work/wanted.$block"
    sh -eu "$work/block.$block" >"$work/printed" 2>"$work/errors"
    rc=$?
    sed 's/^/# /' "$work/errors"
    diff "$work/wanted.$block" "$work/printed" | sed 's/^/# /'
    [ $rc -eq 0 ] && cmp -s "$work/wanted.$block" "$work/printed"
    result $? "example $block prints what the page says"
done
test -s october.html
result $? "the example of a page makes a page"

# Those of the other pages, in the same zone: of the agent with a library that has two
# GPUs, below a directory of the test.
mkdir "$work/agent" "$work/agent/lib"
ln -s "$abs_top_builddir/tests/support/.libs/fake_nvml.so" \
    "$work/agent/lib/libnvidia-ml.so.1"
awk '/^\.Bd -literal/ {on = 1; next} /^\.Ed/ {on = 0} on' \
    "$abs_top_srcdir/docs/gpuledger-agent.8" |
    sed "s,/tmp/,$work/agent/,g" >"$work/agent/example"
(
    PATH=$abs_top_builddir/plugin/agent:$PATH
    LD_LIBRARY_PATH=$work/agent/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export PATH LD_LIBRARY_PATH
    sh -eu "$work/agent/example"
) >"$work/printed" 2>&1 && grep -q '^replay 1' "$work/agent/seen.replay"
rc=$?
sed 's/^/# /' "$work/printed"
result $rc "the agent's example makes a replay"

# Of the collector's examples some make users and start services: what they run of
# ours is asked whether it takes these options, and the store is made.
cat >"$work/bin/runuser" <<'END'
#!/bin/sh
shift 2
exec "$@"
END
ln -s "$abs_top_builddir/sacct-ext/gpuledger-collector" "$work/bin"
for other in useradd install systemctl; do
    printf '#!/bin/sh\n' >"$work/bin/$other"
done
chmod +x "$work"/bin/*
mkdir "$work/collector"
sed -n 's/^\.Dl # //p' "$abs_top_srcdir/docs/gpuledger-collector.8" \
    >"$work/collector/examples"
while read -r line; do
    case $line in gpuledger-collector\ *) line="$line --help" ;; esac
    (cd "$work/collector" && sh -eu -c "$line") >"$work/printed" 2>&1
    result $? "the collector's example: ${line% --help}"
done <"$work/collector/examples"
test -s "$work/collector/ledger.db"
result $? "and there is a store"

grep -q '^\.Bd -literal' "$abs_top_srcdir/docs/gpuledger.yaml.5.in"
[ $? -eq 1 ]
result $? "the page of the configuration has no commands that could be run"

echo "1..$tests"
