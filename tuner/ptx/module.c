#include "ptx/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *modifier;
    uint32_t bytes;
} types[PTX_TYPE_COUNT] = {
    [PTX_B8] = {".b8", 1},         [PTX_U8] = {".u8", 1},         [PTX_S8] = {".s8", 1},
    [PTX_B16] = {".b16", 2},       [PTX_U16] = {".u16", 2},       [PTX_S16] = {".s16", 2},
    [PTX_F16] = {".f16", 2},       [PTX_BF16] = {".bf16", 2},     [PTX_B32] = {".b32", 4},
    [PTX_U32] = {".u32", 4},       [PTX_S32] = {".s32", 4},       [PTX_F32] = {".f32", 4},
    [PTX_F16X2] = {".f16x2", 4},   [PTX_BF16X2] = {".bf16x2", 4}, [PTX_TF32] = {".tf32", 4},
    [PTX_B64] = {".b64", 8},       [PTX_U64] = {".u64", 8},       [PTX_S64] = {".s64", 8},
    [PTX_F64] = {".f64", 8},       [PTX_F32X2] = {".f32x2", 8},   [PTX_B128] = {".b128", 16},
    [PTX_E4M3X2] = {".e4m3x2", 2}, [PTX_E5M2X2] = {".e5m2x2", 2}, [PTX_U16X2] = {".u16x2", 4},
    [PTX_S16X2] = {".s16x2", 4},   [PTX_PRED] = {".pred", 0},
};

uint32_t ptx_type_bytes(ptx_type type)
{
    return types[type].bytes;
}

bool ptx_type_find(ptx_text modifier, ptx_type *type)
{
    for (int i = 0; i < PTX_TYPE_COUNT; i++) {
        if (ptx_text_is(modifier, types[i].modifier)) {
            *type = (ptx_type)i;
            return true;
        }
    }
    return false;
}

bool ptx_opcode_type(ptx_text opcode, ptx_type *type)
{
    for (uint32_t at = opcode.length; at-- > 0;)
        if (opcode.at[at] == '.')
            return ptx_type_find((ptx_text){opcode.at + at, opcode.length - at}, type);
    return false;
}

static const char *const space_names[] = {
    [PTX_SPACE_GENERIC] = "generic", [PTX_SPACE_GLOBAL] = "global", [PTX_SPACE_SHARED] = "shared",
    [PTX_SPACE_LOCAL] = "local",     [PTX_SPACE_CONST] = "const",   [PTX_SPACE_PARAM] = "param"};

const char *ptx_space_name(ptx_space space)
{
    return space_names[space];
}

void ptx_module_free(ptx_module *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->variable_count; i++)
        free(m->variables[i].initial);
    free(m->text);
    free(m->register_types);
    free(m->variables);
    free(m->functions);
    free(m->statements);
    free(m->operands);
    free(m->labels);
    free(m->locations);
    free(m->relocations);
    free(m->files);
    free(m);
}

int ptx_module_entry(const ptx_module *m, const char *name)
{
    for (size_t i = 0; i < m->function_count; i++)
        if (m->functions[i].is_entry && (!name || ptx_text_is(m->functions[i].name, name)))
            return (int)i;
    return PTX_NONE;
}

bool ptx_is_header(ptx_text file)
{
    static const char folder[] = "/include/";
    const uint32_t length = sizeof folder - 1;
    for (uint32_t i = 0; file.length > 0 && *file.at == '/' && i + length <= file.length; i++)
        if (memcmp(file.at + i, folder, length) == 0)
            return true;
    return false;
}

ptx_text ptx_location_file(const ptx_module *m, const ptx_location *l)
{
    static const ptx_text unknown = {"", 0};
    return l->file >= 0 && (size_t)l->file < m->file_count ? m->files[l->file] : unknown;
}

int ptx_user_location(const ptx_module *m, int location)
{
    while (location != PTX_NONE && ptx_is_header(ptx_location_file(m, &m->locations[location])) &&
           m->locations[location].outer != PTX_NONE)
        location = m->locations[location].outer;
    return location;
}

void ptx_source_line(const ptx_module *m, int location, ptx_text *file, int *line)
{
    location = ptx_user_location(m, location);
    *file =
        location == PTX_NONE ? (ptx_text){"", 0} : ptx_location_file(m, &m->locations[location]);
    *line = location == PTX_NONE ? 0 : m->locations[location].line;
}

static void add_place(const ptx_module *m, const ptx_location *l, const char *before, char *text,
                      size_t size_bytes)
{
    enum { MOST_NAME = 120 };
    const ptx_text file = ptx_location_file(m, l);
    const size_t used = strlen(text);
    snprintf(text + used, size_bytes - used, "%s%.*s:%d", before,
             (int)(file.length > MOST_NAME ? MOST_NAME : file.length), file.at, l->line);
}

void ptx_format_location(const ptx_module *m, int location, char *text, size_t size_bytes)
{
    enum { MOST_CALLS = 4 };
    int at = ptx_user_location(m, location);
    snprintf(text, size_bytes, "%s", at == PTX_NONE ? "an unknown line" : "");
    if (at == PTX_NONE)
        return;
    add_place(m, &m->locations[at], "", text, size_bytes);
    for (int i = 0; i < MOST_CALLS && m->locations[at].outer != PTX_NONE; i++) {
        at = ptx_user_location(m, m->locations[at].outer);
        add_place(m, &m->locations[at], ", inlined at ", text, size_bytes);
    }
}
