/* embed_reply.c - {"data": [{"index": 0, "embedding": [0.1, …] or "base64"}, …],
 *                   "usage": {"prompt_tokens": 7}}, whatever else is in it.
 *
 * A provider that was asked for one encoding may answer in the other; both are read. Base64 holds
 * little-endian floats, as all of the machines that we run on do.
 */
#include "model/embed_reply.h"

#include <math.h>
#include <stdbool.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"

#define NUMBER_BYTES 32   /* Of one number in JSON, with white space around it. */
#define VECTOR_BYTES 1024 /* Of what stands around a vector, */
#define REPLY_BYTES 65536 /* and around them all. */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "floats in base64 are little-endian");

size_t lc_embed_reply_bytes_max(const lc_embed_expected *expected)
{
    size_t bytes = expected->count * (expected->dimensions * NUMBER_BYTES + VECTOR_BYTES) +
                   REPLY_BYTES;

    return bytes < LC_JSON_BYTES_MAX ? bytes : LC_JSON_BYTES_MAX;
}

/* Brings a vector to length 1. False when it has none, or holds a number that is none. */
static bool normalise(float *vector, size_t dimensions)
{
    double sum = 0, scale;

    for (size_t i = 0; i < dimensions; i++)
        sum += (double)vector[i] * (double)vector[i];
    /* The squares of floats are far from the ends of double: only what is no number overflows. */
    if (!isfinite(sum) || sum == 0)
        return false;
    scale = 1 / sqrt(sum);
    for (size_t i = 0; i < dimensions; i++)
        vector[i] = (float)((double)vector[i] * scale);
    return true;
}

static loci_status fail_shape(const char *what, loci_error *err)
{
    return lc_fail(err, LOCI_EUNAVAILABLE, "the provider's answer holds no vectors: %s", what);
}

static loci_status fail_length(size_t got, const char *unit, const lc_embed_expected *expected,
                               loci_error *err)
{
    return lc_fail(err, LOCI_EUNSUPPORTED,
                   "the provider's vectors have %zu %s where %zu numbers are expected: set "
                   "model.embed_dimensions to what its model gives",
                   got, unit, expected->dimensions);
}

static loci_status read_numbers(const lc_json *array, const lc_embed_expected *expected, float *out,
                                loci_error *err)
{
    if (lc_json_count(array) != expected->dimensions)
        return fail_length(lc_json_count(array), "numbers", expected, err);
    for (const lc_json *at = lc_json_first(array); at != NULL; at = lc_json_next(at)) {
        lc_json_kind kind = lc_json_kind_of(at);

        if (kind != LC_JSON_INT && kind != LC_JSON_REAL)
            return fail_shape("an embedding is not made of numbers", err);
        *out++ = (float)lc_json_real(at);
    }
    return LOCI_OK;
}

static loci_status read_vector(const lc_json *item, const lc_embed_expected *expected, float *out,
                               loci_error *err)
{
    const lc_json *numbers = lc_json_find(item, "embedding", LC_JSON_ARRAY);
    const lc_json *text = lc_json_find(item, "embedding", LC_JSON_STRING);
    size_t bytes = expected->dimensions * sizeof *out;
    loci_status status = LOCI_OK;

    if (numbers != NULL)
        status = read_numbers(numbers, expected, out, err);
    else if (text == NULL)
        status = fail_shape("an embedding is missing", err);
    else if (lc_json_str(text).len != (bytes + 2) / 3 * 4)
        status = fail_length(lc_json_str(text).len, "letters of base64", expected, err);
    else if (!lc_base64_read(lc_json_str(text), out, bytes))
        status = fail_shape("an embedding is not base64", err);
    if (status == LOCI_OK && !normalise(out, expected->dimensions))
        status = fail_shape("an embedding is all zeros, or not of numbers", err);
    return status;
}

static loci_status read_items(const lc_json *data, const lc_embed_expected *expected, bool *is_seen,
                              float *out, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (const lc_json *item = lc_json_first(data); status == LOCI_OK && item != NULL;
         item = lc_json_next(item)) {
        const lc_json *index = lc_json_find(item, "index", LC_JSON_INT);
        int64_t at = index != NULL ? lc_json_int(index) : -1;

        if (at < 0 || (uint64_t)at >= expected->count)
            return fail_shape("an index is missing or out of range", err);
        if (is_seen[at])
            return fail_shape("an index comes twice", err);
        is_seen[at] = true;
        status = read_vector(item, expected, out + (size_t)at * expected->dimensions, err);
    }
    return status;
}

loci_status lc_embed_reply_read(lc_arena *scratch, loci_str reply,
                                const lc_embed_expected *expected, float *out, int64_t *out_tokens,
                                loci_error *err)
{
    bool *is_seen = lc_arena_zalloc_array(scratch, expected->count, sizeof *is_seen);
    const lc_json *json = NULL, *data, *tokens;
    loci_status status;

    if (is_seen == NULL)
        return lc_fail_memory(err);
    status = lc_json_parse(scratch, reply, LC_JSON_ALLOW_NUL, &json, NULL);
    if (status == LOCI_ERESOURCE)
        return lc_fail_memory(err);
    if (status != LOCI_OK)
        return fail_shape("it is not JSON", err); /* What else it is may be anybody's text. */
    data = lc_json_find(json, "data", LC_JSON_ARRAY);
    if (data == NULL)
        return fail_shape("\"data\" is missing", err);
    if (lc_json_count(data) != expected->count)
        return lc_fail(err, LOCI_EUNAVAILABLE, "the provider answers %zu vectors for %zu texts",
                       lc_json_count(data), expected->count);
    status = read_items(data, expected, is_seen, out, err);
    if (status != LOCI_OK)
        return status;
    tokens = lc_json_find(lc_json_find(json, "usage", LC_JSON_OBJECT), "prompt_tokens",
                          LC_JSON_INT);
    *out_tokens = tokens != NULL && lc_json_int(tokens) > 0 ? lc_json_int(tokens) : 0;
    return LOCI_OK;
}
