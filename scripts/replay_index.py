#!/usr/bin/env python3
"""replay_index.py DIR: has pywb replay every line of DIR/index.cdxj; prints a line for each that fails.

A line is replayed if pywb answers it with the status of its record, or of the record that a revisit
refers to, and with the same bytes as every other line of its digest."""
import json
import logging
import os
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
from pywb.apps.frontendapp import FrontEndApp
from werkzeug.test import Client


def lines_of(path):
    with open(path) as index:
        for line in index:
            _, timestamp, fields = line.split(" ", 2)
            yield timestamp, json.loads(fields)


def main(crawl):
    crawl = os.path.abspath(crawl)
    index = os.path.join(crawl, "index.cdxj")
    lines = list(lines_of(index))
    config = {
        "collections": {
            "crawl": {"index_paths": index, "archive_paths": os.path.join(crawl, "warc") + "/"}
        }
    }
    os.chdir(tempfile.mkdtemp())
    client = Client(FrontEndApp(custom_config=config))
    originals = {f["digest"]: f for _, f in lines if f.get("mime") != "warc/revisit"}
    bodies, failed = {}, 0
    for timestamp, fields in lines:
        original = originals.get(fields["digest"])
        if original is None:
            print(f"{timestamp} {fields['url']}: a revisit of {fields['digest']}, which is not kept")
            failed += 1
            continue
        # What pywb takes for the status of a record without a head.
        wanted = original.get("status", "200")
        answer = client.get(f"/crawl/{timestamp}id_/{fields['url']}", buffered=True)
        body = bodies.setdefault(fields["digest"], answer.data)
        if answer.status_code != int(wanted) or answer.data != body:
            print(f"{timestamp} {fields['url']}: {answer.status}, {len(answer.data)} bytes; "
                  f"expected {wanted}, {len(body)} bytes; {fields}")
            failed += 1
    print(f"{len(lines)} lines, {failed} not replayed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
