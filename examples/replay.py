#!/usr/bin/env python3
"""Replays a tiny archive of ours with pywb, on loopback.

Makes the archive (cargo run --example tiny), starts pywb's `wayback` over its WARC files and its
index.cdxj, fetches every capture back and compares it with what was kept; then does the same with
an index made by pywb's own cdxj-indexer. Exits 0 if all came back.
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".venv" / "bin"
START_SECONDS_MAX = 60

WANTED = [
    ("20251115210700", "http://example.com/", b"<h1>Kept by rhumb</h1>"),
    ("20251115210700", "http://example.com/coded", b"<h1>Kept in chunks</h1>"),
    ("20251116210700", "http://example.com/", b"<h1>Kept by rhumb</h1>"),
    ("20251116210700", "http://example.org/twin", b"<h1>Kept by rhumb</h1>"),
    ("20251116210700", "http://example.org/coded-twin", b"<h1>Kept in chunks</h1>"),
]


def main():
    subprocess.run([ROOT / "scripts" / "python-env"], check=True)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        crawl = work / "crawl"
        cargo = ["cargo", "run", "--quiet", "-p", "rhumb-archive", "--example", "tiny", "--"]
        subprocess.run([*cargo, crawl], cwd=ROOT, check=True)
        replay(work / "ours", crawl, crawl / "index.cdxj")
        theirs = work / "theirs.cdxj"
        with open(theirs, "wb") as out:
            indexer = [TOOLS / "cdxj-indexer", "-s", crawl / "warc"]
            subprocess.run(indexer, stdout=out, check=True)
        replay(work / "theirs", crawl, theirs)
    print("replayed by pywb: all captures came back")


def replay(site, crawl, index):
    """Serves one collection and fetches all captures from it."""
    collection = site / "collections" / "kept"
    (collection / "indexes").mkdir(parents=True)
    shutil.copytree(crawl / "warc", collection / "archive")
    shutil.copy(index, collection / "indexes" / "index.cdxj")
    port = free_port()
    command = [TOOLS / "wayback", "-b", "127.0.0.1", "-p", str(port), "-d", str(site)]
    with open(site / "log", "wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=site)
    try:
        wait_for(server, port)
        for timestamp, url, body in WANTED:
            got, served = fetch(f"http://127.0.0.1:{port}/kept/{timestamp}id_/{url}")
            if got != body or timestamp not in served:
                sys.exit(f"replay: {timestamp} {url} with {index.name}: {got!r} from {served}")
            print(f"{index.name}: {timestamp} {url}: {len(got)} bytes as kept")
    except SystemExit:
        print((site / "log").read_text(errors="replace")[-3000:], file=sys.stderr)
        raise
    finally:
        server.terminate()
        server.wait()


def wait_for(server, port):
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("replay: wayback did not start")


def fetch(url):
    """The body, and the capture's own address as pywb tells it."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=30) as answer:
            return answer.read(), answer.geturl() + " " + memento(answer.headers)
    except urllib.error.HTTPError as error:
        return error.read()[-300:], f"HTTP {error.code}"


def memento(headers):
    """The link of the capture that was served."""
    links = re.findall(r'<([^>]*)>; rel="memento"', headers.get("Link", ""))
    return " ".join(links)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
