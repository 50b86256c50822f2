"""reachable.py ROOT: the files below ROOT that links reach from index.html, one path a line.

The referee of a crawl of ROOT by a plain web server: Python's HTML parser and urljoin, none of our
own code."""
import functools
import html.parser
import os
import sys
from urllib.parse import unquote, urljoin, urlsplit

HOST = "http://tree.test"
FOLLOWED = {"canonical", "next", "prev", "previous", "alternate"}


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.base, self.found = "", []

    def handle_starttag(self, tag, attributes):
        of = dict(reversed(attributes))
        rel = set((of.get("rel") or "").lower().split())
        if tag == "base" and not self.base:
            self.base = of.get("href") or ""
        elif tag in ("a", "area") and of.get("href") is not None:
            self.found.append(of["href"])
        elif tag in ("frame", "iframe") and of.get("src"):
            self.found.append(of["src"])
        elif tag == "link" and rel & FOLLOWED and "stylesheet" not in rel:
            self.found.append(of.get("href") or "")


def file_of(root, url):
    """The file that a plain web server answers with, as a path from the root."""
    path = unquote(urlsplit(url).path).lstrip("/")
    if path == "" or path.endswith("/") or os.path.isdir(os.path.join(root, path)):
        path = os.path.join(path, "index.html")
    return path if os.path.isfile(os.path.join(root, path)) else None


@functools.cache
def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        links = Links()
        links.feed(file.read())
    return links


def links_of(root, url, path):
    links = read(os.path.realpath(os.path.join(root, path)))
    base = urljoin(url, links.base)
    for link in links.found:
        try:
            target = urljoin(base, link.strip())
            same_host = target.startswith(HOST + "/")
        except ValueError:
            continue
        if same_host:
            yield target


def reachable(root):
    seen, todo, files = set(), [HOST + "/"], set()
    while todo:
        url = urlsplit(todo.pop())._replace(fragment="").geturl()
        path = file_of(root, url)
        if url in seen or path is None:
            continue
        seen.add(url)
        files.add(path)
        if path.endswith((".html", ".htm")):
            todo.extend(links_of(root, url, path))
    return files


if __name__ == "__main__":
    print("\n".join(sorted(reachable(sys.argv[1]))))
