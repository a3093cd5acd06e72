#!/bin/bash
# report rightsize: jobs of known size, on both sides of each threshold, and what would fit
# them (rightsize.py).
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }

cd "$work" || exit 1
gl () { "$program" --quiet --config site.yaml --store sqlite:ledger.db "$@"; }
cat >site.yaml <<END
ledger: {timezone: UTC, currency: USD, go_live: 2025-09-01}
clusters: [{name: lab}]
pools:
  - {name: h100, cluster: lab, nodes: h1, gres: [h100], gpu: H100-SXM5-80GB, gpus_per_node: 64}
  - {name: l40s, cluster: lab, nodes: l1, gres: [l40s], gpu: L40S-48GB, gpus_per_node: 64}
rates:
  - {pool: h100, per_gpu_hour: 4.00}
  - {pool: l40s, per_gpu_hour: 1.20}
END
mkdir -m 0700 spool
python3 "$abs_top_srcdir/tests/cli/rightsize.py" make . && gl init &&
    "$abs_top_builddir/tests/agent/write_records" spool <records &&
    gl import --cluster lab --trust-text --force --as-of 2025-10-01T00:00:00Z jobs && gl ingest spool || exit 1
gl report rightsize --month 2025-09 --csv >out
python3 "$abs_top_srcdir/tests/cli/rightsize.py" check <out >said
result $? "each family gets its advice, and what it saves"
sed 's/^/# /' said
python3 "$abs_top_srcdir/tests/cli/rightsize.py" explain out jobs "$program" --quiet --config site.yaml \
    --store sqlite:ledger.db >said
result $? "explain of a job has the advice to its family"
sed 's/^/# /' said
gl report rightsize --month 2025-09 --user bob -P -n -o user >out
is "$(sort -u out)" bob "of one user"
is "$(gl report rightsize --month 2025-09 --user nobody --csv | grep -c .)" 1 "of a user without jobs"
gl report rightsize --month 2025-09 --by pool 2>err
is "$?:$(head -n 1 err)" "2:gpuledger: report rightsize has a row for each user, account, name of jobs, pool and number of GPUs: it takes no --by" "no keys"

echo "1..$tests"
exit $failed
