# autotune kernel.cu: a kernel in a file of its author's own, host code and all.
load helpers

describe() { # describe TEXT: saxpy.cu with this comment
    { printf '/* autotune\n%s\n*/\n' "$1"; sed '/^.. autotune/,/^..$/d' "$FIXTURES/saxpy.cu"; } >saxpy.cu
}

@test "a kernel is compiled without the host's code, its parameters as macros" {
    cp "$FIXTURES/saxpy.cu" .
    tool emit saxpy.cu --no-line --config BLOCK=128,VEC=4
    succeeds
    says "#define BLOCK 128"
    says "#define VEC 4"
    says "y[i] = a * x[i] + y[i]"
    says_nothing_of "main"
    says_nothing_of "#define VEC 2"
    says_nothing_of "iostream"
}

@test "the file's own macros are the baseline" {
    cp "$FIXTURES/saxpy.cu" .
    tool emit saxpy.cu --ptx
    succeeds
    tool inspect saxpy.cu --arch sm_90
    succeeds
    says "BLOCK=256,VEC=2"
}

@test "a script names a file as it is, and has the same fields" {
    mkdir sub
    sed '/^.. autotune/,/^..$/d' "$FIXTURES/saxpy.cu" >sub/saxpy.cu
    cat >saxpy.lua <<'LUA'
local at = require "autotune"
return at.pattern {
  name = "saxpy", problem = { n = 1 << 20, a = 2.0 }, space = { BLOCK = at.pow2(64, 512), VEC = { 1, 2, 4 } },
  kernel = { source = "sub/saxpy.cu" }, sizes = { x = "n", y = "n" },
  launch = { grid = "ceil_div(n, BLOCK * VEC)", block = "BLOCK" },
}
LUA
    tool inspect saxpy.lua --arch sm_90
    succeeds
    says "BLOCK=256,VEC=2"
}

@test "what cannot be inferred is asked for in one message, with the lines to add" {
    describe 'space = { BLOCK = { 128, 256 } }'
    tool space saxpy.cu --arch sm_90
    fails_with 2 "saxpy.cu:2"
    fails_with 2 'problem = { n = 1 << 20, a = 1.0 }   -- int64_t n, float a'
    fails_with 2 'sizes = { x = "n", y = "n" }'
    fails_with 2 'launch = { '
}

@test "a file without a comment says what to write" {
    sed '/^.. autotune/,/^..$/d' "$FIXTURES/saxpy.cu" >saxpy.cu
    tool space saxpy.cu --arch sm_90
    fails_with 2 "begins with the word autotune"
}
