load helpers

@test "a script in this folder comes before an installed one" {
    cp "$FIXTURES"/scale.lua transpose.lua
    cp "$FIXTURES"/scale*.tmpl .
    tool space transpose.lua --arch sm_90 --json
    succeeds
    says '"pattern": "scale"'
}

@test "an endless script ends with an error that names it" {
    echo 'while true do end' >loop.lua
    tool space loop.lua --arch sm_90
    fails_with 2 "loop.lua:1"
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

@test "a script that eats memory ends with an error" {
    echo 'local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1e6) .. i end' >eater.lua
    tool space eater.lua --arch sm_90
    fails_with 2 "eater.lua"
}

@test "a syntax error names file and line" {
    printf 'local at = require "autotune"\nreturn at.pattern {\n  name = = 3\n}\n' >broken.lua
    tool space broken.lua --arch sm_90
    fails_with 2 "broken.lua:3"
}

@test "a file that is no pattern says what a script returns" {
    echo 'return 42' >number.lua
    tool space number.lua --arch sm_90
    fails_with 2 "number.lua"
}

@test "a folder in place of a script is an error" {
    mkdir folder.lua
    tool space ./folder.lua --arch sm_90
    [ "$status" -eq 2 ]
}
