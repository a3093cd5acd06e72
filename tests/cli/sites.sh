#!/bin/sh
# Price lists of real sites, from jobs to reports. Each folder of
# contrib/examples/sites has a gpuledger.yaml, a jobs.sacct and what is expected:
#
#   ARGUMENTS => TEXT       the command prints a line with this text
#   ARGUMENTS =>            the command succeeds
#
# in this order, over one store. Lines that begin with # say where the figures are
# published.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
sites=$abs_top_srcdir/contrib/examples/sites

# expect SITE ARGUMENTS TEXT
expect ()
{
    [ "$2" = "$asked" ] || {
        asked=$2
        # shellcheck disable=SC2086
        (cd "$sites/$1" && "$program" --quiet --config gpuledger.yaml \
            --store "sqlite:$work/$1.db" $2) >"$work/out" 2>"$work/err"
        status=$?
    }
    # 3: done, but look
    [ $status -eq 0 ] || [ $status -eq 3 ] && { [ -z "$3" ] || grep -qF -e "$3" "$work/out"; }
    status=$?
    [ $status -eq 0 ] || sed 's/^/# /' "$work/out"
    result $status "$1: $2: $3"
}

for site in "$sites"/*/; do
    name=$(basename "$site")
    asked=
    while IFS= read -r line; do
        case $line in
        '#'* | '') ;;
        *) expect "$name" "${line%% =>*}" "$(echo "${line#*=>}" | sed 's/^ *//')" ;;
        esac
    done <"$site/expected"
done
# The guide has each example, and no other.
guide=$abs_top_srcdir/docs/guides/site-rates.md
sed -n 's/^|.*| \([a-z-][a-z-]*\) |$/\1/p' "$guide" | sort -u >"$work/named"
ls "$sites" | diff - "$work/named" >"$work/err"
result $? "docs/guides/site-rates.md names each example"
echo "1..$tests"
exit $failed
