#!/bin/sh
# What the documents tell people to type works. Every command in a code block of
# README.md, docs/guides and docs/formats is taken from there and run in a
# directory with the site of contrib/examples/month, one directory a document, in
# the order of the document: it ends with the status that its comment tells, and
# prints what the block shows. Commands in running text are real verbs and
# options, and each block of configuration loads. What cannot be run here stands in
# needs(), with the reason, and is printed.
# guides.sh [DOCUMENT...]: these alone; GUIDES_KEEP=DIR leaves all there.
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
program=$abs_top_builddir/sacct-ext/gpuledger
here=$abs_top_srcdir/tests/docs
example=$abs_top_srcdir/contrib/examples/month
command -v jq >/dev/null || { echo '1..0 # SKIP because jq is not installed'; exit 0; }
work=$(mktemp -d) || exit 1
trap '[ -n "${GUIDES_KEEP:-}" ] && cp -r "$work" "$GUIDES_KEEP"; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
tests=0
failed=0

result ()
{
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        printf 'ok %d - %s\n' "$tests" "$2"
    else
        printf 'not ok %d - %s\n' "$tests" "$2"
        failed=1
    fi
}

# What is not run: DOCUMENT|BEGIN OF THE COMMAND|why
needs ()
{
    cat <<'LIST'
README.md|contrib/quickstart|installs packages, as root: contrib/check runs it
README.md|contrib/check|is this test suite
README.md|sbatch|a cluster: tests/live
docs/guides/researcher.md|sbatch|the same
README.md|export|changes the reader's shell
README.md|sudo gpuledger setup|root's files and slurmdbd's database: tests/setup/host.sh
README.md|autoreconf|builds the tree that runs this
docs/guides/admin.md|contrib/package|builds and installs packages: tests/package/smoke.sh
docs/guides/admin.md|apt install|the same
docs/guides/admin.md|gpuledger setup|root's files and slurmdbd's database: tests/setup/host.sh and node.sh
docs/guides/admin.md|gpuledger --store mysql:|the same: tests/setup/server.sh
docs/guides/admin.md|editor|an editor: tests/package/one_host.sh
docs/guides/admin.md|sbatch|a cluster: the same
docs/guides/deploy.md|contrib/package|builds packages: tests/package/site.sh and oci.sh
docs/guides/deploy.md|cd contrib/ansible|the tree: tests/package/site.sh
docs/guides/deploy.md|ansible-playbook|hosts: tests/package/site.sh
docs/guides/deploy.md|gpuledger setup|an image: tests/package/site.sh
docs/guides/deploy.md|buildah|root and a base image: tests/package/oci.sh
docs/guides/deploy.md|kubectl|a cluster of Kubernetes
docs/formats/sacct.md|TZ=UTC sacct|a cluster: tests/live/versions.sh
docs/formats/sacct.md|sacct -a|a cluster: tests/live/import_then_sync.sh
docs/guides/backup.md|mariadb|a server: tests/store/backup.sh
docs/guides/backup.md|systemctl|root and systemd
docs/guides/backup.md|gpuledger restore /backup|nodes and a collector: tests/wire/rebuild.sh
docs/guides/backup.md|gpuledger setup|the same
docs/guides/backup.md|pdsh|the same
docs/guides/budgets.md|gpuledger budget --mail --once|root's directories and a mail program: tests/cli/budget.sh
docs/guides/closing.md|systemctl|root and systemd
docs/guides/closing.md|ssh-keygen|makes a key of root: tests/close/anchor.sh
docs/guides/closing.md|echo "ledger@site|the same
docs/guides/failures.md|tests/fault/kill|minutes, and whole processes killed: tests/fault
docs/guides/fuzzing.md|autoreconf|builds the tree that runs this
docs/guides/fuzzing.md|tests/fuzz/run|clang and minutes: tests/fuzz
docs/guides/mail.md|gpuledger statement|a mail server: tests/mail/statements.sh
docs/guides/mail.md|gpuledger idle --mail|a mail server: tests/mail/idle.sh
docs/guides/mail.md|gpuledger mail|a mail server: tests/mail/summaries.sh
docs/guides/mail.md|systemctl|root and systemd
docs/guides/settlement.md|gpuledger balance --mail --once|root's directories and a mail program: tests/cli/balance.sh
docs/guides/publish.md|systemctl|root and systemd
docs/guides/publish.md|gpuledger publish /srv|a directory of root: tests/publish/site.sh
docs/guides/publish.md|head -c 32|a directory of root: tests/publish/site.sh
docs/guides/publish.md|chmod 600|the same
docs/guides/slurm-versions.md|tests/live/matrix|root and debootstrap
docs/guides/slurm-versions.md|GPULEDGER_TEST_|debootstrap; is this test suite
docs/guides/reconcile.md|gpuledger report reconcile|slurmdbd's database: tests/cli/reconcile.sh
docs/guides/sync.md|systemctl|root and systemd
docs/guides/month.md|cp -r|done by the test
docs/guides/month.md|cd |done by the test
docs/guides/month.md|alias|the test's own gpuledger has these options
LIST
}

# the reason why a command of a document is not run, or nothing
reason ()
{
    needs | while IFS='|' read -r document begin why; do
        case $1@$(head -n 1 "$2") in "$document@$begin"*) echo "$why" ;; esac
    done
}

# A gpuledger that has the example's configuration and store, and whose sync reads
# what sacct would print in place of slurmdbd's database.
mkdir "$work/bin"
cat >"$work/bin/gpuledger" <<STOP
#!/bin/sh
case "\$1" in
--config) exec "$program" --store sqlite:ledger.db "\$@" ;;
sync) exec "$program" --config site.yaml --store sqlite:ledger.db import \
    --cluster lab --force --as-of 2026-11-05T05:00:00Z jobs.json ;;
esac
exec "$program" --config site.yaml --store sqlite:ledger.db "\$@"
STOP
chmod +x "$work/bin/gpuledger"
PATH=$work/bin:$PATH
unset GPULEDGER_CONF GPULEDGER_PROJECT
export LC_ALL=C.UTF-8

# prices DIR: the catalogue of prices, a file of the site and one to import.
prices ()
{
    printf 'prices: {shipped: "%s", file: "%s"}\n' \
        "$abs_top_srcdir/contrib/prices/catalogue.csv" "$1/own.csv" >>"$1/site.yaml"
    head -n 1 "$abs_top_srcdir/contrib/prices/catalogue.csv" >"$1/new.csv"
    echo 'aws,p5.48xlarge,us-east-1,H100-SXM5-80GB,8,on-demand,60,USD,2026-11-20,a quote,' >>"$1/new.csv"
}

# site DIR DOCUMENT: the example, with its facts and September closed, unless the
# document begins with making the ledger; where users ask for what is theirs, ann
# is who runs this.
site ()
{
    cp -r "$example/." "$1" && cp "$abs_top_srcdir"/contrib/examples/*.yaml \
        "$abs_top_srcdir"/contrib/examples/published_*.json "$1" &&
        chmod -R u+w "$1" || return 1
    ! grep -q 'gpuledger mine' "$2" || sed -i "s/\"ann\"/\"$(id -un)\"/" "$1/jobs.json"
    cp "$1/jobs.json" "$1/october.json"
    printf '%s\n' 'JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account' \
        '4301|1788271331|1788271331|1788892240|COMPLETED|gres/gpu=4|ann|vision' \
        >"$1/october.txt"
    ! grep -q -E '^gpuledger (prices|fits)' "$2" || prices "$1" || return 1
    ! grep -q '^\$ gpuledger init' "$2" || return 0
    (cd "$1" && gpuledger --quiet init && gpuledger sync &&
        gpuledger close --month 2026-09 --accept 'a test') >"$work/out" 2>&1
    [ $? -eq 3 ]
}

# run N DOCUMENT: the command N of the document
run ()
{
    why=$(reason "$2" "$blocks/$1.sh")
    at=$(cat "$blocks/$1.at")
    if [ -n "$why" ]; then
        printf '# not run: %s: %s: %s\n' "$at" "$(head -n 1 "$blocks/$1.sh")" "$why"
        return
    fi
    (cd "$blocks/site" && sh -u "$blocks/$1.sh") >"$work/out" 2>&1 </dev/null
    rc=$?
    # how this host is, is not what is tested
    case $rc:$(head -n 1 "$blocks/$1.sh") in 3:gpuledger\ doctor*) rc=0 ;; esac
    if [ $rc -ne "$(cat "$blocks/$1.rc")" ]; then
        sed 's/^/# /' "$work/out" | head -n 40
        echo "# exit $rc, not $(cat "$blocks/$1.rc")"
        result 1 "$at: $(head -n 1 "$blocks/$1.sh")"
    elif [ -e "$blocks/$1.want" ] &&
        ! awk -f "$here/match.awk" "$blocks/$1.want" "$work/out" >"$work/diff"; then
        sed 's/^/# /' "$work/diff" "$work/out"
        result 1 "$at: $(head -n 1 "$blocks/$1.sh")"
    else
        result 0 "$at: $(head -n 1 "$blocks/$1.sh")"
    fi
}

# loads N: the block of configuration, in place of the sections that it has; layouts of
# exports are no configuration: tests/cli/layouts.sh
loads ()
{
    grep -q '^rows:' "$blocks/$1.yaml" && return
    cp "$blocks/$1.yaml" "$work/site.yaml"
    awk 'NR == FNR {if (match ($0, /^[a-z_]+:/)) has[substr ($0, 1, RLENGTH)] = 1; next}
        match ($0, /^[a-z_]+:/) {skip = substr ($0, 1, RLENGTH) in has}
        !skip' "$blocks/$1.yaml" "$here/site.yaml" >>"$work/site.yaml"
    "$program" --config "$work/site.yaml" --store "sqlite:$work/no.db" \
        price --gres=gpu:h100:1 >"$work/out" 2>"$work/err" || {
        sed 's/^/# /' "$work/err"
        false
    }
    result $? "$(cat "$blocks/$1.at"): the configuration loads"
}

# Words of a command in running text, `gpuledger close --month 2026-10`, are a
# verb and options of that verb.
spoken ()
{
    # shellcheck disable=SC2016 # these are backquotes of the text
    tr '\n' ' ' <"$1" | sed 's/```[^`]*```//g' | grep -o '`gpuledger [^`]*`' |
        tr -d '`' | sort -u >"$work/spoken"
    while read -r _ verb words; do
        case $verb in
        --* | [A-Z]*) verb= ;;
        esac
        # shellcheck disable=SC2086 # no verb is no word
        "$program" $verb --help >"$work/help" 2>&1 || { echo "# $1: no verb $verb"; return 1; }
        for word in $words; do
            word=${word%%[].,;:=)]*} word=${word#[}
            case $word in
            --?*) grep -qF -e " $word" "$work/help" || {
                echo "# $1: $verb has no $word"
                return 1
            } ;;
            esac
        done
    done <"$work/spoken"
}

cd "$abs_top_srcdir" || exit 1
[ $# -gt 0 ] || set -- README.md docs/guides/*.md docs/formats/*.md
for document; do
    blocks=$work/$(echo "$document" | tr / -)
    mkdir "$blocks" "$blocks/site"
    awk -v dir="$blocks" -f "$here/blocks.awk" "$document" || exit 1
    if [ -e "$blocks/wrong" ]; then
        sed 's/^/# /' "$blocks/wrong"
        result 1 "$document: every command is in a block marked sh or console"
    fi
    spoken "$document"
    result $? "$document: commands in the text are verbs and options"
    site "$blocks/site" "$document" || { echo 'Bail out! no example site'; exit 1; }
    number=0
    while [ $((number += 1)) -le "$(cat "$blocks/count")" ]; do
        if [ -e "$blocks/$number.yaml" ]; then
            loads "$number"
        else
            run "$number" "$document"
        fi
    done
done

needs | while IFS='|' read -r document begin _; do
    grep -qF -e "$begin" "$document" || echo "$document: $begin"
done >"$work/stale"
sed 's/^/# /' "$work/stale"
test ! -s "$work/stale"
result $? "what is not run still stands in the documents"

echo "1..$tests"
exit $failed
