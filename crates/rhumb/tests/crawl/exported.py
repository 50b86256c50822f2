"""Reads what rhumb export and rhumb wacz wrote, with other people's tools, and prints one JSON value.

exported.py tables TABLES CDXJ   Parquet, by pyarrow and DuckDB
exported.py columns TABLES       rows of tables by what they are of, by DuckDB
exported.py package WACZ         a WACZ file, by zipfile
"""

import glob
import gzip
import hashlib
import json
import sys
import zipfile

# Common Crawl's columns and types (cc-index-schema-flat.json), as DuckDB names the types.
COLUMNS = """url_surtkey VARCHAR, url VARCHAR, url_host_name VARCHAR, url_host_tld VARCHAR,
url_host_2nd_last_part VARCHAR, url_host_3rd_last_part VARCHAR, url_host_4th_last_part VARCHAR,
url_host_5th_last_part VARCHAR, url_host_registry_suffix VARCHAR, url_host_registered_domain VARCHAR,
url_host_private_suffix VARCHAR, url_host_private_domain VARCHAR, url_protocol VARCHAR,
url_port INTEGER, url_path VARCHAR, url_query VARCHAR, fetch_time TIMESTAMP WITH TIME ZONE,
fetch_status SMALLINT, fetch_redirect VARCHAR, content_digest VARCHAR, content_mime_type VARCHAR,
content_mime_detected VARCHAR, content_charset VARCHAR, content_languages VARCHAR,
content_truncated VARCHAR, warc_filename VARCHAR, warc_record_offset INTEGER,
warc_record_length INTEGER, warc_segment VARCHAR, crawl VARCHAR, subset VARCHAR"""

# The kinds of question that Common Crawl's examples ask.
QUERIES = {
    "by_tld": """SELECT url_host_tld, COUNT(*), COUNT(DISTINCT url_host_name),
        COUNT(DISTINCT url_host_registered_domain) FROM ccindex
        WHERE crawl = 'crawl' AND subset = 'warc' GROUP BY url_host_tld ORDER BY 2 DESC""",
    "by_status": """SELECT fetch_status, subset, COUNT(*) FROM ccindex
        GROUP BY fetch_status, subset ORDER BY 3 DESC""",
    "by_mime": """SELECT content_mime_type, content_mime_detected, COUNT(*),
        AVG(warc_record_length) FROM ccindex WHERE subset = 'warc' GROUP BY 1, 2 ORDER BY 3 DESC""",
    "home_pages": """SELECT url, warc_filename, warc_record_offset, warc_record_length
        FROM ccindex WHERE subset = 'warc' AND url_path = '/' AND url_query IS NULL
        AND url_protocol = 'http' ORDER BY url_surtkey""",
    "robots": """SELECT url_path, COUNT(*) FROM ccindex WHERE subset = 'robotstxt'
        AND fetch_time > TIMESTAMP '2020-01-01' GROUP BY url_path""",
}


def tables(directory, cdxj):
    import duckdb
    import pyarrow.parquet

    found = {}
    for table in ["captures", "pages", "links", "host_links"]:
        files = sorted(glob.glob(f"{directory}/{table}/*.parquet"))
        found[table] = sum(pyarrow.parquet.read_table(file).num_rows for file in files)
        group = pyarrow.parquet.ParquetFile(files[0]).metadata.row_group(0)
        assert group.column(0).compression == "ZSTD", group.column(0)
        assert group.column(0).has_offset_index and group.column(0).has_column_index
    database = duckdb.connect()
    captures = f"'{directory}/captures/*.parquet'"
    database.execute(f"CREATE VIEW ccindex AS SELECT * FROM {captures}")
    types = dict(database.execute("DESCRIBE ccindex").fetchall()[i][:2] for i in range(40))
    for column in COLUMNS.split(","):
        name, kind = column.split(maxsplit=1)
        assert types[name] == kind, (name, types[name], kind)
    assert types["warc_record_id"] == "BLOB", types
    assert types["importance"] == "FLOAT", types
    found["queries"] = {name: len(database.execute(sql).fetchall()) for name, sql in QUERIES.items()}
    domains = database.execute(
        "SELECT url_host_registered_domain, COUNT(*) FROM ccindex WHERE subset = 'warc' GROUP BY 1"
    ).fetchall()
    for domain, count in domains:
        of_domain = database.execute(
            "SELECT url, warc_filename, warc_record_offset, warc_record_length FROM ccindex "
            "WHERE subset = 'warc' AND url_host_registered_domain = ?", [domain]
        ).fetchall()
        assert len(of_domain) == count, (domain, count)
        assert all(f"{domain}" in row[0].split("/")[2] for row in of_domain), of_domain
    found["domains"] = len(domains)
    keys = [row[0] for row in database.execute("SELECT url_surtkey FROM ccindex").fetchall()]
    assert keys == sorted(keys, key=lambda key: key.encode()), "sorted by SURT"
    with open(cdxj) as lines:
        entries = [(line.split(" ")[0], json.loads(line.split(" ", 2)[2])) for line in lines]
    places = database.execute(
        "SELECT url_surtkey, url, warc_filename, warc_record_offset, warc_record_length FROM ccindex"
    ).fetchall()
    assert places == [
        (key, line["url"], line["filename"], int(line["offset"]), int(line["length"]))
        for key, line in entries
    ], "a row for each line of the index, in its order"
    bloom = database.execute(
        f"SELECT DISTINCT path_in_schema FROM parquet_metadata({captures}) "
        "WHERE bloom_filter_offset IS NOT NULL ORDER BY 1"
    ).fetchall()
    assert bloom == [("url",), ("url_host_name",)], bloom
    pages = f"'{directory}/pages/*.parquet'"
    corpus = f"SELECT text FROM {pages} WHERE is_leader"
    found["leaders"] = len(database.execute(corpus).fetchall())
    found["texts"] = len(set(database.execute(corpus).fetchall()))
    found["mass"] = database.execute(
        f"SELECT SUM(importance) FROM (SELECT DISTINCT url, importance FROM {pages})"
    ).fetchone()[0]
    found["found_on"] = database.execute(
        "SELECT COUNT(*) FROM ccindex a JOIN ccindex b ON a.found_on = b.url"
    ).fetchone()[0]
    found["linked"] = database.execute(
        f"SELECT COUNT(DISTINCT dst) FROM '{directory}/links/*.parquet' "
        "WHERE dst IN (SELECT url FROM ccindex)"
    ).fetchone()[0]
    return found


def columns(directory):
    import duckdb

    def rows(sql):
        cursor = duckdb.connect().execute(sql)
        names = [column[0] for column in cursor.description]
        return {row[0]: dict(zip(names[1:], row[1:])) for row in cursor.fetchall()}

    return {
        "captures": rows(
            "SELECT url_path, fetch_status, content_languages, url_host_registered_domain, depth, "
            f"robots_line, similarity, change_rate, found_on FROM '{directory}/captures/*.parquet'"
        ),
        "pages": rows(
            "SELECT regexp_replace(url, '^http://[^/]*', ''), is_leader, duplicate_of, topic, "
            f"tdm_reserved, title FROM '{directory}/pages/*.parquet'"
        ),
        "links": rows(
            "SELECT regexp_replace(dst, '^http://[^/]*', ''), anchor, rel, position "
            f"FROM '{directory}/links/*.parquet' WHERE regexp_matches(src, '[0-9]/$')"
        ),
    }


def package(path):
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        names = [info.filename for info in file.infolist()]
        assert all(info.compress_type == zipfile.ZIP_STORED for info in file.infolist())
        description = json.loads(file.read("datapackage.json"))
        digest = json.loads(file.read("datapackage-digest.json"))
        real = hashlib.sha256(file.read("datapackage.json")).hexdigest()
        assert digest["hash"] == "sha256:" + real
        pages = {}
        for list_name in ["pages/pages.jsonl", "pages/extraPages.jsonl"]:
            lines = [json.loads(line) for line in file.read(list_name).splitlines()]
            assert lines[0]["format"] == "json-pages-1.0"
            pages[list_name] = lines[1:]
        seeds, others = pages.values()
        assert all({"id", "url", "ts"} <= set(page) for page in seeds + others)
        return {
            "names": names,
            "version": description["wacz_version"],
            "main": description.get("mainPageUrl"),
            "lines": index_lines(file, names),
            "seeds": [page["url"] for page in seeds],
            "pages": len(seeds) + len(others),
            "texts": sum(1 for page in seeds + others if page.get("text")),
            "duplicates": sum(1 for page in seeds + others if "duplicate_of" in page),
            "facts": json.loads(file.read("rhumb/rhumb.json")),
            "resources": len(description["resources"]),
            "signed": "signedData" in digest,
            "main_text": next(
                (p["text"] for p in seeds if p["url"] == description.get("mainPageUrl")), None
            ),
        }


def index_lines(file, names):
    if "indexes/index.cdxj" in names:
        return file.read("indexes/index.cdxj").count(b"\n")
    return gzip.decompress(file.read("indexes/index.cdx.gz")).count(b"\n")


print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
