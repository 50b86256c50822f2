#!/usr/bin/env python3
"""Change times of Debian's source packages, out of the changelogs of what is installed here.

    python3 scripts/changelog_histories.py [--days 3650] > changelogs.tsv
    rhumb sim refresh --cross --histories changelogs.tsv --days 3650

A page is a source package, its host the maintainer of its last upload, a change an upload. Packages
of one source share a changelog and are one page. Uploads of one package on one day are one change:
changelogs are written by day. Ends at the newest upload of all.
"""

import argparse
import collections
import datetime
import email.utils
import glob
import gzip
import re

HEAD = re.compile(r"^(\S+) \([^)]*\) ")
FOOT = re.compile(r"^ -- .*<([^>]*)>  (.*)$")


def uploads(path):
    """The source, its latest uploader and the days of its uploads since 1970."""
    source, uploader, days = None, None, set()
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            head, foot = HEAD.match(line), FOOT.match(line)
            if head and source is None:
                source = head[1]
            if foot:
                uploader = uploader or foot[1]
                when = email.utils.parsedate_tz(foot[2])
                if when:
                    days.add(email.utils.mktime_tz(when) // 86400)
    return source, uploader, days


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--days", type=int, default=3650)
    arguments.add_argument("--from", dest="root", default="/usr/share/doc")
    given = arguments.parse_args()
    today = datetime.date.today().toordinal() - datetime.date(1970, 1, 1).toordinal()
    pages, hosts = collections.defaultdict(set), {}
    for path in sorted(glob.glob(f"{given.root}/*/changelog.Debian.gz")):
        source, uploader, days = uploads(path)
        if source and days:
            pages[source] |= {day for day in days if day <= today}
            hosts[source] = uploader
    end = max(max(days) for days in pages.values())
    begin = end - given.days
    print("#page\thost\tchange_times_days_since_start")
    for source in sorted(pages):
        # An upload is somewhere within its day: the same place for each package.
        within = (hash_of(source) % 1000) / 1000
        times = sorted(day - begin + within for day in pages[source] if day > begin)
        # Who entered later had no page before.
        if min(pages[source]) <= begin:
            print(f"{source}\t{hosts[source]}\t{','.join(f'{t:.3f}' for t in times)}")


def hash_of(text):
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value


if __name__ == "__main__":
    main()
