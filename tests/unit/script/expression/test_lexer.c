#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "script/expression/lexer.h"

static void expect_tokens(const char *text, const char *wanted)
{
    char found[1024] = "";
    lexer l = lexer_make(text, strlen(text));
    for (token t = lexer_next(&l); t.kind != TOKEN_END; t = lexer_next(&l)) {
        strcat(found, *found ? "|" : "");
        strncat(found, t.text, t.length);
    }
    assert_string_equal(found, wanted);
}

TEST(texts_are_split_into_tokens_as_in_lua)
{
    expect_tokens("a.b+c_1//2..d", "a|.|b|+|c_1|//|2..d"); /* in Lua, 2..d is a malformed number */
    expect_tokens("a..b ... ~=<=>===::", "a|..|b|...|~=|<=|>=|==|::");
    expect_tokens("0x1p-4 1e5 1e+5 .5 3.e2-1 0xAg", "0x1p-4|1e5|1e+5|.5|3.e2|-|1|0xAg");
    expect_tokens("'a b' \"c\\\"d\" 'e\\\nf'", "'a b'|\"c\\\"d\"|'e\\\nf'");
    expect_tokens("[[x ]] ]=] [==[ y]=] ]==] [=x", "[[x ]]|]|=|]|[==[ y]=] ]==]|[|=|x");
    expect_tokens("a --b\nc --[[d\n]] e --[=[ ]] ]=] f --", "a|c|e|f");
    expect_tokens("a -- b\rc 'd\re", "a|c|'d|e");
    expect_tokens("'a\\\r\nb' c", "'a\\\r\nb'|c"); /* an escaped line end of two characters */
    expect_tokens("'open", "'open");
    expect_tokens("[[open", "[[open");
    expect_tokens("", "");
}

TEST(lines_are_counted_in_strings_and_comments_too)
{
    const char *text = "a\n[[\n\n]] b --[[\n]] c '\\\n' d\r\ne\rf";
    static const int lines[] = {1, 2, 4, 5, 5, 6, 7, 8};
    lexer l = lexer_make(text, strlen(text));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(lexer_next(&l).line, lines[i]);
    assert_int_equal(lexer_next(&l).kind, TOKEN_END);
}

static const char script[] = "local at = require 'autotune' -- pattern { a = 1 }\n" /* line 1 */
                             "local pattern = 'pattern {'\n"
                             "return at.pattern {\n" /* line 3 */
                             "  name = 'x', ['space'] = {\n"
                             "    tile = f(1, { 2 }), [ [[long]] ] = 3,\n" /* line 5 */
                             "    -- last = 1\n"
                             "    last = { 1, function(a, b) return { a, b } end,\n"
                             "      third } ; done = at.input {\n" /* line 8 */
                             "      deep = at.output({\n"
                             "        bottom = 1 }) }\n" /* line 10 */
                             "  },\n"
                             "  where = { 'a', 'b',\n"
                             "    'c' },\n" /* line 13 */
                             "}\n";

static int line_of(const source_step *steps, size_t count)
{
    return source_line((source_text){script, sizeof script - 1, false}, steps, count);
}

TEST(fields_are_found_by_their_path)
{
    assert_int_equal(line_of(NULL, 0), 3);
    assert_int_equal(line_of((source_step[]){{"space", 0}}, 1), 4);
    assert_int_equal(line_of((source_step[]){{"space", 0}, {"tile", 0}}, 2), 5);
    assert_int_equal(line_of((source_step[]){{"space", 0}, {"last", 0}}, 2), 7);
    assert_int_equal(line_of((source_step[]){{"space", 0}, {"done", 0}}, 2), 8);
    assert_int_equal(
        line_of((source_step[]){{"space", 0}, {"done", 0}, {"deep", 0}, {"bottom", 0}}, 4), 10);
    assert_int_equal(line_of((source_step[]){{"where", 0}, {NULL, 2}}, 2), 12);
    assert_int_equal(line_of((source_step[]){{"where", 0}, {NULL, 3}}, 2), 13);
    /* For a missing step, the result is the line of the last step that was found. */
    assert_int_equal(line_of((source_step[]){{"where", 0}, {NULL, 4}}, 2), 12);
    assert_int_equal(line_of((source_step[]){{"wehre", 0}}, 1), 3);
    assert_int_equal(source_line((source_text){"x = 1", 5, false}, NULL, 0), 0);
    assert_int_equal(source_line((source_text){"pattern", 7, false}, NULL, 0), 0);
}

TEST(fields_of_a_comment_are_its_assignments)
{
    static const char body[] = "\n problem = { n = 1 }\nspace = {\n BLOCK = at.pow2(1, 8),\n"
                               " VEC = { 1 } } where = 'VEC == 1'\nsizes = { x = 'n' }\n";
    const source_text text = {body, sizeof body - 1, true};
    assert_int_equal(source_line(text, NULL, 0), 2);
    assert_int_equal(source_line(text, (source_step[]){{"space", 0}}, 1), 3);
    assert_int_equal(source_line(text, (source_step[]){{"space", 0}, {"VEC", 0}}, 2), 5);
    assert_int_equal(source_line(text, (source_step[]){{"where", 0}}, 1), 5);
    assert_int_equal(source_line(text, (source_step[]){{"sizes", 0}, {"x", 0}}, 2), 6);
}

TEST(keys_come_in_the_order_of_the_text)
{
    static const char *const keys[] = {"tile", "long", "last", "done"};
    const source_text text = {script, sizeof script - 1, false};
    source_step space = {"space", 0};
    token key;
    for (size_t i = 0; i < 4; i++) {
        assert_true(source_key(text, &space, 1, i, &key));
        assert_int_equal(key.length, strlen(keys[i]));
        assert_memory_equal(key.text, keys[i], key.length);
    }
    assert_false(source_key(text, &space, 1, 4, &key));
    assert_false(source_key(text, &(source_step){"none", 0}, 1, 0, &key));
}

TEST(any_cut_of_a_text_is_read_without_harm)
{
    source_step steps[] = {{"space", 0}, {"done", 0}, {"deep", 0}, {"bottom", 0}};
    for (size_t from = 0; from < sizeof script - 1; from++)
        for (size_t to = from; to < sizeof script - 1; to++) {
            /* The copy is on the heap, so that the sanitizer detects reads behind its end. */
            size_t size_bytes = to - from, lines = 1;
            char *cut = malloc(size_bytes + !size_bytes);
            token key;
            memcpy(cut, script + from, size_bytes);
            for (size_t i = 0; i < size_bytes; i++)
                lines += cut[i] == '\n';
            for (int bare = 0; bare < 2; bare++) {
                const source_text text = {cut, size_bytes, bare};
                assert_in_range(source_line(text, steps, 4), 0, lines);
                if (source_key(text, steps, 1, 2, &key))
                    assert_true(key.text >= cut && key.text + key.length <= cut + size_bytes);
            }
            free(cut);
        }
}

static void expect_repeated(const char *text, bool bare, const char *wanted)
{
    char found[256] = "";
    token keys[8];
    const size_t count = source_repeated_keys((source_text){text, strlen(text), bare}, keys,
                                              sizeof keys / sizeof *keys);
    for (size_t i = 0; i < count; i++)
        sprintf(found + strlen(found), "%s%.*s:%d", i ? " " : "", (int)keys[i].length, keys[i].text,
                keys[i].line);
    assert_string_equal(found, wanted);
}

TEST(a_duplicate_key_is_found_with_its_line)
{
    expect_repeated("return { a = 1,\n b = 2,\n a = 3 }", false, "a:3");
    expect_repeated("at.pattern { space = { x = 1,\n ['x'] = 2 }, [\"space\"] = 3; }", false,
                    "x:2 space:2");
    expect_repeated("{ a = { k = 1 }, b = { k = 2 }, c = f { k = { k = 1 } } }", false, "");
    expect_repeated("{ f = function() x = 1; x = 2 end, y = 1 }", false, "");
    expect_repeated("{ a == 1, a == 2, { a, a }, 'a = 1, a = 2' } -- { a = 1, a = 2 }", false, "");
    expect_repeated("x = 1 x = 2", false, "");
    expect_repeated("problem = { n = 1 }\nspace = { B = {1} }\nproblem = { n = 2 }", true,
                    "problem:3");
}
