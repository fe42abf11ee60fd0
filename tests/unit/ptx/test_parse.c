#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ptx/parse.h"
#include "ptx/token.h"

TEST(tokens_keep_dots_bits_and_lines)
{
    static const char text[] = "ld.global.L1::no_allocate.f32 // comment\n%f1, [%rd1+-4];\n"
                               "/* two\nlines */ 0f3F800000 0d4000000000000000 0x1F -7 1.5 \"a b\"";
    ptx_lexer l;
    ptx_lexer_init(&l, text, strlen(text));
    ptx_token t = ptx_lexer_next(&l);
    assert_true(ptx_text_is(t.text, "ld"));
    assert_int_equal(ptx_lexer_next(&l).kind, PTX_TOKEN_MODIFIER);
    t = ptx_lexer_next(&l);
    assert_true(ptx_text_is(t.text, ".L1::no_allocate"));
    assert_true(ptx_text_is(ptx_lexer_next(&l).text, ".f32"));
    t = ptx_lexer_next(&l);
    assert_true(ptx_text_is(t.text, "%f1"));
    assert_int_equal(t.line, 2);
    for (int i = 0; i < 7; i++)
        t = ptx_lexer_next(&l);
    assert_true(ptx_text_is(t.text, "]"));
    ptx_lexer_next(&l);
    t = ptx_lexer_next(&l);
    assert_int_equal(t.kind, PTX_TOKEN_FLOAT);
    assert_true(t.bits == 0x3f800000u);
    assert_int_equal(t.line, 4);
    t = ptx_lexer_next(&l);
    assert_int_equal(t.kind, PTX_TOKEN_DOUBLE);
    assert_true(t.bits == 0x4000000000000000u);
    assert_true(ptx_lexer_next(&l).bits == 31);
    ptx_lexer_next(&l);
    assert_true(ptx_lexer_next(&l).bits == 7);
    t = ptx_lexer_next(&l);
    assert_int_equal(t.kind, PTX_TOKEN_DOUBLE);
    assert_true(t.bits == 0x3ff8000000000000u);
    t = ptx_lexer_next(&l);
    assert_int_equal(t.kind, PTX_TOKEN_STRING);
    assert_true(ptx_text_is(t.text, "a b"));
    assert_int_equal(ptx_lexer_next(&l).kind, PTX_TOKEN_END);
}

static const char head[] = ".version 8.0\n.target sm_90\n.address_size 64\n";

static at_status parse(const char *body, ptx_module **m, at_error *error)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s", head, body);
    return ptx_parse(text, strlen(text), "t.ptx", m, error);
}

TEST(inlined_code_is_blamed_on_the_line_outside_headers)
{
    at_error error = {0};
    ptx_module *m;
    assert_ok(
        parse(".visible .entry k()\n{\n"
              "\t.loc 1 7 3\n\t.loc 2 99 1, function_name $L__info_string0, inlined_at 1 7 3\n"
              "\tret;\n}\n\t.file 1 \"a.cu\"\n\t.file 2 \"/usr/include/b.h\"\n",
              &m, &error),
        error);
    ptx_text file;
    int line;
    ptx_source_line(m, m->statements[0].location, &file, &line);
    assert_true(ptx_text_is(file, "a.cu"));
    assert_int_equal(line, 7);
    ptx_module_free(m);
}

TEST(calls_on_one_line_are_distinguished_by_their_columns)
{
    at_error error = {0};
    ptx_module *m;
    assert_ok(
        parse(".visible .entry k()\n{\n"
              "\t.loc 1 7 3\n\t.loc 2 30 1, function_name $L__info_string0, inlined_at 1 7 9\n"
              "\tret;\n}\n\t.file 1 \"k.tmpl\"\n\t.file 2 \"tile.cuh\"\n",
              &m, &error),
        error);
    const ptx_location *inner = &m->locations[m->statements[0].location];
    assert_int_equal(inner->line, 30);
    assert_int_equal(inner->column, 1);
    assert_int_equal(m->locations[inner->outer].line, 7);
    assert_int_equal(m->locations[inner->outer].column, 9);
    ptx_module_free(m);
}

TEST(a_place_names_the_line_and_where_it_is_inlined)
{
    at_error error = {0};
    ptx_module *m;
    char place[PTX_LOCATION_BYTES];
    assert_ok(
        parse(".visible .entry k()\n{\n"
              "\t.loc 1 7 3\n\t.loc 2 30 1, function_name $L__info_string0, inlined_at 1 7 3\n"
              "\t.loc 3 90 1, function_name $L__info_string1, inlined_at 2 30 1\n"
              "\t.loc 2 6 1, function_name $L__info_string2, inlined_at 3 90 1\n"
              "\tret;\n\t.loc 1 8 1\n\tret;\n}\n"
              "\t.file 1 \"k.tmpl\"\n\t.file 2 \"tile.cuh\"\n\t.file 3 "
              "\"/usr/local/cuda/include/sync.h\"\n",
              &m, &error),
        error);
    ptx_format_location(m, m->statements[0].location, place, sizeof place);
    assert_string_equal(place, "tile.cuh:6, inlined at tile.cuh:30, inlined at k.tmpl:7");
    ptx_format_location(m, m->statements[1].location, place, sizeof place);
    assert_string_equal(place, "k.tmpl:8");
    ptx_format_location(m, PTX_NONE, place, sizeof place);
    assert_string_equal(place, "an unknown line");
    ptx_module_free(m);
}

TEST(nested_scopes_hide_registers_and_give_them_back)
{
    at_error error = {0};
    ptx_module *m;
    assert_ok(
        parse(".visible .entry k(.param .u64 p)\n{\n\t.reg .b32 %r<3>;\n\t.reg .pred low;\n"
              "\t{ .reg .f16 low, high; mov.b32 {low, high}, %r1; }\n\t@low ret;\n\tret;\n}\n",
              &m, &error),
        error);
    const ptx_operand *vector = &m->operands[m->statements[0].first];
    const ptx_operand *inner = &m->operands[vector->first];
    assert_int_equal(m->register_types[inner->index], PTX_F16);
    assert_int_equal(m->register_types[m->statements[1].guard], PTX_PRED);
    ptx_module_free(m);
}

/* Returns the index of the statement to which a branch goes. */
static int target_of(const ptx_module *m, int branch)
{
    const ptx_operand *o = &m->operands[m->statements[branch].first];
    assert_int_equal(o->kind, PTX_OPERAND_LABEL);
    return m->labels[o->index].statement;
}

TEST(a_branch_finds_labels_of_its_block_before_outer_labels)
{
    at_error error = {0};
    ptx_module *m;
    assert_ok(parse(".visible .entry k()\n{\n"
                    "L:\tbra L;\n"                      /* statement 0 */
                    "{ bra L; L: bra L; bra OUT; }\n"   /* statements 1 2 3 */
                    "{ L: bra L; { bra L; bra OUT; } }" /* statements 4 5 6 */
                    "\tbra L;\nOUT:\tret;\n}\n",        /* statements 7 8 */
                    &m, &error),
              error);
    static const int targets[] = {0, 2, 2, 8, 4, 4, 8, 0};
    for (int i = 0; i < 8; i++)
        assert_int_equal(target_of(m, i), targets[i]);
    ptx_module_free(m);
}

TEST(an_address_may_have_coordinates_in_a_view)
{
    ptx_module *m;
    at_error error = {0};
    assert_ok(
        parse(
            ".visible .entry k()\n{\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n\t.reg .f32 %f<9>;\n"
            "\ttex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];\n"
            "\tcp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
            "[%rd2, {%r2, %r3}], "
            "[%r4];\n\tret;\n}\n",
            &m, &error),
        error);
    for (int i = 0; i < 2; i++) {
        const ptx_operand *view = &m->operands[m->statements[i].first + 1];
        assert_int_equal(view->kind, PTX_OPERAND_ADDRESS);
        assert_int_equal(view->count, 2);
        assert_int_equal(m->operands[view->first + 1].kind, PTX_OPERAND_VECTOR);
        assert_int_equal(m->operands[view->first + 1].count, 2);
    }
    ptx_module_free(m);
}

TEST(constant_expressions_are_computed)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"7", 7},         {"-(3)", -3},         {"0b1011", 11},   {"(1+2*3)<<2", 28},
                 {"1+2*3<<2", 28}, {"WARP_SZ*4-1", 127}, {"~0&0xff", 255}, {"(!5)|!0", 1},
                 {"6^3&2", 4},     {"-8>>1", -4},        {"7/2", 3},       {"10-4-3", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[512];
        at_error error = {0};
        ptx_module *m;
        snprintf(body, sizeof body,
                 ".shared .b32 s[64];\n.visible .entry k()\n{\n.reg .b32 r; .reg .b64 x;\n"
                 "mov.u32 r, %s;\nld.shared.u32 r, [x+%s];\nld.shared.u32 r, [s-4+%s];\nret;\n}\n",
                 cases[i].text, cases[i].text, "(2*3)");
        assert_ok(parse(body, &m, &error), error);
        const ptx_operand *o = m->operands;
        for (int k = 0; k < 3; k++) {
            const ptx_operand *second = &o[m->statements[k].first + 1];
            const int64_t found = k ? second->offset : (int64_t)second->bits;
            if (m->statements[k].unreadable || found != (k < 2 ? cases[i].value : 2))
                fail_msg("%s: statement %d, %lld", cases[i].text, k, (long long)found);
        }
        ptx_module_free(m);
    }
}

TEST(an_invalid_constant_is_not_read)
{
    static const char *const wrong[] = {"1/0", "(1", "1 ~ 2", "1 <", "()", "0b12", "-"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char body[256];
        at_error error = {0};
        ptx_module *m;
        snprintf(body, sizeof body,
                 ".visible .entry k()\n{\n.reg .b32 r;\nmov.u32 r, %s;\nret;\n}\n", wrong[i]);
        if (parse(body, &m, &error) == AT_OK) {
            assert_true(m->statements[0].unreadable);
            ptx_module_free(m);
        }
    }
}

TEST(functions_take_registers_and_kernels_textures)
{
    at_error error = {0};
    ptx_module *m;
    assert_ok(parse(".func (.reg .u32 r, .reg .f64 d) f (.reg .b64 a) { .reg .b32 b; mov.u32 r, b; "
                    "mov.f64 d, a; ret; }\n"
                    ".func g (.reg .u32 a);\n"
                    ".visible .entry k(.param .texref t, .param .samplerref s, .param .surfref u, "
                    ".param .u32 n)\n{\n.reg .b32 x;\nld.param.u32 x, [n];\nret;\n}\n",
                    &m, &error),
              error);
    const ptx_function *f = &m->functions[0], *k = &m->functions[2];
    assert_int_equal(f->register_results, 2);
    assert_int_equal(f->register_parameters, 1);
    assert_int_equal(f->register_count, 4);
    assert_int_equal(m->register_types[f->first_register + 1], PTX_F64);
    assert_int_equal(m->functions[1].register_parameters, 1);
    assert_int_equal(k->parameter_count, 4);
    assert_int_equal(k->register_count, 1);
    for (size_t i = 0; i < m->statement_count; i++)
        assert_false(m->statements[i].unreadable);
    ptx_module_free(m);
}

TEST(an_alias_may_come_before_or_after_its_function)
{
    at_error error = {0};
    ptx_module *m;
    assert_ok(parse(".func a;\n.func f { ret; }\n.global .u64 t[1] = {a};\n"
                    ".visible .entry k() { call a; ret; }\n.alias a, f;\n"
                    ".visible .entry l() { call a; ret; }\n.alias unknown, f;\n",
                    &m, &error),
              error);
    for (int i = 1; i < 5; i += 2)
        assert_int_equal(m->operands[m->statements[i].first].index, 1);
    assert_int_equal(m->relocations[0].target, 1);
    ptx_module_free(m);
}

TEST(mistakes_name_the_line)
{
    static const struct {
        const char *body;
        int line;
        const char *part;
    } cases[] = {
        {".visible .entry k()\n{\n\tadd.s32 %r1, %r2\n}\n", 7, "expected"},
        {".global .u32 x[3] = {1, 2\n", 5, "must be a number"},
        {"hello\n", 4, "expected a directive"},
        {".visible .entry k()\n{\n\tret;\n", 7, "end of the file"},
        {".visible .entry k()\n{\nA:\nA:\n\tret;\n}\n", 8, "twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_error error = {0};
        ptx_module *m;
        assert_int_equal(parse(cases[i].body, &m, &error), AT_FORMAT);
        assert_null(m);
        if (error.line != cases[i].line || !strstr(error.message, cases[i].part))
            fail_msg("case %zu: %s:%d: %s", i, error.file, error.line, error.message);
    }
}

TEST(initial_values_may_be_addresses)
{
    static const struct {
        uint64_t at;
        uint32_t bytes, shift;
        bool is_function;
        int64_t addend;
    } expected[] = {{8, 8, 0, true, 0},
                    {16, 8, 0, false, 0},
                    {24, 8, 0, false, 4},
                    {0, 1, 0, true, 0},
                    {1, 1, 8, true, 0}};
    at_error error = {0};
    ptx_module *m;
    assert_ok(
        parse(".func f;\n.global .align 4 .u32 x;\n"
              ".global .align 8 .u64 t[4] = {7, f, x, generic(x)+4};\n"
              ".global .align 8 .b8 s[4] = {0xFF(f), 0xFF00(f), 3};\n"
              ".global .align 8 .u64 lost[2] = {f, unknown};\n.visible .entry k()\n{\n\tret;\n}\n",
              &m, &error),
        error);
    assert_int_equal(m->variable_count, 3);
    assert_int_equal(m->relocation_count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < m->relocation_count; i++) {
        const ptx_relocation *r = &m->relocations[i];
        assert_int_equal(r->variable, i < 3 ? 1 : 2);
        assert_int_equal(r->target, 0);
        assert_int_equal(r->at, expected[i].at);
        assert_int_equal(r->bytes, expected[i].bytes);
        assert_int_equal(r->shift, expected[i].shift);
        assert_int_equal(r->is_function, expected[i].is_function);
        assert_int_equal(r->addend, expected[i].addend);
    }
    assert_int_equal(m->variables[1].initial[0], 7);
    assert_int_equal(m->variables[2].initial[2], 3);
    ptx_module_free(m);
}

TEST(statements_that_cannot_be_read_are_skipped)
{
    at_error error = {0};
    ptx_module *m;
    assert_ok(
        parse(".global .u32 x[2] = {1, 2, 3};\n.weird 7 { {a} };\n.strange a, b;\n.visible .entry "
              "k()\n{\n"
              "\t.reg .b32 %r<99999999>;\n\tld.u32 1, [8, 4];\n\tadd {1 ~ 2}, [[3]];\n\tret;\n}\n",
              &m, &error),
        error);
    assert_int_equal(m->variable_count, 0);
    assert_int_equal(m->register_count, 0);
    assert_int_equal(m->statement_count, 3);
    assert_true(m->statements[0].unreadable && m->statements[1].unreadable &&
                !m->statements[2].unreadable);
    assert_true(ptx_text_is(m->statements[1].opcode, "add"));
    assert_int_equal(m->statements[1].line, 11);
    ptx_module_free(m);
}

TEST(every_prefix_of_a_module_is_an_error_or_a_module)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "%s.global .align 4 .u32 x[2] = {1, 2};\n"
        ".visible .entry k(.param .u64 .ptr .align 1 p, .param .u32 q)\n.maxntid 64, 1, 1\n{\n"
        "\t.reg .b32 %%r<9>;\n\t.reg .pred %%p<2>;\n\t.shared .align 4 .b8 s[64];\n"
        "\t.loc 1 3 4\nL: ld.param.u32 %%r1, [q];\n\tsetp.lt.s32 %%p1, %%r1, 4;\n\t@!%%p1 bra L;\n"
        "\tmov.b32 %%r2, {%%r3, %%r4};\n\tret;\n}\n\t.file 1 \"a.cu\"\n",
        head);
    for (size_t n = 0; n <= strlen(text); n++) {
        at_error error = {0};
        ptx_module *m;
        at_status status = ptx_parse(text, n, "t.ptx", &m, &error);
        assert_true(status == AT_OK || (status == AT_FORMAT && error.message[0]));
        ptx_module_free(m);
    }
}
