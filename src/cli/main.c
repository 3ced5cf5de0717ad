/* main.c - prepares memory, output and signals, runs the command and returns its exit code. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/cli.h"
#include "cli/command.h"

/* Opens the standard descriptors that the caller closed, so that no file of the store gets one of
 * them and then our output. Reading or writing them fails as if they were closed. */
static void fill_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* Gets fd. */
    }
}

int main(int argc, char **argv)
{
    lc_heap heap;
    lc_arena arena;
    lc_cli cli = {.heap = &heap, .arena = &arena};
    int code;

    fill_descriptors();
    /* Only for the width of characters (terminal.c). */
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    lc_interrupt_install();
    lc_heap_init(&heap, (loci_allocator){0});
    lc_arena_init(&arena, &heap, LOCI_MEM_ENGINE);
    lc_buf_init(&cli.out, &heap, LOCI_MEM_REQUESTS, LC_CLI_OUT_BYTES_MAX);

    code = lc_command_dispatch(&cli, argv + 1, argc > 0 ? (size_t)argc - 1 : 0);
    code = lc_cli_finish(&cli, code);

    lc_buf_clear(&cli.out);
    lc_arena_clear(&arena);
    return code;
}
