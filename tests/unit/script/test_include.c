#include <sys/stat.h>

#include "script/include.h"
#include "script_fixture.h"

static at_status collect(const char *source, included *out, at_error *error)
{
    const char *const folders[] = {fixture_dir};
    char *text = strdup(source);
    *error = (at_error){0};
    at_status status = include_collect(&text, "a.tmpl", folders, 1, out, error);
    free(text);
    return status;
}

static void expect_refusal(const char *source, const char *wanted, int line)
{
    included i;
    at_error error;
    at_status status = collect(source, &i, &error);
    if (status != AT_SCRIPT)
        fail_msg("status %s of: %s", status_name(status), source);
    assert_contains(error.message, wanted);
    assert_int_equal(error.line, line);
}

/* Asserts the names of the included headers. `wanted` lists the names with a blank behind each. */
static void expect_headers(const char *source, const char *wanted)
{
    included i;
    at_error error;
    char names[512] = "";
    assert_ok(collect(source, &i, &error), error);
    for (size_t n = 0; n < i.count; n++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", i.headers[n].name);
    assert_string_equal(names, wanted);
    included_deinit(&i);
}

TEST(files_of_the_folder_are_read_with_what_they_include)
{
    mkdir(fixture_path("sub"), 0777);
    fixture_write("one.h", "#include \"sub/two.h\"\n#define ONE 1\n");
    fixture_write("sub/two.h", "#pragma once\n#include \"three.h\"\n#include \"two.h\"\n");
    fixture_write("sub/three.h", "#define THREE 3\n");
    expect_headers("#include \"one.h\"\n#include <cuda_fp16.h>\n#include \"one.h\"\n",
                   "one.h sub/two.h sub/three.h ");
    expect_headers("%: /* */ include /* */ <one.h>\n", "one.h sub/two.h sub/three.h ");
    expect_headers("#inc\\\nlude \"./sub/three.h\"", "sub/three.h ");
    included i;
    at_error error;
    assert_ok(collect("#include \"sub/three.h\"\n", &i, &error), error);
    assert_string_equal(i.headers[0].text, "#define THREE 3\n");
    included_deinit(&i);
}

TEST(includes_in_comments_and_literals_do_not_count)
{
    expect_headers("// #include \"/etc/shadow\"\n/*\n#include \"/etc/shadow\"\n*/\n"
                   "x = \"\\\"\\\n#include \\\"/etc/shadow\\\"\"; '\"';\n"
                   "R\"a(\n#include \"/etc/shadow\"\n)a\";\n a % b #include\n 1'000'000 \"'\"\n",
                   "");
}

TEST(names_that_lead_elsewhere_are_refused)
{
    static const char *const names[] = {
        "/etc/shadow",    "/proc/self/environ", "../secret.h", "a/../../secret.h", "a/..", "",
        "..\\\\secret.h", "//etc/shadow"};
    static const char *const forms[] = {"#include \"%s\"\n",
                                        "#include <%s>\n",
                                        "  /* */ # /**/ include\"%s\"\n",
                                        "%%:include \"%s\"\n",
                                        "#inc\\\nlude \"%s\"\n",
                                        "#include_next \"%s\"\n",
                                        "#import \"%s\"\n",
                                        "#embed \"%s\"\n",
                                        "#if __has_include(\"%s\")\n#endif\n",
                                        "#if 0\n#include \"%s\"\n#endif\n",
                                        "int a = 1'0; /* \" */\n#include \"%s\"\n",
                                        "#define Q __has_include_next( <%s> )\n",
                                        "#if __has_embed(\"%s\")\n#endif\n"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            char source[256];
            included i;
            at_error error;
            snprintf(source, sizeof source, forms[f], names[n]);
            if (collect(source, &i, &error) != AT_SCRIPT)
                fail_msg("taken: %s", source);
            assert_contains(error.message, "script's folder");
        }
}

TEST(a_name_that_only_the_preprocessor_knows_is_refused)
{
    expect_refusal("\n#define F \"/etc/shadow\"\n#include F\n", "macro", 3);
    expect_refusal("#define Q __has_include\n#if Q(\"/etc/shadow\")\n#endif\n",
                   "without a file name", 1);
    expect_refusal("?\?=include \"/etc/shadow\"\n", "trigraph", 1);
    expect_refusal("\n#include \"one.h\n", "is never closed", 2);
}

TEST(a_refusal_names_the_templates_line)
{
    included i;
    at_error error;
    assert_int_equal(
        collect("a\n#line 40 \"my \\\"t\\\".tmpl\"\nb\n#include </etc/x>\n", &i, &error),
        AT_SCRIPT);
    assert_int_equal(error.line, 41);
    assert_string_equal(error.file, "my \"t\".tmpl");
}

/* After the largest line number of C come more lines, spliced or in raw literals. */
TEST(lines_are_counted_up_to_the_largest)
{
    expect_refusal("#line 2147483647\na\n\n#include </etc/x>\n", "/etc/x", 2147483647);
    expect_refusal("#line 2147483646\n\\\n\\\n\\\n#include </etc/x>\n", "/etc/x", 2147483647);
    expect_refusal("#line 2147483646\nR\"(\n\n\n)\"\n#include </etc/x>\n", "/etc/x", 2147483647);
    expect_refusal("#line 2147483640\n\n#include </etc/x>\n", "/etc/x", 2147483641);
}

TEST(a_path_that_is_no_file_of_the_folder_is_not_opened)
{
    assert_int_equal(mkfifo(fixture_path("pipe.h"), 0600), 0);
    expect_refusal("#include \"pipe.h\"\n", "pipe", 1);
    assert_int_equal(symlink("/etc/passwd", fixture_path("link.h")), 0);
    expect_refusal(
        "#include \"link.h\"\n",
        "cannot include 'link.h': the file of that name is a link that leaves the folder", 1);
    expect_headers("#include <link.h>\n", ""); /* the Toolkit may have a file of this name */
    fixture_write_bytes("nul.h", "a\0b", 3);
    expect_refusal("#include \"nul.h\"\n", "NUL", 1);
}

TEST(a_directive_names_the_file_by_its_path_below_the_folder)
{
    included i;
    at_error error = {0};
    char *far = strdup(fixture_path("far"));
    const char *const folders[] = {fixture_dir, far};
    mkdir(fixture_path("x"), 0777);
    mkdir(fixture_path("y"), 0777);
    mkdir(fixture_path("far"), 0777);
    fixture_write("x/a.h", "#include \"same.h\"\n# include \"../y/a.h\" // up\n");
    fixture_write("y/a.h", "#include \"./same.h\"\n");
    fixture_write("x/same.h", "1\n");
    fixture_write("y/same.h", "2\n");
    fixture_write("top.h", "3\n");
    fixture_write("far/top.h", "4\n");
    fixture_write("far/far.h", "#include \"top.h\"\n");
    char *source = strdup("#include \"x/a.h\"\n#include <top.h>\n#include \"far.h\"\nint i;\n");
    assert_ok(include_collect(&source, "a.tmpl", folders, 2, &i, &error), error);
    static const char *const wanted[][2] = {
        {"x/a.h", "#include \"x/same.h\"\n# include \"y/a.h\" // up\n"},
        {"x/same.h", "1\n"},
        {"y/a.h", "#include \"y/same.h\"\n"},
        {"y/same.h", "2\n"},
        {"top.h", "3\n"},
        {"far.h", "#include \"1/top.h\"\n"},
        {"1/top.h", "4\n"}};
    assert_int_equal(i.count, sizeof wanted / sizeof *wanted);
    for (size_t n = 0; n < i.count; n++) {
        assert_string_equal(i.headers[n].name, wanted[n][0]);
        assert_string_equal(i.headers[n].text, wanted[n][1]);
    }
    assert_string_equal(source,
                        "#include \"x/a.h\"\n#include <top.h>\n#include \"far.h\"\nint i;\n");
    included_deinit(&i);
    free(source);
    free(far);
}

TEST_GROUP(fixture_setup, fixture_teardown)
