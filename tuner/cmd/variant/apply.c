/* autotune apply: the winner's values into a kernel's own file, as the defaults of its macros. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pack.h"
#include "capture/capture.h"
#include "cmd/line/commands.h"
#include "cmd/line/edit.h"
#include "cmd/line/known.h"
#include "cmd/variant/best.h"
#include "cmd/variant/followed.h"
#include "run/setup/setup.h"
#include "script/kernel_file.h"

enum { MOST_ARCHES = 16, NAME_BYTES = 4096 };

/* A configuration, and the architecture that it is for. */
typedef struct choice {
    int major, minor;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
} choice;

typedef struct application {
    const options *o;
    script *s;
    bool is_mix; /* --captured names a folder with several launches, for which one was found */
    const kernel_file *file;
    const char *const *defines;
    size_t define_count;
    choice choices[MOST_ARCHES]; /* of one alone the architecture does not count */
    size_t choice_count;
    edit_list *edits; /* of each unit */
    pack added;       /* definitions that the file has no place for */
} application;

/* The text that a macro of that value is defined as, as C writes it. */
static void format(value v, char text[RECORD_TEXT_BYTES])
{
    if (v.kind == VALUE_BOOLEAN)
        strcpy(text, v.boolean ? "1" : "0");
    else
        value_format(v, text, RECORD_TEXT_BYTES);
}

/* The only place where the file defines the name; *unit says in which of its files. NULL: nowhere.
 * AT_USAGE: in several. */
static at_status find_definition(const application *a, const char *name, const cpp_macro **out,
                                 size_t *unit, at_error *error)
{
    *out = NULL;
    for (size_t u = 0; u < a->file->count; u++)
        for (size_t i = 0; i < a->file->units[u].macro_count; i++) {
            const cpp_macro *m = &a->file->units[u].macros[i];
            if (!cpp_span_is(m->name, name))
                continue;
            if (*out)
                return error_set_at(error, AT_USAGE, a->file->paths[u], m->line,
                                    "%s is defined here and in line %d of %s: which of them is the "
                                    "default is not said; leave one",
                                    name, (*out)->line, a->file->names[*unit]);
            *out = m;
            *unit = u;
        }
    return AT_OK;
}

static bool is_define(const application *a, const char *name)
{
    for (size_t i = 0; i < a->define_count; i++)
        if (strcmp(a->defines[i], name) == 0)
            return true;
    return false;
}

static value value_of(const application *a, size_t number, size_t parameter)
{
    return script_pattern(a->s)
        ->parameters[parameter]
        .values[a->choices[number].indices[parameter]];
}

static bool is_same_everywhere(const application *a, size_t parameter)
{
    for (size_t i = 1; i < a->choice_count; i++)
        if (!value_equal(value_of(a, 0, parameter), value_of(a, i, parameter)))
            return false;
    return true;
}

/* The host's code has no __CUDA_ARCH__: what it reads is the same for all. */
static at_status check_host(const application *a, const char *name, at_error *error)
{
    const char *const words[] = {name, NULL};
    for (size_t u = 0; u < a->file->count; u++)
        for (size_t i = 0; i < a->file->units[u].declaration_count; i++) {
            const cpp_declaration *d = &a->file->units[u].declarations[i];
            if (d->wanted || d->member || d->kind != CPP_FUNCTION ||
                !cpp_text_has(a->file->units, a->file->count, d->span, words))
                continue;
            return error_set_at(error, AT_USAGE, a->file->paths[u], d->line,
                                "the host's code here reads %s, which is not the same on all "
                                "architectures, and __CUDA_ARCH__ is the device's alone: apply for "
                                "one (--arch), or let the program choose ('autotune export')",
                                name);
        }
    return AT_OK;
}

/* The definition with another value, by architecture where that makes a difference. */
static char *redefined(const application *a, size_t parameter, const cpp_macro *m)
{
    char text[RECORD_TEXT_BYTES];
    pack out = {0};
    const char *after = m->value.text + m->value.length;
    const size_t before_bytes = (size_t)(m->value.text - m->span.text),
                 after_bytes = (size_t)(m->span.text + m->span.length - after);
    for (size_t i = 0; i < a->choice_count && a->choice_count > 1; i++) {
        char line[64];
        snprintf(line, sizeof line, "#%s __CUDA_ARCH__ == %d%d0\n", i ? "elif" : "if",
                 a->choices[i].major, a->choices[i].minor);
        format(value_of(a, i, parameter), text);
        pack_append_text(&out, line);
        pack_append(&out, m->span.text, before_bytes);
        pack_append_text(&out, text);
        pack_append(&out, after, after_bytes);
        pack_append_text(&out, "\n");
    }
    if (a->choice_count > 1) {
        pack_append_text(&out, "#else\n");
        pack_append(&out, m->span.text, m->span.length);
        pack_append_text(&out, "\n#endif");
    }
    return memory_have(pack_take_text(&out));
}

static at_status apply_parameter(application *a, size_t parameter, at_error *error)
{
    const char *name = script_pattern(a->s)->parameters[parameter].name;
    const cpp_macro *m;
    size_t unit = 0;
    char text[RECORD_TEXT_BYTES], was[RECORD_TEXT_BYTES];
    if (!is_define(a, name)) /* the launches have it */
        return AT_OK;
    const bool same = is_same_everywhere(a, parameter);
    at_status status = find_definition(a, name, &m, &unit, error);
    if (!status && !same)
        status = check_host(a, name, error);
    if (status)
        return status;
    format(value_of(a, 0, parameter), text);
    if (!m && same) {
        char line[2 * RECORD_TEXT_BYTES + 64];
        snprintf(line, sizeof line, "#ifndef %s\n#define %s %s\n#endif\n", name, name, text);
        pack_append_text(&a->added, line);
        return AT_OK;
    }
    if (!m)
        return error_set_at(error, AT_USAGE, a->file->path, 0,
                            "nothing defines %s, which is not the same on all architectures: give "
                            "it a default",
                            name);
    snprintf(was, sizeof was, "%.*s", (int)m->value.length, m->value.text);
    const cpp_unit *u = &a->file->units[unit];
    if (same && !value_equal(value_parse(was), value_parse(text)))
        edit_add(&a->edits[unit], (size_t)(m->value.text - u->text), m->value.length, text);
    if (same)
        return AT_OK;
    char *all = redefined(a, parameter, m);
    edit_add(&a->edits[unit], (size_t)(m->span.text - u->text), m->span.length, all);
    free(all);
    return AT_OK;
}

/* Definitions of what the file leaves to -D go after its comment, or before everything. */
static void add_definitions(application *a)
{
    char *text = memory_have(pack_take_text(&a->added));
    const cpp_unit *u = &a->file->units[0];
    if (*text) {
        const char *at = u->own_comment.text + u->own_comment.length;
        at += *at == '\n';
        edit_add(&a->edits[0], (size_t)(at - u->text), 0, text);
    }
    free(text);
}

static at_status choose(application *a, const arch_limits *arch, at_error *error)
{
    pick_rule rule;
    choice *c = &a->choices[a->choice_count];
    *c = (choice){.major = arch->major, .minor = arch->minor};
    at_status status = AT_OK;
    if (a->o->configuration) {
        status = script_parse_configuration(a->s, a->o->configuration, c->indices, error);
    } else if (a->is_mix) {
        status = best_find_mix(a->o, a->s, arch, c->indices, error);
    } else {
        status = best_find(a->o, a->s, arch, c->indices, &rule, error);
        if (!status && rule == PICK_DEFAULT)
            status = error_set(error, AT_USAGE,
                               "nothing is recorded of %s for %s, and runs on simulated devices "
                               "record nothing: tune it there first, or give the values, --config "
                               "%s=...",
                               script_pattern(a->s)->name, arch->name,
                               script_pattern(a->s)->parameters[0].name);
    }
    a->choice_count += !status;
    return status;
}

static int older_first(const void *a, const void *b)
{
    const choice *x = a, *y = b;
    return x->major != y->major ? x->major - y->major : x->minor - y->minor;
}

/* One choice for each architecture whose records there are. */
static at_status choose_each(application *a, at_error *error)
{
    record_set records = {0};
    at_status status = known_records(a->o, script_pattern(a->s)->name, false, &records, error);
    for (size_t i = 0; !status && i < records.count; i++) {
        const record *r = &records.records[i];
        bool known = a->choice_count == MOST_ARCHES;
        for (size_t k = 0; k < a->choice_count; k++)
            known = known || (a->choices[k].major == r->major && a->choices[k].minor == r->minor);
        arch_limits arch;
        char name[32];
        snprintf(name, sizeof name, "sm_%d%d", r->major, r->minor);
        if (known || arch_find(name, &arch, NULL))
            continue;
        snprintf(arch.name, sizeof arch.name, "%s", r->gpu);
        status = choose(a, &arch, error);
    }
    if (!status && a->choice_count == 0)
        status = error_set(error, AT_USAGE, "nothing is recorded of %s: tune it first",
                           script_pattern(a->s)->name);
    record_set_deinit(&records);
    qsort(a->choices, a->choice_count, sizeof *a->choices, older_first);
    return status;
}

static at_status write_units(const application *a, bool complete, at_error *error)
{
    bool any = false;
    at_status status = AT_OK;
    for (size_t u = 0; u < a->file->count; u++) {
        any = any || a->edits[u].count > 0;
        edit_print(&a->edits[u], a->file->texts[u], a->file->paths[u], stdout);
    }
    for (size_t u = 0; !status && a->o->write && u < a->file->count; u++) {
        if (a->edits[u].count == 0)
            continue;
        char *after = edit_apply(&a->edits[u], a->file->texts[u]);
        status = edit_write(a->file->paths[u], a->file->texts[u], after, error);
        free(after);
    }
    if (!status && !any && complete)
        fprintf(stderr, "autotune: %s has these values already\n", a->file->path);
    else if (!status && any && !a->o->write)
        fprintf(stderr, "autotune: nothing is written; --write does\n");
    return status;
}

/* False if a launch of the file does not follow, which is told. */
static bool change_launches(const application *a)
{
    bool is_macro[PATTERN_MAX_PARAMETERS], complete = true;
    const pattern *p = script_pattern(a->s);
    for (size_t i = 0; i < p->parameter_count; i++)
        is_macro[i] = is_define(a, p->parameters[i].name);
    for (size_t i = 0; i < a->choice_count; i++)
        complete = followed_change(a->s, a->choices[i].indices, is_macro, a->edits) && complete;
    return complete;
}

/* Does it name a folder with several launches? Then the first says what the script is told: all are
 * of one kernel. What is wrong with a folder is told when the script is loaded. */
static bool take_mix(settings *asked, char first[NAME_BYTES])
{
    at_error ignored = {0};
    size_t count;
    if (!asked->pattern.captured || captured_count(asked->pattern.captured, &count, &ignored) ||
        count < 2)
        return false;
    snprintf(first, NAME_BYTES, "%s:1", asked->pattern.captured);
    asked->pattern.captured = first;
    return true;
}

static at_status apply(const options *o, int *exit_code, at_error *error)
{
    arch_limits arch;
    application a = {.o = o};
    at_status status = o->run.machine.arch ? target_find(o->run.machine.arch, &arch, error)
                                           : target_here(&arch, error);
    if (!status && o->per_arch && o->configuration)
        status = error_set(error, AT_USAGE, "--per-arch takes what is recorded, and no --config");
    settings asked = o->run;
    char first[NAME_BYTES];
    a.is_mix = !status && take_mix(&asked, first);
    if (!status)
        status = target_load_script(&asked, &arch, &a.s, error);
    if (!status && !script_file(a.s, &a.file, &a.defines, &a.define_count))
        status = error_set(error, AT_USAGE,
                           "%s has a template and no file of its own to change; 'autotune export' "
                           "writes what was found",
                           o->operand);
    if (!status)
        status = o->per_arch ? choose_each(&a, error) : choose(&a, &arch, error);
    if (!status)
        a.edits = memory_new(a.file->count, sizeof *a.edits);
    const size_t parameters = status ? 0 : script_pattern(a.s)->parameter_count;
    for (size_t i = 0; !status && i < parameters; i++)
        status = apply_parameter(&a, i, error);
    if (!status) {
        add_definitions(&a);
        const bool complete = change_launches(&a);
        *exit_code = complete ? 0 : 1;
        status = write_units(&a, complete, error);
    }
    for (size_t u = 0; a.edits && u < a.file->count; u++)
        edit_list_deinit(&a.edits[u]);
    free(a.edits);
    pack_deinit(&a.added);
    script_free(a.s);
    return status;
}

const command cmd_apply = {
    .name = "apply",
    .operand = "FILE.cu",
    .summary = "Write the best values into a kernel's own file",
    .options = "describe config captured per-arch write results set include arch no-cache",
    .raw = true,
    .answer = apply,
};
