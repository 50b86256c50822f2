#!/usr/bin/env python3
"""whole_pages.py RHUMB TREE [PAGES]: crawls a tree of pages with --requisites and replays it whole.

Serves TREE on loopback, has RHUMB crawl it, and opens PAGES of its pages (24 unless said otherwise,
spread evenly over the archive) in headless Chromium twice: from the server, and from the archive by
pywb as a proxy, with the server gone. Every URL that the server answered with 200 must be answered
so by the archive; prints a line for each that is not. Exits 3 if there is no Chromium.
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import browser

TOOLS = pathlib.Path(__file__).resolve().parent.parent / ".venv" / "bin"
START_SECONDS_MAX = 90
# A page is whole when nothing was asked for during so long.
QUIET_S = 1.0
PAGES = 24


def served(tree):
    """A server of files in a process of its own, and its URL."""
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", tree],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    port = re.search(r"port (\d+)", server.stdout.readline())[1]
    return server, f"http://127.0.0.1:{port}/"


def crawled(rhumb, seed, crawl):
    report = subprocess.run(
        [rhumb, "--quiet", "crawl", seed, "--requisites", "--scope", "host", "--allow-private",
         "--delay", "0s", "--delay-factor", "0", "--json", "--dir", crawl],
        check=True, stdout=subprocess.PIPE).stdout
    return json.loads(report)


def pages_of(crawl, wanted):
    """URLs of pages, spread evenly over the index."""
    pages = []
    with open(os.path.join(crawl, "index.cdxj")) as index:
        for line in index:
            fields = json.loads(line.split(" ", 2)[2])
            if fields.get("status") == "200" and fields.get("mime") == "text/html":
                pages.append(fields["url"])
    step = max(1, len(pages) // wanted)
    return pages[::step][:wanted]


def requested(chromium, url):
    """What the browser asked for to show a page, each with its status."""
    chromium.events = []
    target = chromium.ask("Target.createTarget", url="about:blank")["targetId"]
    session = chromium.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ["Page", "Network"]:
        chromium.ask(f"{domain}.enable", session)
    chromium.ask("Network.setCacheDisabled", session, cacheDisabled=True)
    # High enough that nothing is put off until somebody scrolls.
    chromium.ask("Emulation.setDeviceMetricsOverride", session, width=1280, height=20000,
                 deviceScaleFactor=1, mobile=False)
    chromium.ask("Page.navigate", session, url=url)
    names = lambda: [event.get("method") for event in chromium.events]
    if "Page.loadEventFired" not in names():
        chromium.until("Page.loadEventFired")
    while True:
        try:
            chromium.events.append(chromium.receive(time.monotonic() + QUIET_S))
        except TimeoutError:
            break
    chromium.ask("Target.closeTarget", targetId=target)
    answers = {}
    for event in chromium.events:
        params = event.get("params", {})
        if event.get("method") == "Network.responseReceived":
            response = params["response"]
            if response["url"].startswith("http"):
                answers[response["url"]] = response["status"]
    return answers


def opened(pages, proxy=None):
    program = next(filter(None, map(shutil.which, browser.NAMES)), None)
    if program is None:
        sys.exit(browser.ABSENT)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        chromium = browser.Browser(program, profile, proxy)
        try:
            return {page: requested(chromium, page) for page in pages}
        finally:
            chromium.end()


def replay(crawl, work):
    """pywb as a proxy that answers from the archive alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = {
        "collections": {
            "crawl": {
                "index_paths": os.path.join(crawl, "index.cdxj"),
                "archive_paths": os.path.join(crawl, "warc") + "/",
            }
        },
        "proxy": {"coll": "crawl", "use_banner": False, "enable_content_rewrite": False},
    }
    # JSON is YAML.
    (work / "config.yaml").write_text(json.dumps(config))
    # Nothing stays open here: a browser takes the descriptors 3 and 4 for itself.
    with open(work / "pywb.log", "wb") as log:
        wayback = subprocess.Popen(
            [TOOLS / "wayback", "-p", str(port), "-b", "127.0.0.1"], cwd=work, stdout=log, stderr=log)
    until = time.monotonic() + START_SECONDS_MAX
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return wayback, f"http://127.0.0.1:{port}"
        except OSError:
            if time.monotonic() > until or wayback.poll() is not None:
                wayback.kill()
                sys.exit(f"pywb does not start: {(work / 'pywb.log').read_text()[-2000:]}")
            time.sleep(0.1)


def main(rhumb, tree, pages=PAGES):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        work = pathlib.Path(work)
        crawl = str(work / "crawl")
        server, seed = served(os.path.abspath(tree))
        report = crawled(rhumb, seed, crawl)
        chosen = pages_of(crawl, int(pages))
        live = opened(chosen)
        server.kill()
        server.wait()
        wayback, proxy = replay(crawl, work)
        try:
            kept = opened(chosen, proxy)
        finally:
            wayback.terminate()
            wayback.wait()
    there, missing = 0, 0
    for page in chosen:
        for url, status in live[page].items():
            there += status == 200
            if status == 200 and kept[page].get(url) != 200:
                missing += 1
                print(f"{page}: {url} is there, and its replay answers {kept[page].get(url)}")
    told = {"pages": report["pages"], "requisites": report.get("requisites"), "opened": len(chosen)}
    print(json.dumps({**told, "requests": there, "missing": missing}))
    return missing > 0 or there <= len(chosen)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
