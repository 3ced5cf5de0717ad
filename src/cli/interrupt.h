/* interrupt.h - Ctrl-C: the first asks the work to stop, the second ends the process. */
#ifndef LC_CLI_INTERRUPT_H
#define LC_CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM set the flag; SIGPIPE is a failed write. */
void lc_interrupt_install(void);
/* Becomes non-zero; what loci_call_options.cancel wants. */
const volatile int *lc_interrupt_flag(void);
bool lc_interrupt_is_set(void);

#endif /* LC_CLI_INTERRUPT_H */
