/* process.h - runs a program and captures its output.
 *
 *     const char *argv[] = {test_loci(), "--version", NULL};
 *     test_process process = test_process_run(&(test_command){.argv = argv});
 *     CHECK_EQ(process.exit_code, 0);
 *     CHECK_CONTAINS(process.out, "0.1");
 *
 * Input and output go through files, so that neither side ever waits for the other. To have several
 * at once, start them and wait for each.
 */
#ifndef TEST_LIB_PROCESS_H
#define TEST_LIB_PROCESS_H

#include "loci.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct test_command {
    const char *const *argv;  /* Terminated by NULL; argv[0] is looked up in PATH. */
    loci_str input;           /* Its standard input. */
    const char *const *env;   /* "NAME=value" to be added, terminated by NULL; or NULL. */
    const char *dir;          /* Where it runs; NULL = here. */
    unsigned timeout_seconds; /* It is killed then; 0 = 60. */
} test_command;

typedef struct test_process {
    pid_t pid;
    int out_file;
    int err_file;
    unsigned timeout_seconds;
    /* Known once it has ended. The texts live until the test ends. */
    loci_str out;
    loci_str err;
    int exit_code; /* 128 + signal when one killed it, as in a shell. */
    bool timed_out;
} test_process;

test_process test_process_start(const test_command *command);
void test_process_wait(test_process *process);
test_process test_process_run(const test_command *command);

/* Path of the program under test: $LOCI, or the one of this build. */
const char *test_loci(void);

#endif /* TEST_LIB_PROCESS_H */
