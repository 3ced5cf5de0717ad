/* interrupt.c - the mutable globals of the program: a signal handler has no other way to tell. */
#include "cli/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t wake_fd = -1;

_Static_assert(_Generic((sig_atomic_t)0, int : 1, default : 0), "loci.h's cancel flag is an int");

static void on_signal(int signal_number)
{
    static const uint64_t one = 1;
    int error_before = errno;

    if (interrupted)
        _exit(128 + signal_number);
    interrupted = 1;
    if (wake_fd >= 0 && write(wake_fd, &one, sizeof one) < 0)
        errno = error_before; /* Full, so it is readable already. */
    errno = error_before;
}

void lc_interrupt_install(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    (void)sigemptyset(&action.sa_mask);
    /* Without SA_RESTART: a read that waits for the next line must notice. These cannot fail: the
     * signals exist and the handler is valid. */
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);
}

const volatile int *lc_interrupt_flag(void)
{
    return &interrupted;
}

int lc_interrupt_fd(void)
{
    if (wake_fd < 0)
        wake_fd = eventfd(interrupted ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd >= 0 && interrupted) {
        static const uint64_t one = 1;

        /* The signal may have come before there was a descriptor to write to. */
        (void)!write(wake_fd, &one, sizeof one);
    }
    return wake_fd;
}

bool lc_interrupt_is_set(void)
{
    return interrupted != 0;
}
