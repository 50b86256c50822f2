#!/usr/bin/env python3
"""Opens pages in headless Chromium and tells what it complains of.

    python3 scripts/browser.py [options] URL...

Prints a line of JSON for each page: its URL, status, title and text, whatever was written to the
console or thrown, and reports of the content security policy. With --shot FILE (of several pages
FILE-1.png, FILE-2.png, …) a picture of each. Needs Chromium (Debian's package chromium) and nothing
else: it is spoken to through two pipes. Exits 3 if there is none.
"""

import argparse
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"]
ABSENT = 3
PAGE_TIME_MAX_S = 60


class Browser:
    """Chromium, and the two ends of its pipes."""

    def __init__(self, program, profile, proxy=None):
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        # Out of the way of 3 and 4, where Chromium expects them.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write, from_read, from_write)]
        for end in (to_read, to_write, from_read, from_write):
            os.close(end)
        os.dup2(ends[0], 3)
        os.dup2(ends[3], 4)
        for end in (3, 4):
            os.set_inheritable(end, True)
        self.write_to, self.read_from = ends[1], ends[2]
        arguments = [
            program, "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
            "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
            "--disable-background-networking", "--disable-component-update",
            *(["--no-proxy-server"] if proxy is None
              # Loopback too.
              else [f"--proxy-server={proxy}", "--proxy-bypass-list=<-loopback>"]),
            "--disable-features=Translate,OptimizationHints,MediaRouter,HttpsUpgrades",
            f"--user-data-dir={profile}", "about:blank",
        ]
        self.process = subprocess.Popen(
            arguments, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(ends[0])
        os.close(ends[3])
        os.close(3)
        os.close(4)
        self.bytes = b""
        self.numbers = 0
        self.events = []

    def send(self, method, session=None, **params):
        self.numbers += 1
        message = {"id": self.numbers, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write_to, json.dumps(message).encode() + b"\0")
        return self.numbers

    def receive(self, until):
        while b"\0" not in self.bytes:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.read_from], [], [], left)[0]:
                raise TimeoutError("Chromium says nothing")
            piece = os.read(self.read_from, 1 << 16)
            if not piece:
                raise EOFError("Chromium is gone")
            self.bytes += piece
        message, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, session=None, **params):
        number = self.send(method, session, **params)
        until = time.monotonic() + PAGE_TIME_MAX_S
        while True:
            message = self.receive(until)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def until(self, name):
        """The next event of that name; all others are kept."""
        until = time.monotonic() + PAGE_TIME_MAX_S
        while True:
            message = self.receive(until)
            self.events.append(message)
            if message.get("method") == name:
                return message["params"]

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def complaints(events):
    """What the console, the policy and thrown errors have said."""
    told = []
    for event in events:
        name, params = event.get("method"), event.get("params", {})
        if name == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            values = [str(a.get("value", a.get("description"))) for a in params["args"]]
            told.append(f"console: {' '.join(values)}")
        elif name == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            what = details.get("exception", {}).get("description", details["text"])
            told.append(f"thrown: {what}")
        elif name == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            told.append(f"log: {params['entry']['text']} {params['entry'].get('url', '')}")
        elif name == "Audits.issueAdded" and "ContentSecurityPolicy" in params["issue"]["code"]:
            told.append(f"policy: {json.dumps(params['issue']['details'])}")
    return told


def open_page(browser, url, options):
    browser.events = []
    target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
    session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ["Page", "Runtime", "Log", "Network", "Audits"]:
        browser.ask(f"{domain}.enable", session)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if options.dark else "light"}
    browser.ask("Emulation.setEmulatedMedia", session, features=[scheme])
    browser.ask("Emulation.setDeviceMetricsOverride", session, width=options.width,
                height=options.height, deviceScaleFactor=options.scale, mobile=options.width < 600)
    if options.no_scripts:
        browser.ask("Emulation.setScriptExecutionDisabled", session, value=True)
    if options.cookie:
        name, _, value = options.cookie.partition("=")
        browser.ask("Network.setCookie", session, name=name, value=value, url=url)
    moved = browser.ask("Page.navigate", session, url=url)
    if "errorText" in moved:
        raise RuntimeError(f"{url}: {moved['errorText']}")
    if not any(event.get("method") == "Page.loadEventFired" for event in browser.events):
        browser.until("Page.loadEventFired")
    told = {"url": url, "text": "", "title": ""}
    if not options.no_scripts:
        # Two frames: what scripts do at once is done.
        # A frame is drawn: what scripts do at once is done.
        browser.ask("Page.captureScreenshot", session, format="jpeg",
                    clip={"x": 0, "y": 0, "width": 1, "height": 1, "scale": 1})
        if options.until:
            until = ("new Promise(done => { const look = () => (%s) ? done(true) : "
                     "setTimeout(look, 50); look(); })" % options.until)
            browser.ask("Runtime.evaluate", session, expression=until, awaitPromise=True)
        words = "[document.title, document.body ? document.body.innerText : '']"
        found = browser.ask("Runtime.evaluate", session, expression=words, returnByValue=True)
        told["title"], told["text"] = found["result"]["value"]
        if options.press:
            click = f"document.querySelector({json.dumps(options.press)}).click()"
            browser.ask("Runtime.evaluate", session, expression=click)
            browser.until("Page.loadEventFired")
        wide = browser.ask("Runtime.evaluate", session, returnByValue=True,
                           expression="document.documentElement.scrollWidth > innerWidth + 1")
        told["overflows"] = wide["result"]["value"]
    for event in browser.events:
        params = event.get("params", {})
        if event.get("method") == "Network.responseReceived" and params.get("type") == "Document":
            told["status"] = params["response"]["status"]
    if options.shot:
        number = f"-{options.number}" if len(options.urls) > 1 else ""
        root, ending = os.path.splitext(options.shot)
        shot = browser.ask("Page.captureScreenshot", session, format="png",
                           captureBeyondViewport=options.whole)
        with open(f"{root}{number}{ending or '.png'}", "wb") as file:
            file.write(base64.b64decode(shot["data"]))
    browser.ask("Target.closeTarget", targetId=target)
    told["complaints"] = complaints(browser.events)
    return told


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("urls", nargs="+", metavar="URL")
    parser.add_argument("--no-scripts", action="store_true", help="as with scripts switched off")
    parser.add_argument("--dark", action="store_true", help="as for people who like it dark")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=860)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--shot", metavar="FILE", help="take a picture")
    parser.add_argument("--whole", action="store_true", help="of the whole page")
    parser.add_argument("--cookie", metavar="NAME=VALUE")
    parser.add_argument("--until", metavar="SCRIPT", help="wait until this is true")
    parser.add_argument("--press", metavar="SELECTOR", help="then press this, which loads a page")
    return parser.parse_args()


def main():
    options = parsed()
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        print("browser: there is no Chromium (on Debian: apt install chromium)", file=sys.stderr)
        return ABSENT
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            for number, url in enumerate(options.urls, 1):
                options.number = number
                print(json.dumps(open_page(browser, url, options)), flush=True)
        finally:
            browser.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
