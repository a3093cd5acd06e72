"""browsers.py: Chromium and Firefox without a window, each driven by its own protocol: Chromium by
DevTools over a pipe, Firefox by Marionette over loopback. Nothing but Python is needed.

    with Chromium() as browser:
        browser.open("file:///tmp/page.html")
        browser.script("return document.title")
"""
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

TIMEOUT = 60


class Failed(Exception):
    """The browser did not start, or a command of it failed."""


class Process:
    """A browser with a profile of its own; both are gone at the end."""

    def __init__(self, command, **how):
        self.profile = tempfile.mkdtemp(prefix="gpuledger-browser.")
        self.log = open(os.path.join(self.profile, "log"), "w+b")
        self.child = subprocess.Popen([word.replace("PROFILE", self.profile) for word in command],
                                      stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                      env=dict(os.environ, HOME=self.profile), start_new_session=True, **how)

    def last_words(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace").strip()[-400:]

    def close(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Chromium(Process):
    """`events` has what the page reported since it was opened: messages, errors, requests, dialogs."""

    WATCHED = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown",
               "Page.javascriptDialogOpening", "Network.requestWillBeSent")

    def __init__(self, program="chromium"):
        theirs, self.to = os.pipe()
        self.from_, ours = os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (theirs, ours)]
        for fd in (theirs, ours):
            os.close(fd)

        def pipes():  # Chromium reads descriptor 3 and writes 4
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        super().__init__([program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                          "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
                          "--remote-debugging-pipe", "--user-data-dir=PROFILE", "about:blank"],
                         preexec_fn=pipes, close_fds=False)
        for fd in high:
            os.close(fd)
        self.rest, self.number, self.session, self.events, self.loaded = b"", 0, None, [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        super().close()
        os.close(self.to)
        os.close(self.from_)

    def read(self):
        while b"\0" not in self.rest:
            data = os.read(self.from_, 1 << 20)
            if not data:
                raise Failed("Chromium ended: " + self.last_words())
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def take(self, message):
        """An event."""
        method = message.get("method")
        if method in self.WATCHED:
            self.events.append((method, message["params"]))
        self.loaded = self.loaded or method == "Page.loadEventFired"

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while True:
            message = self.read()
            if message.get("id") == self.number:
                if "error" in message:
                    raise Failed(f"{method}: {message['error']['message']}")
                return message["result"]
            self.take(message)

    def size(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)

    def media(self, medium="screen", scheme="light"):
        self.call("Emulation.setEmulatedMedia", media=medium,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        self.events, self.loaded = [], False
        self.call("Page.navigate", url=url)
        while not self.loaded:
            self.take(self.read())

    def script(self, body):
        """What the body of a function returns."""
        answer = self.call("Runtime.evaluate", expression="(async () => {" + body + "})()", awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in answer:
            raise Failed(answer["exceptionDetails"].get("exception", {}).get("description", "a script failed"))
        return answer["result"].get("value")


class Firefox(Process):
    def __init__(self, program="firefox-esr"):
        super().__init__([program, "--headless", "--marionette", "--no-remote", "--profile", "PROFILE"])
        with open(os.path.join(self.profile, "user.js"), "w", encoding="utf-8") as prefs:
            prefs.write('user_pref("marionette.port", 0);\n')
        self.number, self.rest = 0, b""
        self.socket = socket.create_connection(("127.0.0.1", self.port()), TIMEOUT)
        self.read()  # who it is
        self.call("WebDriver:NewSession", strictFileInteractability=False)

    def port(self):
        path = os.path.join(self.profile, "MarionetteActivePort")
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until and self.child.poll() is None:
            if os.path.exists(path) and open(path, encoding="utf-8").read():
                return int(open(path, encoding="utf-8").read())
            time.sleep(0.05)
        raise Failed("Firefox did not start: " + self.last_words())

    def read(self):
        """LENGTH:MESSAGE"""
        while b":" not in self.rest:
            self.more()
        length, self.rest = self.rest.split(b":", 1)
        while len(self.rest) < int(length):
            self.more()
        message, self.rest = self.rest[: int(length)], self.rest[int(length):]
        return json.loads(message)

    def more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise Failed("Firefox ended: " + self.last_words())
        self.rest += data

    def call(self, method, **params):
        self.number += 1
        request = json.dumps([0, self.number, method, params]).encode()
        self.socket.sendall(b"%d:%s" % (len(request), request))
        _, _, error, result = self.read()
        if error:
            raise Failed(f"{method}: {error['message']}")
        return result

    def size(self, width, height=900):
        self.call("WebDriver:SetWindowRect", width=width, height=height)

    def open(self, url):
        self.call("WebDriver:SwitchToFrame", id=None)
        self.call("WebDriver:Navigate", url=url)

    def enter_frame(self):
        self.call("WebDriver:SwitchToFrame", id=0)

    def script(self, body):
        return self.call("WebDriver:ExecuteScript", script=body, args=[])["value"]
