"""An authenticator that answers as oauth2-proxy's /oauth2/auth does.

authenticator.py GROUPS: listens on a free port of loopback and prints it. GROUPS has
lines GROUP:USER,USER. A request's user is that of Basic authentication, with any
password. 401: nobody; 202: a member of one of allowed_groups, or nothing was asked;
403: anybody else.
"""

import base64
import http.server
import sys
import urllib.parse

members = {}
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        group, users = line.rstrip("\n").rsplit(": ", 1)
        members[group] = users.split()


class Answer(http.server.BaseHTTPRequestHandler):
    def status(self):
        scheme, _, word = self.headers.get("Authorization", "").partition(" ")
        if scheme != "Basic":
            return 401
        user = base64.b64decode(word).decode().partition(":")[0]
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        asked = [
            group
            for value in query.get("allowed_groups", [])
            for group in value.split(",")
            if group
        ]
        allowed = not asked or any(user in members.get(g, ()) for g in asked)
        return 202 if allowed else 403

    def do_GET(self):
        self.send_response(self.status())
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
print(server.server_address[1], flush=True)
server.serve_forever()
