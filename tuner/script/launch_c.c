#include "script/launch_c.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script/state.h"

/* The writer keeps its first failure and discards later text. */
typedef struct writer {
    const script *s;
    term_leaf spell;
    void *context;
    FILE *to;
    at_status status;
    at_error *error;
} writer;

static void refuse(writer *w, const expression *e, const char *why)
{
    if (!w->status)
        w->status = error_set_at(w->error, AT_SCRIPT, w->s->from.path, e->line, "%s: %s: %.200s",
                                 e->what, why, e->text);
}

/* Returns the expression in C, which the caller frees, or NULL after a failure. */
static char *translate(writer *w, const expression *e, term_type *type)
{
    char *c = NULL;
    if (!w->status)
        w->status = c_text_write(w->s->expressions, e->root, w->spell, w->context, (c_text_form){0},
                                 type, &c, w->error);
    if (!c)
        refuse(w, e, "this cannot be translated to C");
    return c;
}

static char *translate_number(writer *w, const expression *e, term_type *type)
{
    char *c = translate(w, e, type);
    if (c && *type != TERM_WHOLE && *type != TERM_NUMBER)
        refuse(w, e, "this is not a number");
    return c;
}

static void print_whole(writer *w, const expression *e, int64_t least, int64_t most)
{
    term_type type;
    char *c = translate_number(w, e, &type);
    if (c)
        fprintf(
            w->to, "autotune_within(%s%s%s, INT64_C(%" PRId64 ")%s, INT64_C(%" PRId64 "), failed)",
            type == TERM_NUMBER ? "autotune_whole(" : "", c, type == TERM_NUMBER ? ", failed)" : "",
            least == INT64_MIN ? least + 1 : least, least == INT64_MIN ? " - 1" : "", most);
    free(c);
}

static void print_number(writer *w, const expression *e)
{
    term_type type;
    char *c = translate_number(w, e, &type);
    if (c)
        fprintf(w->to, "(double)(%s)", c);
    free(c);
}

static void print_typed(writer *w, const expression *e, term_type wanted)
{
    term_type type;
    char *c = translate(w, e, &type);
    if (c && type != wanted)
        refuse(w, e, wanted == TERM_TEXT ? "this is not a text" : "this is neither true nor false");
    else if (c)
        fputs(c, w->to);
    free(c);
}

static void print_whole_value(writer *w, const expression *e, argument_type type)
{
    fputs("autotune_whole_value(", w->to);
    print_whole(w, e, script_scalars[type].least, script_scalars[type].most);
    fprintf(w->to, ", %u)", script_scalars[type].size_bytes);
}

static void print_truth_value(writer *w, const expression *e)
{
    fputs("autotune_truth_value(", w->to);
    print_typed(w, e, TERM_TRUTH);
    fputs(")", w->to);
}

static void print_plain_value(writer *w, const expression *e)
{
    term_type type;
    char *c = translate(w, e, &type);
    if (c && type == TERM_WHOLE)
        print_whole_value(w, e, ARGUMENT_INT32);
    else if (c && type == TERM_TRUTH)
        print_truth_value(w, e);
    else
        refuse(w, e, "an argument without a type must be a whole number or a boolean");
    free(c);
}

static void print_value(writer *w, const script_argument *a)
{
    if (a->type == ARGUMENT_PLAIN) {
        print_plain_value(w, &a->value);
    } else if (a->type == ARGUMENT_BOOL) {
        print_truth_value(w, &a->value);
    } else if (!script_scalars[a->type].floating) {
        print_whole_value(w, &a->value, a->type);
    } else {
        fprintf(w->to, "autotune_%s_value(", script_scalars[a->type].floating);
        print_number(w, &a->value);
        fputs(", failed)", w->to);
    }
}

static void print_argument(writer *w, const script_argument *a)
{
    if (a->type == ARGUMENT_BUFFER) {
        fprintf(w->to, "        autotune_add_buffer(plan, %u);\n", (unsigned)a->buffer);
    } else if (argument_is_view(a->type)) {
        refuse(w, &a->view->size[0],
               "exported kernels cannot take tensor maps, textures or surfaces: export a "
               "header, and launch them yourself, or by at_launch");
    } else if (a->type == ARGUMENT_STRUCT) {
        fprintf(w->to, "        {\n            autotune_value members[%zu];\n", a->member_count);
        for (size_t i = 0; i < a->member_count; i++) {
            if (a->members[i].type == ARGUMENT_BUFFER) {
                if (!w->status)
                    w->status = error_set_at(
                        w->error, AT_SCRIPT, w->s->from.path, 0,
                        "exported kernels cannot take structs that hold buffers: export a header, "
                        "and launch them yourself, or by at_launch");
                break;
            }
            fprintf(w->to, "            members[%zu] = ", i);
            print_value(w, &a->members[i]);
            fputs(";\n", w->to);
        }
        fprintf(w->to, "            autotune_add_struct(plan, members, %zu, failed);\n        }\n",
                a->member_count);
    } else {
        fputs("        autotune_add_value(plan, ", w->to);
        print_value(w, a);
        fputs(");\n", w->to);
    }
}

static void print_shape(writer *w, const char *name, const expression from[3],
                        const int64_t most[3])
{
    for (int i = 0; i < 3; i++) {
        if (!from[i].text)
            continue;
        fprintf(w->to, "        launch->%s[%d] = (unsigned)", name, i);
        print_whole(w, &from[i], 1, most[i]);
        fputs(";\n", w->to);
    }
}

static size_t entry_of(launch_c *out, const char *entry)
{
    size_t i = 0;
    while (i < out->entry_count && strcmp(out->entries[i], entry) != 0)
        i++;
    if (i == out->entry_count)
        out->entries[out->entry_count++] = entry;
    return i;
}

static void print_launch(writer *w, const script_launch *l, launch_c *out)
{
    fputs("    ", w->to);
    if (l->when.text) {
        fputs("if (", w->to);
        print_typed(w, &l->when, TERM_TRUTH);
        fputs(") ", w->to);
    }
    if (l->times.text) {
        fputs("if ((times = (unsigned)", w->to);
        print_whole(w, &l->times, 0, PLAN_MAX_ROUNDS);
        fputs(") > 0) ", w->to);
    }
    fprintf(w->to, "{\n        autotune_launch *launch = autotune_launch_new(plan, %zu);\n",
            entry_of(out, l->entry_text));
    if (l->times.text)
        fprintf(w->to, "        launch->group = %d;\n        launch->rounds = times;\n", l->group);
    print_shape(w, "grid", l->grid, script_most_blocks);
    print_shape(w, "block", l->block, script_most_threads);
    print_shape(w, "cluster", l->cluster, script_most_cluster);
    if (l->shared.text) {
        fputs("        launch->shared_bytes = (unsigned)", w->to);
        print_whole(w, &l->shared, 0, INT32_MAX);
        fputs(";\n", w->to);
    }
    if (l->balanced.text) {
        fputs("        launch->balanced = ", w->to);
        print_typed(w, &l->balanced, TERM_TRUTH);
        fputs(" && autotune_cluster_blocks(launch) > 1;\n", w->to);
    }
    if (l->cooperative.text) {
        fputs("        launch->cooperative = ", w->to);
        print_typed(w, &l->cooperative, TERM_TRUTH);
        fputs(";\n", w->to);
    }
    for (size_t i = 0; i < l->argument_count; i++)
        print_argument(w, &l->arguments[i]);
    fputs("        autotune_launch_checked(launch, failed);\n    }\n", w->to);
}

static void print_buffer(writer *w, const script_buffer *b)
{
    fputs("    autotune_add_size(plan, ", w->to);
    print_whole(w, &b->count, 1, (int64_t)PLAN_MAX_ELEMENTS);
    fputs(", autotune_sizeof(", w->to);
    print_typed(w, &b->type, TERM_TEXT);
    fputs(", failed));\n", w->to);
}

at_status script_launch_c(const script *s, term_leaf spell, void *context, launch_c *out,
                          at_error *error)
{
    size_t size_bytes;
    *out = (launch_c){.buffer_count = s->buffer_count, .constant_count = s->kernel.constant_count};
    writer w = {s, spell, context, open_memstream(&out->statements, &size_bytes), AT_OK, error};
    if (!w.to)
        return error_no_memory(error);
    for (size_t i = 0; i < s->buffer_count; i++) {
        out->buffers[i] = s->buffers[i].name;
        out->is_input[i] = s->buffers[i].role == BUFFER_INPUT;
        print_buffer(&w, &s->buffers[i]);
    }
    bool in_rounds = false;
    for (size_t i = 0; i < s->kernel.launch_count; i++)
        in_rounds = in_rounds || s->kernel.launches[i].times.text;
    if (in_rounds)
        fputs("    unsigned times;\n", w.to);
    for (size_t i = 0; i < s->kernel.launch_count; i++)
        print_launch(&w, &s->kernel.launches[i], out);
    for (size_t i = 0; i < s->kernel.constant_count; i++)
        out->constants[i] = s->kernel.constants[i];
    bool failed = ferror(w.to) != 0;
    failed = fclose(w.to) != 0 || failed;
    if (!w.status && failed)
        w.status = error_no_memory(error);
    if (w.status)
        free(out->statements);
    return w.status;
}

at_status script_entry_places(script *s, problem_kind problem, const uint16_t *indices,
                              const launch_plan *plan, const launch_c *launch,
                              int out[PLAN_MAX_LAUNCHES], at_error *error)
{
    const script_launch *launches[PLAN_MAX_LAUNCHES];
    at_status status = script_planned_launches(s, &s->kernel, problem, indices, launches, error);
    for (size_t e = 0; e < PLAN_MAX_LAUNCHES; e++)
        out[e] = -1;
    for (uint32_t i = 0; !status && i < plan->launch_count; i++)
        for (size_t e = 0; e < launch->entry_count; e++)
            if (strcmp(launch->entries[e], launches[i]->entry_text) == 0)
                out[e] = (int)plan_entry_place(plan, i);
    return status;
}

at_status script_constraint_c(const script *s, size_t constraint, term_leaf spell, void *context,
                              char **out, at_error *error)
{
    term_type type = TERM_TRUTH;
    at_status status = c_text_write(s->expressions, s->space.constraint_tests[constraint].root,
                                    spell, context, (c_text_form){0}, &type, out, error);
    if (type != TERM_TRUTH) {
        free(*out);
        *out = NULL;
    }
    return status;
}

at_status script_feature_c(const script *s, size_t feature, term_leaf spell, void *context,
                           c_text_form form, term_type *type, char **out, at_error *error)
{
    return c_text_write(s->expressions, s->features[feature].root, spell, context, form, type, out,
                        error);
}

at_status script_derived_c(const script *s, size_t place, term_leaf spell, void *context,
                           c_text_form form, const char **name, term_type *type, char **out,
                           at_error *error)
{
    *name = NULL;
    *out = NULL;
    char target[256];
    for (size_t i = 0; i < s->space.derived_count; i++) {
        const script_derived *d = &s->space.derived[i];
        if (!d->call || d->rank != place)
            continue;
        *name = d->name;
        snprintf(target, sizeof target, "%s%s", form.target ? form.target : "", d->name);
        form.target = form.target ? target : NULL;
        return c_text_write(s->expressions, d->value.root, spell, context, form, type, out, error);
    }
    return AT_OK;
}
