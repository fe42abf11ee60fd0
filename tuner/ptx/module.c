#include "ptx/module.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *modifier;
    uint32_t bytes;
} types[PTX_TYPE_COUNT] = {
    [PTX_B8] = {".b8", 1},       [PTX_U8] = {".u8", 1},       [PTX_S8] = {".s8", 1},
    [PTX_B16] = {".b16", 2},     [PTX_U16] = {".u16", 2},     [PTX_S16] = {".s16", 2},
    [PTX_F16] = {".f16", 2},     [PTX_BF16] = {".bf16", 2},   [PTX_B32] = {".b32", 4},
    [PTX_U32] = {".u32", 4},     [PTX_S32] = {".s32", 4},     [PTX_F32] = {".f32", 4},
    [PTX_F16X2] = {".f16x2", 4}, [PTX_BF16X2] = {".bf16x2", 4}, [PTX_TF32] = {".tf32", 4},
    [PTX_B64] = {".b64", 8},     [PTX_U64] = {".u64", 8},     [PTX_S64] = {".s64", 8},
    [PTX_F64] = {".f64", 8},     [PTX_F32X2] = {".f32x2", 8}, [PTX_B128] = {".b128", 16},
    [PTX_PRED] = {".pred", 0},
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

static bool ends_in(ptx_text text, const char *end)
{
    size_t length = strlen(end);
    return text.length >= length && memcmp(text.at + text.length - length, end, length) == 0;
}

/* What follows the first folder called include; the text itself where there is none. */
static ptx_text past_include(ptx_text file)
{
    static const char folder[] = "/include/";
    uint32_t length = sizeof folder - 1;
    for (uint32_t i = 0; i + length <= file.length; i++)
        if (memcmp(file.at + i, folder, length) == 0)
            return (ptx_text){file.at + i + length, file.length - i - length};
    return file;
}

/* The file as it was called where it comes from, and whether it is a header that came with the
 * toolkit, which is not where a person looks for an error. NVRTC takes the name of a #line for that
 * of a file in its include folder: what is no header there is a template. */
static ptx_text name_file(ptx_text file, bool *is_header)
{
    ptx_text name = past_include(file);
    bool is_template = ends_in(name, ".tmpl") || ends_in(name, ".cu");
    *is_header = name.length < file.length && !is_template;
    return is_template ? name : file;
}

void ptx_source_line(const ptx_module *m, int location, ptx_text *file, int *line)
{
    *file = (ptx_text){"", 0};
    *line = 0;
    while (location != PTX_NONE) {
        const ptx_location *l = &m->locations[location];
        bool header = false;
        if (l->file >= 0 && (size_t)l->file < m->file_count)
            *file = name_file(m->files[l->file], &header);
        *line = l->line;
        if (!header)
            return;
        location = l->outer;
    }
}
