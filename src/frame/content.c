/* content.c - see content.h.
 *
 * A stored text is never changed. Payload of the event: {hash, bytes, text} or, for a text of at
 * least 1 KB that shrinks by a quarter or more, base64 included, {hash, bytes, deflate}. The hash
 * is in the payload, because a hash of a short text reveals it: forgetting erases both.
 */
#include "frame/content.h"

#include <zlib.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/str.h"
#include "store/token.h"

#define DEFLATE_BYTES_MIN 1024

typedef struct content_row {
    loci_str hash;
    int64_t seq;   /* Of the event that has the text. */
    int64_t bytes; /* Of the text. */
} content_row;

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_STRING_COLUMN(content_row, hash, "hash", LC_COL_PAYLOAD | LC_COL_CODED),
    LC_INTEGER_COLUMN(content_row, seq, "seq", LC_COL_EVENT),
    LC_INTEGER_COLUMN(content_row, bytes, "bytes", LC_COL_PAYLOAD | LC_COL_CODED),
    {0},
};

const lc_row_type lc_content_row = {columns, 0, sizeof(content_row)};

static const lc_sql forget_sql = {
    "delete from frame_contents where tenant_id = $1 and user_id = $2", "tt", NULL};

const lc_table lc_frame_contents_table = {
    .name = "frame_contents",
    .table_class = LC_TABLE_PROJECTION,
    .columns = columns,
    .key = "tenant_id, user_id, hash",
    .is_large = true,
    .forget = &forget_sql,
};

static const lc_sql insert_sql = {
    "insert into frame_contents (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &lc_content_row};

const lc_event_type lc_frame_content_stored_event = {
    .name = "frame.content_stored", .version = 1, .insert = &insert_sql, .is_kept = true};

/* ---- Compression ----------------------------------------------------------------------------- */

/* zlib frees without a size; the heap wants one. */
typedef union block_head {
    size_t bytes;
    max_align_t align;
} block_head;

static voidpf take_block(voidpf opaque, uInt count, uInt each)
{
    size_t bytes = (size_t)count * each + sizeof(block_head);
    block_head *block = lc_heap_zalloc(opaque, bytes, LOCI_MEM_REQUESTS);

    if (block == NULL)
        return NULL;
    block->bytes = bytes;
    return block + 1;
}

static void free_block(voidpf opaque, voidpf at)
{
    block_head *block = (block_head *)at - 1;

    lc_heap_free(opaque, block, block->bytes, LOCI_MEM_REQUESTS);
}

/* Deflates into `out`, which has room for `*len` bytes. False: it does not fit. */
static loci_status deflate_text(lc_heap *heap, loci_str text, unsigned char *out, size_t *len,
                                bool *fits, loci_error *err)
{
    z_stream z = {.zalloc = take_block,
                  .zfree = free_block,
                  .opaque = heap,
                  .next_in = (z_const Bytef *)(uintptr_t)text.ptr,
                  .avail_in = (uInt)text.len,
                  .next_out = out,
                  .avail_out = (uInt)*len};
    int result = deflateInit(&z, Z_DEFAULT_COMPRESSION);

    if (result != Z_OK)
        return lc_fail_memory(err);
    result = deflate(&z, Z_FINISH);
    *fits = result == Z_STREAM_END;
    *len = z.total_out;
    (void)deflateEnd(&z); /* Says whether all of the output was taken. */
    return LOCI_OK;
}

static loci_status inflate_text(lc_heap *heap, const unsigned char *data, size_t len, char *out,
                                size_t bytes, loci_error *err)
{
    z_stream z = {.zalloc = take_block,
                  .zfree = free_block,
                  .opaque = heap,
                  .next_in = (z_const Bytef *)(uintptr_t)data,
                  .avail_in = (uInt)len,
                  .next_out = (Bytef *)out,
                  .avail_out = (uInt)bytes};
    int result = inflateInit(&z);

    if (result != Z_OK)
        return lc_fail_memory(err);
    result = inflate(&z, Z_FINISH);
    (void)inflateEnd(&z); /* Cannot fail. */
    if (result == Z_MEM_ERROR)
        return lc_fail_memory(err);
    if (result != Z_STREAM_END || z.total_out != bytes)
        return lc_fail(err, LOCI_ECORRUPT, "a stored text of a frame is damaged");
    return LOCI_OK;
}

static loci_status compress_text(lc_content *content, lc_arena *arena, loci_error *err)
{
    size_t room = content->text.len / 2; /* 2/3 of it in base64. */
    unsigned char *data;
    bool fits = false;
    lc_buf text;
    loci_status status;

    if (content->text.len < DEFLATE_BYTES_MIN)
        return LOCI_OK;
    data = lc_arena_alloc(arena, room);
    if (data == NULL)
        return lc_fail_memory(err);
    status = deflate_text(arena->heap, content->text, data, &room, &fits, err);
    if (status != LOCI_OK || !fits)
        return status;
    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, LC_CONTENT_BYTES_MAX);
    lc_base64_append(&text, data, room);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        content->deflated = lc_arena_copy(arena, lc_buf_str(&text));
        if (content->deflated.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

loci_status lc_content_init(lc_content *out, loci_str text, int64_t tokens, lc_arena *arena,
                            loci_error *err)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char hash[LC_SHA256_BYTES];

    *out = (lc_content){.text = text, .tokens = tokens};
    lc_sha256(text.ptr, text.len, hash);
    for (size_t i = 0; i + 1 < LC_CONTENT_HASH_BYTES; i++)
        out->hash[i] = digits[i % 2 == 0 ? hash[i / 2] >> 4 : hash[i / 2] & 15];
    return compress_text(out, arena, err);
}

/* ---- Storing and loading --------------------------------------------------------------------- */

static const lc_sql find_sql = {
    "select {row} from frame_contents where tenant_id = $1 and user_id = $2 and hash = $3", "ttt",
    "", &lc_content_row};

static loci_status find_content(lc_tx *tx, loci_str hash, content_row *out, bool *found,
                                loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &find_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(hash)}, &rows, err);

    *found = lc_row_next(&rows, out, &status, err);
    lc_rows_end(&rows);
    out->hash = hash;
    return status;
}

loci_status lc_content_store(lc_tx *tx, const lc_content *content, loci_error *err)
{
    content_row row;
    bool found = false;
    loci_status status = find_content(tx, loci_str_of(content->hash), &row, &found, err);
    lc_event_draft draft;

    if (status != LOCI_OK || found)
        return status;
    row = (content_row){.hash = loci_str_of(content->hash), .bytes = (int64_t)content->text.len};
    lc_event_draft_begin(&draft, tx);
    lc_row_encode(&lc_content_row, &row, LC_COL_PAYLOAD, &draft.payload);
    if (content->deflated.ptr != NULL)
        lc_jw_member_str(&draft.payload, "deflate", content->deflated);
    else
        lc_jw_member_str(&draft.payload, "text", content->text);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = &lc_frame_content_stored_event},
                                 NULL, err);
}

typedef struct loading {
    lc_arena *arena;
    const content_row *row;
    loci_str text;
} loading;

static loci_status take_text(void *ctx, const lc_event *event, loci_error *err)
{
    loading *l = ctx;
    lc_event_json json;
    loci_str text, deflated;
    size_t len;
    unsigned char *data;
    char *out;
    loci_status status = lc_event_parse(event, l->arena, &json, err);

    if (status != LOCI_OK)
        return status;
    text = lc_event_str(json.payload, "text");
    deflated = lc_event_str(json.payload, "deflate");
    if (text.ptr != NULL) {
        l->text = lc_arena_copy(l->arena, text);
        return l->text.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    if (deflated.len < 4 || l->row->bytes < 0 || l->row->bytes > LC_CONTENT_BYTES_MAX)
        return lc_event_fail(event, err);
    len = deflated.len / 4 * 3 - (deflated.ptr[deflated.len - 1] == '=') -
          (deflated.ptr[deflated.len - 2] == '=');
    data = lc_arena_alloc(l->arena, len);
    out = lc_arena_alloc(l->arena, (size_t)l->row->bytes + 1);
    if (data == NULL || out == NULL)
        return lc_fail_memory(err);
    if (!lc_base64_read(deflated, data, len))
        return lc_event_fail(event, err);
    l->text = (loci_str){out, (size_t)l->row->bytes};
    return inflate_text(l->arena->heap, data, len, out, l->text.len, err);
}

loci_status lc_content_load(lc_tx *tx, loci_str hash, lc_arena *arena, loci_str *out,
                            loci_error *err)
{
    content_row row;
    loading l = {.arena = arena, .row = &row};
    bool found = false;
    loci_status status = find_content(tx, hash, &row, &found, err);

    if (status == LOCI_OK && found)
        status = lc_event_each(tx,
                               &(lc_event_range){.tenant_id = tx->tenant_id,
                                                 .user_id = tx->user_id,
                                                 .after_seq = row.seq - 1,
                                                 .limit = 1},
                               take_text, &l, err);
    if (status == LOCI_OK && l.text.ptr == NULL)
        status = lc_fail(err, LOCI_ECORRUPT, "the text %.*s of a frame is missing",
                         LC_STR_ARG(hash));
    if (status == LOCI_OK)
        *out = l.text;
    return status;
}
