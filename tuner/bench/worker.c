#include "bench/worker.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/bench.h"
#include "bench/turn.h"
#include "bench/wire.h"
#include "process/confine.h"
#include "process/message.h"
#include "sim/chip.h"

enum { MAX_DEVICES = 64 };

typedef struct server {
    int fd;
    uint64_t number; /* number of the current request */
    device_bench bench;
    gpu_turn *turn; /* NULL if turns are not needed: a simulated device has no UUID */
    gpu_pace pace;
    bool steady; /* the current request must not be interrupted by a rest */
} server;

static at_status send_note(int fd, const device_note *note)
{
    message m = {.type = REPLY_NOTE};
    device_put_note(&m.body, note);
    return message_post(fd, &m, NULL);
}

/* Sends a note with the current request's number. If this fails, the next answer fails, too. */
static void number_note(const server *c, device_note note)
{
    note.number = c->number;
    send_note(c->fd, &note);
}

static void note_waiting(void *context)
{
    number_note(context, (device_note){.what = "waiting for its turn at the GPU",
                                       .limit_ns = GPU_TURN_MOST_NS + GPU_TURN_MOST_NS / 2});
}

static void begin_work(server *c)
{
    gpu_turn_take(c->turn, GPU_TURN_MOST_NS, note_waiting, c);
    gpu_pace_begin(&c->pace, clock_now_ns());
}

static void rest(server *c)
{
    int64_t rest_ns = gpu_pace_rest(&c->pace, clock_now_ns());
    if (rest_ns <= 0)
        return;
    number_note(c, (device_note){.what = "leaving the GPU to others",
                                 .limit_ns = rest_ns + GPU_TURN_MOST_NS});
    gpu_turn_give(c->turn);
    nanosleep(&(struct timespec){rest_ns / 1000000000, rest_ns % 1000000000}, NULL);
    begin_work(c);
}

static void pass_note(void *context, const device_note *note)
{
    server *c = context;
    if (!c->steady)
        rest(c);
    number_note(c, *note);
}

static void send_failure(int fd, at_status status, const at_error *error)
{
    message m = {.type = REPLY_FAILED};
    pack_put_u32(&m.body, status);
    pack_put_string(&m.body, error->message);
    message_post(fd, &m, NULL);
}

static at_status send_opened(server *c, at_error *error)
{
    message m = {.type = REPLY_OPENED};
    device_put_properties(&m.body, c->bench.api->properties(c->bench.device));
    return message_post(c->fd, &m, error);
}

static at_status open_device(server *c, const device_worker_options *options, at_error *error)
{
    const device_api *api = device_api_find(options->spec);
    if (!api) {
        sim_chip chip;
        const bool is_chip = sim_chip_find(options->spec, &chip, NULL) == AT_OK;
        return error_set(error, AT_USAGE,
                         "there is no device '%s'%s%s%s cuda:0, cuda:1, ... are GPUs, sim and "
                         "sim:sm_XX simulated ones; 'autotune devices' lists them",
                         options->spec, is_chip ? "; did you mean sim:" : ":",
                         is_chip ? options->spec : "", is_chip ? "?" : "");
    }
    c->bench.api = api;
    c->bench.cache = options->cache;
    c->bench.watchdog_floor_ns = options->watchdog_floor_ns;
    c->bench.untimed = options->proves;
    c->pace.share = options->share > 0 ? options->share : 1;
    c->bench.notify = pass_note;
    c->bench.notify_context = c;
    at_status status = api->open(options->spec, &c->bench.device, error);
    if (!status)
        status = gpu_turn_new(api->properties(c->bench.device)->uuid, &c->turn, error);
    if (!status)
        status = send_opened(c, error);
    gpu_turn_take(c->turn, GPU_TURN_MOST_NS, NULL, NULL);
    if (!status && api->hardware)
        status = api->hardware->start(c->bench.device, error);
    /* Warms a GPU up, unless it is shared, while the tuner compiles the set-up's support code. */
    if (!status && api->hardware && c->pace.share >= 1)
        status = api->hardware->warm_up(c->bench.device, error);
    gpu_turn_give(c->turn);
    const device_note idle = {.what = ""};
    return status ? status : send_note(c->fd, &idle);
}

static at_status take_data(device_bench *b, pack *asked, device_answer *answer)
{
    device_chunk chunk;
    (void)answer;
    device_get_chunk(asked, &chunk);
    return pack_complete(asked) ? device_contents_take(&b->contents, &chunk, NULL) : AT_FORMAT;
}

static device_request *const handlers[] = {
    [REQUEST_SETUP] = device_bench_setup,
    [REQUEST_TRY] = device_bench_try,
    [REQUEST_HOLD] = device_bench_hold,
    [REQUEST_RELEASE] = device_bench_release,
    [REQUEST_BLOCK] = device_bench_block,
    [REQUEST_RECHECK] = device_bench_recheck,
    [REQUEST_ENERGY] = device_bench_energy,
    [REQUEST_COUNT] = device_bench_count,
    [REQUEST_RESULTS] = device_bench_results,
    [REQUEST_COMPARE] = device_bench_compare,
    [REQUEST_DATA] = take_data,
};

static at_status send_answer(server *c, const device_answer *answer, at_error *error)
{
    message m = {.type = REPLY_ANSWER};
    device_put_answer(&m.body, answer);
    return message_post(c->fd, &m, error);
}

static at_status serve(server *c, bool *go, at_error *error)
{
    message m;
    at_status status = message_receive(c->fd, -1, &m, error);
    if (status)
        return status;
    c->number = pack_get_u64(&m.body);
    device_answer answer = {.number = c->number,
                            .kind = m.type,
                            .found.id = pack_get_u64(&m.body),
                            .usable = true,
                            .message = "",
                            .printed = ""};
    if (m.type >= sizeof handlers / sizeof *handlers || !handlers[m.type])
        status = error_set(error, AT_INTERNAL, "the device worker received an unknown request");
    else {
        const bool on_device = m.type != REQUEST_DATA;
        if (on_device)
            begin_work(c);
        c->steady = m.type == REQUEST_ENERGY;
        status = handlers[m.type](&c->bench, &m.body, &answer);
        /* Only counts the work. The next request rests, so that this answer need not wait. */
        gpu_pace_rest(&c->pace, clock_now_ns());
        if (on_device)
            gpu_turn_give(c->turn);
    }
    if (status == AT_FORMAT) {
        answer.found.outcome = OUTCOME_LAUNCH_ERROR;
        answer.found.status = AT_FORMAT;
        answer.message = "its launch is invalid (perhaps a grid or block of size 0)";
        status = AT_OK;
    }
    if (!status)
        status = send_answer(c, &answer, error);
    message_deinit(&m);
    *go = answer.usable;
    return status;
}

void device_worker_confine(bool in_process)
{
    /* A driver may open any file at any time, but has started its programs by now. */
    if (in_process)
        confine_files(NULL, 0);
    confine_system_calls(in_process ? CONFINE_SOCKETS : CONFINE_EXECUTION);
}

static const pack_field option_fields[] = {
    PACK_FIELD(device_worker_options, spec),   PACK_FIELD(device_worker_options, cache),
    PACK_FIELD(device_worker_options, share),  PACK_FIELD(device_worker_options, watchdog_floor_ns),
    PACK_FIELD(device_worker_options, proves),
};

void device_worker_put_options(pack *p, const device_worker_options *options)
{
    pack_put_fields(p, options, PACK_FIELDS(option_fields));
}

static int run(int fd, pack *settings)
{
    device_worker_options options = {0};
    pack_get_fields(settings, &options, PACK_FIELDS(option_fields));
    if (!pack_complete(settings))
        return 1;
    server c = {.fd = fd};
    at_error error = {0};
    at_status status = open_device(&c, &options, &error);
    if (status) {
        send_failure(fd, status, &error);
        gpu_turn_free(c.turn);
        return 1;
    }
    device_worker_confine(!c.bench.api->hardware);
    bool go = true;
    while (!status && go)
        status = serve(&c, &go, &error);
    gpu_turn_free(c.turn);
    /* If the context is lost, leaves it to the operating system: the driver might hang. */
    if (!go)
        return 1;
    device_bench_deinit(&c.bench);
    c.bench.api->close(c.bench.device);
    return 0;
}

static at_status list_kind(const device_api *api, bool names, device_properties *out, size_t *count,
                           at_error *error)
{
    size_t found = 0;
    const size_t room = MAX_DEVICES - *count;
    at_status status = AT_OK;
    if (!names || !api->hardware || api->hardware->list_names(out + *count, room, &found, NULL))
        status = api->list(out + *count, room, &found, error);
    if (!status)
        *count += found;
    return status;
}

/* Lists the devices of all kinds. A missing kind is an error only if all kinds are missing. */
static at_status list_devices(const char *kind, bool names, device_properties *out, size_t *count,
                              at_error *error)
{
    size_t kinds;
    const device_api *const *apis = device_apis(&kinds);
    bool known = false;
    at_status first = AT_OK;
    for (size_t i = 0; i < kinds; i++) {
        if (kind && strcmp(kind, apis[i]->kind) != 0)
            continue;
        known = true;
        at_status status = list_kind(apis[i], names, out, count, first ? NULL : error);
        if (status && !first)
            first = status;
    }
    if (!known)
        return error_set(error, AT_USAGE, "there is no device of the kind '%s'", kind);
    return *count > 0 ? AT_OK : first;
}

const worker_program device_worker_program = {.name = "autotune-device", .run = run};
const worker_program device_proof_program = {.name = "autotune-proof", .run = run};

static int list(int fd, pack *settings)
{
    const char *kind = pack_get_string(settings);
    bool names = pack_get_u32(settings) != 0;
    at_error error = {0};
    size_t count = 0;
    device_properties *found = memory_new(MAX_DEVICES, sizeof *found);
    at_status status = list_devices(*kind ? kind : NULL, names, found, &count, &error);
    if (status) {
        send_failure(fd, status, &error);
        free(found);
        return 1;
    }
    message m = {.type = REPLY_LIST};
    pack_put_u32(&m.body, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        device_put_properties(&m.body, &found[i]);
    status = message_post(fd, &m, &error);
    free(found);
    return status ? 1 : 0;
}

const worker_program device_list_program = {.name = "autotune-list", .run = list};
