/* token_table.c - opening the file, and finding a token by its text. */
#include "text/token_table.h"

#include <stdio.h>

#include "base/error.h"

#define FILTER_BYTES(pair_bits) ((size_t)1 << ((pair_bits) + 2) >> 3)
#define SEAM_BYTES (65536 / 8)
#define BITS_MIN 4
#define BITS_MAX 24

const lc_data_kind lc_token_table_kind = {"tokens", LC_TOKEN_TABLE_VERSION};

static const lc_token_table_head *check_head(const lc_data_file *file, const char *encoding)
{
    const lc_token_table_head *head = (const void *)file->body;
    char named[sizeof head->encoding] = "";
    size_t bytes = sizeof *head;

    (void)snprintf(named, sizeof named, "%s", encoding);
    if (file->body_bytes < sizeof *head ||
        memcmp(head->encoding, named, sizeof named) != 0 || /* Padded with NULs, as this is. */
        head->piece_bits < BITS_MIN || head->piece_bits > BITS_MAX || head->pair_bits < BITS_MIN ||
        head->pair_bits > BITS_MAX || head->token_count < 256 ||
        head->token_count > LC_TOKEN_MASK || head->token_bytes_max > LC_TOKEN_KEY_BYTES_MAX)
        return NULL;
    bytes += sizeof(lc_token_piece) << head->piece_bits;
    bytes += sizeof(uint64_t) << head->pair_bits;
    bytes += FILTER_BYTES(head->pair_bits);
    bytes += sizeof(uint32_t) * (65536 + 65536 + 256 + head->token_count + 1) + SEAM_BYTES;
    bytes += head->text_bytes;
    return bytes == file->body_bytes ? head : NULL;
}

loci_status lc_token_table_open(const char *path, const char *encoding, lc_token_table *out,
                                loci_error *err)
{
    const lc_token_table_head *head;
    const uint8_t *at;
    loci_status status = lc_data_file_open(&lc_token_table_kind, path, &out->file, err);

    if (status != LOCI_OK)
        return status;
    head = check_head(&out->file, encoding);
    if (head == NULL) {
        lc_token_table_close(out);
        return lc_fail(err, LOCI_ECORRUPT,
                       "the tokens file of %s is damaged; remove it and run script/setup",
                       encoding);
    }
    at = out->file.body + sizeof *head;
    out->pieces = (const void *)at;
    at += sizeof *out->pieces << head->piece_bits;
    out->pairs = (const void *)at;
    at += sizeof *out->pairs << head->pair_bits;
    out->filter = (const void *)at;
    at += FILTER_BYTES(head->pair_bits);
    out->characters = (const void *)at;
    out->two = out->characters + 65536;
    out->one = out->two + 65536;
    out->seams = (const void *)(out->one + 256);
    out->starts = (const void *)(out->seams + SEAM_BYTES);
    out->text = (const void *)(out->starts + head->token_count + 1);
    out->piece_shift = 64 - head->piece_bits;
    out->pair_shift = 64 - head->pair_bits;
    out->token_count = head->token_count;
    out->text_bytes = head->text_bytes;
    return LOCI_OK;
}

void lc_token_table_close(lc_token_table *table)
{
    lc_data_file_close(&table->file);
    memset(table, 0, sizeof *table);
}

loci_str lc_token_table_text(const lc_token_table *table, uint32_t token)
{
    uint32_t start, end;

    if (token >= table->token_count)
        return (loci_str){"", 0};
    start = table->starts[token];
    end = table->starts[token + 1];
    if (start > end || end > table->text_bytes)
        return (loci_str){"", 0};
    return (loci_str){(const char *)table->text + start, end - start};
}

uint32_t lc_token_table_found(const lc_token_table *table, const lc_token_search *search)
{
    uint64_t slot = search->hash >> table->piece_shift;
    uint64_t mask = UINT64_MAX >> table->piece_shift;

    for (int probes = 0; probes < LC_TOKEN_PROBES_MAX; probes++) {
        const lc_token_piece *piece = &table->pieces[slot];

        if (piece->key == search->key && piece->bytes == search->bytes) {
            loci_str text;

            if (search->bytes <= 8)
                return piece->token & LC_TOKEN_MASK;
            text = lc_token_table_text(table, piece->token);
            if (text.len == search->bytes && memcmp(text.ptr, search->at, text.len) == 0)
                return piece->token;
        }
        if (piece->bytes == 0)
            break;
        slot = (slot + 1) & mask;
    }
    return LC_TOKEN_NONE;
}
