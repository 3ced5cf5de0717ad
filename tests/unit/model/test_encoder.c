#include "model/encoder.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/data_file.h"
#include "base/str.h"
#include "lib/test.h"
#include "unit/model/encoder_fixture.h"

/* Allowed error of rounding to 16 bits; 0.9999 is documented. */
#define COSINE_FLOOR 0.99999

static double length_of(const float *v)
{
    double squares = 0;

    for (size_t i = 0; i < LC_ENCODER_DIMENSIONS; i++)
        squares += (double)v[i] * (double)v[i];
    return sqrt(squares);
}

/* The vectors are meaningful only if they equal those of the original model: a store with vectors
 * of the original must find the same neighbours with ours. */
static void check_like_the_package(encoder_fixture *f, size_t count,
                                   const encoder_expected *expected)
{
    for (size_t i = 0; i < count; i++) {
        float v[LC_ENCODER_DIMENSIONS];
        loci_error err;
        double cosine;

        CHECK_OK(lc_encoder_embed_many(f->encoder, &expected[i].text, 1, v, &err), err);
        cosine = encoder_cosine(v, expected[i].vector);
        if (!(cosine >= COSINE_FLOOR))
            test_fail(__FILE__, __LINE__, "cosine %.7f for text %zu: %.*s", cosine, i,
                      LC_STR_ARG(expected[i].text));
        CHECK(fabs(length_of(v) - 1) < 1e-5);
    }
}

TEST(encoder, vectors_are_those_of_the_package)
{
    encoder_fixture f;
    encoder_expected *expected;
    size_t count;

    encoder_fixture_open(&f);
    count = encoder_expected_read(&f, &expected);
    CHECK_LE(100, count);
    check_like_the_package(&f, count, expected);
    encoder_fixture_close(&f);
}

TEST(encoder, plain_c_gives_the_same)
{
    encoder_fixture f;
    encoder_expected *expected;
    size_t count;

    test_timeout(300);
    encoder_fixture_open(&f);
    lc_encoder_use_scalar(f.encoder);
    CHECK_STR_EQ(lc_encoder_kernel_name(f.encoder), "scalar");
    count = encoder_expected_read(&f, &expected);
    /* Slow, and slower still when it is watched. */
    check_like_the_package(&f, test_is_sanitized() ? count / 10 : count, expected);
    encoder_fixture_close(&f);
}

/* Together or one by one, in whatever company: a text has one vector. */
TEST(encoder, company_does_not_change_a_vector)
{
    encoder_fixture f;
    encoder_expected *expected;
    loci_str *texts;
    float *many;
    loci_error err;
    size_t count;

    encoder_fixture_open(&f);
    count = encoder_expected_read(&f, &expected);
    texts = (loci_str *)(void *)test_bytes(count * sizeof *texts);
    many = (float *)(void *)test_bytes(count * LC_ENCODER_DIMENSIONS * sizeof *many);
    for (size_t i = 0; i < count; i++)
        texts[i] = expected[i].text;
    CHECK_OK(lc_encoder_embed_many(f.encoder, texts, count, many, &err), err);
    for (size_t i = 0; i < count; i++) {
        float alone[LC_ENCODER_DIMENSIONS];

        CHECK_OK(lc_encoder_embed_many(f.encoder, &texts[i], 1, alone, &err), err);
        CHECK_BYTES(many + i * LC_ENCODER_DIMENSIONS, sizeof alone, alone, sizeof alone);
    }
    CHECK_OK(lc_encoder_embed_many(f.encoder, texts, 0, many, &err), err);
    encoder_fixture_close(&f);
}

/* More texts than a batch holds, none with a token: a batch is bounded by both counts. */
TEST(encoder, many_empty_texts)
{
    enum { COUNT = 300 };
    encoder_fixture f;
    loci_str texts[COUNT] = {{NULL, 0}};
    float *many = (float *)(void *)test_bytes(COUNT * LC_ENCODER_DIMENSIONS * sizeof *many);
    loci_error err;

    encoder_fixture_open(&f);
    CHECK_OK(lc_encoder_embed_many(f.encoder, texts, COUNT, many, &err), err);
    for (size_t i = 0; i < COUNT; i++)
        CHECK(fabs(length_of(many + i * LC_ENCODER_DIMENSIONS) - 1) < 1e-5);
    encoder_fixture_close(&f);
}

/* Only the beginning of a text is read; a huge one costs no more than a long one. */
TEST(encoder, a_huge_text_is_cut)
{
    enum { HUGE_BYTES = 3 * 1024 * 1024 };
    encoder_fixture f;
    char *huge = test_bytes(HUGE_BYTES);
    float of_huge[LC_ENCODER_DIMENSIONS], of_start[LC_ENCODER_DIMENSIONS];
    loci_error err;

    for (size_t i = 0; i < HUGE_BYTES; i++)
        huge[i] = i % 5 == 4 ? ' ' : (char)('a' + i % 23);
    encoder_fixture_open(&f);
    CHECK_OK(lc_encoder_embed_many(f.encoder, &(loci_str){huge, HUGE_BYTES}, 1, of_huge, &err),
             err);
    CHECK_OK(lc_encoder_embed_many(f.encoder, &(loci_str){huge, 5000}, 1, of_start, &err), err);
    CHECK_BYTES(of_huge, sizeof of_huge, of_start, sizeof of_start);
    CHECK_LT(test_heap_live_bytes(LOCI_MEM_REQUESTS), 1);
    encoder_fixture_close(&f);
}

/* ---- Threads --------------------------------------------------------------------------------- */

typedef struct thread_work {
    encoder_fixture *f;
    const encoder_expected *expected;
    size_t count;
    unsigned wrong;
} thread_work;

static void *embed_all(void *ctx)
{
    thread_work *work = ctx;

    for (size_t i = 0; i < work->count; i++) {
        float v[LC_ENCODER_DIMENSIONS];

        if (lc_encoder_embed_many(work->f->encoder, &work->expected[i].text, 1, v, NULL) !=
                LOCI_OK ||
            encoder_cosine(v, work->expected[i].vector) < COSINE_FLOOR)
            work->wrong++;
    }
    return NULL;
}

TEST(encoder, threads_share_one)
{
    enum { THREADS = 4 };
    encoder_fixture f;
    encoder_expected *expected;
    thread_work work[THREADS];
    pthread_t threads[THREADS];

    encoder_fixture_open(&f);
    (void)encoder_expected_read(&f, &expected);
    for (size_t i = 0; i < THREADS; i++) {
        work[i] = (thread_work){&f, expected + 16 + 4 * i, 4, 0};
        CHECK_EQ(pthread_create(&threads[i], NULL, embed_all, &work[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK_EQ(work[i].wrong, 0);
    }
    encoder_fixture_close(&f);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static loci_status open_and_embed(void *ctx)
{
    static const loci_str texts[] = {{"Ann prefers an aisle seat.", 26}, {"Café at 10:30", 14}};
    float out[2 * LC_ENCODER_DIMENSIONS];
    lc_env *env = ctx;
    lc_encoder *encoder;
    char path[LC_DATA_PATH_BYTES];
    loci_status status = lc_data_file_find(LC_STR(""), LC_ENCODER_FILE, path, NULL);

    if (status == LOCI_OK)
        status = lc_encoder_open(env, path, &encoder, NULL);
    if (status != LOCI_OK)
        return status;
    status = lc_encoder_embed_many(encoder, texts, 2, out, NULL);
    lc_encoder_close(encoder);
    return status;
}

TEST(encoder, memory_may_run_out_anywhere)
{
    lc_env env = {0};

    lc_heap_init(&env.heap, test_heap());
    test_oom_sweep(open_and_embed, &env);
}

static void check_refused(loci_str content, loci_status status, const char *words)
{
    const char *path = test_path(test_tmpdir(), "encoder.loci");
    lc_env env = {0};
    lc_encoder *encoder = NULL;
    loci_error err;

    lc_heap_init(&env.heap, test_heap());
    if (content.len > 0)
        test_write_file(path, content);
    CHECK_STATUS(status, lc_encoder_open(&env, path, &encoder, &err));
    CHECK_CONTAINS(err.message, words);
    CHECK(encoder == NULL);
}

/* A header that is right and a body of `words`. */
static loci_str file_of(const uint32_t *words, size_t count)
{
    lc_data_header header = {.kind = "encoder", .version = 1, .body_bytes = count * sizeof *words};
    char *bytes = test_bytes(sizeof header + header.body_bytes);

    memcpy(header.magic, "lociDATA", sizeof header.magic);
    memcpy(bytes, &header, sizeof header);
    if (count > 0)
        memcpy(bytes + sizeof header, words, header.body_bytes);
    return (loci_str){bytes, sizeof header + header.body_bytes};
}

TEST(encoder, a_file_that_is_not_right_is_refused)
{
    uint32_t words[64] = {8000, 18363, 14};

    check_refused(LC_STR(""), LOCI_ENOTFOUND, "could not be opened");
    check_refused(LC_STR("not a data file at all"), LOCI_ECORRUPT, "script/setup");
    check_refused(file_of(words, 0), LOCI_ECORRUPT, "damaged");
    check_refused(file_of(words, 3), LOCI_ECORRUPT, "damaged");
    check_refused(file_of(words, 64), LOCI_ECORRUPT, "damaged"); /* Sections do not fit. */
    words[2] = 13;
    check_refused(file_of(words, 64), LOCI_ECORRUPT, "damaged");
    words[2] = 14;
    words[0] = UINT32_MAX;
    check_refused(file_of(words, 64), LOCI_ECORRUPT, "damaged");
}
