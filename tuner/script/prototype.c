#include "script/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
#include "base/text.h"
#include "cpp/signature.h"
#include "script/state.h"

enum { NAME_BYTES = 32, TYPE_BYTES = 64 };

static void array_name(uint32_t place, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "autotune_signature%u", place);
}

at_status prototype_emit(script *s, prototype_of of, problem_kind problem, const uint16_t *indices,
                         const launch_plan *plan, emitted *out, at_error *error)
{
    const char *header;
    pack text = {0};
    at_status status = (of == PROTOTYPE_REFERENCE ? emit_reference : emit_variant)(
        s, problem, indices, true, out, error);
    if (!status)
        status = kernel_signature_header(&out->includes, s->from.template_dir, &header, error);
    if (status)
        return status;
    pack_append(&text, out->source, out->size_bytes);
    for (uint32_t i = 0, told = 0; i < plan->launch_count; i++) {
        char name[NAME_BYTES];
        if (plan_entry_place(plan, i) < told)
            continue;
        array_name(told++, name);
        const char *const parts[] = {"\n#define AUTOTUNE_SIGNATURE ",
                                     name,
                                     "\n#define AUTOTUNE_ENTRY ",
                                     plan_entry(plan, i),
                                     "\n#include \"",
                                     header,
                                     "\"\n"};
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
            pack_append_text(&text, parts[p]);
    }
    free(out->source);
    out->size_bytes = text.size_bytes;
    out->source = pack_take_text(&text);
    return out->source ? AT_OK : error_no_memory(error);
}

/* How the kernels of a plan take a buffer. */
typedef struct access {
    bool may_write;         /* a kernel takes it otherwise than as a pointer to const */
    const char *entry;      /* a kernel that takes a pointer to const; NULL if there is none */
    uint32_t place;         /* number of that argument, from 1 */
    cpp_argument read_only; /* that argument */
} access;

typedef struct comparison {
    const script *s;
    const script_kernel *kernel;
    const problem_plan *problem;
    const char *entry;
    access *accesses;
    prototype_warning *doubt;
    void *context;
} comparison;

static void type_text(const cpp_argument *a, char text[TYPE_BYTES])
{
    char base[TYPE_BYTES / 2];
    if (a->type >= 0 && a->type < DTYPE_COUNT && a->lanes > 1)
        snprintf(base, sizeof base, "%u of %s", a->lanes, dtype_get((dtype)a->type)->c_name);
    else if (a->type >= 0 && a->type < DTYPE_COUNT)
        snprintf(base, sizeof base, "%s", dtype_get((dtype)a->type)->c_name);
    else if (a->type == CPP_TYPE_BOOL)
        snprintf(base, sizeof base, "bool");
    else
        snprintf(base, sizeof base, "a type of %u bytes", a->bytes);
    snprintf(text, TYPE_BYTES, "%s%s%s", a->is_pointer && a->is_const ? "const " : "", base,
             a->is_pointer ? " *" : "");
}

typedef enum fit { FIT_FINE, FIT_ODD, FIT_WRONG } fit;

/* Tells whether a kernel may read `elements` as `read`. Unsigned words of the same size move any
 * number as bits. Wider words hold several elements (half2 in an int). Bytes hold parts of an
 * element. */
static fit fit_of(dtype elements, dtype read)
{
    const dtype_info *is = dtype_get(elements), *as = dtype_get(read);
    const bool as_unsigned = read == DTYPE_UINT16 || read == DTYPE_UINT32 || read == DTYPE_UINT64;
    const bool same_size = is->size_bytes == as->size_bytes;
    if (elements == read)
        return FIT_FINE;
    if (as->is_float)
        return !is->is_float && same_size ? FIT_ODD : FIT_WRONG;
    if (as->size_bytes > is->size_bytes || as->size_bytes == 1)
        return FIT_FINE;
    if (as_unsigned)
        return is->is_float || same_size ? FIT_FINE : FIT_ODD;
    return is->is_float ? FIT_ODD : same_size ? FIT_FINE : FIT_WRONG;
}

static at_status compare_buffer(const comparison *c, uint32_t buffer, uint32_t place,
                                const cpp_argument *takes, at_error *error)
{
    const script_buffer *b = &c->s->buffers[buffer];
    const dtype elements = c->problem->buffers[buffer].type;
    char type[TYPE_BYTES], text[512];
    const bool scalar = takes->type >= 0 && takes->type < DTYPE_COUNT && takes->lanes == 1;
    type_text(takes, type);
    if (!takes->is_pointer && scalar && takes->type != DTYPE_INT64 && takes->type != DTYPE_UINT64)
        return error_set_at(error, AT_SCRIPT, c->s->from.path, b->line,
                            "args gives the buffer %s as argument %u of the kernel %s, which takes "
                            "a number there: %s. Are the arguments in the kernel's order?",
                            b->name, place, c->entry, type);
    const fit found = takes->is_pointer && scalar ? fit_of(elements, (dtype)takes->type) : FIT_FINE;
    if (found == FIT_FINE)
        return AT_OK;
    snprintf(text, sizeof text,
             "%s is a buffer of %s, but argument %u of the kernel %s is %s: give ", b->name,
             dtype_get(elements)->name, place, c->entry, type);
    if (!c->s->kernel.is_file) /* otherwise the kernel gives the type of the buffer */
        text_add(text, sizeof text, "the buffer dtype = \"%s\", or ",
                 dtype_get((dtype)takes->type)->name);
    text_add(text, sizeof text, "the kernel a pointer to %s", dtype_get(elements)->c_name);
    if (found == FIT_WRONG)
        return error_set_at(error, AT_SCRIPT, c->s->from.path, b->line, "%s", text);
    c->doubt(c->context, c->s->from.path, b->line, text);
    return AT_OK;
}

static bool number_type(const script_argument *from, const argument_plan *plan, dtype *out)
{
    *out = from->type == ARGUMENT_PLAIN ? DTYPE_INT32 : (dtype)(from->type - ARGUMENT_INT8);
    return from->type != ARGUMENT_BOOL && (from->type != ARGUMENT_PLAIN || plan->size_bytes == 4);
}

static const char *remedy(const cpp_argument *takes, char text[TYPE_BYTES])
{
    if (takes->is_pointer)
        return "the name of a buffer";
    if (takes->type < 0 || takes->type >= DTYPE_COUNT || takes->lanes != 1)
        return "its members, at.struct { ... }";
    snprintf(text, TYPE_BYTES, "at.%s(...)", dtype_get((dtype)takes->type)->name);
    return text;
}

static int argument_line(const script_argument *from)
{
    int line = from->value.line;
    for (size_t i = 0; line == 0 && i < from->member_count; i++)
        line = from->members[i].value.line;
    return line;
}

static at_status compare_argument(const comparison *c, const script_argument *from,
                                  const argument_plan *plan, uint32_t place,
                                  const cpp_argument *takes, at_error *error)
{
    char type[TYPE_BYTES], write[TYPE_BYTES];
    dtype number;
    const uint32_t bytes = takes->is_pointer ? 8 : takes->bytes;
    const int line = argument_line(from);
    type_text(takes, type);
    if (plan->size_bytes != bytes)
        return error_set_at(
            error, AT_SCRIPT, c->s->from.path, line ? line : c->kernel->template_line,
            "argument %u of the kernel %s is %s, of %u bytes, but args gives %u bytes: write %s",
            place, c->entry, type, bytes, plan->size_bytes, remedy(takes, write));
    if (from->type == ARGUMENT_BUFFER)
        return compare_buffer(c, from->buffer, place, takes, error);
    if (from->type == ARGUMENT_STRUCT || argument_is_view(from->type) ||
        !number_type(from, plan, &number))
        return AT_OK;
    if (takes->is_pointer && plan->bits != 0)
        return error_set_at(
            error, AT_SCRIPT, c->s->from.path, line,
            "argument %u of the kernel %s is %s, but args gives a number: name a buffer", place,
            c->entry, type);
    if (!takes->is_pointer && takes->lanes == 1 && takes->type >= 0 && takes->type < DTYPE_COUNT &&
        takes->type != (int)number &&
        (dtype_get((dtype)takes->type)->is_float || dtype_get(number)->is_float))
        return error_set_at(
            error, AT_SCRIPT, c->s->from.path, line,
            "argument %u of the kernel %s is %s, but args gives its bytes as %s: write %s", place,
            c->entry, type, dtype_get(number)->c_name, remedy(takes, write));
    return AT_OK;
}

/* Notes how a launch takes its buffers. `takes` is NULL if the kernel's parameters are unknown. */
static void note_accesses(const comparison *c, const script_launch *from, uint32_t count,
                          const cpp_argument *takes)
{
    for (uint32_t i = 0; i < count; i++) {
        const script_argument *a = &from->arguments[i];
        for (size_t m = 0; m < a->member_count; m++)
            if (a->members[m].type == ARGUMENT_BUFFER)
                c->accesses[a->members[m].buffer].may_write = true;
        if (a->type == ARGUMENT_BUFFER && takes && takes[i].is_pointer && takes[i].is_const)
            c->accesses[a->buffer] = (access){.may_write = c->accesses[a->buffer].may_write,
                                              .entry = c->entry,
                                              .place = i + 1,
                                              .read_only = takes[i]};
        else if (a->type == ARGUMENT_BUFFER || argument_is_view(a->type))
            c->accesses[a->buffer].may_write = true;
    }
}

/* Refuses an output that all kernels take as a pointer to const. */
static at_status compare_accesses(const script *s, const access *accesses, at_error *error)
{
    for (size_t i = 0; i < s->buffer_count; i++) {
        const access *a = &accesses[i];
        char type[TYPE_BYTES];
        if (s->buffers[i].role != BUFFER_OUTPUT || a->may_write || !a->entry)
            continue;
        type_text(&a->read_only, type);
        return error_set_at(error, AT_SCRIPT, s->from.path, s->buffers[i].line,
                            "%s is an at.output, but argument %u of the kernel %s is %s, so the "
                            "kernel cannot write it. Are the arguments in the kernel's order?",
                            s->buffers[i].name, a->place, a->entry, type);
    }
    return AT_OK;
}

static at_status compare_launch(const comparison *c, const script_launch *from,
                                const launch_plan *plan, uint32_t launch, const cpp_argument *takes,
                                size_t count, at_error *error)
{
    const kernel_launch *l = &plan->launches[launch];
    const uint32_t of_transfer = plan_transfers(plan) ? 2 : 0;
    at_status status = AT_OK;
    if (l->argument_count + of_transfer != count) {
        char types[1024] = "", type[TYPE_BYTES];
        for (size_t i = 0, used = 0; i < count && used < sizeof types - TYPE_BYTES - 2; i++) {
            type_text(&takes[i], type);
            used +=
                (size_t)snprintf(types + used, sizeof types - used, "%s%s", i ? ", " : "", type);
        }
        return error_set_at(error, AT_SCRIPT, c->s->from.path, c->kernel->template_line,
                            "the kernel %s takes %zu arguments (%s), but args has %u%s", c->entry,
                            count, types, l->argument_count,
                            of_transfer ? ", to which a transfer adds two" : "");
    }
    for (uint32_t i = 0; !status && i < l->argument_count; i++)
        status = compare_argument(c, &from->arguments[i], &plan->arguments[l->first_argument + i],
                                  i + 1, &takes[i], error);
    return status;
}

at_status prototype_compare(script *s, prototype_of of, problem_kind problem,
                            const uint16_t *indices, const launch_plan *plan, const char *ptx,
                            prototype_warning *doubt, void *context, at_error *error)
{
    const script_kernel *kernel = of == PROTOTYPE_REFERENCE ? &s->reference : &s->kernel;
    const script_launch *launches[PLAN_MAX_LAUNCHES];
    problem_plan buffers;
    access accesses[PLAN_MAX_BUFFERS] = {{0}};
    at_status status = script_planned_launches(s, kernel, problem, indices, launches, error);
    if (!status)
        status = script_problem_plan(s, problem, indices, 1, &buffers, error);
    for (uint32_t i = 0; !status && i < plan->launch_count; i++) {
        cpp_argument takes[CPP_MAX_PARAMETERS];
        char name[NAME_BYTES];
        size_t count;
        const comparison c = {s, kernel, &buffers, plan_entry(plan, i), accesses, doubt, context};
        array_name(plan_entry_place(plan, i), name);
        const bool known =
            cpp_signature_read(ptx, name, takes, &count) && count <= CPP_MAX_PARAMETERS;
        if (known)
            status = compare_launch(&c, launches[i], plan, i, takes, count, error);
        if (!status)
            note_accesses(&c, launches[i], plan->launches[i].argument_count, known ? takes : NULL);
    }
    return status ? status : compare_accesses(s, accesses, error);
}
