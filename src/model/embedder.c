#include "model/embedder.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "model/encoder.h"
#include "model/lexical.h"

/* Texts that the encoder is given at once: it is asked between them whether to go on. */
#define TEXTS_PER_STEP 16

const char *lc_embedder_kind_name(lc_embedder_kind kind)
{
    static const char *const names[] = {"builtin", "lexical", "provider"};

    return names[kind];
}

void lc_embedder_set_generation(lc_embedder *embedder, const char *digest)
{
    /* Names are bounded by the setting that gives them, so that nothing is cut. */
    (void)snprintf(embedder->generation, sizeof embedder->generation, "%s:%s:%zu%s%s",
                   lc_embedder_kind_name(embedder->kind), embedder->model, embedder->dimensions,
                   digest[0] != '\0' ? ":" : "", digest);
}

loci_status lc_generation_check(loci_str a, loci_str b, loci_error *err)
{
    if (lc_str_eq(a, b))
        return LOCI_OK;
    return lc_fail(
        err, LOCI_ECONFLICT,
        "vectors of %.*s cannot be compared with those of %.*s: model.reembed makes them "
        "anew",
        LC_STR_ARG(a), LC_STR_ARG(b));
}

static loci_status check_texts(const lc_embed_batch *batch, loci_error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (lc_str_trim(batch->texts[i]).len == 0)
            return lc_fail(err, LOCI_EINVAL, "texts[%zu] is empty", i);
    }
    return LOCI_OK;
}

static loci_status embed_here(const lc_embedder *embedder, lc_embed_batch *batch, size_t first,
                              loci_error *err)
{
    size_t count = batch->count - first < TEXTS_PER_STEP ? batch->count - first : TEXTS_PER_STEP;
    float *out = batch->out + first * batch->dimensions;

    if (embedder->kind == LC_EMBEDDER_BUILTIN)
        return lc_encoder_embed_many(embedder->encoder, batch->texts + first, count, out, err);
    for (size_t i = 0; i < count; i++, out += batch->dimensions)
        lc_lexical_embed(batch->texts[first + i], out);
    return LOCI_OK;
}

/* In the caller's thread, without a network. */
static loci_status embed_all_here(const lc_embedder *embedder, const lc_provider_line *line,
                                  lc_embed_batch *batch, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t at = 0; status == LOCI_OK && at < batch->count; at += TEXTS_PER_STEP) {
        if (line->pause != NULL)
            status = line->pause(line->pause_ctx, err);
        if (status == LOCI_OK)
            status = embed_here(embedder, batch, at, err);
    }
    return status;
}

loci_status lc_embedder_embed(const lc_embedder *embedder, const lc_provider_line *line,
                              lc_embed_batch *batch, lc_arena *scratch, loci_error *err)
{
    loci_status status = check_texts(batch, err);

    batch->requests = 0;
    batch->tokens = 0;
    if (status != LOCI_OK || batch->count == 0)
        return status;
    if (embedder->kind == LC_EMBEDDER_PROVIDER)
        return lc_provider_embed(line, &embedder->provider, batch, scratch, err);
    return embed_all_here(embedder, line, batch, err);
}
