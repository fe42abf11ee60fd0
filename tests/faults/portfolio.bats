load helpers

set_command() { # set_command PROBLEMS: sets $command to a command that makes a portfolio of ranged.lua
    problems=$1
    command=("$AUTOTUNE" portfolio "$BATS_TEST_DIRNAME/ranged.lua" --device cuda:0 --over rows=16..256
        --over cols=16..256 --problems "$problems" --held-out 1 --finals 6 --quiet --json)
}

holds() { # holds EXPRESSION: checks a Python expression about the printed JSON and the record
    python3 -c 'import json, sys
p = json.load(open("out.txt"))
record = json.load(open(p["record"]))
assert eval(sys.argv[1].replace("\n", " ")), p' "$1"
}

@test "a portfolio loses little, is nowhere slower than the default, and is used by pick" {
    gpu
    needs_the_fake
    set_command 40
    "${command[@]}" >out.txt 2>err.txt || { cat err.txt; false; }
    holds 'p["over"]["cols"]["divisors"] == [2, 4, 8, 16, 32] and p["over"]["rows"]["divisors"] == [2, 4, 8, 16, 32]'
    # The script allows at most 200 rows.
    holds 'p["refused"] > 0 and all(t["problem"]["rows"] <= 200 for t in p["tried"])'
    holds 'p["made_on"]["problems"] == 40 and p["made_on"]["mean"] <= p["single_mean"]'
    holds 'p["made_on"]["worst"] < 0.05'
    holds 'p["made_on"]["slower_than_default"] == 0 and p["held_out"]["slower_than_default"] == 0'
    holds 'record["portfolios"] == [p["portfolio"]] and record["entries"] == []'
    holds 'p["portfolio"]["regret"]["held_out"] == p["held_out"]["problems"] == 1'
    # For the problems from which the portfolio was made, the record gives the best configuration. Small problems
    # need a = 2, and large problems a = 9. On the boundary (16 x 256) another configuration may be as fast.
    holds 'all(p["portfolio"]["configurations"][t["place"]]["a"] ==
               (2 if t["problem"]["rows"] * t["problem"]["cols"] < 4096 else 9) or
               t["problem"]["rows"] * t["problem"]["cols"] == 4096 and t["regret"] == 0
               for t in p["tried"] if not t["held_out"] and t["rule"] == "portfolio")'
    # Configurations whose vectors do not divide the columns must not be picked.
    for cols in 61 62 64; do
        tool pick "$BATS_TEST_DIRNAME/ranged.lua" --set rows=150 --set cols=$cols --gpu fake-gpu-0 --json
        succeeds
        python3 -c 'import json, sys
p = json.load(open("out.txt"))
assert int(sys.argv[1]) % p["configuration"]["b"] == 0 and p["rule"] in ("portfolio", "default"), p' $cols
    done
    # Other runs do not use the portfolio's journal.
    samples=$(samples_taken)
    tool "$BATS_TEST_DIRNAME/ranged.lua" --device cuda:0 --set rows=16 --set cols=16 --quiet --budget 3
    succeeds
    [ "$(samples_taken)" -gt "$samples" ]
}

@test "problems that are not searched try only the known configurations, even if some are twins" {
    gpu
    needs_the_fake
    set_command 12
    "${command[@]}" --held-out 0 --no-record >out.txt 2>err.txt || { cat err.txt; false; }
    # Three problems are searched, which gives eight known configurations. On large problems a = 8 and a = 10 are
    # twins.
    python3 - "$XDG_STATE_HOME"/autotune/journal/*.jsonl <<'END'
import json, sys
tried = {}
for line in map(json.loads, open(sys.argv[1])):
    if line.get("outcome") == "ok" and line["configuration"]:
        # a twin has no samples of its own
        tried.setdefault(line["facts"], {})[line["configuration"]] = min(line["samples_ns"], default=0)
problems = list(tried.values())
known = {"a=5,b=1"}
for found in problems[:3]:
    eighth = sorted(found.values())[7]
    known |= {c for c, ns in found.items() if ns <= eighth}
others = {c for found in problems[3:] for c in found}
assert len(problems) > 12 and others <= known, others - known
END
}

@test "before the choice, twice as many configurations as are kept are timed on as many more problems" {
    gpu
    needs_the_fake
    set_command 12
    "${command[@]}" --held-out 0 --max 2 --no-record >out.txt 2>err.txt || { cat err.txt; false; }
    python3 - "$XDG_STATE_HOME"/autotune/journal/*.jsonl <<'END'
import json, sys
tried = {}
for line in map(json.loads, open(sys.argv[1])):
    if line.get("outcome") == "ok" and line["configuration"] not in ("", "a=5,b=1"):
        tried.setdefault(line["facts"], set()).add(line["configuration"])
problems = list(tried.values())
finalists, others = set().union(*problems[12:24]), set().union(*problems[24:])
assert len(finalists) == 4 and len(others) == 2 and others < finalists, (finalists, others)
END
}

# bats test_tags=long
@test "after the choice, further problems are timed" {
    gpu
    needs_the_fake
    set_command 66
    "${command[@]}" --held-out 0 --max 2 --no-record >out.txt 2>err.txt || { cat err.txt; false; }
    # The portfolio is made from 66 problems, and finalists are timed on 66 more.
    [ "$(grep -ho '"facts":"[0-9a-f]*"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl | sort -u | wc -l)" -gt 140 ]
}

@test "an interrupted portfolio continues and measures nothing twice" {
    gpu
    needs_the_fake
    set_command 3
    "${command[@]}" --no-record >out.txt 2>err.txt &
    pid=$!
    wait_for 60 journal_lines
    kill -KILL "$pid"
    wait "$pid" || true
    before=$(journal_lines)
    "${command[@]}" >out.txt 2>err.txt || { cat err.txt; false; }
    holds 'p["made_on"]["problems"] == 3'
    [ "$(journal_lines)" -gt "$before" ]
    twice=$(grep -ho '"key":"[0-9a-f]*"' "$XDG_STATE_HOME"/autotune/journal/*.jsonl | sort | uniq -d)
    [ -z "$twice" ] || { echo "answered twice: $twice"; false; }
}

@test "the benchmark of portfolios makes a portfolio, picks the same by header and by pick, and races the picks" {
    gpu
    needs_the_fake
    "$BATS_TEST_DIRNAME/../bench/portfolio.sh" "$(dirname "$(dirname "$AUTOTUNE")")" "$WORK/bench" \
        --patterns "$BATS_TEST_DIRNAME/ranged.lua:rows=16..200:cols=16..256" --shapes 2 --variants 4 \
        --making=--problems,2,--held-out,0,--finals,6 --tuning=--finals,6 --no-runtime --no-bars >out.txt 2>err.txt ||
        { cat out.txt err.txt; false; }
    grep -q "ranged .*2 shapes" out.txt
    lacks failed out.txt
}
