#!/bin/bash
# gpuledger idle: running jobs whose GPUs are all idle, against another count (idle.py); their
# owners are mailed, through mail servers where there are any, or the site's command is run,
# each once in a time; nothing is done without being asked.
# shellcheck disable=SC2154
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || { echo '1..0 # SKIP because python3 is not installed'; exit 0; }
# shellcheck source=tests/mail/mta.sh
. "$abs_top_srcdir/tests/mail/mta.sh"

cd "$work" || exit 1
now=1757930400
idle_py () { python3 "$abs_top_srcdir/tests/mail/idle.py" "$@"; }
gl () { "$program" --quiet --config site.yaml --store "sqlite:$db" "$@"; }
site ()
{
    cat <<END
ledger: {timezone: UTC, currency: USD, go_live: 2025-09-01}
clusters: [{name: lab}]
pools: [{name: h100, cluster: lab, nodes: "h[1-200]", gres: [h100], gpus_per_node: 4}]
rates: [{pool: h100, per_gpu_hour: 4.00}]
END
}
site >site.yaml
for seed in 1 2 3; do
    db=$seed.db
    rm -rf spool && mkdir -m 0700 spool
    idle_py make $seed . && gl init &&
        "$abs_top_builddir/tests/agent/write_records" spool <records &&
        gl import --cluster lab --as-of @$now jobs && gl ingest spool || exit 1
    for minutes in 15 60 180; do
        gl idle --minutes $minutes --as-of @$now --csv >out
        idle_py check $seed $minutes <out >said
        result $? "seed $seed, $minutes minutes: $(head -n 1 said)" || sed 's/^/# /' said
    done
    unknown=$(idle_py check $seed 60 <out | sed -n '1s/.*, \([0-9]*\) unknown/\1/p')
    is "$(gl idle --as-of @$now --json | grep -c "Of $unknown running job")" 1 "seed $seed: $unknown are unknown"
done

# --- nothing is done without being asked, or configured ------------------------
db=1.db
count=$(idle_py users 1 60 | wc -l)
is "$(gl idle --as-of @$now -n -P -o warning | sort | uniq -c | tr -s ' ')" " $count to be warned" "60 minutes by default"
is "$(gl mail sent -n -P -o kind)" "" "nothing was recorded"
gl idle --mail --as-of @$now 2>err
is "$?:$(cat err)" "1:gpuledger: nobody is the sender of mail: set \`mail: {from: ADDRESS}\` in site.yaml" "no mail without a sender"
gl idle --run --as-of @$now 2>err
is "$?:$(cat err)" "1:gpuledger: there is no command for idle jobs: set \`idle_jobs: {command: [PROGRAM]}\` in site.yaml" \
    "and no command that is not configured"
gl idle --minutes 0 2>err
is "$?:$(head -n 1 err)" "2:gpuledger: --minutes '0' is no number from 1 to 2880; measurements of two days are read" "no number"
is "$(gl idle --as-of @$((now + 7201)) -n -P -o job)" "" "facts that are old say nothing of now"

# --- mail ----------------------------------------------------------------------
mail_to ()
{
    site
    echo "mail: {from: \"GPU <gpu@hpc.example.org>\", domain: example.org, sendmail: [$1]}"
    echo "idle_jobs: {after: 1h, again: 30m, command: [$work/end, --really]}"
}
mail_to /bin/false >site.yaml
gl idle --mail --dry-run --as-of @$now -n -P -o warning >out
is "$(sort out | uniq -c | tr -s ' ')" " $count to be warned" "--dry-run lists"
is "$(gl mail sent -n -P -o kind)" "" "and records nothing"
gl idle --mail --as-of @$now -n -P -o warning >out 2>err
is "$?:$(sort out | uniq -c | tr -s ' ')" "1: $count failed" "a mail program that fails"
is "$(gl mail sent -n -P -o kind)" "" "leaves no record"
gl idle --mail --mbox box --as-of @$now -n -P -o warning >out
is "$?:$(sort out | uniq -c | tr -s ' ')" "0: $count mailed" "each owner is mailed"
is "$(grep '^To: ' box | sed 's/To: *<\?//; s/@example.org>\?//' | sort)" "$(idle_py users 1 60 | sort)" "to their addresses"
is "$(grep -c '^Idle for *[0-9]* minutes' box):$(grep -c '^  scancel [0-9]*$' box)" "$count:$count" "who can read what to do"
is "$(gl mail sent -n -P -o kind,state | sort | uniq -c | tr -s ' ')" " $count idle|sent" "and it is recorded"
gl idle --mail --mbox box --as-of @$((now + 1799)) -n -P -o warning >out
is "$(sort out | uniq -c | tr -s ' '):$(grep -c '^From ' box)" " $count warned:$count" "not again within 30 minutes"
gl idle --mail --mbox box --as-of @$((now + 1801)) -n -P -o warning >out
is "$(sort out | uniq -c | tr -s ' ')" " $count mailed" "but later"

why=$(mta_missing)
if [ -z "$why" ]; then
    mta_start
    trap 'mta_stop; rm -rf "$work"' EXIT
    mail_to "$sendmail" >site.yaml
    db=2.db
    some=$(idle_py users 2 60 | wc -l)
    gl idle --mail --as-of @$now -n -P -o warning >out
    is "$?:$(sort out | uniq -c | tr -s ' ')" "0: $some mailed" "sendmail took them"
    arrived "$some"
    result $? "$some messages arrived"
    is "$(sed -n 's/^Envelope-to: //p' inbox/mbox | sed 's/@.*//' | sort)" "$(idle_py users 2 60 | sort)" "at the owners"
    mta_stop
    db=1.db
else
    echo "# no mail servers: $why"
fi

# --- the command ---------------------------------------------------------------
mail_to /bin/false >site.yaml
printf '#!/bin/sh\necho "$#:$*" >>"%s"\n' "$work/ran" >end
chmod 755 end
gl idle --run --dry-run --as-of @$now >out
[ ! -e ran ]
result $? "--dry-run runs no command"
gl idle --run --as-of @$now -n -P -o job,warning >out
is "$?:$(cut -d '|' -f 2 out | sort | uniq -c | tr -s ' ')" "0: $count command run" "the command is run, mail or not"
is "$(sort ran)" "$(cut -d '|' -f 1 out | sed 's/^/2:--really /' | sort)" "with its own arguments and the JobId"
gl idle --run --as-of @$now >out
is "$(wc -l <ran)" "$count" "once"
printf '#!/bin/sh\necho no such job >&2\nexit 1\n' >end
gl idle --run --as-of @$((now + 1801)) -n -P -o warning >out 2>err
is "$?:$(sort out | uniq -c | tr -s ' ')" "1: $count failed" "a command that fails is tried again"
is "$(gl mail sent -n -P -o kind | grep -c idle_command)" "$count" "and not recorded"
gl idle --mail --run 2>err
is "$?:$(head -n 1 err)" "2:gpuledger: --mail and --run exclude each other" "one of them"

echo "1..$tests"
exit $failed
