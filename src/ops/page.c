/* page.c - cursors.
 *
 * A cursor is base64url, without padding, of
 *
 *     check   4 bytes: of a hash over the operation's name and the bytes that follow
 *     fields  'i': base 128, low groups first, the high bit on all bytes but the last
 *             's': its length as an 'i', then its bytes
 */
#include "ops/page.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/utf8.h"

#define CHECK_BYTES 4
#define DECODED_BYTES_MAX (LC_CURSOR_BYTES_MAX / 4 * 3)

const lc_param lc_page_params[] = {
    LC_PAGE_MEMBERS(lc_page_args, limit, cursor, "50"),
    {.name = NULL},
};

const lc_position lc_position_by_seq = {"i", {offsetof(lc_seq_position, seq)}};
const lc_position lc_position_by_name = {"s", {offsetof(lc_name_position, name)}};

/* A cursor that is being made: positions are ids, keys and numbers, which fit (asserted). */
typedef struct decoded {
    char bytes[DECODED_BYTES_MAX];
    size_t len;
} decoded;

static void make_check(const lc_op *op, loci_str fields, char out[CHECK_BYTES])
{
    lc_hash128 hash = lc_hash128_chain(lc_hash128_of(loci_str_of(op->name)), fields);

    for (int i = 0; i < CHECK_BYTES; i++)
        out[i] = (char)(hash.low >> (8 * i) & 255);
}

/* ---- Bytes as URL-safe text ------------------------------------------------------------------ */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static loci_str encode(const decoded *from, char out[LC_CURSOR_BYTES_MAX])
{
    uint32_t bits = 0;
    int count = 0;
    size_t len = 0;

    for (size_t i = 0; i < from->len; i++) {
        bits = bits << 8 | (unsigned char)from->bytes[i];
        for (count += 8; count >= 6; count -= 6)
            out[len++] = alphabet[bits >> (count - 6) & 63];
    }
    if (count > 0)
        out[len++] = alphabet[bits << (6 - count) & 63];
    return (loci_str){out, len};
}

/* Into `out`, which has room for as many bytes. False for other characters and bits left over. */
static bool decode(loci_str text, char *out, size_t *out_len)
{
    uint32_t bits = 0;
    int count = 0;

    *out_len = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = memchr(alphabet, text.ptr[i], sizeof alphabet - 1);

        if (digit == NULL)
            return false;
        bits = bits << 6 | (uint32_t)(digit - alphabet);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out[(*out_len)++] = (char)(bits >> count & 255);
        }
    }
    return count < 6 && (bits & ((1u << count) - 1)) == 0;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

static void add_i64(decoded *to, int64_t value)
{
    uint64_t rest = (uint64_t)value;

    LC_ASSERT(to->len + 10 <= sizeof to->bytes);
    for (; rest >= 128; rest >>= 7)
        to->bytes[to->len++] = (char)((rest & 127) | 128);
    to->bytes[to->len++] = (char)rest;
}

static void add_str(decoded *to, loci_str text)
{
    add_i64(to, (int64_t)text.len);
    LC_ASSERT(text.len <= sizeof to->bytes - to->len);
    if (text.len > 0)
        memcpy(to->bytes + to->len, text.ptr, text.len);
    to->len += text.len;
}

static bool take_i64(loci_str *from, int64_t *out)
{
    uint64_t value = 0;

    for (int shift = 0; shift < 64 && from->len > 0; shift += 7) {
        unsigned char byte = (unsigned char)*from->ptr++;

        from->len--;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = (int64_t)value;
            return true;
        }
    }
    return false;
}

static bool take_str(loci_str *from, loci_str *out)
{
    int64_t bytes;

    if (!take_i64(from, &bytes) || bytes < 0 || (uint64_t)bytes > from->len)
        return false;
    *out = (loci_str){from->ptr, (size_t)bytes};
    from->ptr += bytes;
    from->len -= (size_t)bytes;
    return lc_utf8_is_valid(*out);
}

static bool take_fields(loci_str fields, const lc_position *position, void *out)
{
    for (size_t i = 0; position->kinds[i] != '\0'; i++) {
        void *field = (char *)out + position->offsets[i];
        bool is_there = position->kinds[i] == 'i' ? take_i64(&fields, field)
                                                  : take_str(&fields, field);

        if (!is_there)
            return false;
    }
    return fields.len == 0;
}

/* ---- Pages ----------------------------------------------------------------------------------- */

static loci_status read_cursor(const lc_page *page, loci_str cursor, loci_error *err)
{
    lc_call *call = page->call;
    char check[CHECK_BYTES];
    loci_str fields;
    size_t len;
    char *bytes;

    if (cursor.ptr == NULL)
        return LOCI_OK;
    bytes = lc_arena_alloc(call->arena, cursor.len);
    if (bytes == NULL)
        return lc_fail_memory(err);
    if (decode(cursor, bytes, &len) && len >= CHECK_BYTES) {
        fields = (loci_str){bytes + CHECK_BYTES, len - CHECK_BYTES};
        make_check(call->op, fields, check);
        if (memcmp(bytes, check, CHECK_BYTES) == 0 && take_fields(fields, page->position, page->at))
            return LOCI_OK;
    }
    return lc_fail(err, LOCI_EINVAL,
                   "cursor: not a cursor of %s; pass next_cursor of its previous page unchanged",
                   call->op->name);
}

loci_status lc_page_begin(lc_page *page, const lc_page_args *args, loci_error *err)
{
    page->left = args->limit;
    lc_jw_object(&page->call->out);
    return read_cursor(page, args->cursor, err);
}

void lc_page_open(lc_page *page, const char *name)
{
    lc_jw_name(&page->call->out, name);
    lc_jw_array(&page->call->out);
}

bool lc_page_takes(lc_page *page)
{
    page->has_more = page->left == 0;
    page->left -= !page->has_more;
    return !page->has_more;
}

loci_str lc_cursor_encode(const lc_op *op, const lc_position *position, const void *at,
                          char out[LC_CURSOR_BYTES_MAX])
{
    decoded cursor = {.len = CHECK_BYTES};

    for (size_t i = 0; position->kinds[i] != '\0'; i++) {
        const void *field = (const char *)at + position->offsets[i];

        if (position->kinds[i] == 'i')
            add_i64(&cursor, *(const int64_t *)field);
        else
            add_str(&cursor, *(const loci_str *)field);
    }
    make_check(op, (loci_str){cursor.bytes + CHECK_BYTES, cursor.len - CHECK_BYTES}, cursor.bytes);
    return encode(&cursor, out);
}

void lc_page_end(lc_page *page)
{
    lc_jw_end(&page->call->out);
    page->is_ended = true;
}

void lc_page_close(lc_page *page)
{
    lc_json_writer *out = &page->call->out;
    char text[LC_CURSOR_BYTES_MAX];

    if (!page->is_ended)
        lc_page_end(page);
    if (page->has_more)
        lc_jw_member_str(out, "next_cursor",
                         lc_cursor_encode(page->call->op, page->position, page->at, text));
    else
        lc_jw_member_null(out, "next_cursor");
    lc_jw_end(out);
}
