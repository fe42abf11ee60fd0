#include "compile/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/group.h"
#include "compile/log.h"
#include "compile/wire.h"

/* One request of a batch on its way to its reply. */
typedef struct task {
    message request, reply;
    bool answered; /* the reply is there */
    bool groupable;
    compile_request r;
    const char *options[COMPILE_OPTIONS_MAX];
    source_header headers[SOURCE_HEADERS_MAX];
    compile_key key;
    uint64_t kind;
    group_member member;
} task;

static void reply_with(compiler *c, task *t, const compile_result *result)
{
    t->reply = (message){.type = COMPILE_RESULT};
    compile_wire_put_result(&t->reply.body, result);
    compiler_store(c, t->key, result);
    t->answered = true;
}

static void compile_alone(compiler *c, task *t)
{
    nvrtc_output output;
    compile_result result;
    at_error error = {0};
    compiler_compile(c, &t->r, &output, &result, &error);
    reply_with(c, t, &result);
    nvrtc_output_deinit(&output);
}

/* Answers those members of a compiled group that the report speaks of; any other has something to
 * say of itself when it is compiled alone. */
static void share_out(compiler *c, task *const *tasks, const group_member *members, size_t count,
                      nvrtc_output *o)
{
    for (size_t i = 0; i < count; i++) {
        compile_result result = {.id = tasks[i]->r.id,
                                 .outcome = COMPILE_OK,
                                 .cubin = o->cubin,
                                 .cubin_bytes = o->cubin_bytes,
                                 .grouped = true,
                                 .time_ns = o->time_ns / (int64_t)count};
        result.symbols = group_lines(members, i, o->symbols);
        result.log = group_log(o->log, i);
        if (result.symbols && result.log &&
            compiler_read_resources(result.symbols, o, &result.resources, NULL) == AT_OK) {
            compile_log_trim(result.log);
            reply_with(c, tasks[i], &result);
        }
        free(result.symbols);
        free(result.log);
    }
}

/* Compiles tasks that may go together as one program. Requests that it cannot answer are left to be
 * compiled alone. */
static void compile_together(compiler *c, task *const *tasks, size_t count)
{
    group_member members[COMPILE_GROUP_MAX];
    bool broken[COMPILE_GROUP_MAX];
    if (count < 2 || strcmp(tasks[0]->r.name, c->lone_name) == 0)
        return;
    for (size_t i = 0; i < count; i++)
        members[i] = tasks[i]->member;
    char *source = group_source(members, count), *entries = group_entries(members, count);
    if (!source || !entries)
        goto cleanup;
    compile_request r = tasks[0]->r;
    bool include = members[0].includes[0] != '\0';
    r.source = source;
    r.entry = entries;
    nvrtc_output output;
    compile_way way = {.minimal = !include && strcmp(r.name, c->full_name) != 0,
                       .include = include,
                       .resources = true,
                       .own = compiler_needs_own(source)};
    compiler_run(c, &r, way, &output);
    /* NVRTC keeps to itself what ptxas has against a source, where ptxas is to tell resources. */
    if (output.code == NVRTC_ERROR_COMPILATION && output.log && !strstr(output.log, "error")) {
        nvrtc_output_deinit(&output);
        way.resources = false;
        compiler_run(c, &r, way, &output);
    }
    if (output.code == NVRTC_SUCCESS && output.log) {
        share_out(c, tasks, members, count, &output);
    } else if (output.code == NVRTC_ERROR_COMPILATION && output.log) {
        task *rest[COMPILE_GROUP_MAX];
        size_t left = 0;
        if (group_broken(members, count, output.log, broken) > 0) {
            for (size_t i = 0; i < count; i++)
                if (!broken[i])
                    rest[left++] = tasks[i];
            compile_together(c, rest, left);
            if (left == 0 && !way.minimal)
                snprintf(c->lone_name, sizeof c->lone_name, "%s", r.name);
        } else {
            compile_together(c, tasks, count / 2);
            compile_together(c, tasks + count / 2, count - count / 2);
        }
    }
    nvrtc_output_deinit(&output);
cleanup:
    free(source);
    free(entries);
}

/* Takes a request; `several`: there are others in its batch, before it or (*more) after. */
static bool take_request(compiler *c, task *t, bool several, bool *more)
{
    if (message_receive(c->fd, -1, &t->request, NULL))
        return false;
    *more = t->request.type == COMPILE_REQUEST_MORE;
    several = several || *more;
    if ((!*more && t->request.type != COMPILE_REQUEST) ||
        !compile_wire_get_request(&t->request.body, t->options, t->headers, &t->r))
        return false;
    t->key = compile_wire_key(&t->request.body, compiler_identity(c, &t->r));
    t->kind = compile_wire_kind(&t->r);
    t->answered = compiler_fetch(c, t->key, t->r.id, &t->reply);
    t->groupable = several && !t->answered && !t->r.want_ptx && !t->r.header_count &&
                   group_member_init(t->r.source, t->r.name, t->r.entry, &t->member);
    return true;
}

static bool alike(const task *a, const task *b)
{
    return a->kind == b->kind && group_members_fit(&a->member, &b->member);
}

static void compile_batch(compiler *c, task *tasks, size_t count)
{
    for (size_t first = 0; first < count; first++) {
        task *together[COMPILE_GROUP_MAX];
        size_t n = 0;
        for (size_t i = first; i < count && (n > 0 || tasks[first].groupable); i++)
            if (tasks[i].groupable && alike(&tasks[first], &tasks[i])) {
                together[n++] = &tasks[i];
                tasks[i].groupable = false;
            }
        compile_together(c, together, n);
    }
    for (size_t i = 0; i < count; i++)
        if (!tasks[i].answered)
            compile_alone(c, &tasks[i]);
}

at_status batch_answer(compiler *c)
{
    size_t count = 0;
    bool more = true;
    task *tasks = calloc(COMPILE_GROUP_MAX, sizeof *tasks);
    at_status status = tasks ? AT_OK : AT_NO_MEMORY;
    for (; more && !status; count++)
        if (count == COMPILE_GROUP_MAX || !take_request(c, &tasks[count], count > 0, &more))
            status = AT_WORKER;
    if (!status)
        compile_batch(c, tasks, count);
    for (size_t i = 0; i < count && !status; i++)
        status = message_send(c->fd, &tasks[i].reply, NULL);
    for (size_t i = 0; i < count; i++) {
        message_deinit(&tasks[i].request);
        message_deinit(&tasks[i].reply);
        group_member_deinit(&tasks[i].member);
    }
    free(tasks);
    return status;
}
