#!/usr/bin/env python3
"""Trains a model of text quality for `rhumb crawl --topic model:FILE#hq`, as docs/topic.md has it:
pages of manuals are the good ones, pages of all kinds the others.

    pip install fasttext-wheel 'numpy<2' zstandard
    sh scripts/debian-docs docs
    python3 scripts/quality_model.py --good docs/python docs/postgresql \\
        --others dev.jsonl.zst -o quality.bin

`--others` has JSON lines `{id, html, url?}`. Main texts are taken by `rhumb extract` (`--rhumb`
names another). One thread and a fixed order: the same pages make the same model.
"""

import argparse
import io
import json
import pathlib
import subprocess
import tempfile

import fasttext
import zstandard

# A page of fewer words says nothing of its quality.
WORDS_MIN = 50
HOW = dict(dim=16, wordNgrams=2, bucket=200_000, epoch=10, lr=0.5, thread=1, seed=1, verbose=0)


def good(directories, most):
    """Pages of manuals, evenly over all of them."""
    pages = sorted(p for directory in directories for p in pathlib.Path(directory).rglob("*.html"))
    for at in range(min(most, len(pages))):
        page = pages[at * len(pages) // min(most, len(pages))]
        yield {"id": str(page), "html": page.read_text("utf-8", "replace")}


def others(path):
    raw = open(path, "rb")
    file = zstandard.ZstdDecompressor().stream_reader(raw) if path.endswith(".zst") else raw
    for line in io.TextIOWrapper(file, "utf-8"):
        row = json.loads(line)
        yield {"id": row["id"], "html": row["html"]}


def texts(rhumb, pages):
    """The main text of each page that has one of some length, in one line."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for page in pages:
            file.write(json.dumps(page) + "\n")
        file.flush()
        rows = subprocess.run([rhumb, "extract", file.name], check=True, capture_output=True)
    for line in rows.stdout.splitlines():
        words = json.loads(line)["text"].split()
        if len(words) >= WORDS_MIN:
            yield " ".join(words)


def main():
    flags = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    flags.add_argument("--good", nargs="+", required=True, metavar="DIR")
    flags.add_argument("--good-max", type=int, default=600, metavar="N")
    flags.add_argument("--others", required=True, metavar="FILE.jsonl[.zst]")
    flags.add_argument("--rhumb", default="rhumb", metavar="PROGRAM")
    flags.add_argument("-o", "--out", required=True, metavar="FILE.bin")
    asked = flags.parse_args()
    kinds = {"hq": good(asked.good, asked.good_max), "cc": others(asked.others)}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        for label, pages in kinds.items():
            taken = list(texts(asked.rhumb, pages))
            file.writelines(f"__label__{label} {text}\n" for text in taken)
            print(f"{len(taken)} texts of {label}")
        file.flush()
        fasttext.train_supervised(file.name, **HOW).save_model(asked.out)


main()
