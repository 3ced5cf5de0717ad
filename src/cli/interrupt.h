/* interrupt.h - Ctrl-C: the first asks the work to stop, the second ends the process. */
#ifndef LC_CLI_INTERRUPT_H
#define LC_CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM set the flag; SIGPIPE is a failed write. */
void lc_interrupt_install(void);
/* Becomes non-zero; what loci_call_options.cancel wants. */
const volatile int *lc_interrupt_flag(void);
bool lc_interrupt_is_set(void);
/* A descriptor that becomes readable with the flag, for who waits for several things; -1 when there
 * can be none. Not to be read or closed. */
int lc_interrupt_fd(void);

#endif /* LC_CLI_INTERRUPT_H */
