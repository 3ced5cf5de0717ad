/* encoder_fixture.h - the encoder as it is installed, and what the package's runtime says. */
#ifndef TEST_UNIT_MODEL_ENCODER_FIXTURE_H
#define TEST_UNIT_MODEL_ENCODER_FIXTURE_H

#include "model/encoder.h"

#define EXPECTED_TOKENS_MAX 1024

typedef struct encoder_fixture {
    lc_env env;
    lc_encoder *encoder;
} encoder_fixture;

/* Fails the test when the data file is not there: script/setup brings it. */
void encoder_fixture_open(encoder_fixture *f);
void encoder_fixture_close(encoder_fixture *f);

/* One line of encoder_expected.jsonl; lives until the test ends. */
typedef struct encoder_expected {
    loci_str text;
    size_t token_count;
    uint32_t *tokens;
    float *vector; /* LC_ENCODER_DIMENSIONS; its length is not 1. */
} encoder_expected;

/* All lines; `out` lives until the test ends. */
size_t encoder_expected_read(encoder_fixture *f, encoder_expected **out);

double encoder_cosine(const float *a, const float *b);

#endif /* TEST_UNIT_MODEL_ENCODER_FIXTURE_H */
