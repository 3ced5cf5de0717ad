#include "unit/model/encoder_fixture.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/data_file.h"
#include "base/json.h"
#include "base/str.h"
#include "lib/test.h"

#define EXPECTED_PATH "tests/unit/model/encoder_expected.jsonl"
#define EXPECTED_MAX 200

void encoder_fixture_open(encoder_fixture *f)
{
    char path[LC_DATA_PATH_BYTES];
    loci_error err;

    memset(f, 0, sizeof *f);
    lc_heap_init(&f->env.heap, test_heap());
    f->env.clock = lc_clock_system_us;
    CHECK_OK(lc_data_file_find(LC_STR(""), LC_ENCODER_FILE, path, &err), err);
    CHECK_OK(lc_encoder_open(&f->env, path, &f->encoder, &err), err);
}

void encoder_fixture_close(encoder_fixture *f)
{
    lc_encoder_close(f->encoder);
}

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);

    CHECK(at != NULL && c != '\0');
    return (int)(at - digits);
}

/* Little-endian int16 numbers in base64. */
static void read_vector(loci_str text, float out[LC_ENCODER_DIMENSIONS])
{
    uint8_t bytes[2 * LC_ENCODER_DIMENSIONS + 3];
    size_t count = 0;

    CHECK_EQ(text.len, (2 * LC_ENCODER_DIMENSIONS + 2) / 3 * 4);
    for (size_t i = 0; i < text.len; i += 4) {
        unsigned group = 0;

        for (size_t k = i; k < i + 4; k++)
            group = group << 6 | (unsigned)(text.ptr[k] == '=' ? 0 : base64_digit(text.ptr[k]));
        bytes[count++] = (uint8_t)(group >> 16);
        bytes[count++] = (uint8_t)(group >> 8);
        bytes[count++] = (uint8_t)group;
    }
    for (size_t i = 0; i < LC_ENCODER_DIMENSIONS; i++)
        out[i] = (float)(int16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
}

static void read_line(lc_arena *arena, loci_str line, encoder_expected *out)
{
    const lc_json *object, *tokens;
    loci_error err;
    loci_str text;

    CHECK_OK(lc_json_parse(arena, line, LC_JSON_ALLOW_NUL, &object, &err), err);
    text = lc_json_str(lc_json_member(object, LC_STR("text")));
    out->text = (loci_str){test_bytes(text.len), text.len};
    memcpy((char *)(uintptr_t)out->text.ptr, text.ptr, text.len);
    tokens = lc_json_member(object, LC_STR("tokens"));
    out->tokens = (uint32_t *)(void *)test_bytes(lc_json_count(tokens) * sizeof *out->tokens);
    out->token_count = 0;
    for (const lc_json *token = lc_json_first(tokens); token != NULL; token = lc_json_next(token))
        out->tokens[out->token_count++] = (uint32_t)lc_json_int(token);
    out->vector = (float *)(void *)test_bytes(LC_ENCODER_DIMENSIONS * sizeof *out->vector);
    read_vector(lc_json_str(lc_json_member(object, LC_STR("vector"))), out->vector);
}

size_t encoder_expected_read(encoder_fixture *f, encoder_expected **out)
{
    loci_str rest = test_read_file(test_source_path(EXPECTED_PATH));
    lc_arena arena;
    size_t count = 0;

    *out = (encoder_expected *)(void *)test_bytes(EXPECTED_MAX * sizeof **out);
    lc_arena_init(&arena, &f->env.heap, LOCI_MEM_REQUESTS);
    while (rest.len > 0) {
        loci_str line = lc_str_split(rest, '\n', &rest);

        CHECK_LT(count, EXPECTED_MAX);
        read_line(&arena, line, &(*out)[count++]);
    }
    lc_arena_clear(&arena);
    return count;
}

double encoder_cosine(const float *a, const float *b)
{
    double product = 0, aa = 0, bb = 0;

    for (size_t i = 0; i < LC_ENCODER_DIMENSIONS; i++) {
        product += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return product / sqrt(aa * bb);
}
