/* Tests the precompiled headers that the variants of a source share. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "compile/nvrtc.h"
#include "temporary.h"

static const source_header own = {.name = "own.h", .text = ""};

static preamble_use begin(preambles *p, const char *source, const char *option)
{
    preamble_use use;
    const compile_request r = {.source = source,
                               .name = "k.tmpl",
                               .arch = "sm_90",
                               .options = &option,
                               .option_count = 1,
                               .headers = &own,
                               .header_count = 1};
    preambles_begin(p, &r, &use);
    return use;
}

/* Passes a source twice. Asserts that the second becomes `hoisted`, or stays unchanged if
 * `hoisted` is NULL. */
static void expect(const char *source, const char *hoisted)
{
    preambles p = {.folder = "/nowhere"};
    assert_null(begin(&p, source, "-DX").of);
    preamble_use use = begin(&p, source, "-DX");
    if (hoisted)
        assert_string_equal(use.source, hoisted);
    else
        assert_null(use.of);
    preambles_end(&use, false);
}

#define STOP "#pragma nv_hdrstop\n#line 1 \"k.tmpl\"\n"

TEST(leading_includes_of_the_toolkit_go_ahead_of_the_source)
{
    expect("int i;\n#include <a>\n", NULL);
    expect("#include <a>\nint i;", "#include <a>\n" STOP "\nint i;");
    expect("/* of\nmine */ // too\n#line 3 \"f\"\n#pragma once\n # include <cub/a.cuh> // why\n\n"
           "#include <b>\n#define N 3\n#include <c>\n",
           "#include <cub/a.cuh>\n#include <b>\n" STOP
           "/* of\nmine */ // too\n#line 3 \"f\"\n#pragma once\n\n\n\n#define N 3\n#include <c>\n");
    expect("#include <a>\n#include <own.h>\n#include <b>\n",
           "#include <a>\n" STOP "\n#include <own.h>\n#include <b>\n");
    expect("#include <a>\n#include \"own.h\"\n", "#include <a>\n" STOP "\n#include \"own.h\"\n");
    expect("#include NAME\n", NULL);
    expect("#include <a", NULL);
    expect("/* never ends\n#include <a>", NULL);
}

TEST(the_second_source_writes_precompiled_headers_and_the_third_reads_them)
{
    char folder[TEMPORARY_BYTES];
    preambles p;
    preamble_use use;
    temporary_make(folder);
    preambles_open(&p, folder);
    if (!p.folder[0]) { /* the disk has no space for one file per core */
        temporary_remove(folder);
        skip();
    }
    assert_null(begin(&p, "#include <a>\nint i = 1;\n", "-DX").of);
    use = begin(&p, "#line 7 \"k.tmpl\"\n#include <a>\nint i = 2;\n", "-DX");
    assert_string_equal(use.source, "#include <a>\n#pragma nv_hdrstop\n#line 1 \"k.tmpl\"\n"
                                    "#line 7 \"k.tmpl\"\n\nint i = 2;\n");
    assert_non_null(strstr(use.option, "--create-pch="));
    FILE *heap = fopen(use.path, "w");
    assert_non_null(heap);
    fclose(heap);
    char path[sizeof use.path];
    strcpy(path, use.path);
    preambles_end(&use, true);
    assert_int_not_equal(access(path, F_OK), 0);
    use = begin(&p, "#include <a>\nint i = 3;\n", "-DX");
    assert_non_null(strstr(use.option, "--use-pch=/proc/self/fd/"));
    preambles_end(&use, true);
    assert_null(begin(&p, "#include <a>\nint i = 3;\n", "-DY").of);
    temporary_remove(folder);
}

TEST(headers_that_cannot_be_precompiled_are_given_up)
{
    char folder[TEMPORARY_BYTES];
    preambles p;
    int tried = 0;
    temporary_make(folder);
    preambles_open(&p, folder);
    if (!p.folder[0]) {
        temporary_remove(folder);
        skip();
    }
    for (int i = 0; i < 9; i++) {
        preamble_use use = begin(&p, "#include <a>\n", "-DX");
        tried += use.of != NULL;
        preambles_end(&use, false);
    }
    assert_int_equal(tried, 3);
    temporary_remove(folder);
}
