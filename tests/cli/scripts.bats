load helpers

@test "a script in the current folder is used before an installed one" {
    cp "$FIXTURES"/scale.lua transpose.lua
    cp "$FIXTURES"/scale*.tmpl .
    tool space transpose.lua --arch sm_90 --json
    succeeds
    says '"pattern": "scale"'
}

@test "a script cannot reach the system" {
    for code in 'io.open("x", "w")' 'os.execute("id")' 'require("os").exit(0)' 'debug.getregistry()' \
        'load("return 1")()' 'dofile("/etc/passwd")' 'require("../evil")'; do
        echo "$code" >evil.lua
        tool space evil.lua --arch sm_90
        fails_with 2 "evil.lua:1"
    done
    [ ! -e x ]
}

@test "a syntax error names file and line" {
    printf 'local at = require "autotune"\nreturn at.pattern {\n  name = = 3\n}\n' >broken.lua
    tool space broken.lua --arch sm_90
    fails_with 2 "broken.lua:3"
}

@test "a script that does not return a pattern is refused, and the message says what a script returns" {
    echo 'return 42' >number.lua
    tool space number.lua --arch sm_90
    fails_with 2 "number.lua"
}

@test "a folder in place of a script is an error" {
    mkdir folder.lua
    tool space ./folder.lua --arch sm_90
    [ "$status" -eq 2 ]
}

@test "a template includes files of its folder, and changes of these files are noticed" {
    cp "$FIXTURES"/scale* .
    sed -i '1i #include "mine.h"' scale.cu.tmpl
    sed -i 's/\* factor/* (factor + MINE)/' scale.cu.tmpl
    for mine in 1 2; do
        echo "#define MINE $mine.5" >mine.h
        tool emit scale.lua --ptx
        succeeds
        cp out.txt "$mine.ptx"
    done
    if cmp -s 1.ptx 2.ptx; then return 1; fi
}

@test "a template cannot include files of other folders" {
    cp "$FIXTURES"/scale* .
    mkdir -p "$XDG_STATE_HOME"
    echo secret-word >"$BATS_TEST_TMPDIR/secret"
    ln -s "$BATS_TEST_TMPDIR/secret" linked.h
    mkfifo pipe.h
    for name in "\"$BATS_TEST_TMPDIR/secret\"" "</proc/self/environ>" '"../secret"' '"linked.h"' \
        '"pipe.h"' NAME; do
        { echo "#define NAME \"/etc/passwd\""; echo "#include $name"; cat "$FIXTURES/scale.cu.tmpl"; } \
            >scale.cu.tmpl
        tool scale.lua --device sim:sm_90 --no-record
        [ "$status" -ne 0 ]
        says_nothing_of secret-word
        [[ "$errors" != *secret-word* && "$errors" != *root:* ]]
        lacks -r secret-word "$XDG_STATE_HOME"
    done
}

@test "a link that leaves the script's folder is refused, with a remedy" {
    mkdir elsewhere own
    cp "$FIXTURES"/scale* own
    mv own/scale.cu.tmpl elsewhere
    cd own
    ln -s ../elsewhere/scale.cu.tmpl scale.cu.tmpl
    tool check scale.lua --device sim:sm_90
    fails_with 2 "is a link that leaves the folder"
    fails_with 2 "copy it there, or put the script beside what it links to"
    rm scale.cu.tmpl
    ln -s ../elsewhere/scale.cu.tmpl linked.tmpl
    echo '% include "linked.tmpl"' >scale.cu.tmpl
    tool check scale.lua --device sim:sm_90
    fails_with 2 "there is no template 'linked.tmpl'"
    fails_with 2 "is a link that leaves the folder"
    sed -i '1i require "helper"' scale.lua
    echo 'return {}' >../elsewhere/helper.lua
    ln -s ../elsewhere/helper.lua helper.lua
    tool check scale.lua --device sim:sm_90
    fails_with 2 "is a link that leaves the folder"
}

@test "escape sequences in messages of a script are shown as text" {
    cp "$FIXTURES"/scale* .
    escape=$'\033]0;title\007\033[31m'
    { printf '%% if vec > 1 then\n#error %s\n%% end\n' "$escape"; cat "$FIXTURES/scale.cu.tmpl"; } >scale.cu.tmpl
    tool scale.lua --device sim:sm_90 --no-record
    says title
    sed -i "s/block <= /'x' ~= '$escape' and block <= /" scale.lua
    tool space scale.lua
    sed -i "s/summary = \".*\"/summary = '$escape'/" scale.lua
    tool space scale.lua --json
    tool emit scale.lua --config "$escape=1"
    fails_with 2 '\u001b]0;title'
    tool "$escape"
    fails_with 2 '\u001b]0;title'
    lacks -l "$(printf '\033')" ./*.txt
    tool scale.lua --device sim:sm_90 --no-record --json
    lacks -l "$(printf '\033')" ./*.txt
    python3 -m json.tool <out.txt >/dev/null
}

# misspelt SED LINE TEXT: checks that the fixture, changed by SED, is refused, with this line and the intended name
misspelt() {
    cp "$FIXTURES"/scale* .
    sed -i "$1" scale.lua
    tool emit scale.lua
    fails_with 2 "scale.lua:$2: "
    fails_with 2 "$3"
}

@test "messages about misspelt names in a script name the intended ones" {
    misspelt 's/args = { "src"/args = { "scr"/' 29 "kernel.args[1]: there is no buffer or variable 'scr'; did you mean 'src'? The buffers are src, dst"
    misspelt 's/at.int64/at.itn64/' 29 "there is no at.itn64; did you mean 'int64'?"
    misspelt 's/dtype = "float" }/dtype = "flaot" }/' 7 "problem.dtype: there is no element type 'flaot'; did you mean 'float'?"
    misspelt 's/args = { "src", "dst", at.int64("n")/args = { "src", "dst", "scael"/' 29 "did you mean 'scale'?"
    misspelt 's/src = at.input  {/& limit = 9,/' 25 "buffers.src.limit needs a fill, such as fill = \"modulo\", whose values lie below this limit"
}

@test "the message about a misspelt file names the folders and the nearest file" {
    cp "$FIXTURES"/scale* .
    absent() { # absent SED FILE NAME: changes a name in FILE, and checks that NAME is suggested
        cp "$FIXTURES/$2" .
        sed -i "$1" "$2"
        tool emit scale.lua
        fails_with 2 "in the script's folder (.)"
        [[ "$errors" == *"; did you mean '$3'?"* ]] || { echo "$errors"; return 1; }
        cp "$FIXTURES/$2" .
    }
    absent 's/"scale.cu.tmpl"/"scael.cu.tmpl"/' scale.lua scale.cu.tmpl
    absent 's/require "autotune"/require "autotun"/' scale.lua autotune
    absent '1i % include "scale_rf.cu.tmpl"' scale.cu.tmpl scale_ref.cu.tmpl
    absent '1i % include("scale_rf" .. ".cu.tmpl")' scale.cu.tmpl scale_ref.cu.tmpl
    absent 's/at.input  {/at.input { fill = at.file("scael.lua"),/' scale.lua scale.lua
}

@test "messages about a file of the script's folder have the path of this folder" {
    mkdir sub
    cp "$FIXTURES"/scale* sub
    sed -i 's/< n/<= n/' sub/scale.cu.tmpl
    for command in check explain "tune --device sim --budget 1"; do
        tool $command sub/scale.lua
        says "out of bounds in scale at sub/scale.cu.tmpl:"
        lacks "sub/sub" out.txt
        tool $command "$PWD/sub/scale.lua"
        says "out of bounds in scale at $PWD/sub/scale.cu.tmpl:"
    done
}

@test "for parts of Lua that scripts cannot use, the message says so" {
    for call in 'print("x")' 'os.exit(1)' 'local f = io.open("x")'; do
        echo "$call" >own.lua
        tool check own.lua
        fails_with 2 "scripts only describe a pattern, and have no part of Lua for files, programs or output"
    done
}

@test "a file that is neither CUDA nor Lua is refused with this reason" {
    echo hello >text.txt
    tool check text.txt
    fails_with 2 "text.txt:2: syntax error near <eof>; a file whose name does not end in .cu is read as a Lua script"
}

@test "a misspelt element type in --set is named" {
    tool emit "$FIXTURES/scale.lua" --set dtype=flaot
    fails_with 2 "there is no element type 'flaot'; did you mean 'float'?"
}

@test "an expression of a template ends on the line where it begins" {
    cp "$FIXTURES"/scale* .
    printf 'int x = ${block +\n1};\n' >scale.cu.tmpl
    tool emit scale.lua
    fails_with 2 'scale.cu.tmpl:1: a ${ has no closing } on its line'
}

@test "a text that no record can hold is refused before a run begins" {
    long=$(printf 'x%.0s' $(seq 300))
    cp "$FIXTURES"/scale* .
    for text in "$long" $'a\xff' $'a\x1b[2J'; do
        for option in "--set dtype" "--only cached" "--config cached"; do
            tool "scale.lua" --device sim:sm_90 --quiet ${option% *} "${option#* }=$text"
            [ "$status" -eq 2 ] || { echo "exit $status of $option: $errors"; return 1; }
            [ "$(wc -l <err.txt)" -le 5 ]
            lacks -F "$text" err.txt
        done
        tool sweep scale.lua --device sim:sm_90 --over "dtype=float,$text"
        [ "$status" -eq 2 ] || { echo "exit $status of --over: $errors"; return 1; }
        [ -z "$output" ]
    done
}

@test "names of variables and parameters are as documented" {
    tool help scripts
    says 'letters, digits and _; the first character is not a digit'
    for name in tile-x 1st 'a b' ''; do
        for place in problem space; do
            cat >named.lua <<LUA
local at = require "autotune"
local p = { name = "named", problem = { n = 1024 }, space = { a = { 1, 2 } }, baseline = { a = 1 },
            kernel = { template = "named.cu.tmpl" }, launch = { grid = 1, block = 32 } }
p.$place["$name"] = { 1, 2 }
return at.pattern(p)
LUA
            tool space named.lua
            fails_with 2 "'$name' is not a valid name: use at most 60 letters, digits and _, and no digit first"
        done
    done
}

@test "lint finds duplicate keys in tables of a script and of a kernel file's comment" {
    tool new mine
    sed -i 's/  tolerance = 0,.*/  tolerance = 0,\n  traffic = "3 * n",/' mine.lua
    tool lint mine.lua
    succeeds
    line=$(grep -n 'traffic = "3' mine.lua | cut -d: -f1)
    says "mine.lua:$line: 'traffic' is written twice in this table"
    sed 's/y = "n" }/y = "n", x = "n" }/' "$FIXTURES/saxpy.cu" >twice.cu
    tool lint twice.cu
    says "twice.cu:$(grep -n 'x = "n" }' twice.cu | cut -d: -f1): 'x' is written twice"
}

@test "the hint for missing traffic names fields for buffers that the script no longer has" {
    tool new mine
    sed -i '/traffic =/d; s/\bn\b/elements/g' mine.lua
    tool space mine.lua
    fails_with 2 'traffic = "elements * sizeof(dtype) + elements * sizeof(dtype)"'
}

@test "a field that is a text instead of a list is reported" {
    tool new mine
    sed -i 's/baseline = .*/baseline = { "block = 256" },/' mine.lua
    tool space mine.lua
    fails_with 2 'write block = 256 without quotes'
}
