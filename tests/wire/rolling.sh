#!/bin/sh
# Agents and collectors of neighbouring versions. A record of a later version or kind, or
# with a field of one, is stored byte for byte by this collector; a collector with a later
# protocol refuses and is refused, and no record is lost until there is one that fits.
# shellcheck source=tests/wire/lib.sh disable=SC2154,SC2317
. "$abs_top_srcdir/tests/wire/lib.sh"

command -v python3 >/dev/null || skip "python3 is not installed"
agent=$abs_top_builddir/plugin/agent/gpuledger-agent
start_munged host right 127.0.0.1 || exit 1
port=$(free_port)
spool=$dir/spool
mkdir -m 700 "$spool"
cat >"$dir/site.yaml" <<EOT
clusters: [{name: lab}]
collector: {hosts: ["127.0.0.1:$port"], munge_socket: $dir/host/socket}
networks: [{nodes: g1, network: 127.0.0.1}]
EOT
printf '%s\n' 'replay 1' 'at +0s' >"$dir/no-devices.replay"

# records FIRST LAST: four a number, as docs/formats/record.md has them: one of this
# version, one of version 2, one of kind 99, one of this version with field 127
cat >"$dir/records.py" <<'EOT'
import os, struct, sys

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff

def text(number, value):
    return struct.pack('<HH', number, len(value)) + value

assert crc32c(b'123456789') == 0xe3069283
spool, listing, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
out = os.open(spool + '/00000001.records', os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
with open(listing, 'a') as keys:
    for job in range(first, last + 1):
        for version, kind, more in ((1, 1, b''), (2, 1, b''), (1, 99, b''), (1, 2, text(127, b'later'))):
            fields = text(1, b'lab') + text(2, b'g1') + struct.pack('<HHq', 3, 8, job) + more
            body = b'\xf7glr' + struct.pack('<BBHI', version, 0, kind, 40 + len(fields)) \
                + os.urandom(16) + struct.pack('<q', 1790000000 * 10**9 + job) + fields
            body += struct.pack('<I', crc32c(body))
            os.write(out, body)
            keys.write(body.hex().upper() + '\n')
EOT
records () { python3 "$dir/records.py" "$spool" "$dir/written" "$@"; }
# what the store has of them, byte for byte
stored () { sqlite3 -readonly "$dir/ledger.db" 'SELECT hex(payload) FROM node_record WHERE kind IN (1, 2, 99)' | sort; }
has_all () { sort "$dir/written" >"$dir/sorted" && stored | cmp -s - "$dir/sorted"; }
ship () {
    "$agent" --config "$dir/site.yaml" --spool "$spool" --node g1 --cluster lab \
        --replay "$dir/no-devices.replay" >>"$dir/out" 2>&1 &
    agent_pid=$!
    pids="$pids $agent_pid"
    wait_until 20 handles_term "$agent_pid" &&
        wait_until 20 test -e "$spool/state/agent" && sleep 0.3 && kill "$agent_pid" && wait "$agent_pid"
}

"$gpuledger" --quiet --store "sqlite:$dir/ledger.db" init || exit 1
start_collector "$dir/site.yaml" "sqlite:$dir/ledger.db" "$port" || exit 1
: >"$dir/out"
records 1 50 && ship && wait_until 5 has_all
check "records of a later agent are stored byte for byte: $(stored | wc -l) of $(wc -l <"$dir/written")"
[ ! -e "$spool/refused" ] && [ "$(stored | wc -l)" = 200 ]
check "none is refused"
records 51 60 && ship && wait_until 5 has_all
check "and those after them"

# ------------------------------------------------------------- a protocol of another version

later_client () {
    python3 - "$port" <<'EOT'
import socket, sys
s = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 10)
hello = s.recv(28)
s.sendall(b'\xf7glw\x02\x02\0\0\x10\0\0\0' + bytes(16))
answer = b''
while chunk := s.recv(4096):
    answer += chunk
print(hello[:6], answer)
sys.exit(0 if hello[:5] == b'\xf7glw\x01' and answer[5] == 4 and b'version 2' in answer else 1)
EOT
}
later_client >"$dir/out" 2>&1
check "an agent of a later protocol is refused, and the versions are named"
records 61 70 && ship && wait_until 5 has_all
check "which disturbs no other"

kill "$collector_pid"
wait "$collector_pid" 2>/dev/null
python3 - "$port" "$dir/asked" <<'EOT' &
import os, socket, sys
s = socket.create_server(('127.0.0.1', int(sys.argv[1])))
while True:
    c, _ = s.accept()
    c.sendall(b'\xf7glw\x02\x01\0\0\x10\0\0\0' + os.urandom(16))
    open(sys.argv[2], 'ab').write(c.recv(4096))
    c.close()
EOT
later_pid=$!
pids="$pids $later_pid"
sleep 0.5
records 71 80
: >"$dir/out"
ship
! has_all && [ -e "$dir/asked" ] && [ ! -s "$dir/asked" ]
check "a collector of a later protocol gets nothing"
kill "$later_pid"
wait "$later_pid" 2>/dev/null
start_collector "$dir/site.yaml" "sqlite:$dir/ledger.db" "$port"
ship && wait_until 5 has_all && [ "$(stored | wc -l)" = 320 ]
check "one that fits gets all: $(stored | wc -l) of $(wc -l <"$dir/written")"
echo "1..$n"
