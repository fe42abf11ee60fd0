#include "script/render.h"

#include "base/json_text.h"
#include "script_fixture.h"

static at_status render(const char *text, const char *data, rendered *out, at_error *error)
{
    json_t *table;
    fixture_write("t.tmpl", text);
    assert_ok(json_text_parse(data, strlen(data), "data", &table, error), *error);
    at_status status = script_render_files(NULL, fixture_path("t.tmpl"), table, out, error);
    json_decref(table);
    return status;
}

static void expect(const char *text, const char *data, const char *wanted)
{
    rendered out;
    at_error error = {0};
    assert_ok(render(text, data, &out, &error), error);
    assert_int_equal(out.count, 1);
    assert_string_equal(out.files[0].name, "");
    assert_string_equal(out.files[0].text, wanted);
    assert_int_equal(out.files[0].size_bytes, strlen(wanted));
    rendered_deinit(&out);
}

static void expect_error(const char *text, const char *data, int line, const char *wanted)
{
    rendered out;
    at_error error = {0};
    assert_int_equal(render(text, data, &out, &error), AT_SCRIPT);
    assert_string_equal(error.message, wanted);
    assert_string_equal(error.file, fixture_path("t.tmpl"));
    assert_int_equal(error.line, line);
    assert_null(out.files);
}

TEST(members_of_the_table_are_names)
{
    expect("${a} ${b} ${c.d[2]} ${e}\n", "{\"a\":1,\"b\":\"x\",\"c\":{\"d\":[1,2.5]},\"e\":true}",
           "1 x 2.5 true\n");
    expect("% for _, r in ipairs(rows) do\n- ${r.n}\n% end\n", "{\"rows\":[{\"n\":1},{\"n\":2}]}",
           "- 1\n- 2\n");
    expect("% for name, v in pairs(o) do\n${name} ${type(v)}\n% end\n${o.t.x} ${o.t == o.t}\n",
           "{\"o\":{\"z\":1,\"t\":{\"x\":2},\"a\":[]}}", "a table\nt table\nz number\n2 true\n");
    expect("${type(n)} ${type(l[1])} ${has(o, 'n')} ${has(o, 'x')} ${has(o, 'y')}\n",
           "{\"n\":null,\"l\":[null],\"o\":{\"x\":1,\"n\":null}}",
           "nil boolean false true false\n");
}

TEST(lines_are_written_as_they_stand)
{
    expect("\n\n\na  \n\n\nb\\\n\n", "{}", "\n\n\na  \n\n\nb\\\n\n");
    expect("", "{}", "");
    expect("last", "{}", "last\n");
}

TEST(an_expression_alone_gives_whole_lines)
{
    expect("a\n  ${''}\n  ${'x\\n\\ny\\n'}\nb\n", "{}", "a\n  x\n\n  y\nb\n");
}

TEST(json_keeps_the_order_of_its_input)
{
    expect("${json(o)} ${json(o.b)} ${json { 1, 'x' }} ${json {}} ${json { z = 1, a = o.b }}\n",
           "{\"o\":{\"z\":1,\"b\":[0.1,null]}}",
           "{\"z\":1,\"b\":[0.1,null]} [0.1,null] [1,\"x\"] [] {\"a\":[0.1,null],\"z\":1}\n");
    expect("${json(object { { 'z', 1 }, { 'a', object {} }, { 'n', nil } }, 1)}\n", "{}",
           "{\n \"z\": 1,\n \"a\": {},\n \"n\": null\n}\n");
    expect("${table.concat(names(o), ' ')}\n", "{\"o\":{\"z\":1,\"b\":null}}", "z b\n");
}

TEST(a_template_may_write_several_files)
{
    rendered out;
    at_error error = {0};
    assert_ok(render("% for i = 1, 2 do\n%   file('f' .. i .. '.x')\ntext ${i}\n% end\n", "{}",
                     &out, &error),
              error);
    assert_int_equal(out.count, 2);
    assert_string_equal(out.files[0].name, "f1.x");
    assert_string_equal(out.files[0].text, "text 1\n");
    assert_string_equal(out.files[1].name, "f2.x");
    assert_string_equal(out.files[1].text, "text 2\n");
    rendered_deinit(&out);
    assert_int_equal(render("% refuse('no sizes')\n", "{}", &out, &error), AT_USAGE);
    assert_string_equal(error.message, "no sizes");
    assert_string_equal(error.file, "");
    expect_error("\n% file('../x')\n", "{}", 2,
                 "file: a name has letters, digits, '_', '-' and '.'");
}

TEST(modules_and_includes_lie_beside_the_template)
{
    fixture_write("own.lua", "return { twice = function(x) return 2 * x end }\n");
    fixture_write("part.tmpl", "part ${n}\n");
    expect("% local own = require 'own'\n${own.twice(n)}\n% include 'part.tmpl'\n", "{\"n\":4}",
           "8\npart 4\n");
    fixture_write("own.lua", "return { twice = function(x) return 2 * x.y end }\n");
    at_error error = {0};
    rendered out;
    assert_int_equal(render("${require('own').twice(1)}\n", "{}", &out, &error), AT_SCRIPT);
    assert_string_equal(error.file, fixture_path("own.lua"));
    assert_int_equal(error.line, 1);
}

TEST(a_missing_name_is_reported_with_its_line)
{
    expect_error("\n${rowz}\n", "{\"rows\":1}", 2, "there is no 'rowz'; did you mean 'rows'?");
    expect_error("\n\n${o.gpus}\n", "{\"o\":{\"gpu\":1}}", 3,
                 "there is no member 'gpus' here; did you mean 'gpu'?");
    expect_error("${o.xyz}\n", "{\"o\":{\"gpu\":1}}", 1,
                 "there is no member 'xyz' here; names(...) tells which there are");
    expect_error("${o.gpu}\n", "{\"o\":{\"gpu\":null}}", 1, "${o.gpu} is nil");
    expect_error("% o.x = 1\n", "{\"o\":{}}", 1,
                 "this table came with the data and cannot be changed");
}

TEST(an_endless_template_is_ended)
{
    rendered out;
    at_error error = {0};
    assert_int_equal(render("x\n% while true do\n% end\n", "{}", &out, &error), AT_SCRIPT);
    assert_int_equal(error.line, 2);
    assert_non_null(strstr(error.message, "does every loop end?"));
    assert_int_equal(
        render("% local t = 'x'\n% while true do t = t .. t end\n", "{}", &out, &error), AT_SCRIPT);
    assert_non_null(strstr(error.message, "memory"));
    expect_error("% local t = {}\n% for i = 1, 40 do t = { t, t } end\n${json(t)}\n", "{}", 3,
                 "this ran for more than 200000000 instructions: does every loop end?");
    expect_error("% local t = {}\n% t.t = t\n${json(t)}\n", "{}", 3,
                 "json: tables are within each other more than 100 deep");
}

TEST(a_missing_template_is_named)
{
    rendered out;
    at_error error = {0};
    json_t *table = json_object();
    assert_int_equal(script_render_files(NULL, fixture_path("none.tmpl"), table, &out, &error),
                     AT_IO);
    assert_non_null(strstr(error.message, "none.tmpl"));
    assert_int_equal(script_render_files(NULL, fixture_path("none.tmpl"), NULL, &out, &error),
                     AT_NO_MEMORY);
    json_decref(table);
}

TEST(the_tools_own_templates_are_found)
{
    char *text;
    at_error error = {0};
    json_t *table = json_pack("{s[] ss ss}", "patterns", "tool", "t", "stem", "x");
    assert_ok(script_render("export/json.tmpl", table, &text, &error), error);
    assert_non_null(strstr(text, "\"tool\": \"t\""));
    free(text);
    assert_int_equal(script_render("export/none.tmpl", table, &text, &error), AT_IO);
    assert_null(text);
    json_decref(table);
}

TEST_GROUP(fixture_setup, fixture_teardown)
