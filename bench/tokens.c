/* tokens.c - counting tokens beside npm's tiktoken and gpt-tokenizer.
 *
 * Those run in node, so the conductor is bench/tokens.mjs: it makes the texts, starts each library
 * in a process of its own and has them count the same texts in turns. This program starts it, and
 * is at the same time the process of loci's side, when called with --count: each line
 *
 *     ENCODING PASSES FILE      is answered by   TOKENS SECONDS of CPU for all passes
 *     ENCODING records FILE     is answered by the counts of the texts in FILE, in one line; there
 *                               each text follows its length in four bytes
 */
#include "base/str.h"
#include "text/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static lc_heap heap;

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "tokens: %s: %s\n", what, why);
    exit(1);
}

/* The CPU time of this process: the machine is shared. */
static double cpu_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* Cannot fail on Linux. */
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static loci_str read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long bytes;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (bytes = ftell(file)) < 0)
        die(path, "cannot be read");
    rewind(file);
    text = malloc((size_t)bytes + 1);
    if (text == NULL || fread(text, 1, (size_t)bytes, file) != (size_t)bytes)
        die(path, "cannot be read");
    (void)fclose(file);
    return (loci_str){text, (size_t)bytes};
}

static int64_t count(const lc_tokenizer *tokenizer, loci_str text)
{
    lc_text_tokens counted;
    loci_error err;

    if (lc_tokenizer_count(tokenizer, text, &counted, &err) != LOCI_OK)
        die("count", err.message);
    return counted.tokens;
}

static void time_passes(const lc_tokenizer *tokenizer, loci_str text, long passes)
{
    double begin = cpu_seconds();
    int64_t tokens = 0;

    for (long i = 0; i < passes; i++)
        tokens = count(tokenizer, text);
    printf("%lld %.9f\n", (long long)tokens, cpu_seconds() - begin);
}

static void count_records(const lc_tokenizer *tokenizer, loci_str file)
{
    uint32_t bytes;

    for (size_t at = 0; at + sizeof bytes <= file.len; at += sizeof bytes + bytes) {
        memcpy(&bytes, file.ptr + at, sizeof bytes);
        printf("%lld ",
               (long long)count(tokenizer, (loci_str){file.ptr + at + sizeof bytes, bytes}));
    }
    printf("\n");
}

static void answer(const char *line)
{
    static lc_tokenizer tokenizers[LC_ENCODINGS];
    char name[32], work[32], path[4096];
    lc_encoding encoding;
    loci_error err;
    loci_str text;

    if (sscanf(line, "%31s %31s %4095s", name, work, path) != 3 ||
        !lc_encoding_find(loci_str_of(name), &encoding))
        die("not understood", line);
    if (!lc_tokenizer_is_exact(&tokenizers[encoding]) &&
        lc_tokenizer_open(&tokenizers[encoding], &heap, encoding, LC_STR_NONE, &err) != LOCI_OK)
        die(name, err.message);
    text = read_file(path);
    if (strcmp(work, "records") == 0)
        count_records(&tokenizers[encoding], text);
    else
        time_passes(&tokenizers[encoding], text, strtol(work, NULL, 10));
    (void)fflush(stdout);
    free((void *)(uintptr_t)text.ptr);
}

int main(int argc, char **argv)
{
    char line[8192];

    if (argc < 2) {
        (void)execlp("node", "node", "bench/tokens.mjs", argv[0], (char *)NULL);
        die("node", "is needed, and bench/tokens.mjs in the current folder");
    }
    lc_heap_init(&heap, (loci_allocator){0});
    while (fgets(line, sizeof line, stdin) != NULL)
        answer(line);
    return 0;
}
