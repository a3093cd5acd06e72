# shellcheck shell=sh
# owed.sh: what each team owes of a month, as each of the product's outputs says it:
# a line TEAM CENTS for each team, of the store $url. To be sourced after lib.sh;
# teams is set by who does. Called by name.
: "${abs_top_builddir:?}" "${work:?}" "${teams:=}" "${url:=}"

# shellcheck disable=SC2317
chargeback ()
{
    gl "$url" report chargeback --month "$1" --by team --json &&
        jq -r '.rows[] | [.team, ([.charge, .credit, .correction
            | (. // "0") | gsub ("\\."; "") | tonumber] | add)] | @tsv' "$work/out"
}

# shellcheck disable=SC2317
statements ()
{
    for team in $teams; do
        gl "$url" statement "$team" --month "$1" --json &&
            jq -r --arg team "$team" '[$team, (.totals.due | gsub("\\."; "")
                | tonumber)] | @tsv' "$work/out"
    done
}

# What is in dispute is owed until somebody decides otherwise.
# shellcheck disable=SC2317
journal ()
{
    gl "$url" report chargeback --month "$1" --journal &&
        awk '$1 ~ /^(charges|disputed):/ {
                split ($1, of, ":")
                sub ("\\.", "", $2)
                sum[of[2]] += $2
            }
            END { for (team in sum) printf "%s\t%d\n", team, sum[team] }' "$work/out"
}

# shellcheck disable=SC2317
focus ()
{
    gl "$url" report chargeback --month "$1" --focus --output "$work/focus.csv" &&
        "$abs_top_builddir/tests/focus/check" sums "$work/focus.csv"
}

# Of budgets that have the names of teams, and are of a month: what is spent at its
# end.
# shellcheck disable=SC2317
budgets ()
{
    gl "$url" budget --as-of "$(date -u -d "$1-01 +1 month" +%Y-%m-%d)" -n -P -o budget,spent
    awk -F '|' '{ sub ("\\.", "", $2); printf "%s\t%d\n", $1, $2 }' "$work/out"
}
