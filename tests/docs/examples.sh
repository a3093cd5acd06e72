#!/bin/sh
# The examples of contrib/examples are what they are said to be: each is loaded
# without a finding, a month of usage is charged with it to the last cent, and the
# figures that comments, guides and the manual tell of the worked example come out.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
program=$abs_top_builddir/sacct-ext/gpuledger
examples=$abs_top_srcdir/contrib/examples
command -v jq >/dev/null || { echo '1..0 # SKIP because jq is not installed'; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
tests=0
failed=0

result ()
{
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        echo "not ok $tests - $2"
        failed=1
    fi
}

# gl EXAMPLE VERB...: with its configuration and a ledger of its own
gl ()
{
    example=$1
    shift
    "$program" --quiet --config "$examples/$example.yaml" \
        --store "sqlite:$work/$(basename "$example").db" "$@"
}

# jobs GRES...: October 2026 of a node for each of them, TYPE:COUNT@NODE; one job
# begins before the month, one ends in it, one runs on
jobs ()
{
    echo 'JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocTRES|User|Account|QOS|NodeList|Suspended'
    job=0
    for gres; do
        type=${gres%:*} count=${gres#*:} node=${gres#*@} count=${count%@*}
        for life in '09-28T05:00:01|2026-10-02T07:11:13|352272|COMPLETED' \
            '10-05T00:00:00|2026-10-05T01:02:03|3723|FAILED' \
            '10-26T12:00:00|Unknown|561600|RUNNING'; do
            start=2026-${life%%|*} job=$((job + 1))
            echo "$job|$start|$start|${life#*|}|gres/gpu=$count,gres/gpu:$type=$count|ann|$((job % 2))|normal|$node|00:00:00"
        done
    done | sed 's/|ann|0|/|ann|vision|/; s/|ann|1|/|cy|nlp|/'
}

for file in "$examples"/*.yaml "$examples"/month/site.yaml; do
    name=${file#"$examples/"} name=${name%.yaml}
    gl "$name" init &&
        [ "$(gl "$name" doctor -n -P -o name,state | sed -n 's/^host.config|//p')" = ok ]
    result $? "$name: doctor has nothing to say of it"
    grep -q '^assets:' "$file" || continue
    gl "$name" report breakeven --json >breakeven.json &&
        jq -e '.proof | length > 0 and all (.holds)' breakeven.json >holds
    result $? "$name: what an hour costs is the sum of its parts"
done

for name in h100-64 small-lab; do
    case $name in
    h100-64) set -- h100:8@g001 h100:3@g008 ;;
    small-lab) set -- a100:4@n2 1g.5gb:3@n4 3g.20gb:2@n4 ;;
    esac
    jobs "$@" >sacct.txt
    gl $name import --cluster lab --tz UTC --force --as-of 2026-11-02T00:00:00Z sacct.txt
    result $? "$name: a month of jobs"
    gl $name report chargeback --month 2026-10 --by team,user --json >charges.json
    jq -e '.proof | length > 0 and all (.holds)' charges.json >holds
    result $? "$name: every proof of its chargeback holds"
    jq -e '[.rows[] | ((.charge, .credit) // "0") | gsub ("\\."; "") | tonumber] | add > 0' \
        charges.json >holds
    result $? "$name: something is charged"
    # the sum again, of the parts as they are printed
    jq -r '.proof[] | select (.title | startswith ("Pool ")) |
        [.title, (.lines[] | .label + "=" + (.value | gsub ("\\."; "")))] | join ("|")' charges.json |
        awk -F'|' '{
            cost = parts = 0
            for (i = 2; i <= NF; i++) {
                split ($i, part, "=")
                if (part[1] == "cost") cost += part[2]
                else if (part[1] ~ /^recovered above cost/) cost += part[2]
                else if (part[1] ~ /^(charged|also charged|credited|unallocated|shortfall)/) parts += part[2]
            }
            if (cost == 0 || cost != parts) {print "# " $0; wrong = 1}
        } END {exit wrong || NR == 0}'
    result $? "$name: of each pool the cost is what is charged and what is not"
done

# The figures of the worked example, wherever they are told. FIGURE is looked for in
# what is printed, with "," for thousands in the document.
gl h100-64 report breakeven --max-age any --against aws-p5-3yr --csv >printed
gl h100-64 report breakeven --max-age any --against aws-p5-3yr --printed 40.5% >>printed
gl h100-64 report breakeven --max-age any --against aws-p5-3yr --printed 18628 >>printed

# told FIGURE SHOWN DOCUMENT...
told ()
{
    figure=$1 shown=$2
    shift 2
    grep -qE "(^|[^0-9])$figure([^0-9]|\$)" printed
    result $? "$figure is printed"
    for document; do
        grep -qF "$shown" "$abs_top_srcdir/$document"
        result $? "and $document says $shown"
    done
}
told 24906.24 24,906.24 contrib/examples/h100-64.yaml docs/guides/decisions.md
told 3.5540 3.5540 contrib/examples/h100-64.yaml docs/guides/decisions.md docs/gpuledger.1
told 54.2 '54.2 %' contrib/examples/h100-64.yaml docs/guides/decisions.md
told 7.1079 7.1079 docs/guides/decisions.md
told "28.43[0-9]*" 28.43 docs/guides/decisions.md
told 2.5269 2.5269 contrib/examples/h100-64.yaml docs/gpuledger.1
told 0.8361 0.8361 contrib/examples/h100-64.yaml docs/gpuledger.1
told 0.0910 0.0910 contrib/examples/h100-64.yaml docs/gpuledger.1
told 0.1000 0.1000 contrib/examples/h100-64.yaml docs/gpuledger.1
told 17708.33 '17,708.33 (71.1 %)' docs/guides/decisions.md
told 71.1 '17,708.33 (71.1 %)' docs/guides/decisions.md
told 5859.38 '5,859.38 (23.5 %)' docs/guides/decisions.md
told 23.5 '5,859.38 (23.5 %)' docs/guides/decisions.md
told 700.80 '700.80 (2.8 %)' docs/guides/decisions.md
told 637.73 '637.73 (2.6 %)' docs/guides/decisions.md
told 919.80 919.80 docs/guides/decisions.md
told 41.4 '41.4 %' docs/guides/decisions.md contrib/examples/h100-64.yaml

echo "1..$tests"
exit $failed
