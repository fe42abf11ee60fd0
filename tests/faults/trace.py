#!/usr/bin/env python3
"""Checks a trace: trace.py FILE [NAME...]

Every event has Chrome's trace format, every lane has a name, no two spans of a lane overlap, and spans with these
names exist.
"""
import json
import sys

events = json.load(open(sys.argv[1]))
lanes, named, groups, seen = {}, set(), set(), set()
for e in events:
    assert isinstance(e["name"], str) and isinstance(e["pid"], int) and isinstance(e["tid"], int), e
    if e["ph"] == "M":
        assert e["name"] in ("process_name", "thread_name") and e["args"]["name"], e
        groups.add(e["pid"])
        if e["name"] == "thread_name":
            assert (e["pid"], e["tid"]) not in named, e
            named.add((e["pid"], e["tid"]))
        continue
    assert e["ph"] == "X" and e["ts"] >= 0 and e["dur"] > 0 and e["args"]["count"] >= 0, e
    lanes.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"], e["name"]))
    seen.add(e["name"])
assert set(lanes) <= named and {pid for pid, _ in named} <= groups, "a lane has no name"
for spans in lanes.values():
    spans.sort()
    for (_, end, first), (start, _, second) in zip(spans, spans[1:]):
        # A nanosecond, because both are rounded.
        assert start >= end - 0.001, f"{first} and {second} overlap"
missing = set(sys.argv[2:]) - seen
assert not missing, f"no span of {missing} among {seen}"
