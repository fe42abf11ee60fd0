#include <limits.h>

#include "ptx/parser.h"

void ptx_parse_file(ptx_parser *p)
{
    ptx_advance(p);
    int64_t number = ptx_take_integer(p);
    ptx_module *m = p->module;
    if (p->token.kind != PTX_TOKEN_STRING || number < 0 || number > 65535) {
        ptx_fail(p, "a .file directive needs a number and a name");
        return;
    }
    while (m->file_count <= (size_t)number && !p->status)
        ptx_keep(p, &m->files, &m->file_count, &(ptx_text){"", 0}, sizeof *m->files);
    if (p->status)
        return;
    m->files[number] = p->token.text;
    ptx_advance(p);
    while (ptx_accept(p, ','))
        ptx_advance(p);
}

static int clamp_int(int64_t v)
{
    return v < 0 ? 0 : v > INT_MAX ? INT_MAX : (int)v;
}

/* `at` has the file, line and column. */
static int add_location(ptx_parser *p, const int64_t at[3], int outer)
{
    ptx_module *m = p->module;
    const ptx_location l = {clamp_int(at[0]), clamp_int(at[1]), clamp_int(at[2]), outer};
    ptx_keep(p, &m->locations, &m->location_count, &l, sizeof l);
    return (int)m->location_count - 1;
}

/* .loc FILE LINE COLUMN [, function_name LABEL [+ N], inlined_at FILE LINE COLUMN] */
void ptx_parse_loc(ptx_parser *p)
{
    int64_t at[3], outer_at[3];
    int outer = PTX_NONE;
    ptx_advance(p);
    for (int i = 0; i < 3; i++)
        at[i] = ptx_take_integer(p);
    if (ptx_at(p, ',')) {
        while (!(p->token.kind == PTX_TOKEN_WORD && ptx_text_is(p->token.text, "inlined_at")) &&
               !p->status) {
            if (p->token.kind == PTX_TOKEN_END || p->token.kind == PTX_TOKEN_MODIFIER)
                ptx_fail(p, "a .loc directive with a function name lacks inlined_at");
            ptx_advance(p);
        }
        ptx_advance(p);
        for (int i = 0; i < 3; i++)
            outer_at[i] = ptx_take_integer(p);
        /* The caller's own location comes a few directives before, itself perhaps inlined. */
        const ptx_module *m = p->module;
        int alike = PTX_NONE; /* on that line, of another column */
        for (size_t i = m->location_count; i-- > 0 && m->location_count - i < 64 && outer < 0;) {
            const ptx_location *l = &m->locations[i];
            if (l->file != outer_at[0] || l->line != outer_at[1])
                continue;
            if (l->column == outer_at[2])
                outer = (int)i;
            else if (alike == PTX_NONE)
                alike = (int)i;
        }
        if (outer == PTX_NONE)
            outer =
                add_location(p, outer_at, alike == PTX_NONE ? PTX_NONE : m->locations[alike].outer);
    }
    if (at[1] != 0) /* 0 is "no line": stay with the line before */
        p->location = add_location(p, at, outer);
}
