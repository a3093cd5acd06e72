#!/bin/bash
# What a job produced: a server that shows vLLM's counters runs in a job of a cluster with
# agents, is restarted there, and another one answers what no agent should take. The cost
# per million tokens, times the tokens, is what the ledger charges for the job.
# shellcheck source=tests/live/lib.sh disable=SC2016,SC2317
. "${abs_top_srcdir:-.}/tests/live/lib.sh"

need_built sacct-ext/gpuledger plugin/agent/gpuledger-agent \
    sacct-ext/gpuledger-collector
command -v python3 >/dev/null || skip_all "python3 is not installed"
cluster_up --agents
export SBATCH_OUTPUT=$GL_SANDBOX_WORK/%j.out
cluster=$scratch/cluster

ledger ()
{
    "$abs_top_builddir/sacct-ext/gpuledger" --quiet \
        --config "$GL_SANDBOX_CONFIG" --store "$GL_SANDBOX_STORE" "$@"
}
stored () { sqlite3 "${GL_SANDBOX_STORE#sqlite:}" "$1"; }
cat >"$scratch/user.yaml" <<END
collector:
  hosts: ["$GL_SANDBOX_COLLECTOR"]
  munge_socket: $MUNGE_SOCKET
END
user ()
{
    local name=$1
    shift
    as "$name" "$cluster/lib/gpuledger" --config "$scratch/user.yaml" "$@"
}

# ------------------------------------------------------------------ the servers

read -r port hostile < <(python3 -c 'import socket
a, b = socket.socket(), socket.socket()
a.bind(("127.0.0.1", 0)), b.bind(("127.0.0.1", 0))
print(a.getsockname()[1], b.getsockname()[1])')

# Shows the counters of the file NUMBERS as uvicorn shows those of vLLM: in chunks. A
# line in ASKED for each answer says what it was.
cat >server.py <<'END'
import http.server, sys
port, numbers, asked = int(sys.argv[1]), sys.argv[2], sys.argv[3]
class Metrics(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_):
        pass
    def do_GET(self):
        generated, prompt = map(float, open(numbers).read().split())
        text = "".join(
            f"# HELP vllm:{name} Number of tokens processed.\n# TYPE vllm:{name} counter\n"
            f'vllm:{name}{{engine="0",model_name="a}} b"}} {value}\n'
            for name, value in (("prompt_tokens_total", prompt),
                                ("generation_tokens_total", generated)))
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for i in range(0, len(text), 50):
            part = text[i:i + 50].encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")
        with open(asked, "a") as log:
            print(f"{self.path} {generated:.0f} {prompt:.0f}", file=log)
http.server.HTTPServer(("127.0.0.1", port), Metrics).serve_forever()
END
# Never ends an answer.
cat >hostile.py <<'END'
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    client, _ = server.accept()
    try:
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            client.sendall(b"vllm:prompt_tokens_total 1e15\n" * 1000)
    except OSError:
        client.close()
END
cat >serve.sh <<'END'
#!/bin/bash
python3 server.py "$1" numbers asked &
server=$!
python3 hostile.py "$2" &
until [ -e restart ]; do sleep 0.2; done
kill $server
wait $server
echo 0 0 >numbers
touch restarted
python3 server.py "$1" numbers asked &
until [ -e enough ]; do sleep 0.2; done
kill %2 %3
END
echo 0 0 >numbers
chmod 666 numbers
: >asked
chmod 666 asked

cat >>"$cluster/node/g1/gpuledger.yaml" <<END
  counter_ports: [$port, "$hostile"]
units:
  - {name: output-tokens, counters: ["vllm:generation_tokens_total"]}
  - {name: input-tokens, counters: ["vllm:prompt_tokens_total"]}
END
read -r agent _ <"$cluster/run/agent-g1.daemon"
kill -HUP "$agent"

# ----------------------------------------------------------------------- the job

job=$(as games sbatch --parsable --gpu-project=tracking --gres=gpu:h100:2 \
    -w g1 serve.sh "$port" "$hostile")
other=$(as news sbatch --parsable --gres=gpu:h100:1 -w g1 --wrap 'sleep 5')
await 60 in_state "$job" RUNNING
ok $? "the job runs"

# shown GENERATED PROMPT: until the agent has been answered so
answered () { grep -qx "/metrics $1 $2" asked; }
shown ()
{
    echo "$1 $2" >numbers
    await 40 answered "$1" "$2"
}
shown 1000000 200000
ok $? "the agent asks the server"
shown 4000001 900000
ok $? "and again"
touch restart
await 20 test -e restarted
shown 300000 50000
ok $? "the server is another one"
# a server that is not restarted, whose counter falls
shown 12000 50000
ok $? "its counter falls"
problems ()
{
    sed -n 's/^slurm_gpuledger_agent_problems_total{.*cause="counters".*} //p' \
        "$cluster/node/g1/gpuledger.prom"
}
counted () { [ "$(problems)" -gt 0 ]; }
await 30 counted
ok $? "an answer without an end is given up and counted"
touch enough
await 60 all_settled
ok $? "the jobs have ended"
is "$(sacct -n -X -j "$job" -o state | tr -d ' ')" COMPLETED "the job ended well"

recorded () { [ "$(stored 'SELECT count(*) FROM node_record WHERE kind = 7')" -ge 2 ]; }
await 60 recorded
ok $? "what it produced is in the ledger"
ledger sync >"$scratch/sync.log" 2>&1
ok $? "sync"

# -------------------------------------------------------------------- the report

month=$(date -u +%Y-%m)
ledger report results --month "$month" --by project --csv >"$scratch/results.csv" 2>"$scratch/err"
ok $? "the report"
field () # SECTION COLUMN [UNIT]
{
    python3 -c 'import csv, sys
print(*(r[sys.argv[2]] for r in csv.DictReader(open(sys.argv[4]))
        if r["section"] == sys.argv[1] and r["unit"] == sys.argv[3]))' \
        "$1" "$2" "${3:-}" "$scratch/results.csv"
}
is "$(field result produced output-tokens) $(field result produced input-tokens)" \
    "$((4000001 + 300000 + 12000)) $((900000 + 50000))" \
    "the tokens, over both restarts"
is "$(field job source output-tokens) $(field result project output-tokens)" \
    "counter tracking" "counted on the node, for the project"
posting=$(ledger report chargeback --month "$month" --by project --csv |
    python3 -c 'import csv, sys
print(*(r["charge"] for r in csv.DictReader(sys.stdin) if r["project"] == "tracking"))')
is "$(field job amount output-tokens)" "$posting" "the amount is the posting's"
is "$(python3 -c 'from decimal import *
import sys
price, tokens = map(Decimal, sys.argv[1:])
print((price * tokens / 10**6).quantize(Decimal("0.01")))' \
    "$(field result unit_cost_exact output-tokens)" "$(field result produced output-tokens)")" \
    "$posting" "cost per million tokens times tokens is the posting, to the cent"
note "posting $posting, per million $(field result unit_cost_exact output-tokens)"
is "$(python3 -c 'import csv, decimal, sys
print(sum(decimal.Decimal(r["amount"]) for r in csv.DictReader(open(sys.argv[1]))
          if r["section"] == "sum"))' "$scratch/results.csv")" \
    "$(ledger report chargeback --month "$month" --by project --csv | python3 -c 'import csv, decimal, sys
print(sum(decimal.Decimal(r["charge"]) for r in csv.DictReader(sys.stdin)))')" \
    "with jobs without units all adds up to the charges"

# ------------------------------------------------------- what the user of the job sees

price=$(field result unit_cost output-tokens)
is "$(ledger explain "$job" --json | python3 -c 'import json, sys
print(*(f["produced"] for s in json.load(sys.stdin)["segments"][0]["steps"] if s["step"] == "units"
        for f in [s["facts"]] if f["unit"] == "output-tokens"))')" \
    4312001 "explain has the tokens of the job"
ledger explain "$job" --json | grep -q "\"unit_cost\": \"$price\""
ok $? "and what a million of them cost"
like "$(user games mine --month "$month" 2>&1)" \
    "output-tokens *4312001 output-tokens of 1 job: $posting USD, $price per million output-tokens" "mine has them, from another host"
like "$(user news mine --month "$month" 2>&1 | grep -c 'output-tokens')" "^0$" "and not those of others"

# ------------------------------------------------------- what people report, by collector

like "$(user news units "$other" images=7 2>&1)" \
    "^job $other of .*: 7 images" "a user reports units from another host"
like "$(user news units "$job" images=7 2>&1)" \
    "the ledger has no job $job of yours" "but not for the job of somebody else"
like "$(user games units "$job" output-tokens=5e6 2>&1)" \
    "^job $job of .*: 5000000 output-tokens" "a report"
ledger report results --month "$month" --by project --csv >"$scratch/results.csv"
is "$(field job produced output-tokens) $(field job source output-tokens)" \
    "5000000 report" "counts instead of the counter"
is "$(field job produced images)" 7 "and the other one"
done_testing
