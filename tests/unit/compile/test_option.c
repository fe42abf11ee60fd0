#include "check.h"
#include "compile/option.h"

TEST(options_that_change_code_generation_are_allowed)
{
    static const char *const good[] = {
        "--use_fast_math",
        "-use_fast_math",
        "--maxrregcount=64",
        "-maxrregcount=255",
        "--fmad=false",
        "--std=c++17",
        "-std=c++20",
        "-DTILE=32",
        "-DNAME",
        "-DF(a,b)=((a)+(b))",
        "--define-macro=X=1 + 2",
        "-UTILE",
        "--extra-device-vectorization",
        "-lineinfo",
        "--ptxas-options=-dlcm=cg",
        "--ptxas-options=-O2",
        "--dopt=on",
        "-restrict",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!compile_option_allowed(good[i]))
            fail_msg("%s is refused", good[i]);
}

TEST(everything_else_is_not)
{
    static const char *const bad[] = {
        "",
        "-",
        "--",
        "TILE",
        "-I/etc",
        "--include-path=/etc",
        "--pre-include=/etc/passwd",
        "-include=/etc/passwd",
        "--gpu-architecture=sm_80",
        "-arch=sm_80",
        "--use_fast_math ",
        "--use_fast_math=1",
        "--maxrregcount=",
        "--maxrregcount=many",
        "--maxrregcount=-1",
        "--maxrregcount=9999999999",
        "--fmad=maybe",
        "--std=c++98",
        "-D",
        "-D=1",
        "-D1=2",
        "-DX=1\n#include <x>",
        "-DX=\001",
        "-U",
        "-UA B",
        "--ptxas-options=",
        "--ptxas-options=-v",
        "--ptxas-options=-o /tmp/x",
        "-Xptxas",
        "--time=/tmp/x",
        "--fdevice-time-trace=/tmp/x",
        "--create-pch=/tmp/x",
        "--pch-dir=/tmp",
        "--optix-ir",
        "--relocatable-device-code=true",
        "--dlink-time-opt",
        "@file",
        "--options-file=x",
        "-optf",
        "--split-compile=0",
        "-G",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (compile_option_allowed(bad[i]))
            fail_msg("%s is allowed", bad[i]);
}
