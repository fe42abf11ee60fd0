/* Tests how CUDA source is moved into a namespace. */
#include <string.h>

#include "base/json_text.h"
#include "base/text.h"
#include "script/render.h"
#include "script_fixture.h"

/* Returns the JSON that lib.cuda_source makes of the source, or an error. */
static at_status rewrite(const char *source, const source_header *headers, size_t count,
                         json_t **out, at_error *error)
{
    static const char template[] = "${json(require('lib.cuda_source')(source, headers))}\n";
    json_t *list = json_array();
    rendered text;
    for (size_t i = 0; i < count; i++)
        json_append(&list, json_pack("{ss ss}", "name", headers[i].name, "text", headers[i].text));
    json_t *table = json_pack("{ss so}", "source", source, "headers", list);
    fixture_write("t.tmpl", template);
    at_status status = script_render_files(NULL, fixture_path("t.tmpl"), table, &text, error);
    json_decref(table);
    if (!status)
        assert_ok(json_text_parse(text.files[0].text, text.files[0].size_bytes, "t", out, error),
                  *error);
    rendered_deinit(&text);
    return status;
}

static void expect(const char *source, const source_header *headers, size_t count, const char *text,
                   const char *includes, const char *undefines)
{
    json_t *out;
    at_error error = {0};
    assert_ok(rewrite(source, headers, count, &out, &error), error);
    assert_string_equal(json_string_value(json_object_get(out, "text")), text);
    assert_string_equal(json_string_value(json_object_get(out, "includes")), includes);
    assert_string_equal(json_string_value(json_object_get(out, "undefines")), undefines);
    json_decref(out);
}

TEST(linkage_is_taken_out)
{
    expect("extern \"C\" __global__ void f();\n", NULL, 0, "__global__ void f();\n", "", "");
    expect("extern /* so */ \"C\"\n__constant__ int c[3];\n", NULL, 0, "__constant__ int c[3];\n",
           "", "");
    expect("extern \"C\" {\nint a;\n}\n", NULL, 0, "inline namespace linkage {\nint a;\n}\n", "",
           "");
    expect("extern __shared__ float tile[];\n", NULL, 0, "extern __shared__ float tile[];\n", "",
           "");
    expect("#define ENTRY extern \"C\" __global__\nENTRY void f();\n", NULL, 0,
           "#define ENTRY __global__\nENTRY void f();\n", "", "#undef ENTRY\n");
}

TEST(text_that_only_looks_like_linkage_stays)
{
    static const char *const texts[] = {
        "// extern \"C\" here\n",
        "/* extern \"C\" { */\n",
        "const char *s = \"extern \\\"C\\\"\", q = '\"';\n",
        "const char *r = R\"x(extern \"C\" int i;)\" )x\";\n",
        "int my_extern = 1'000'000; int externs;\n",
        "/* it never ends extern \"C\"",
        "\"nor this \\",
        "R\"(",
        "'",
        "#",
        "#define",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *out;
        at_error error = {0};
        assert_ok(rewrite(texts[i], NULL, 0, &out, &error), error);
        assert_string_equal(json_string_value(json_object_get(out, "text")), texts[i]);
        json_decref(out);
    }
}

TEST(includes_go_ahead_of_or_into_the_namespace)
{
    const source_header headers[] = {
        {"mine.h", "#pragma once\n#include <cuda_fp16.h>\n#define N 3\nint mine;\n"},
        {"other.h", "#include \"mine.h\"\nint other;\n"}};
    expect("#include <cuda_fp16.h>\n  # include \"mine.h\" // why\n#include \"other.h\"\nint x;\n",
           headers, 2, "  #define N 3\nint mine;\nint other;\nint x;\n", "#include <cuda_fp16.h>\n",
           "#undef N\n");
}

TEST(cyclic_includes_end)
{
    const source_header headers[] = {{"a.h", "#include \"b.h\"\n"}, {"b.h", "#include \"a.h\"\n"}};
    json_t *out;
    at_error error = {0};
    assert_int_equal(rewrite("#include \"a.h\"\n", headers, 2, &out, &error), AT_USAGE);
    assert_string_equal(error.message, "'a.h' is included by itself");
}

TEST_GROUP(fixture_setup, fixture_teardown)
