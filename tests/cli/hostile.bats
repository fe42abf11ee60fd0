load helpers

# Tests scripts that would run or grow without end: twenty-two ways, each in four places. Within the limits of the
# sandbox, the program must end each script with exit code 2.

ways() {
    cat <<'LUA'
while true do end
repeat until false
for i = 1, math.maxinteger do end
goto again ::again:: goto again
local function f() return 1 + f() end f()
local function f() return f() end f()
local t = {} while true do t[#t + 1] = ("x"):rep(100) end
local t = {} while true do t[#t + 1] = t end
local s = "x" while true do s = s .. s end
while true do ("a"):rep(1 << 20):match("b") end
while true do for _ in ("a"):rep(1 << 20):gmatch("a*") do end end
while true do ("a"):rep(1 << 18):gsub("a", "aa") end
while true do ("ab"):rep(1 << 18):gsub("(a)(b)", "%2%1") end
while true do ("x"):rep(1 << 20):upper() end
while true do ("x"):rep(1 << 20):reverse() end
while true do ("x"):rep(1 << 20):byte(1, 200) end
while true do string.format("%200s", ("x"):rep(1 << 16)) end
local t = {} for i = 1, 200 do t[i] = ("x"):rep(1 << 20) end while true do table.sort(t) end
local t = {} for i = 1, 1000 do t[i] = "x" end while true do table.concat(t, ("y"):rep(1 << 10)) end
local t = {} for i = 1, 100000 do t[i] = -i end while true do table.sort(t, function(a, b) return a < b end) end
local t = setmetatable({}, { __index = function(t, k) return t[k + 1] end }) while true do local _ = t[1] end
while true do pcall(function() while true do end end) end
LUA
}

# fails_in_time ARGUMENT...: checks exit code 2 and a message that names a file, within a minute of processor time. If
# memory runs out, the message names the script, because modules and templates share the script's limit.
fails_in_time() {
    status=0
    (ulimit -t 60 && exec timeout 900 "$AUTOTUNE" "$@") >out.txt 2>err.txt || status=$?
    [ "$status" -eq 2 ] && grep -qE '^autotune: [a-z./]+(:[0-9]+)*: ' err.txt ||
        { echo "exit $status of: $way"; head -3 err.txt; return 1; }
}

pattern() { # pattern: writes a pattern that uses mine.cu.tmpl
    cat >mine.lua <<'LUA'
local at = require "autotune"
return at.pattern {
  name = "mine", problem = { n = 1024 }, space = { block = { 32, 64 } }, baseline = { block = 32 },
  kernel = { template = "mine.cu.tmpl" }, launch = { grid = 1, block = "block" },
}
LUA
}

@test "endless work in a script is ended" {
    while read -r way; do
        echo "$way" >endless.lua
        fails_in_time space endless.lua
    done < <(ways)
}

@test "endless work in a module of a script is ended" {
    echo 'require "endless" return nil' >asking.lua
    while read -r way; do
        echo "$way" >endless.lua
        fails_in_time space asking.lua
    done < <(ways)
}

@test "endless work in a line of a template is ended" {
    pattern
    while read -r way; do
        printf '%% %s\n' "$way" >mine.cu.tmpl
        fails_in_time emit mine.lua
    done < <(ways)
}

@test "endless work in an expression of a template is ended" {
    pattern
    while read -r way; do
        printf '${(function() %s end)()}\n' "$way" >mine.cu.tmpl
        fails_in_time emit mine.lua
    done < <(ways)
}
