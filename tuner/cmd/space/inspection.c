#include "cmd/space/inspection.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compile/kernel_names.h"
#include "run/setup/setup.h"
#include "script/emit.h"

uint32_t inspect_spill_bytes(const kernel_resources *r)
{
    return r->spill_store_bytes + r->spill_load_bytes;
}

void inspect_row_deinit(inspect_row *row)
{
    free(row->log);
    row->log = NULL;
}

/* Lines before the source that replace what the kernel says of its own registers: the compiler's
 * option is ignored where a kernel has launch bounds. */
static const char cap_lines[] = "#undef __launch_bounds__\n"
                                "#define __launch_bounds__(...) __attribute__((maxnreg(%u)))\n"
                                "#undef __maxnreg__\n"
                                "#define __maxnreg__(...) __attribute__((maxnreg(%u)))\n"
                                "#line 1\n";
static const char spill_line[] = " asm volatile(\".pragma \\\"enable_smem_spilling\\\";\");";

/* The place after the brace that opens the body of the kernel `entry`; NULL: it is not found. */
static const char *find_body(const char *source, const char *entry)
{
    size_t length = strlen(entry);
    for (const char *at = strstr(source, entry); at; at = strstr(at + length, entry)) {
        const char *c = at + length;
        int depth = 0;
        c += strspn(c, " \t\n");
        if (*c != '(' || (at > source && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
            continue;
        for (; *c; c++) {
            depth += (*c == '(') - (*c == ')');
            if (depth == 0)
                break;
        }
        c += *c != '\0';
        c += strspn(c, " \t\n");
        if (*c == '{')
            return c + 1;
    }
    return NULL;
}

/* Changes the text of the source. False: that cannot be done. */
static bool change_source(emitted *source, const launch_plan *launch, const inspect_change *change)
{
    size_t room = source->size_bytes + sizeof cap_lines + sizeof spill_line + 64;
    const char *body = source->source;
    if (change->shared_spills && launch->launch_count > 0) {
        char kernel[KERNEL_NAME_BYTES];
        kernel_own_name(plan_entry(launch, 0), kernel);
        body = find_body(source->source, kernel);
        if (!body || launch->launch_count != 1 || launch->launches[0].dynamic_shared_bytes != 0)
            return false;
    }
    char *text = memory_new(room, 1);
    int used = 0;
    if (change->most_registers)
        used = snprintf(text, room, cap_lines, change->most_registers, change->most_registers);
    snprintf(text + used, room - (size_t)used, "%.*s%s%s", (int)(body - source->source),
             source->source, change->shared_spills ? spill_line : "", body);
    free(source->source);
    source->source = text;
    source->size_bytes = strlen(text);
    return true;
}

at_status inspect_submit(script *s, problem_kind problem, const uint16_t *indices,
                         const arch_limits *arch, compile_pool *pool, uint64_t id,
                         const inspect_change *change, inspect_row *row, launch_plan *launch,
                         bool *submitted, at_error *error)
{
    const pattern *p = script_pattern(s);
    emitted source = {0};
    char option[48];
    bool can = true;
    *submitted = false;
    at_status status = script_valid(s, problem, indices, &row->valid, &row->broken, error);
    if (status || !row->valid)
        return status;
    status = script_launch_plan(s, problem, indices, launch, error);
    if (status)
        return status;
    row->threads = (int)plan_most_threads(launch);
    row->shared_bytes = plan_most_shared_bytes(launch);
    status = emit_variant(s, problem, indices, true, &source, error);
    if (!status && change)
        can = change_source(&source, launch, change);
    if (!status && change && change->most_registers &&
        source.option_count < sizeof source.options / sizeof *source.options) {
        snprintf(option, sizeof option, "--maxrregcount=%u", change->most_registers);
        source.options[source.option_count++] = option;
    }
    can = can && launch->launch_count > 0;
    if (!status && can)
        status = submit_source(pool, id, &source, p->template_path, launch, arch->name,
                               change && change->want_ptx, error);
    *submitted = !status && can;
    emitted_deinit(&source);
    return status;
}

void inspect_take(compile_result *r, const arch_limits *arch, inspect_row *row)
{
    row->outcome = r->outcome;
    row->resources = r->resources;
    row->shared_bytes += r->resources.static_shared_bytes;
    if (r->outcome == COMPILE_OK)
        row->occupancy =
            occupancy_compute(arch, row->threads, (int)r->resources.registers, row->shared_bytes);
    row->log = r->log;
    r->log = NULL;
}

at_status inspect_run(script *s, const sweep *w, const arch_limits *arch, compile_pool *pool,
                      inspect_row *rows, at_error *error)
{
    size_t waiting = 0;
    at_status status = AT_OK;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    for (size_t i = 0; !status && i < w->row_count; i++) {
        bool submitted;
        launch_plan launch;
        sweep_row(w, i, indices);
        status = inspect_submit(s, PROBLEM_TUNED, indices, arch, pool, i, NULL, &rows[i], &launch,
                                &submitted, error);
        waiting += submitted;
    }
    while (!status && waiting > 0) {
        compile_result r;
        status = compile_take(pool, -1, &r, error);
        if (status)
            break;
        inspect_take(&r, arch, &rows[r.id]);
        compile_result_deinit(&r);
        waiting--;
    }
    return status;
}
