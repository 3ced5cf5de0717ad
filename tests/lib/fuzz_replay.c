/* fuzz_replay.c - runs a fuzz target without libFuzzer: NAME CORPUS_DIR [MUTATIONS].
 *
 * First every file of the corpus in the order of their names, then mutations of them that are the
 * same in every run (LOCI_TEST_SEED changes them). It finds few new bugs; it shows in each run that
 * earlier findings stay fixed, under every compiler and sanitizer.
 */
#include "lib/random.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MUTATIONS 20000
#define MUTATIONS_FULL 500000
#define INPUT_BYTES_MAX (64 * 1024)
#define TIME_LIMIT_S 900

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

typedef struct input {
    uint8_t *data;
    size_t bytes;
} input;

static uint8_t scratch[INPUT_BYTES_MAX];

/* A copy of exactly these bytes, so that a sanitizer sees a read past the end. */
static void run(const uint8_t *data, size_t bytes)
{
    uint8_t *copy = malloc(bytes == 0 ? 1 : bytes);

    if (copy == NULL)
        abort();
    memcpy(copy, data, bytes);
    LLVMFuzzerTestOneInput(copy, bytes);
    free(copy);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static input read_input(const char *dir, const char *name)
{
    input result = {0};
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    result.bytes = fread(scratch, 1, sizeof scratch, file);
    fclose(file);
    result.data = malloc(result.bytes + 1);
    if (result.data == NULL)
        abort();
    memcpy(result.data, scratch, result.bytes);
    return result;
}

/* One small change to the `bytes` in `scratch`; returns how many there are now. */
static size_t mutate(test_rng *rng, size_t bytes)
{
    static const char interesting[] = "{}[]\",:\\\0\n\x7f\x80\xc0\xff-.0e9u";
    size_t at = bytes == 0 ? 0 : test_rng_below(rng, bytes);
    size_t span = 1 + test_rng_below(rng, 8);
    uint8_t byte = (uint8_t)test_rng_next(rng);

    if (test_rng_chance(rng, 50))
        byte = (uint8_t)interesting[test_rng_below(rng, sizeof interesting - 1)];
    switch (test_rng_below(rng, 5)) {
    case 0: /* Flip a bit. */
        if (bytes > 0)
            scratch[at] ^= (uint8_t)(1u << test_rng_below(rng, 8));
        return bytes;
    case 1: /* Overwrite. */
        if (bytes > 0)
            scratch[at] = byte;
        return bytes;
    case 2: /* Insert. */
        if (bytes == INPUT_BYTES_MAX)
            return bytes;
        memmove(scratch + at + 1, scratch + at, bytes - at);
        scratch[at] = byte;
        return bytes + 1;
    case 3: /* Remove. */
        if (span > bytes - at)
            span = bytes - at;
        memmove(scratch + at, scratch + at + span, bytes - at - span);
        return bytes - span;
    default: /* Cut. */
        return test_rng_chance(rng, 20) ? at : bytes;
    }
}

static void run_mutations(const input *inputs, size_t count, uint64_t mutations)
{
    test_rng rng = test_random(1);

    for (uint64_t i = 0; i < mutations; i++) {
        input from = count == 0 ? (input){0} : inputs[test_rng_below(&rng, count)];
        uint64_t steps = 1 + test_rng_below(&rng, 6);
        size_t bytes = from.bytes;

        if (bytes > 0)
            memcpy(scratch, from.data, bytes);
        while (steps-- > 0)
            bytes = mutate(&rng, bytes);
        run(scratch, bytes);
    }
}

int main(int argc, char **argv)
{
    const char *full = getenv("LOCI_TEST_FULL");
    uint64_t mutations = full != NULL && strcmp(full, "1") == 0 ? MUTATIONS_FULL : MUTATIONS;
    struct dirent **entries = NULL;
    int count = 0;
    input *inputs;

    if (argc < 2) {
        fprintf(stderr, "usage: %s CORPUS_DIR [MUTATIONS]\n", argv[0]);
        return 2;
    }
    if (argc > 2)
        mutations = strtoull(argv[2], NULL, 10);
    alarm(TIME_LIMIT_S);

    /* A target may have no corpus yet. */
    count = access(argv[1], F_OK) == 0 ? scandir(argv[1], &entries, is_visible, alphasort) : 0;
    inputs = calloc((size_t)count + 1, sizeof *inputs);
    if (count < 0 || inputs == NULL) {
        perror(argv[1]);
        return 2;
    }
    for (int i = 0; i < count; i++) {
        inputs[i] = read_input(argv[1], entries[i]->d_name);
        run(inputs[i].data, inputs[i].bytes);
        free(entries[i]);
    }
    run_mutations(inputs, (size_t)count, mutations);
    for (int i = 0; i < count; i++)
        free(inputs[i].data);
    free(entries);
    free(inputs);
    printf("%d files and %llu mutations of them\n", count, (unsigned long long)mutations);
    printf("1 passed, 0 failed\n");
    return 0;
}
