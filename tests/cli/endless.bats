# Tests scripts that run until they reach a limit, which takes seconds.

load helpers

@test "an endless script ends with an error that names it" {
    echo 'while true do end' >loop.lua
    tool space loop.lua --arch sm_90
    fails_with 2 "loop.lua:1"
}

@test "a script that uses too much memory ends with an error" {
    echo 'local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1e6) .. i end' >eater.lua
    tool space eater.lua --arch sm_90
    fails_with 2 "eater.lua"
}

@test "scripts that match, repeat, sort, recurse or loop for ever are ended with exit code 2" {
    while read -r line; do
        echo "$line" >endless.lua
        tool space endless.lua
        fails_with 2 "endless.lua" || { echo "$line"; return 1; }
    done <<'LUA'
local function f() return 1 + f() end f()
while true do ("a"):rep(1 << 20):find("b") end
local t = {} for i = 1, 200 do t[i] = ("x"):rep(1 << 20) end while true do table.sort(t) end
local t = {} while true do t[#t + 1] = ("x"):rep(100) end
LUA
}

@test "only three endless variants are tried, and their common parameters are reported" {
    cp "$FIXTURES"/scale* .
    # One thread writes without end. The loop's condition depends on memory that changes, so the simulated device cannot know
    # that it never ends: the kernel reaches the limit of a launch.
    sed -i '0,/^{$/s//{\n% if vec == 2 then\n    volatile float *end = dst;\n    if (blockIdx.x + threadIdx.x == 0) {\n        end[0] = 0;\n        for (unsigned k = 0; end[0] >= 0; k++)\n            end[0] = k;\n    }\n% end/' scale.cu.tmpl
    # The budget is a number of variants, because the default on a simulated device is 40 seconds.
    tool scale.lua --device sim:sm_90 --only cached=true --only vec=1,2 --budget 12 --json --quiet --top 100
    succeeds
    python3 - <<'PYTHON'
import json
run = json.load(open("out.txt"))
counts = run["counts"]
assert counts["ok"] == 6 and 3 <= counts["timeout"] <= 4 and counts["timeout"] + counts["rejected"] == 6, counts
for r in run["results"]:
    assert (r["config"]["vec"] == 2) == (r["outcome"] != "ok"), r
    assert r["outcome"] != "rejected" or "3 variants with vec=2" in r["message"], r
assert any("vec=2" in w and "were not tried" in w for w in run["warnings"]), run["warnings"]
PYTHON
}

@test "check of endless variants tries three of them and runs none of the queued ones" {
    cp "$FIXTURES"/scale* .
    sed -i '0,/^{$/s//{\n    volatile float *end = dst;\n    if (blockIdx.x + threadIdx.x == 0) {\n        end[0] = 0;\n        for (unsigned k = 0; end[0] >= 0; k++)\n            end[0] = k;\n    }/' scale.cu.tmpl
    tool check scale.lua --device sim:sm_90 --only cached=true --only vec=1 --budget 12 --json
    [ "$status" -eq 3 ]
    python3 - <<'PYTHON'
import json
variants = json.load(open("out.txt"))["variants"]
messages = [v["message"] for v in variants]
assert sum("not ended in" in m for m in messages) == 3, messages
assert sum("not tried, because all 3 variants" in m for m in messages) == len(messages) - 3 > 1, messages
PYTHON
}
