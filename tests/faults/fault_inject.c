/* Runs a program and injects faults.
 *
 *   fault_inject [-s SEED] [-d BEGIN] [-k N:EVERY] [-f N:ONE_IN] [-w N:ONE_IN] [-i N:SIGNAL] [-r]
 *                -- PROGRAM...
 *
 * -k kills N child processes of the program at random moments, on average one after EVERY pieces
 * sent over sockets, so that fast and slow machines are treated equally; -f flips a bit in one of
 * ONE_IN pieces sent, N times; -w refuses one of ONE_IN disk writes, N times. All faults begin when
 * BEGIN pieces were sent, because a fault before the first measurement may end the run. -i sends
 * SIGNAL (a number) to the program when N pieces were sent; -r refuses to move records into place.
 * The program's streams are not changed. At the end a line on stderr reports the faults: "faults:
 * 300 kills, 350 frames, 350 writes in 12000 pieces". The exit code is the program's, 128 + its
 * signal, or 2 if it could not be run. */
#define _GNU_SOURCE
#include "fault_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CHILDREN = 256, STATE_PATH_BYTES = 64 };

typedef struct plan {
    uint64_t seed, begin;
    uint64_t kills, kill_every;
    uint64_t frames, frames_one_in;
    uint64_t writes, writes_one_in;
    uint64_t signal, signal_at;
    bool refuses_records;
    char **program;
} plan;

static bool read_pair(const char *text, uint64_t *count, uint64_t *every)
{
    return sscanf(text, "%" SCNu64 ":%" SCNu64, count, every) == 2 && *every > 0;
}

static bool read_plan(int argc, char **argv, plan *out)
{
    *out = (plan){.seed = 1, .kill_every = 1, .frames_one_in = 1, .writes_one_in = 1};
    bool right = true;
    for (int option; right && (option = getopt(argc, argv, "+s:d:k:f:w:i:r")) != -1;) {
        if (option == 's')
            out->seed = strtoull(optarg, NULL, 10);
        else if (option == 'd')
            out->begin = strtoull(optarg, NULL, 10);
        else if (option == 'k')
            right = read_pair(optarg, &out->kills, &out->kill_every);
        else if (option == 'f')
            right = read_pair(optarg, &out->frames, &out->frames_one_in);
        else if (option == 'w')
            right = read_pair(optarg, &out->writes, &out->writes_one_in);
        else if (option == 'i')
            right = read_pair(optarg, &out->signal_at, &out->signal);
        else if (option == 'r')
            out->refuses_records = true;
        else
            right = false;
    }
    out->program = argv + optind;
    return right && optind < argc;
}

static fault_state *make_state(const plan *p, char path[STATE_PATH_BYTES])
{
    snprintf(path, STATE_PATH_BYTES, "/tmp/fault_state.XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return NULL;
    void *at = MAP_FAILED;
    if (ftruncate(fd, sizeof(fault_state)) == 0)
        at = mmap(NULL, sizeof(fault_state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED) {
        unlink(path);
        return NULL;
    }
    fault_state *s = at;
    s->seed = p->seed;
    s->begin = p->begin;
    s->signal = (int)p->signal;
    s->signal_at = p->signal_at;
    s->refuses_records = p->refuses_records;
    s->frames.quota = p->frames;
    s->frames.one_in = p->frames_one_in;
    s->writes.quota = p->writes;
    s->writes.one_in = p->writes_one_in;
    return s;
}

static uint64_t draw(uint64_t *random)
{
    uint64_t z = (*random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t find_children(pid_t parent, pid_t *children)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *f = fopen(path, "r");
    size_t count = 0;
    for (int child; f && count < MOST_CHILDREN && fscanf(f, "%d", &child) == 1;)
        children[count++] = child;
    if (f)
        fclose(f);
    return count;
}

/* Returns whether the process runs. It may have ended although its parent has not waited for it. */
static bool is_running(pid_t pid)
{
    char path[64], kind = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    if (fscanf(f, "%*d %*[^)]) %c", &kind) != 1)
        kind = 'Z';
    fclose(f);
    return kind != 'Z' && kind != 'X';
}

static bool kill_a_child(pid_t parent, uint64_t *random)
{
    pid_t children[MOST_CHILDREN];
    size_t count = find_children(parent, children);
    if (count == 0)
        return false;
    pid_t victim = children[draw(random) % count];
    return is_running(victim) && kill(victim, SIGKILL) == 0;
}

static void pause_for(uint64_t ns)
{
    struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
    nanosleep(&pause, NULL);
}

/* Kills children until the program ends. Returns the number of kills. */
static uint64_t watch(const plan *p, const fault_state *state, pid_t program, int *status)
{
    uint64_t random = p->seed, killed = 0, next = p->begin;
    for (;;) {
        pause_for(draw(&random) % 4000000);
        pid_t ended = waitpid(program, status, WNOHANG);
        if (ended != 0)
            return killed;
        uint64_t sent = atomic_load(&state->frames.chances);
        if (killed < p->kills && sent >= next && kill_a_child(program, &random)) {
            killed++;
            next = sent + draw(&random) % (2 * p->kill_every + 1);
        }
    }
}

static void run_program(const plan *p, fault_state *state, const char *state_path)
{
    state->program = getpid();
    setenv(FAULT_STATE_VARIABLE, state_path, 1);
    setenv("LD_PRELOAD", FAULT_PRELOAD_LIBRARY, 1);
    execvp(p->program[0], p->program);
    fprintf(stderr, "fault_inject: %s: %s\n", p->program[0], strerror(errno));
    _exit(127);
}

int main(int argc, char **argv)
{
    plan p;
    char path[STATE_PATH_BYTES];
    if (!read_plan(argc, argv, &p)) {
        fputs("usage: fault_inject [-s SEED] [-d BEGIN] [-k N:EVERY] [-f N:ONE_IN] "
              "[-w N:ONE_IN] [-i N:SIGNAL] [-r] -- PROGRAM...\n",
              stderr);
        return 2;
    }
    fault_state *state = make_state(&p, path);
    if (!state) {
        perror("fault_inject: /tmp");
        return 2;
    }
    pid_t program = fork();
    if (program == 0)
        run_program(&p, state, path);
    int status = 0;
    uint64_t killed = program > 0 ? watch(&p, state, program, &status) : 0;
    unlink(path);
    fprintf(
        stderr,
        "faults: %" PRIu64 " kills, %" PRIu64 " frames, %" PRIu64 " writes in %" PRIu64 " pieces\n",
        killed, (uint64_t)atomic_load(&state->frames.done),
        (uint64_t)atomic_load(&state->writes.done), (uint64_t)atomic_load(&state->frames.chances));
    if (program < 0)
        return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
