/* interrupt.c - the one mutable global of the program: a signal handler has no other way to tell.
 */
#include "cli/interrupt.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

_Static_assert(_Generic((sig_atomic_t)0, int : 1, default : 0), "loci.h's cancel flag is an int");

static void on_signal(int signal_number)
{
    if (interrupted)
        _exit(128 + signal_number);
    interrupted = 1;
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

bool lc_interrupt_is_set(void)
{
    return interrupted != 0;
}
