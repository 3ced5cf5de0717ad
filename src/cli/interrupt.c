/* interrupt.c - the mutable globals of the program: a signal handler has no other way to tell. */
#include "cli/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Ints that are read and written atomically: a signal arrives on any thread, and workers look. */
static volatile int interrupted;
static volatile int wake_fd = -1;

static int get(const volatile int *flag)
{
    return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

static void on_signal(int signal_number)
{
    static const uint64_t one = 1;
    int error_before = errno;

    if (__atomic_exchange_n(&interrupted, 1, __ATOMIC_SEQ_CST) != 0)
        _exit(128 + signal_number);
    if (get(&wake_fd) >= 0 && write(get(&wake_fd), &one, sizeof one) < 0)
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
    if (get(&wake_fd) < 0)
        __atomic_store_n(&wake_fd, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), __ATOMIC_SEQ_CST);
    if (get(&wake_fd) >= 0 && get(&interrupted) != 0) {
        static const uint64_t one = 1;

        /* The signal may have come before there was a descriptor to write to. */
        (void)!write(get(&wake_fd), &one, sizeof one);
    }
    return get(&wake_fd);
}

bool lc_interrupt_is_set(void)
{
    return get(&interrupted) != 0;
}
