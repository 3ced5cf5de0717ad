/* process.c - fork, exec, and three unlinked files for the standard streams. */
#include "lib/process.h"

#include "lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_SECONDS 60

static int new_file(const char *name)
{
    int file = memfd_create(name, MFD_CLOEXEC);

    if (file < 0)
        test_fail(__FILE__, __LINE__, "memfd_create: %s", strerror(errno));
    return file;
}

static int input_file(loci_str input)
{
    int file = new_file("stdin");
    size_t at = 0;

    while (at < input.len) {
        ssize_t put = write(file, input.ptr + at, input.len - at);

        if (put < 0)
            test_fail(__FILE__, __LINE__, "write: %s", strerror(errno));
        at += (size_t)put;
    }
    lseek(file, 0, SEEK_SET);
    return file;
}

static void become(const test_command *command, const int streams[3])
{
    for (int i = 0; i < 3; i++)
        dup2(streams[i], i);
    if (command->dir != NULL && chdir(command->dir) != 0)
        _exit(126);
    for (size_t i = 0; command->env != NULL && command->env[i] != NULL; i++)
        putenv((char *)command->env[i]);
    execvp(command->argv[0], (char *const *)command->argv);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", command->argv[0], strerror(errno));
    _exit(127);
}

test_process test_process_start(const test_command *command)
{
    test_process process = {.timeout_seconds = command->timeout_seconds};
    int streams[3] = {input_file(command->input), new_file("stdout"), new_file("stderr")};

    if (process.timeout_seconds == 0)
        process.timeout_seconds = TIMEOUT_SECONDS;
    fflush(stdout);
    process.pid = fork();
    if (process.pid < 0)
        test_fail(__FILE__, __LINE__, "fork: %s", strerror(errno));
    if (process.pid == 0)
        become(command, streams);
    close(streams[0]);
    process.out_file = streams[1];
    process.err_file = streams[2];
    return process;
}

static loci_str collect(int file)
{
    off_t bytes = lseek(file, 0, SEEK_END);
    char *text = test_bytes((size_t)bytes);
    size_t at = 0;
    ssize_t got;

    while (at < (size_t)bytes && (got = pread(file, text + at, (size_t)bytes - at, (off_t)at)) > 0)
        at += (size_t)got;
    text[at] = '\0';
    close(file);
    return (loci_str){text, at};
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void test_process_wait(test_process *process)
{
    int64_t deadline_ms = now_ms() + (int64_t)process->timeout_seconds * 1000;
    int status = 0;
    pid_t got;

    while ((got = waitpid(process->pid, &status, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
        if (!process->timed_out && now_ms() > deadline_ms) {
            process->timed_out = true;
            kill(process->pid, SIGKILL);
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    process->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    process->out = collect(process->out_file);
    process->err = collect(process->err_file);
    process->pid = 0;
}

test_process test_process_run(const test_command *command)
{
    test_process process = test_process_start(command);

    test_process_wait(&process);
    return process;
}

const char *test_loci(void)
{
    const char *path = getenv("LOCI");

    return path != NULL && path[0] != '\0' ? path : test_build_path("loci");
}
