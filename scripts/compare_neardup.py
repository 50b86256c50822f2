"""Near-duplicate tools side by side: see scripts/compare-neardup, which calls this.

Every tool runs in a process of its own; its CPU time, user and system, is taken without what reading
the corpus costs. Tools that give pairs are asked for those they hold to be at least 0.8 alike;
text-dedup keeps one document of each cluster and is judged by what it removes.
"""

import io
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

import zstandard

THRESHOLD = 0.8
SHINGLE = 4
WORD = re.compile(r"[^\W_]+")


def lines(path):
    with open(path, "rb") as file:
        if path.endswith(".zst"):
            file = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file)
        yield from io.TextIOWrapper(file, encoding="utf-8", newline="\n")


def shingles(text):
    words = WORD.findall(text.lower())
    return {" ".join(words[at : at + SHINGLE]) for at in range(max(1, len(words) - SHINGLE + 1))}


def datasketch(texts):
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=THRESHOLD, num_perm=128)
    made = {}
    for number, text in enumerate(texts):
        made[number] = MinHash(num_perm=128)
        made[number].update_batch([one.encode() for one in shingles(text)])
    for number, sketch in made.items():
        for other in index.query(sketch):
            if sketch.jaccard(made[other]) >= THRESHOLD:
                yield other, number
        index.insert(number, sketch)


def rensa(texts):
    from rensa import RMinHash, RMinHashLSH

    index = RMinHashLSH(threshold=THRESHOLD, num_perm=128, num_bands=16)
    made = {}
    for number, text in enumerate(texts):
        made[number] = RMinHash(num_perm=128, seed=42)
        made[number].update(list(shingles(text)))
    for number, sketch in made.items():
        for other in index.query(sketch):
            if sketch.jaccard(made[other]) >= THRESHOLD:
                yield other, number
        index.insert(number, sketch)


def gaoya(texts, bands=21, rows=6):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=THRESHOLD,
        num_bands=bands,
        band_size=rows,
        analyzer="word",
        lowercase=True,
        ngram_range=(SHINGLE, SHINGLE),
    )
    for number, text in enumerate(texts):
        index.insert_document(number, text)
    for number, text in enumerate(texts):
        for other in index.query(text):
            if other < number:
                yield other, number


def cpu_s(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def in_child(method, texts):
    """The pairs it finds and its CPU time."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        began = cpu_s(resource.RUSAGE_SELF)
        pairs = list(method(texts))
        spent = cpu_s(resource.RUSAGE_SELF) - began
        with os.fdopen(writing, "w") as out:
            json.dump([pairs, spent], out)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        pairs, spent = json.load(answer)
    os.wait()
    return {tuple(pair) for pair in pairs}, spent


def ours(binary, corpus, ids):
    with tempfile.TemporaryDirectory() as directory:
        out = os.path.join(directory, "pairs.tsv")
        command = [binary, "dedup", corpus, "--pairs", out, "--threads", "1", "--json"]
        report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        pairs = {tuple(ids[one] for one in line.split("\t")[:2]) for line in lines(out)}
    return pairs, report["cpu_s"] - report["read_cpu_s"]


def text_dedup(corpus, directory):
    """How many documents it removes, and its CPU time."""
    out = os.path.join(directory, "kept")
    command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json"]
    command += ["--data_files", corpus, "--split", "train", "--column", "text", "--num_proc", "1"]
    command += ["--cache_dir", os.path.join(directory, "cache"), "--output", out]
    command += ["--ngram", str(SHINGLE), "--min_length", "0", "--threshold", str(THRESHOLD)]
    began = cpu_s(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, capture_output=True, text=True)
    spent = cpu_s(resource.RUSAGE_CHILDREN) - began
    if said.returncode != 0:
        return None, spent, said.stderr.strip().splitlines()[-1:]
    from datasets import load_from_disk

    return sum(1 for _ in lines(corpus)) - len(load_from_disk(out)), spent, []


def main():
    binary, corpus = sys.argv[1:3]
    truth_path = sys.argv[3] if len(sys.argv) > 3 else None
    documents = int(sys.argv[4]) if len(sys.argv) > 4 else sys.maxsize
    rows = [json.loads(line) for _, line in zip(range(documents), lines(corpus))]
    texts = [row["text"] for row in rows]
    ids = {str(row["id"]): number for number, row in enumerate(rows)}
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    truth = None
    if truth_path:
        fields = (line.rstrip("\n").split("\t") for line in lines(truth_path))
        named = ((a, b) for a, b, value in fields if float(value) >= THRESHOLD)
        truth = {(ids[a], ids[b]) for a, b in named if a in ids and b in ids}
    print(f"{len(texts)} documents, {megabytes:.1f} MB, {len(truth or ())} true pairs", flush=True)

    def tell(name, pairs, spent):
        line = f"{name:12} {megabytes / spent:7.1f} MB/s  {len(pairs):8} pairs"
        if truth:
            right = len(pairs & truth)
            line += f"  precision {right / max(1, len(pairs)):.4f}  recall {right / len(truth):.4f}"
        print(line, flush=True)

    with tempfile.TemporaryDirectory() as directory:
        part = os.path.join(directory, "part.jsonl")
        with open(part, "w", encoding="utf-8") as out:
            for row in rows:
                json.dump({"id": str(row["id"]), "text": row["text"]}, out, ensure_ascii=False)
                out.write("\n")
        tell("rhumb", *ours(binary, part, ids))
        tell("gaoya 21x6", *in_child(gaoya, texts))
        tell("gaoya 16x8", *in_child(lambda texts: gaoya(texts, 16, 8), texts))
        tell("rensa 16x8", *in_child(rensa, texts))
        tell("datasketch", *in_child(datasketch, texts))
        removed, spent, why = text_dedup(part, directory)
        said = f"{removed} documents removed" if removed is not None else f"failed: {why}"
        print(f"{'text-dedup':12} {megabytes / spent:7.1f} MB/s  {said} (start included)")


if __name__ == "__main__":
    main()
