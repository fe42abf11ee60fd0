#include "process/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

static sigset_t held_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    return set;
}

void interrupt_hold(void)
{
    sigset_t set = held_signals();
    sigprocmask(SIG_BLOCK, &set, NULL);
}

void interrupt_release(void)
{
    sigset_t set = held_signals();
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
    return sigpending(&waiting) == 0 &&
           (sigismember(&waiting, SIGINT) == 1 || sigismember(&waiting, SIGTERM) == 1 ||
            sigismember(&waiting, SIGHUP) == 1);
}
