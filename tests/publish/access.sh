#!/bin/sh
# The access rules in a real nginx and a real Apache: each team sees its own directory
# and no other one, the site's group sees all, nobody else anything; whatever the path
# looks like.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
PATH=$PATH:/usr/sbin
for command in nginx apache2 curl; do
    command -v $command >/dev/null ||
        { echo "1..0 # SKIP because $command is not installed"; exit 0; }
done
pids=
# shellcheck disable=SC2086
trap 'for pid in $pids; do kill "$pid" 2>/dev/null; done; wait 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1

# --- the site, and who is who
page () { mkdir -p "site/$1" && echo "secret of /$1" | tee "site/$1/index.html" >"site/$1/page.html"; }
page '' && page team && page team/vision && page team/vision2 && page team/visions && page team/a%2Fb
odd="R&D;}#'<x> %7e"
cat >groups <<END
vision staff: vera
language: lars
$odd: rosa
directors: dora
END
for user in vera lars rosa dora nora; do
    echo "$user:{SHA}$(printf x | openssl dgst -sha1 -binary | base64)"
done >users
rules ()
{
    "$abs_top_builddir/tests/publish/print" "$1" directors \
        -- vision 'vision staff' -- vision2 language -- a%2Fb "$odd"
}
# Nobody sees all of it, and of one directory nobody anything.
closed () { "$abs_top_builddir/tests/publish/print" "$1" -- vision 'vision staff' -- vision2; }
require='Require group "%s"'
rules nginx >nginx.rules && closed nginx >nginx.closed &&
    rules "$require" >apache.rules && closed "$require" >apache.closed
result $? "rules for both servers"

# --- the servers: what they open is of $work alone, and on loopback
/usr/bin/python3 "$abs_top_srcdir/tests/publish/authenticator.py" groups >port &
pids="$pids $!"
# shellcheck disable=SC2046
set -- $(/usr/bin/python3 -c '
import socket
found = [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
print(*(s.getsockname()[1] for s in found))')
for _ in $(seq 200); do [ -s port ] && break; sleep 0.05; done
cat >nginx.conf <<END
daemon off;
pid $work/nginx.pid;
error_log $work/nginx.log;
worker_processes 1;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path $work/nginx.tmp;
    proxy_temp_path $work/nginx.tmp;
    fastcgi_temp_path $work/nginx.tmp;
    uwsgi_temp_path $work/nginx.tmp;
    scgi_temp_path $work/nginx.tmp;
    root $work/site;
    server {
        listen 127.0.0.1:$1;
        set \$gpuledger_auth http://127.0.0.1:$(cat port)/oauth2/auth;
        include $work/nginx.rules;
        location ~ [.]html\$ { add_header X-Kind page; }
    }
    server {
        listen 127.0.0.1:$2;
        set \$gpuledger_auth http://127.0.0.1:$(cat port)/oauth2/auth;
        include $work/nginx.closed;
    }
}
END
modules=/usr/lib/apache2/modules
{
    echo "ServerRoot $work
ServerName localhost
PidFile $work/apache.pid
ErrorLog $work/apache.log
Listen 127.0.0.1:$3
Listen 127.0.0.1:$4
StartServers 1
ThreadsPerChild 25
MaxRequestWorkers 25"
    for module in mpm_event authn_core authn_file authz_core authz_user authz_groupfile auth_basic dir; do
        echo "LoadModule ${module}_module $modules/mod_$module.so"
    done
    for site in "$3 rules" "$4 closed"; do
        echo "<VirtualHost 127.0.0.1:${site% *}>
DocumentRoot $work/site
AllowEncodedSlashes NoDecode
<Location />
    AuthType Basic
    AuthName site
    AuthUserFile $work/users
    AuthGroupFile $work/groups
</Location>
<Directory $work/site>
    Require all granted
</Directory>
Include $work/apache.${site#* }
</VirtualHost>"
    done
} >apache.conf
# The servers' children are of other users where root starts them.
if [ "$(id -u)" -eq 0 ]; then
    sed -i '1i user www-data;' nginx.conf
    printf 'User www-data\nGroup www-data\n' >>apache.conf
    chmod 755 "$work"
fi
nginx -t -q -c "$work/nginx.conf" 2>err && apache2 -t -d "$work" -f "$work/apache.conf" >>err 2>&1
result $? "both servers accept their configuration"
[ "$failed" -eq 0 ] || { echo "1..$tests"; exit 1; }
nginx -c "$work/nginx.conf" 2>nginx.err &
pids="$pids $!"
apache2 -d "$work" -f "$work/apache.conf" -DFOREGROUND 2>apache.err &
pids="$pids $!"
for port in "$@"; do
    for _ in $(seq 200); do
        curl -s -o /dev/null "http://127.0.0.1:$port/" && break
        sleep 0.05
    done
done

# --- who sees what
# sees PORT: lines USER ANSWER PATH; `no` is a refusal of any kind, without a page.
sees ()
{
    wrong=0
    lines=0
    while read -r user answer path; do
        lines=$((lines + 1))
        : >body
        if [ "$user" = - ]; then
            got=$(curl -s --path-as-is -m 10 -o body -w '%{http_code}' "http://127.0.0.1:$1$path")
        else
            got=$(curl -s --path-as-is -m 10 -o body -w '%{http_code}' -u "$user:x" "http://127.0.0.1:$1$path")
        fi
        page=no
        ! grep -q 'secret of' body || page=yes
        case $answer$got$page in
        200200yes | 301301no | 401401no | no4[0-9][0-9]no) ;;
        *)
            echo "# $user $path: $got, page $page; not $answer"
            wrong=1
            ;;
        esac
    done
    [ $lines -gt 0 ] && [ $wrong -eq 0 ]
}
own='
vera 200 /team/vision/
vera 200 /team/vision/page.html
vera 200 /team/vision/./page.html
vera 200 /team//vision/page.html
vera 200 /team/%76ision/page.html
vera 200 /team/vision2/../vision/page.html
vera 301 /team/vision
lars 200 /team/vision2/
lars 200 /team/vision2/page.html
rosa 200 /team/a%252Fb/
rosa 200 /team/a%252Fb/page.html'
others='
vera no /team/vision2/
vera no /team/vision2
vera no /team/vision2/page.html
vera no /team/vision2/nothing
vera no /team/a%252Fb/page.html
lars no /team/vision/page.html
lars no /team/vision
lars no /team/a%252Fb/
rosa no /team/vision/page.html
rosa no /team/vision2/page.html
vera no /team/visions/
vera no /team/visions/page.html
vera no /
vera no /page.html
vera no /team/
vera no /team/page.html
lars no /
rosa no /page.html'
tricks='
vera no /team/vision/../vision2/page.html
vera no /team/vision/%2e%2e/vision2/page.html
vera no /team/vision/.%2E/vision2/page.html
vera no /team/vision/..%2fvision2/page.html
vera no /team/vision/%2e%2e%2fvision2/page.html
vera no /team/vision/%252e%252e/vision2/page.html
vera no /team/vision/..;/vision2/page.html
vera no /team/vision/..\vision2/page.html
vera no /team/vision/..%5cvision2/page.html
vera no /team/vision/..//vision2/page.html
vera no /team/vision//..//..//team//vision2//page.html
vera no /team/vision/x/../../vision2/page.html
vera no //team/vision2/page.html
vera no /team//vision2/page.html
vera no /team/./vision2/page.html
vera no /./team/vision2/page.html
vera no /TEAM/VISION2/page.html
vera no /team/Vision2/page.html
vera no /team/vision%32/page.html
vera no /team%2fvision2/page.html
vera no /%74eam/vision2/page.html
vera no /team/vision%00/../vision2/page.html
vera no /team/vision2%2fpage.html
vera no /team/vision2/page.html?/team/vision/
vera no /team/vision2/page.html?allowed_groups=vision%20staff
vera no /team/vision/../../page.html
vera no /team/a%2Fb/page.html
vera no /team/a%2fb/page.html
vera no /team/a/b/page.html
vera no /team/a%25%32Fb/page.html
lars no /team/a%2Fb/page.html
rosa no /team/a/b/page.html
rosa no /team/a%25252Fb/page.html
vera no /_gpuledger/access/site
vera no /_gpuledger/access/team/vision
vera no /_gpuledger/access/team/vision2?allowed_groups=vision%20staff'
all='
dora 200 /
dora 200 /page.html
dora 200 /team/
dora 200 /team/vision/
dora 200 /team/vision/page.html
dora 301 /team/vision
dora 200 /team/vision2/page.html
dora 200 /team/visions/page.html
dora 200 /team/a%252Fb/page.html
dora 200 /TEAM/../team/vision2/page.html'
nobody='
nora no /
nora no /page.html
nora no /team/vision/
nora no /team/vision/page.html
nora no /team/vision2/page.html
nora no /team/a%252Fb/page.html
nora no /nothing
- 401 /
- 401 /page.html
- 401 /team/vision/
- 401 /team/vision
- 401 /team/vision/page.html
- 401 /team/vision2/page.html
- 401 /team/a%252Fb/page.html
- 401 /nothing'
small='
vera 200 /team/vision/page.html
vera no /team/vision2/page.html
vera no /page.html
lars no /team/vision2/page.html
dora no /
dora no /team/vision/page.html
dora no /team/vision2/page.html
dora no /team/a%252Fb/page.html
nora no /team/vision2/page.html
- no /team/vision2/page.html
- no /page.html'
# check LINES PORT
check () { printf '%s\n' "$1" | sed 1d >lines && sees "$2" <lines; }
for server in nginx:$1:$2 apache:$3:$4; do
    name=${server%%:*}
    open=${server#*:}
    closed=${open#*:}
    open=${open%:*}
    check "$own" "$open"
    result $? "$name: a team sees its directory"
    check "$others" "$open"
    result $? "$name: and nothing of others or of the site"
    check "$tricks" "$open"
    result $? "$name: whatever the path looks like"
    check "$all" "$open"
    result $? "$name: the site's group sees everything"
    check "$nobody" "$open"
    result $? "$name: nobody else sees anything"
    check "$small" "$closed"
    result $? "$name: without groups nobody sees it"
done
echo "1..$tests"
