/* encoder_weights.c - finding the parts of the data file.
 *
 * Only their places are checked, so opening reads one page. The digest in the header is for
 * `loci doctor`; a file that was damaged in place gives wrong vectors, but nothing is ever read
 * outside of it: indices that come from the file are checked where they are used.
 */
#include "model/encoder_weights.h"

#include <string.h>

#include "base/error.h"

#define SECTION_ALIGN 64

/* A walk over the sections, in order; remembers that something was wrong. */
typedef struct reader {
    const lc_data_file *file;
    const uint32_t *table; /* Pieces, nodes, sections, places. */
    uint32_t next;
    bool is_bad;
} reader;

#define SECTION_COUNT 14
#define TABLE_FIXED 3

static const void *take(reader *r, size_t bytes)
{
    uint32_t offset = r->table[TABLE_FIXED + r->next++];

    if (offset % SECTION_ALIGN != 0 || offset > r->file->body_bytes ||
        bytes > r->file->body_bytes - offset) {
        r->is_bad = true;
        return NULL;
    }
    return r->file->body + offset;
}

static lc_matrix take_matrix(reader *r, size_t depth, size_t columns)
{
    const float *start = take(r, (columns + depth * columns) * sizeof *start);

    if (start == NULL)
        return (lc_matrix){0};
    return (lc_matrix){
        .panels = start + columns, .bias = start, .depth = depth, .columns = columns};
}

static lc_encoder_layer take_layer(reader *r, size_t width)
{
    lc_encoder_layer layer = {.width = width};

    layer.qkv = take_matrix(r, width, 3 * width);
    layer.out = take_matrix(r, width, LC_ENCODER_WIDTH);
    layer.up = take_matrix(r, LC_ENCODER_WIDTH, LC_ENCODER_INNER);
    layer.down = take_matrix(r, LC_ENCODER_INNER, LC_ENCODER_WIDTH);
    return layer;
}

static void take_all(reader *r, lc_encoder_weights *out)
{
    lc_sentencepiece *vocabulary = &out->vocabulary;

    vocabulary->piece_count = r->table[0];
    vocabulary->node_count = r->table[1];
    vocabulary->nodes = take(r, (size_t)vocabulary->node_count * sizeof *vocabulary->nodes);
    vocabulary->scores = take(r, (size_t)vocabulary->piece_count * sizeof(double));
    out->embeddings = take(r, (size_t)vocabulary->piece_count * LC_ENCODER_EMBEDDING *
                                  sizeof *out->embeddings);
    out->positions = take(r, LC_ENCODER_TOKENS_MAX * LC_ENCODER_EMBEDDING * sizeof *out->positions);
    out->widen = take_matrix(r, LC_ENCODER_EMBEDDING, LC_ENCODER_WIDTH);
    out->layers[0] = take_layer(r, LC_ENCODER_EMBEDDING);
    out->layers[1] = take_layer(r, LC_ENCODER_WIDTH);
    out->final = take_matrix(r, LC_ENCODER_WIDTH, LC_ENCODER_WIDTH);
}

loci_status lc_encoder_weights_find(const lc_data_file *file, lc_encoder_weights *out,
                                    loci_error *err)
{
    reader r = {.file = file, .table = (const uint32_t *)(const void *)file->body};
    size_t table_bytes = (TABLE_FIXED + SECTION_COUNT) * sizeof *r.table;

    memset(out, 0, sizeof *out);
    r.is_bad = file->body_bytes < table_bytes || r.table[2] != SECTION_COUNT || r.table[0] == 0;
    if (!r.is_bad)
        take_all(&r, out);
    if (r.is_bad)
        return lc_fail(err, LOCI_ECORRUPT, "the encoder file is damaged; run script/setup");
    return LOCI_OK;
}
