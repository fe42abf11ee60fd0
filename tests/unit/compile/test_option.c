#include <string.h>

#include "check.h"
#include "compile/option.h"

/* Returns the option in NVRTC's spelling, or "refused". */
static const char *read(const char *option)
{
    static char out[COMPILE_OPTION_BYTES];
    return compile_option_read(option, out, NULL) ? "refused" : out;
}

TEST(options_of_nvcc_get_nvrtcs_spelling_or_are_left_out)
{
    static const char *const options[][2] = {
        {"-O3", ""},
        {"-Xcompiler -Wall,-O2", ""},
        {"--compiler-options=-fPIC", ""},
        {"-ccbin g++-12", ""},
        {"-lineinfo", "-lineinfo"},
        {"-Xptxas -v", ""},
        {"-Xptxas -dlcm=cg", "--ptxas-options=-dlcm=cg"},
        {"-Xptxas=-O1", "--ptxas-options=-O1"},
        {"--expt-relaxed-constexpr", "--device-as-default-execution-space"},
        {"--extended-lambda", ""},
        {"-std c++20", "--std=c++20"},
        {"-D NAME=3 + 4", "--define-macro=NAME=3 + 4"},
        {"-maxrregcount 64", "--maxrregcount=64"},
        {"-Xcudafe --diag_suppress=177", "--diag-suppress=177"},
        {"-diag-suppress 177,550", "--diag-suppress=177,550"},
        {"-t 4", ""},
        {"-DNAME=\"a -b\"", "-DNAME=\"a -b\""},
        {"-DNAME=a -1", "-DNAME=a -1"},
        {"-Xptxas -o/tmp/x", "refused"},
        {"-Xptxas -O1 -DNAME", "refused"},
        {"-O3 --use_fast_math", "refused"},
        {"-D NAME\n", "refused"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        assert_string_equal(read(options[i][0]), options[i][1]);
}

TEST(a_refusal_says_what_to_do_instead)
{
    static const char *const options[][2] = {
        {"-arch=sm_90", "another one by --device"},
        {"-gencode arch=compute_80,code=sm_80", "another one by --device"},
        {"-I/usr/include", "-I DIR"},
        {"-isystem x", "-I DIR"},
        {"-rdc=true", "compiled as a whole"},
        {"-G", "runs without this option"},
        {"-DA=4 -DB", "options = { \"-DA=4\", \"-DB\" }"},
        {"--fnord", "options that change code generation"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char out[COMPILE_OPTION_BYTES];
        at_error error = {0};
        assert_int_equal(compile_option_read(options[i][0], out, &error), AT_SCRIPT);
        assert_non_null(strstr(error.message, options[i][1]));
    }
}

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
        if (strcmp(read(good[i]), good[i]) != 0)
            fail_msg("%s becomes %s", good[i], read(good[i]));
}

TEST(all_other_options_are_refused)
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
        if (strcmp(read(bad[i]), "refused") != 0)
            fail_msg("%s is allowed, as %s", bad[i], read(bad[i]));
}
