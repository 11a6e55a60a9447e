#!/usr/bin/env python3
"""Reads a trace of `hermes run --trace FILE.jsonl`, with the standard library alone.

    python3 read_trace.py FILE.jsonl            files by how often they were opened
    python3 read_trace.py FILE.jsonl --errors   calls that failed, with their errors

With pandas:  frame = pandas.read_json("FILE.jsonl", lines=True)
With DuckDB:  duckdb.sql("SELECT name, count(*) FROM read_json_auto('FILE.jsonl') GROUP BY name")
From Parquet: hermes query --parquet calls.parquet FILE.jsonl, then pandas.read_parquet
"""

import collections
import json
import sys


def records(file):
    """Every line is one JSON object; docs/trace-format.md describes the fields."""
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def opened(file):
    calls = (record for record in records(file) if record.get("kind") == "syscall")
    return collections.Counter(call["path"] for call in calls if call["name"].startswith("open") and "path" in call)


def failed(file):
    calls = (record for record in records(file) if record.get("kind") == "syscall")
    return collections.Counter((call["name"], call["errno"]) for call in calls if call.get("errno"))


def main(file, *options):
    counted = failed(file) if "--errors" in options else opened(file)
    for what, times in counted.most_common():
        print(times, what if isinstance(what, str) else " ".join(what))


if __name__ == "__main__":
    main(*sys.argv[1:])
