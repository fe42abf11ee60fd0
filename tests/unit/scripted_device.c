#include "scripted_device.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/supervise.h"
#include "bench/wire.h"
#include "framed.h"
#include "process/message.h"

enum {
    MOST_REQUESTS = 64,
    MOST_SAID = 16,      /* number of sent messages that are kept, to be repeated later */
    MOST_ROUNDS = 20000, /* the test fails as a hang after this number of rounds */
    TRY_SAMPLES = 3,
    BLOCK_VARIANTS = 4
};

/* A request that the device has read. */
typedef struct received {
    uint32_t kind;
    uint64_t number, id;
    size_t ids, samples;
    uint64_t block[BLOCK_VARIANTS];
} received;

/* A request of the tuner that has no answer yet. */
typedef struct expected {
    device_event_kind kind;
    uint64_t id;
    bool claimed;
    device_question question;
} expected;

typedef struct player {
    device_worker *worker;
    int fd; /* the device's end of the socket; -1 after the device's death */
    message_reader reader;
    bool opened, serving; /* whether the device has sent the message of this name */
    received queue[2];    /* requests that were read and not answered */
    size_t queued;
    message said[MOST_SAID]; /* the latest message is at index (said_count - 1) % MOST_SAID */
    size_t said_count;
    expected waiting[MOST_REQUESTS];
    size_t waiting_count, asked;
    scripted_result result;
} player;

static void rule(player *p, bool kept, const char *what)
{
    if (!kept && !p->result.wrong)
        p->result.wrong = what;
}

/* ---- the device's side ---- */

static void die(player *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
    message_reader_deinit(&p->reader);
    p->opened = p->serving = false;
    p->queued = 0;
}

static at_status start(void *context, worker *out, at_error *error)
{
    player *p = context;
    int ends[2];
    die(p);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set(error, AT_IO, "no socket");
    p->fd = ends[1];
    *out = (worker){.fd = ends[0]};
    return AT_OK;
}

/* Sends a message. Keeps the message, because a later step may repeat it. */
static void say(player *p, message *m)
{
    message *kept = &p->said[p->said_count++ % MOST_SAID];
    if (p->fd >= 0)
        message_send(p->fd, m, NULL);
    message_deinit(kept);
    *kept = *m;
}

static void say_again(player *p, size_t back)
{
    if (p->fd >= 0 && back < p->said_count && back < MOST_SAID)
        message_send(p->fd, &p->said[(p->said_count - 1 - back) % MOST_SAID], NULL);
}

static void say_opened(player *p)
{
    message m = {.type = REPLY_OPENED};
    device_put_properties(&m.body, &(device_properties){.kind = "cuda", .spec = "cuda:0"});
    say(p, &m);
    p->opened = true;
}

static void say_note(player *p, uint64_t number, const char *what, int64_t limit_ns)
{
    message m = {.type = REPLY_NOTE};
    device_put_note(&m.body, &(device_note){.number = number, .what = what, .limit_ns = limit_ns});
    say(p, &m);
}

static void say_failed(player *p)
{
    message m = {.type = REPLY_FAILED};
    pack_put_u32(&m.body, AT_DEVICE);
    pack_put_string(&m.body, "the device is busy");
    say(p, &m);
}

/* Returns the time of sample `i`. The test recognises the variant by this time. */
static int64_t time_of(uint64_t id, size_t i)
{
    return (int64_t)(1000 * (id + 1) + i);
}

static void say_answer(player *p, const received *r, device_answer a)
{
    int64_t samples_ns[TRY_SAMPLES + BLOCK_VARIANTS];
    a.usable = true;
    a.message = "";
    if (r->kind == REQUEST_TRY || r->kind == REQUEST_BLOCK)
        for (size_t i = 0; i < a.found.sample_count; i++)
            samples_ns[i] = time_of(r->kind == REQUEST_TRY ? r->id : r->block[i], i);
    else
        a.found.sample_count = 0;
    a.found.samples_ns = samples_ns;
    message m = {.type = REPLY_ANSWER};
    device_put_answer(&m.body, &a);
    say(p, &m);
}

static device_answer right_answer(const received *r)
{
    return (device_answer){
        .number = r->number, .kind = r->kind, .found = {.id = r->id, .sample_count = r->samples}};
}

/* Reads requests until `wanted` are queued or none arrives. Returns whether `wanted` are queued. */
static bool read_requests(player *p, size_t wanted)
{
    while (p->fd >= 0 && p->queued < wanted) {
        message m;
        if (message_reader_take(&p->reader, p->fd, &m, NULL))
            break;
        received r = {.kind = m.type};
        r.number = pack_get_u64(&m.body);
        r.id = pack_get_u64(&m.body);
        if (r.kind == REQUEST_TRY)
            r.samples = (size_t)pack_get_u64(&m.body);
        if (r.kind == REQUEST_BLOCK) {
            pack_get_u32(&m.body);
            r.ids = r.samples = (size_t)pack_get_u64(&m.body);
            for (size_t i = 0; i < r.ids && i < BLOCK_VARIANTS; i++)
                r.block[i] = pack_get_u64(&m.body);
        }
        message_deinit(&m);
        p->queue[p->queued++] = r;
    }
    return p->queued >= wanted;
}

static void drop_request(player *p)
{
    if (p->queued)
        memmove(&p->queue[0], &p->queue[1], --p->queued * sizeof *p->queue);
}

/* Sends the next correct message of the device. Returns false if there is no such message. */
static bool behave(player *p)
{
    if (p->fd < 0)
        return false;
    if (!p->opened) {
        say_opened(p);
    } else if (!p->serving) {
        say_note(p, 0, "", 0);
        p->serving = true;
    } else if (read_requests(p, 1)) {
        say_note(p, p->queue[0].number, "sampling", 1000000000);
        say_answer(p, &p->queue[0], right_answer(&p->queue[0]));
        drop_request(p);
    } else {
        return false;
    }
    return true;
}

/* Answers the next request wrongly, according to the step. */
static void answer_wrongly(player *p, scripted_step step)
{
    if (!read_requests(p, 1))
        return;
    device_answer a = right_answer(&p->queue[0]);
    if (step == STEP_OTHER_KIND)
        a.kind = a.kind == REQUEST_TRY ? REQUEST_RECHECK : REQUEST_TRY;
    else if (step == STEP_OTHER_NUMBER)
        a.number++;
    else if (step == STEP_OTHER_ID)
        a.found.id++;
    else if (a.found.sample_count)
        a.found.sample_count--;
    say_answer(p, &p->queue[0], a);
    drop_request(p);
}

static void answer_swapped(player *p)
{
    if (!read_requests(p, 2))
        return;
    say_answer(p, &p->queue[1], right_answer(&p->queue[1]));
    say_answer(p, &p->queue[0], right_answer(&p->queue[0]));
    p->queued = 0;
}

static void send_half(player *p)
{
    if (p->fd >= 0 && p->said_count) {
        size_t frame_bytes;
        unsigned char *frame = framed(&p->said[(p->said_count - 1) % MOST_SAID], &frame_bytes);
        ssize_t n = send(p->fd, frame, frame_bytes / 2, MSG_NOSIGNAL);
        (void)n;
        free(frame);
    }
    die(p);
}

/* ---- the tuner's side ---- */

static void expect(player *p, device_event_kind kind, uint64_t id)
{
    p->waiting[p->waiting_count++] = (expected){.kind = kind, .id = id};
    p->asked++;
}

static void ask(player *p, scripted_step step)
{
    static const char image[] = "image";
    uint64_t id = p->asked % 5, ids[BLOCK_VARIANTS];
    device_variant v = {.present = {true}, .images = {{.bytes = image, .size_bytes = 5}}};
    if (p->asked + p->waiting_count >= MOST_REQUESTS || p->result.failed)
        return;
    if (step == STEP_TRY && !device_worker_try(p->worker, id, &v, TRY_SAMPLES, NULL))
        expect(p, DEVICE_TRIED, id);
    if (step == STEP_HOLD && !device_worker_hold(p->worker, id, &v, NULL))
        expect(p, DEVICE_HELD, id);
    for (size_t i = 0; i < BLOCK_VARIANTS; i++)
        ids[i] = (id + i) % 5;
    if (step == STEP_BLOCK && !device_worker_block(p->worker, ids, BLOCK_VARIANTS, true, NULL))
        expect(p, DEVICE_BLOCK, id);
    if (step == STEP_RECHECK && !device_worker_recheck(p->worker, id, 7, NULL))
        expect(p, DEVICE_RECHECKED, id);
    if (step == STEP_ENERGY && !device_worker_energy(p->worker, id, 0, NULL))
        expect(p, DEVICE_ENERGY, id);
}

/* Claims the answer to the latest request, unless the request was answered or claimed. */
static void claim(player *p)
{
    expected *latest = p->waiting_count ? &p->waiting[p->waiting_count - 1] : NULL;
    const queue *sent = &p->worker->child.out.waiting;
    const request *last = sent->count ? sent->last : NULL;
    if (!latest || latest->claimed || p->worker->failed || !last ||
        last->out.message.type == REQUEST_RELEASE || last->out.message.type == REQUEST_SETUP)
        return;
    latest->question = device_worker_claim(p->worker);
    latest->claimed = true;
    rule(p, latest->question.kind == latest->kind, "a question is claimed as one of another kind");
}

static void check_samples(player *p, const device_event *e)
{
    if (e->outcome != OUTCOME_OK)
        return;
    p->result.fine++;
    if (e->kind == DEVICE_TRIED)
        rule(p, e->sample_count == TRY_SAMPLES, "samples are missing");
    for (size_t i = 0; e->kind == DEVICE_TRIED && i < e->sample_count; i++)
        rule(p, e->samples_ns[i] == time_of(e->id, i), "the samples are another variant's");
    if (e->kind == DEVICE_BLOCK)
        rule(p, e->sample_count == BLOCK_VARIANTS, "samples are missing");
    for (size_t i = 0; e->kind == DEVICE_BLOCK && i < e->sample_count; i++)
        rule(p, e->samples_ns[i] == time_of(e->ids[i], i), "the samples are another block's");
}

static void settle(player *p, size_t place, const device_event *e)
{
    expected x = p->waiting[place];
    rule(p, e->kind == x.kind, "the answer is of another kind");
    rule(p, e->kind == DEVICE_BLOCK || e->id == x.id, "the answer is about another variant");
    check_samples(p, e);
    p->waiting_count--;
    memmove(&p->waiting[place], &p->waiting[place + 1],
            (p->waiting_count - place) * sizeof *p->waiting);
    p->result.answered++;
}

static void take_event(player *p, const device_event *e)
{
    p->result.restarts = e->restarts;
    if (e->kind == DEVICE_FAILED) {
        rule(p, !p->result.failed, "the device fails twice");
        p->result.failed = true;
    } else if (e->kind != DEVICE_OPENED && e->kind != DEVICE_READY) {
        size_t place = 0;
        while (place < p->waiting_count && p->waiting[place].claimed)
            place++;
        rule(p, place < p->waiting_count, "an answer to what was not asked");
        if (place < p->waiting_count)
            settle(p, place, e);
    }
}

/* Takes all answers that have arrived. Returns false if no answer has arrived. */
static bool pump(player *p)
{
    device_event e;
    bool any = false;
    while (!device_worker_take(p->worker, 0, &e, NULL)) {
        any = true;
        take_event(p, &e);
        device_event_deinit(&e);
    }
    for (size_t i = 0; i < p->waiting_count; i++) {
        if (!p->waiting[i].claimed ||
            device_worker_await(p->worker, p->waiting[i].question, 0, &e, NULL))
            continue;
        any = true;
        settle(p, i--, &e);
        device_event_deinit(&e);
    }
    return any;
}

static void expire(player *p)
{
    rule(p,
         p->worker->child.deadline_ns != 0 || device_worker_pending(p->worker) == 0 ||
             p->worker->failed,
         "the worker owes an answer and no watchdog looks");
    if (p->worker->child.deadline_ns != 0)
        device_watch_expire(p->worker);
}

static void answer_and_wait(player *p)
{
    enum { LIMIT_MS = 300 };
    if (!read_requests(p, 1))
        return;
    say_note(p, p->queue[0].number, "sampling", LIMIT_MS * INT64_C(1000000));
    pump(p);
    say_answer(p, &p->queue[0], right_answer(&p->queue[0]));
    drop_request(p);
    nanosleep(&(struct timespec){.tv_nsec = (LIMIT_MS + 50) * 1000000L}, NULL);
}

static void step(player *p, scripted_step s)
{
    switch (s) {
    case STEP_TRY:
    case STEP_HOLD:
    case STEP_BLOCK:
    case STEP_RECHECK:
    case STEP_ENERGY:
        ask(p, s);
        break;
    case STEP_RELEASE:
        if (!p->result.failed)
            device_worker_release(p->worker, p->asked % 5, NULL);
        break;
    case STEP_CLAIM:
        claim(p);
        break;
    case STEP_MISSING:
        read_requests(p, 1);
        drop_request(p);
        break;
    case STEP_DOUBLED:
        say_again(p, 0);
        break;
    case STEP_LATE:
        say_again(p, 3);
        break;
    case STEP_OTHER_KIND:
    case STEP_OTHER_NUMBER:
    case STEP_FEW_SAMPLES:
    case STEP_OTHER_ID:
        answer_wrongly(p, s);
        break;
    case STEP_SWAPPED:
        answer_swapped(p);
        break;
    case STEP_NOTE:
        if (read_requests(p, 1))
            say_note(p, p->queue[0].number, "sampling", 1000);
        break;
    case STEP_OTHER_NOTE:
        say_note(p, 77777, "sampling", 1000);
        break;
    case STEP_ENDLESS_NOTE:
        if (read_requests(p, 1))
            say_note(p, p->queue[0].number, "sampling", INT64_MAX);
        break;
    case STEP_IDLE_NOTE:
        say_note(p, 0, "", 0);
        break;
    case STEP_OPENED:
        say_opened(p);
        break;
    case STEP_FAILED:
        say_failed(p);
        break;
    case STEP_UNKNOWN: {
        message m = {.type = 99};
        say(p, &m);
        break;
    }
    case STEP_HALF:
        send_half(p);
        break;
    case STEP_DEATH:
        die(p);
        break;
    case STEP_EXPIRY:
        expire(p);
        break;
    case STEP_READ_LATE:
        answer_and_wait(p);
        break;
    default:
        behave(p);
    }
}

/* Lets the device behave correctly until all requests are answered. The watchdog must end
 * requests that the device left unanswered. */
static void finish(player *p)
{
    size_t rounds = 0;
    while ((device_worker_pending(p->worker) || p->waiting_count) && !p->worker->failed &&
           !p->result.wrong) {
        rule(p, ++rounds < MOST_ROUNDS, "an answer never comes");
        bool said = behave(p);
        bool taken = pump(p);
        if (!said && !taken)
            expire(p);
    }
    pump(p);
    rule(p, p->result.failed || p->waiting_count == 0, "a question has no answer");
}

scripted_result scripted_run(const uint8_t *script, size_t count)
{
    player *p = calloc(1, sizeof *p);
    if (!p)
        return (scripted_result){.wrong = "no memory"};
    p->fd = -1;
    device_problem *problem = calloc(1, sizeof *problem);
    const device_worker_options options = {.spec = "cuda:0"};
    if (!problem || device_worker_start_with(&options, start, p, &p->worker, NULL) ||
        device_worker_setup(p->worker, (device_image[DEVICE_SUPPORT_PARTS]){{0}}, problem, 1, NULL))
        p->result.wrong = "it cannot be started";
    for (size_t i = 0; i < count && !p->result.wrong; i++) {
        step(p, (scripted_step)(script[i] == STEP_READ_LATE ? STEP_READ_LATE
                                                            : script[i] % STEP_COUNT));
        pump(p);
    }
    if (!p->result.wrong)
        finish(p);
    scripted_result result = p->result;
    result.asked = p->asked;
    result.held = p->worker ? p->worker->held.count : 0;
    device_worker_free(p->worker);
    die(p);
    for (size_t i = 0; i < MOST_SAID; i++)
        message_deinit(&p->said[i]);
    free(problem);
    free(p);
    return result;
}
