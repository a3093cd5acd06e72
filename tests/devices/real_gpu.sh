#!/bin/sh
# A real NVIDIA GPU, where one is at hand: the agent watches it for a minute and
# records what it sees, and that is compared with nvidia-smi and with itself.
#
#   GL_GPU_LOAD=COMMAND    runs in the meantime, to have the GPU work
#   GL_GPU_SECONDS=N       watch for so long [60]
#   GL_GPU_KEEP=FILE       keep the recording
# shellcheck disable=SC2154
set -u

skip () { echo "1..0 # SKIP because $*"; exit 0; }

agent=$abs_top_builddir/plugin/agent/gpuledger-agent
seconds=${GL_GPU_SECONDS:-60}
command -v nvidia-smi >/dev/null || skip "there is no nvidia-smi"
nvidia-smi -L 2>/dev/null | grep -q '^GPU ' || skip "there is no NVIDIA GPU"
[ "$(id -u)" = 0 ] || skip "MIG instances are shown to root only"

dir=$(mktemp -d) || exit 1
watcher='' load=''
cleanup ()
{
    for pid in $watcher $load; do
        kill "$pid" 2>/dev/null
    done
    wait
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
mkdir -m 700 "$dir/spool"
: >"$dir/agent.yaml"

smi () { nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits; }

if [ -n "${GL_GPU_LOAD:-}" ]; then
    sh -c "$GL_GPU_LOAD" >"$dir/load.out" 2>&1 &
    load=$!
fi
"$agent" --config "$dir/agent.yaml" --spool "$dir/spool" --node real \
    --cluster real --interval 1 --record "$dir/seen.replay" \
    >"$dir/agent.out" 2>&1 &
watcher=$!
smi uuid,name,pci.bus_id,memory.total,driver_version |
    sed 's/, /|/g' >"$dir/smi"
nvidia-smi -L | sed -n 's/.*MIG .*(UUID: \(MIG-[^)]*\)).*/\1/p' |
    sort >"$dir/smi.slices"

# utilization as nvidia-smi sees it, each five seconds
elapsed=0
while [ "$elapsed" -lt "$seconds" ]; do
    smi uuid,utilization.gpu | sed 's/, / /' >>"$dir/smi.utilization"
    sleep 5
    elapsed=$((elapsed + 5))
done
kill "$watcher"
wait "$watcher"
watcher=''
sed 's/^/# agent: /' "$dir/agent.out"
[ -z "${GL_GPU_KEEP:-}" ] || cp "$dir/seen.replay" "$GL_GPU_KEEP"

plan=0
result ()
{
    plan=$((plan + 1))
    [ "$1" -eq 0 ] && echo "ok $plan - $2" || echo "not ok $plan - $2"
}

# same FILE FILE TEXT
same ()
{
    diff "$1" "$2" | sed 's/^/# /'
    cmp -s "$1" "$2"
    result $? "$3"
}

# The first layout of the recording, in nvidia-smi's words.
# shellcheck disable=SC2016
value='function value(key,   at, rest) {
           at = index ($0, " " key "=\"")
           if (at) {
               rest = substr ($0, at + length (key) + 3)
               return substr (rest, 1, index (rest, "\"") - 1)
           }
           at = index ($0, " " key "=")
           rest = substr ($0, at + length (key) + 2)
           sub (/ .*/, "", rest)
           return at ? rest : ""
       }'
awk "$value"'
    /^driver / { driver = $2; gsub (/"/, "", driver) }
    /^at / { exit }
    /^gpu / {
        print value("uuid") "|" value("model") "|" value("pci") "|" \
            value("memory") "|" driver
    }' "$dir/seen.replay" >"$dir/seen"
same "$dir/smi" "$dir/seen" "the GPUs are those of nvidia-smi -q"
awk "$value"'/^at / { exit } /^slice / { print value("uuid") }' \
    "$dir/seen.replay" | sort >"$dir/seen.slices"
same "$dir/smi.slices" "$dir/seen.slices" "the slices are those of nvidia-smi -L"

# The counter against the power, seen each second.
awk "$value"'
    function time(text,   p) {
        split (text, p, /[-T:Z]/)
        return p[4] * 3600 + p[5] * 60 + p[6]
    }
    function step(   g) {
        for (g in power)
            if (power[g] != "")
                sum[g] += power[g] * ((now - last + 86400) % 86400)
    }
    /^at / { now = time($2); if (last != "") step(); last = now; next }
    /^g[0-9]+ / {
        if (value("power") ~ /^[0-9]/) power[$1] = value("power")
        if (value("energy") ~ /^[0-9]/) {
            if (!($1 in first)) { first[$1] = value("energy"); sum[$1] = 0 }
            final[$1] = value("energy")
        }
    }
    END {
        for (g in first) {
            counted = final[g] - first[g]
            off = sum[g] ? (counted - sum[g]) / sum[g] * 100 : 100
            printf "# %s: counter %d mJ, power x time %d mJ, %.2f %%\n",
                g, counted, sum[g], off
            bad += off < -5 || off > 5
        }
        exit bad > 0
    }' "$dir/seen.replay" >"$dir/energy"
rc=$?
cat "$dir/energy"
if [ -s "$dir/energy" ]; then
    result $rc "energy: counter and integrated power differ by less than 5 %"
else
    plan=$((plan + 1))
    echo "ok $plan - energy # SKIP this GPU has no energy counter"
fi

# Means over the minute: the two do not look at the same moments.
awk "$value"'
    FNR == NR { smi[$1] += $2; times[$1]++; next }
    /^gpu / { uuid[$2] = value("uuid") }
    /^at / {
        for (g in last) { sum[g] += last[g]; count[g]++ }
        next
    }
    /^g[0-9]+ / && value("utilization") ~ /^[0-9]/ {
        last[$1] = value("utilization")
    }
    END {
        for (g in count) {
            theirs = smi[uuid[g]] / times[uuid[g]]
            ours = sum[g] / count[g]
            printf "# %s: utilization %.1f %%, nvidia-smi %.1f %%\n",
                g, ours, theirs
            bad += ours - theirs > 10 || theirs - ours > 10
        }
        exit bad > 0
    }' "$dir/smi.utilization" "$dir/seen.replay"
result $? "utilization: within 10 points of nvidia-smi's"
echo "1..$plan"
