#include "process/interrupt.h"

#include <signal.h>
#include <time.h>

enum { OF_PEOPLE = 3 }; /* of the first in the table */

static const int interrupting[] = {SIGINT,  SIGTERM, SIGHUP,    SIGUSR1, SIGUSR2,
                                   SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,
#ifdef SIGPWR
                                   SIGPWR
#endif
};

const int *interrupt_signals(size_t *count)
{
    *count = sizeof interrupting / sizeof *interrupting;
    return interrupting;
}

static bool ignored(int signal_number)
{
    struct sigaction action;
    return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* A signal that is held waits to be taken even if it is ignored. */
static sigset_t signals(size_t first_count)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < first_count; i++)
        if (!ignored(interrupting[i]))
            sigaddset(&set, interrupting[i]);
    return set;
}

static sigset_t held_signals(void)
{
    size_t count;
    interrupt_signals(&count);
    return signals(count);
}

void interrupt_begin(void (*end)(int signal_number))
{
    sigset_t none;
    size_t count;
    interrupt_signals(&count);
    for (size_t i = 0; i < count; i++)
        if (interrupting[i] == SIGINT || interrupting[i] == SIGTERM || !ignored(interrupting[i]))
            sigaction(interrupting[i], &(struct sigaction){.sa_handler = end}, NULL);
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void interrupt_hold(void)
{
    sigset_t set = held_signals();
    sigprocmask(SIG_BLOCK, &set, NULL);
}

void interrupt_release(void)
{
    sigset_t set = signals(OF_PEOPLE);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int interrupt_take(void)
{
    sigset_t set = held_signals();
    struct timespec now = {0};
    int signal = sigtimedwait(&set, NULL, &now);
    return signal > 0 ? signal : 0;
}

bool interrupt_waits(void)
{
    sigset_t waiting;
    size_t count;
    const int *all = interrupt_signals(&count);
    bool waits = false;
    if (sigpending(&waiting) == 0)
        for (size_t i = 0; i < count && !waits; i++)
            waits = sigismember(&waiting, all[i]) == 1;
    return waits;
}
