#!/usr/bin/env python3
"""Makes a second set of pages with known subjects, for `rhumb sim topic`: linked manuals of Debian.

    apt-get download cppreference-doc-en-html openjdk-17-doc
    for package in *.deb; do dpkg-deb -x "$package" manuals; done
    python3 scripts/topic_manuals.py --rhumb target/release/rhumb manuals OUT
    rhumb sim topic --pages OUT/pages.jsonl --subjects OUT/subjects.json

A subject is a folder of 40 to 300 pages; its draws are two times five of them, chosen by a hash of
their names. Texts are what `rhumb extract` takes for the main text, so what surrounds it on every
page of a manual tells nothing. Lists of uses and trees of classes are left out: they name every
page of a package.
"""

import argparse
import hashlib
import html.parser
import json
import os
import subprocess
import sys
import urllib.parse

SUBJECT_PAGES_MIN, SUBJECT_PAGES_MAX = 40, 300
DRAWS, SEEDS = 2, 5
LEFT_OUT = ("/class-use/", "/package-tree", "/package-use", "/doc-files/")


class Links(html.parser.HTMLParser):
    """The title of a page and what its links lead to."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.title, self.hrefs, self.in_title = "", [], False

    def handle_starttag(self, tag, attributes):
        self.in_title |= tag == "title"
        if tag == "a":
            self.hrefs += [value for name, value in attributes if name == "href" and value]

    def handle_endtag(self, tag):
        self.in_title &= tag != "title"

    def handle_data(self, data):
        if self.in_title:
            self.title += data


def pages_below(root):
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".html") and not any(part in path for part in LEFT_OUT):
                yield path


def texts_of(rhumb, sources):
    rows = "".join(json.dumps({"id": n, "html": text}) + "\n" for n, text in enumerate(sources))
    command = [rhumb, "extract", "-"]
    found = subprocess.run(command, input=rows.encode(), stdout=subprocess.PIPE, check=True)
    return {int(row["id"]): row["text"] for row in map(json.loads, found.stdout.splitlines())}


def by_hash(salt, paths):
    return sorted(paths, key=lambda path: hashlib.sha256(f"{salt} {path}".encode()).digest())


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rhumb", default="rhumb")
    arguments.add_argument("root")
    arguments.add_argument("out")
    given = arguments.parse_args()
    # Packages link from one place to another: a file is a page once.
    paths = [path for path in pages_below(given.root) if not os.path.islink(path)]
    if not paths:
        sys.exit(f"topic_manuals.py: no pages below {given.root}")
    number = {os.path.normpath(path): n for n, path in enumerate(paths)}
    sources = [open(path, encoding="utf-8", errors="replace").read() for path in paths]
    texts = texts_of(given.rhumb, sources)
    os.makedirs(given.out, exist_ok=True)
    with open(os.path.join(given.out, "pages.jsonl"), "w", encoding="utf-8") as pages:
        for n, (path, source) in enumerate(zip(paths, sources)):
            page = Links()
            page.feed(source)
            targets = set()
            for href in page.hrefs:
                place = urllib.parse.unquote(href.split("#")[0].split("?")[0])
                target = os.path.normpath(os.path.join(os.path.dirname(path), place))
                targets |= {number[target]} if place and target in number else set()
            title = " ".join(page.title.split())
            row = {"id": n, "title": title, "text": texts[n], "links": sorted(targets - {n})}
            pages.write(json.dumps(row, ensure_ascii=False) + "\n")
    folders = {}
    for path, n in number.items():
        folders.setdefault(os.path.relpath(os.path.dirname(path), given.root), []).append(n)
    subjects = {}
    for folder, members in sorted(folders.items()):
        if SUBJECT_PAGES_MIN <= len(members) <= SUBJECT_PAGES_MAX:
            draws = [by_hash(f"{folder} {draw}", members)[:SEEDS] for draw in range(DRAWS)]
            subjects[folder] = {"pages": sorted(members), "seeds": draws}
    with open(os.path.join(given.out, "subjects.json"), "w", encoding="utf-8") as file:
        json.dump(subjects, file, indent=1)
    print(f"{len(paths)} pages, {len(subjects)} subjects", file=sys.stderr)


if __name__ == "__main__":
    main()
