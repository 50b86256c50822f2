#!/usr/bin/env python3
"""real_software.py RHUMB BED OUT [SITE…]: crawls the sites of the test bed of real software in BED, one after
the other, each into OUT/SITE, and prints a row for each: pages expected and found, requests, seconds.
What is missing is listed in OUT/SITE.missing. docs/lab/real-software.md has the figures."""
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse

RESOLVER = "127.77.0.53:53"
STATIC = ["python", "postgres", "sqlite", "git", "django", "java", "handbook", "manual"]
# Site, first URL, what is expected, further options.
SITES = [(site, f"http://{site}.test/", site, []) for site in STATIC] + [
    ("wiki", "http://wiki.test/", "wiki", []),
    ("doku", "http://doku.test/", "doku", []),
    ("blog", "http://blog.test/", "blog", []),
    ("forum", "http://forum.test/", "forum", []),
    ("cal", "http://cal.test/", "cal", []),
    ("files", "http://files.test/", "files", []),
    ("shop", "http://shop.test/", "shop", []),
    ("trac", "http://trac.test/", "trac", []),
    ("gitwebf", "http://gitwebf.test/", "commits", []),
    ("cgitf", "http://cgitf.test/", "commits", []),
    ("gitweb", "http://gitweb.test/", "first page", []),
    ("cgit", "http://cgit.test/", "first page", []),
    ("spa", "http://spa.test/", "first page", []),
    ("secure", "http://secure.test/", "git", ["ca"]),
    ("h2", "https://h2.test/", "git", ["ca"]),
    ("selfsigned", "https://selfsigned.test/", "git", ["insecure"]),
    ("auth", "http://auth.test/", "git", ["auth"]),
    ("login", "http://login.test/members/", "git", ["cookie"]),
    ("v6", "http://v6.test/", "git", []),
]
TIME_MAX = os.environ.get("REAL_TIME_MAX", "5m")


def expected(known, what):
    if what == "shop":
        return {f"/p/{n}" for n in range(50_000)}
    if what == "trac":
        return {f"/ticket/{n}" for n in range(1, 201)}
    if what == "commits":
        return {n for n in range(2_000)}
    if what == "first page":
        return {"/"}
    return set(known[what])


def answered(crawl):
    """URLs whose answer is kept and was 200."""
    urls = set()
    with open(f"{crawl}/index.cdxj") as index:
        for line in index:
            fields = json.loads(line.split(" ", 2)[2])
            if fields.get("status", "").startswith("2"):
                urls.add(fields["url"])
    return urls


def found(crawl, what, rhumb):
    urls = answered(crawl)
    paths = {urllib.parse.unquote(urllib.parse.urlsplit(url).path) for url in urls}
    if what in STATIC:
        paths = {re.sub("^/members/", "/", path) for path in paths}
        return paths | {path + "index.html" for path in paths if path.endswith("/")}
    if what == "wiki":
        bare = {url for url in urls if "?" not in url}
        names = {urllib.parse.unquote(url.split("/wiki/", 1)[1]) for url in bare if "/wiki/" in url}
        return names
    if what == "doku":
        pages = {re.search(r"doku\.php(?:/|\?id=)([^&?]*)$", url) for url in urls}
        return {urllib.parse.unquote(page[1]) for page in pages if page}
    if what == "forum":
        topics = {re.search(r"/topic/(\d+)/", path) for path in paths}
        return {int(topic[1]) for topic in topics if topic}
    if what == "cal":
        rows = subprocess.run([rhumb, "extract", "--all", crawl], capture_output=True, text=True)
        return set(re.findall(r"Ship \d+ arrives", rows.stdout))
    if what == "commits":
        ids = {re.search(r"(?:[?;&]a=commit(?:diff)?\b.*|/commit/.*)\b(?:h|id)=([0-9a-f]{40})", url)
               for url in urls}
        return set(range(len({commit[1] for commit in ids if commit})))
    return paths


def arguments(kinds, bed):
    """Options and environment for sites that need some."""
    options, environment = [], dict(os.environ)
    for kind in kinds:
        if kind == "ca":
            environment["SSL_CERT_FILE"] = f"{bed}/ca/ca.pem"
        if kind == "insecure":
            options += ["--insecure", "selfsigned.test"]
        if kind == "auth":
            with open(f"{bed}/reader.txt", "w") as file:
                file.write("secret\n")
            options += ["--auth", f"auth.test=reader:{bed}/reader.txt"]
        if kind == "cookie":
            with open(f"{bed}/cookies.txt", "w") as file:
                file.write("# Netscape HTTP Cookie File\n"
                           "login.test\tFALSE\t/\tFALSE\t0\tsession\tletmein\n")
            options += ["--cookies", f"{bed}/cookies.txt"]
    return options, environment


def requests(bed, site):
    """Lines of the site's access log; of its log of errors none."""
    try:
        with open(f"{bed}/log/{site}.log", "rb") as log:
            return sum(1 for _ in log)
    except FileNotFoundError:
        return 0


def crawl_site(rhumb, bed, out, known, site):
    name, seed, what, kinds = site
    crawl = f"{out}/{name}"
    options, environment = arguments(kinds, bed)
    before, began = requests(bed, name), time.time()
    command = [rhumb, "-q", "crawl", seed, "--dir", crawl, "--resolver", RESOLVER, "--allow-private",
               "--delay", "0s", "--delay-factor", "0", "--max-time", TIME_MAX, "--json", *options]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    seconds = time.time() - began
    if not ran.stdout.strip():
        print(f"| {name} | | | | {seconds:.0f} | {ran.stderr.strip().splitlines()[-1:]} |", flush=True)
        return
    report = json.loads(ran.stdout)
    wanted, have = expected(known, what), found(crawl, what, rhumb)
    missing = sorted(map(str, wanted - have))
    with open(f"{out}/{name}.missing", "w") as file:
        file.writelines(f"{item}\n" for item in missing)
    asked = requests(bed, name) - before or report.get("answers", 0)
    print(f"| {name} | {len(wanted):,} | {len(wanted & have):,} | {asked:,} | {seconds:.0f} | "
          f"{report['stopped_because']} |", flush=True)


def main(rhumb, bed, out, *names):
    known = json.load(open(f"{bed}/expected.json"))
    os.makedirs(out, exist_ok=True)
    print("| site | expected | found | requests | seconds | ended |\n|---|---|---|---|---|---|")
    for site in SITES:
        if not names or site[0] in names:
            crawl_site(os.path.abspath(rhumb), bed, os.path.abspath(out), known, site)


if __name__ == "__main__":
    main(*sys.argv[1:])
