#!/bin/sh
# The widget of contrib/ondemand, rendered by Ruby on what the commands say: the figures
# are those of the commands, hostile names are text, and a command that fails, hangs or
# says nonsense is a sentence in the card.
command -v ruby >/dev/null || { echo '1..0 # SKIP ruby is not installed'; exit 0; }
command -v jq >/dev/null || { echo '1..0 # SKIP jq is not installed'; exit 0; }
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
cd "$work" || exit 1
widget=$abs_top_srcdir/contrib/ondemand
me=$(id -un)

cat >site.yaml <<'END'
ledger:   {timezone: UTC, currency: EUR}
clusters: [{name: lab}]
pools:    [{name: h100, nodes: "g[1-2]", gres: [h100], gpus_per_node: 8}]
rates:    [{pool: h100, per_gpu_hour: 2.50}]
projects: [{name: segmentation, accounts: [vision], default_for: [vision]}]
END
cat >jobs <<END
JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|Partition|NodeList
1|2026-11-02T00:00:00|2026-11-02T00:00:00|2026-11-02T10:00:00|COMPLETED|gres/gpu=4,gres/gpu:h100=4|$me|vision|gpu|g1
2|2026-11-03T00:00:00|2026-11-03T00:00:00|2026-11-03T01:30:00|COMPLETED|gres/gpu=1,gres/gpu:h100=1|$me|<script>alert('x')</script>|gpu|g1
3|2026-11-03T00:00:00|2026-11-03T00:00:00|2026-11-03T09:00:00|COMPLETED|gres/gpu=8,gres/gpu:h100=8|somebody|other|gpu|g2
END
cat >command <<END
#!/bin/sh
echo "\$*" >>'$work/asked'
exec '$program' --config '$work/site.yaml' --store 'sqlite:$work/lab.db' "\$@"
END
chmod +x command
lab () { "$program" --quiet --config site.yaml --store sqlite:lab.db "$@"; }
lab init && lab import --cluster lab --as-of 2026-11-05T00:00 jobs
result $? "a store with jobs of $me"

# rendered [RUBY]: as the dashboard does it, in November 2026
rendered ()
{
    ruby -rerb -e '
        load ARGV[0] + "/gpuledger.rb"
        def GpuledgerWidget.month(*) = "2026-11"
        eval ARGV[2] if ARGV[2]
        puts ERB.new(File.read(ARGV[0] + "/_gpuledger.html.erb"), trim_mode: "-").result(binding)
    ' "$widget" "$work" "$@" >page 2>errors
}
export GPULEDGER_COMMAND="$work/command" GPULEDGER_LIMITS="$work/limits"
export GPULEDGER_REQUESTS='gpu:h100:1 gpu:h100:8 gpu:<b>:1'
now=$(date +%s)
printf '%s\n' 'gpuledger-limits 1' "as_of $now" "until $((now + 3600))" \
    'refuse account vision budget <i>a & b</i>, 2026-11: 104.0 % spent' \
    'warn project segmentation budget seg, 2026-11: 91.0 % spent' \
    'warn account other budget of nobody here' 'end 3' >limits

rendered
result $? "Ruby renders the widget"
[ ! -s errors ]
result $? "and has nothing to say $(head -n 1 errors)"
lab mine --month 2026-11 --by account,project --json >mine.json
# text: the page without tags, entities decoded
ruby -rcgi -e 'puts CGI.unescapeHTML(STDIN.read.gsub(/<[^>]*>/, " ").squeeze(" \n"))' <page >text
for figure in $(jq -r '.rows[].charge, .totals.charge' mine.json); do
    grep -q -- " $figure EUR" text
    result $? "the charge $figure is there"
done
is "$(jq -r '.totals.charge' mine.json)" 103.75 "and the total is that of 41.5 hours"
grep -q ' 41.5 ' text && grep -q unknown text
result $? "with the hours; idle time that was not measured is unknown"
grep -q 'gpu:h100:8' text && grep -q '20.00 EUR' text
result $? "prices of requests for an hour"
grep -q "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" page && ! grep -q '<script\|<i>\|<b>' page
result $? "hostile names are text"
grep -q 'refused: budget <i>a & b</i>, 2026-11: 104.0 % spent' text && grep -q 'warning: budget seg' text
result $? "warnings of the budgets of one's accounts and projects"
! grep -q 'nobody here\|somebody\|other' text
result $? "and nothing of others"
if command -v xmllint >/dev/null; then
    xmllint --noout page 2>errors
    result $? "each tag is closed"
else
    ruby -rrexml/document -e 'REXML::Document.new(STDIN.read)' <page 2>errors
    result $? "each tag is closed"
fi

is "$(grep -c mine asked)" 1 "the command is asked once"
rendered 'GpuledgerWidget.mine; GpuledgerWidget.mine(Time.now + 60); GpuledgerWidget.mine(Time.now + 400)'
is "$(grep -c mine asked)" 4 "and again when its answer is old"

# --- what goes wrong
for torn in 'sed -i "s/^end 3/end 4/" limits' 'sed -i "s/^until .*/until 1000/" limits' 'rm limits'; do
    cp limits whole
    eval "$torn"
    rendered && ! grep -q 'alert-\|No budget' page
    result $? "limits that are not to be trusted say nothing: ${torn%% *}"
    cp whole limits
done
# fails TEXT SCRIPT LABEL: the card has the sentence, and no figure
fails ()
{
    printf '#!/bin/sh\n%s\n' "$2" >command
    rendered 'GpuledgerWidget.send(:remove_const, :SECONDS); GpuledgerWidget::SECONDS = 1'
    rc=$?
    [ $rc -eq 0 ] && grep -q "not known at the moment: $1" page && ! grep -q '<tbody>' page
    result $? "$3"
}
export GPULEDGER_REQUESTS=
fails 'no collector answers &lt;here&gt;' 'echo "gpuledger: no collector answers <here>" >&2; exit 1' "a command that fails"
fails 'gpuledger failed' 'exit 1' "without a word"
fails 'gpuledger cannot be run' 'echo "{"' "no JSON"
fails 'gpuledger gave no report' 'echo "[1]"' "another JSON"
fails 'gpuledger did not answer in time' 'sleep 600' "no answer"
rm command
rendered && grep -q 'gpuledger cannot be run' page
result $? "no command"

ruby -ryaml -e 'exit YAML.load_file(ARGV[0])["dashboard_layout"]["rows"][0]["columns"].flat_map { |c| c["widgets"] }.include?("gpuledger")' \
    "$widget/ondemand.yml"
result $? "the layout names the widget"

echo "1..$tests"
