#!/usr/bin/env python3
"""Replays an archive of ours with pywb, on loopback.

    examples/replay.py            a tiny archive, made for this (cargo run --example tiny)
    examples/replay.py DIR        the directory of a crawl or of a demo

Starts pywb's `wayback` over the WARC files and index.cdxj, fetches captures back and compares them
with what was kept, byte for byte; then does the same with an index made by cdxj-indexer. Of a crawl
at most 500 captures are compared, spread evenly over its index, revisits among them; what was kept
is read with warcio. Exits 0 if all came back.
"""

import base64
import gzip
import http.client
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
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".venv" / "bin"
START_SECONDS_MAX = 60
CAPTURES_MAX = 500

TINY = [
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
        if len(sys.argv) > 1:
            crawl = pathlib.Path(sys.argv[1]).resolve()
            wanted = wanted_of(crawl)
        else:
            crawl = work / "crawl"
            cargo = ["cargo", "run", "--quiet", "-p", "rhumb-archive", "--example", "tiny", "--"]
            subprocess.run([*cargo, crawl], cwd=ROOT, check=True)
            wanted = TINY
        replay(work / "ours", crawl, crawl / "index.cdxj", wanted)
        theirs = work / "theirs.cdxj"
        with open(theirs, "wb") as out:
            indexer = [TOOLS / "cdxj-indexer", "-s", crawl / "warc"]
            subprocess.run(indexer, stdout=out, check=True)
        replay(work / "theirs", crawl, theirs, wanted)
    print("replayed by pywb: all captures came back")


def wanted_of(crawl):
    """Captures with status 200, spread over the index: timestamp, URL and payload as kept."""
    captures = []
    with open(crawl / "index.cdxj", encoding="utf-8") as index:
        for line in index:
            _, timestamp, fields = line.split(" ", 2)
            fields = json.loads(fields)
            if fields.get("status") == "200":
                captures.append((timestamp, fields["url"], fields["digest"].split(":")[-1]))
    if not captures:
        sys.exit(f"replay: no capture with status 200 in {crawl / 'index.cdxj'}")
    step = max(1, -(-len(captures) // CAPTURES_MAX))
    captures = captures[::step]
    payloads = read_payloads(crawl, {digest for _, _, digest in captures})
    return [(timestamp, url, payloads[digest]) for timestamp, url, digest in captures]


READ_PAYLOADS = """
import base64, json, sys
from warcio.archiveiterator import ArchiveIterator
wanted = set(json.load(sys.stdin))
for path in sys.argv[1:]:
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream):
            digest = record.rec_headers.get_header("WARC-Payload-Digest", "").split(":")[-1]
            if record.rec_type == "response" and digest in wanted:
                wanted.discard(digest)
                body = base64.b64encode(record.content_stream().read()).decode()
                print(json.dumps([digest, body]))
"""


def read_payloads(crawl, digests):
    """The decoded payloads with these digests, read by warcio in its own environment."""
    warcs = sorted((crawl / "warc").glob("*.warc.gz"))
    command = [TOOLS / "python", "-c", READ_PAYLOADS, *warcs]
    ran = subprocess.run(
        command, input=json.dumps(sorted(digests)), stdout=subprocess.PIPE, text=True, check=True
    )
    pairs = (json.loads(line) for line in ran.stdout.splitlines())
    return {digest: base64.b64decode(body) for digest, body in pairs}


def replay(site, crawl, index, wanted):
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
        size = 0
        for timestamp, url, body in wanted:
            got, served = fetch(f"http://127.0.0.1:{port}/kept/{timestamp}id_/{url}")
            if got != body or timestamp not in served:
                what = f"{timestamp} {url} with {index.name}: {got[:200]!r} from {served}"
                sys.exit(f"replay: {what}, wanted {body[:200]!r}")
            size += len(got)
        print(f"{index.name}: {len(wanted)} captures, {size} bytes, as kept")
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
    """The decoded body, and the capture's own address as pywb tells it."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=30) as answer:
            body = read(answer)
            if answer.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            return body, answer.geturl() + " " + memento(answer.headers)
    except urllib.error.HTTPError as error:
        return error.read()[-300:], f"HTTP {error.code}"


def read(answer):
    """A capture that was cut on its way comes back as short as it was kept."""
    try:
        return answer.read()
    except http.client.IncompleteRead as cut:
        return cut.partial


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
