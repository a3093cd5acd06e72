# shellcheck shell=sh
# mta.sh: two mail servers of this directory alone: what sendmail is (it queues in
# $work/send and hands over by SMTP) and who receives (it listens on a port of the
# loopback, and puts each recipient's copy into $work/inbox/mbox). To be sourced; work is set.
: "${work:?}"

# mta_missing: why there can be none
mta_missing ()
{
    PATH=$PATH:/usr/sbin
    command -v exim4 >/dev/null || { echo 'exim4 is not installed'; return; }
    python3 -c 'import email.policy' 2>/dev/null || { echo 'python3 is not installed'; return; }
    [ "$(id -u)" -eq 0 ] || echo 'exim4 needs root'
}

mta_config ()
{
    cat <<END
keep_environment =
tls_advertise_hosts =
spool_directory = $work/$1
log_file_path = $work/$1/%slog
primary_hostname = $2
END
}

# mta_start: sets sendmail (a list of the configuration) and mta_pid
mta_start ()
{
    chmod 755 "$work"
    mkdir "$work/send" "$work/receive" "$work/inbox"
    chown Debian-exim "$work/send" "$work/receive" "$work/inbox"
    {
        mta_config receive mx.example.org
        cat <<END
local_interfaces = 127.0.0.1
smtp_accept_max = 50
acl_smtp_rcpt = accept_all
begin acl
accept_all:
  accept
begin routers
all:
  driver = accept
  transport = inbox
begin transports
inbox:
  driver = appendfile
  file = $work/inbox/mbox
  envelope_to_add
  return_path_add
  user = Debian-exim
END
    } >"$work/receive.conf"
    for try in 1 2 3 4 5 6 7 8; do
        mta_port=$((20000 + ($$ * 7 + try * 997) % 12000))
        exim4 -C "$work/receive.conf" -bdf -oX "$mta_port" -oP "$work/receive.pid" \
            2>"$work/receive.err" &
        mta_pid=$!
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            kill -0 "$mta_pid" 2>/dev/null || break
            grep -q 'daemon started' "$work/receive/mainlog" 2>/dev/null && break 2
            sleep 0.2
        done
        kill "$mta_pid" 2>/dev/null
        wait "$mta_pid" 2>/dev/null
    done
    {
        mta_config send hpc.example.org
        cat <<END
begin routers
all:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = smtp
begin transports
smtp:
  driver = smtp
  port = $mta_port
END
    } >"$work/send.conf"
    # shellcheck disable=SC2034
    sendmail="$(command -v exim4), -C, $work/send.conf, -odf"
}

# mta_stop: also what is still in the queue
mta_stop () { kill "$mta_pid" 2>/dev/null; wait "$mta_pid" 2>/dev/null; }

# arrived COUNT: so many messages, of which nobody knows when they are there
arrived ()
{
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
        [ "$(grep -c '^From ' "$work/inbox/mbox" 2>/dev/null)" = "$1" ] && return 0
        sleep 0.2
    done
    return 1
}
