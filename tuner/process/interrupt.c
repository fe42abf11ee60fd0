#include "process/interrupt.h"

#include <signal.h>
#include <time.h>

static const int interrupting[] = {SIGINT,  SIGTERM, SIGHUP,    SIGUSR1, SIGUSR2,
                                   SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,
#ifdef SIGPWR
                                   SIGPWR
#endif
};

/* USER_SIGNALS is the number of signals that people send, which come first in the list. */
enum { USER_SIGNALS = 3, SIGNAL_COUNT = sizeof interrupting / sizeof *interrupting };

const int *interrupt_signals(size_t *count)
{
    *count = SIGNAL_COUNT;
    return interrupting;
}

static bool ignored(int signal_number)
{
    struct sigaction action;
    return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Returns the first `count` signals without ignored signals, which stay pending if blocked. */
static sigset_t interrupting_set(size_t count)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < count; i++)
        if (!ignored(interrupting[i]))
            sigaddset(&set, interrupting[i]);
    return set;
}

void interrupt_begin(void (*end)(int signal_number))
{
    sigset_t none;
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        if (interrupting[i] == SIGINT || interrupting[i] == SIGTERM || !ignored(interrupting[i]))
            sigaction(interrupting[i], &(struct sigaction){.sa_handler = end}, NULL);
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void interrupt_hold(void)
{
    sigset_t set = interrupting_set(SIGNAL_COUNT);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

void interrupt_release(void)
{
    sigset_t set = interrupting_set(USER_SIGNALS);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int interrupt_take(void)
{
    sigset_t set = interrupting_set(SIGNAL_COUNT);
    struct timespec now = {0};
    int signal = sigtimedwait(&set, NULL, &now);
    return signal > 0 ? signal : 0;
}

bool interrupt_is_pending(void)
{
    sigset_t pending;
    bool waits = false;
    if (sigpending(&pending) == 0)
        for (size_t i = 0; i < SIGNAL_COUNT && !waits; i++)
            waits = sigismember(&pending, interrupting[i]) == 1;
    return waits;
}
