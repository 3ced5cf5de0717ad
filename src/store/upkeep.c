#include "store/upkeep.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "store/db_upkeep.h"
#include "store/publish.h"

#define LABEL_PART_BYTES 40

static const lc_sql count_sql = {
    "select count(*), cast(coalesce(sum(seq), 0) as bigint) from heads where user_id <> ''", "",
    "ii"};

void lc_user_label(char out[LC_USER_LABEL_BYTES], loci_str tenant_id, loci_str user_id)
{
    int tenant_bytes = (int)lc_utf8_cut(tenant_id, LABEL_PART_BYTES);
    int user_bytes = (int)lc_utf8_cut(user_id, LABEL_PART_BYTES);

    (void)snprintf(out, LC_USER_LABEL_BYTES, "%.*s/%.*s", tenant_bytes,
                   tenant_id.ptr != NULL ? tenant_id.ptr : "", user_bytes,
                   user_id.ptr != NULL ? user_id.ptr : ""); /* Two parts and a slash always fit. */
}

bool lc_status_is_about_data(loci_status status)
{
    switch (status) {
    case LOCI_EINVAL:
    case LOCI_ENOTFOUND:
    case LOCI_ECONFLICT:
    case LOCI_ELIMIT:
    case LOCI_EUNSUPPORTED:
    case LOCI_ECORRUPT:
    case LOCI_EINTERNAL: /* A constraint that the replayed rows break. */
        return true;
    default:
        return false;
    }
}

loci_status lc_upkeep_refuse_own_file(const lc_db *db, const char *path, loci_error *err)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    const char *store = db->driver->upkeep->path != NULL ? db->driver->upkeep->path(db) : NULL;
    char own[LC_PATH_BYTES_MAX + 16];

    if (store == NULL || store[0] != '/')
        return LOCI_OK;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        (void)snprintf(own, sizeof own, "%s%s", store, suffixes[i]); /* Fits: it was opened. */
        if (lc_path_is_same(path, own))
            return lc_fail(err, LOCI_EINVAL, "path: %s is %s", path,
                           i == 0 ? "the store itself" : "a file of the store");
    }
    return LOCI_OK;
}

static loci_status count_heads(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_tx_find_numbers(tx, &count_sql, NULL, ctx, err);
}

loci_status lc_upkeep_count(lc_db *db, int64_t *out_users, int64_t *out_events, loci_error *err)
{
    int64_t counts[2] = {0};
    loci_status status = lc_db_read(db, INT64_MAX, count_heads, counts, err);

    if (status == LOCI_OK) {
        *out_users = counts[0];
        *out_events = counts[1];
    }
    return status;
}

loci_status lc_upkeep_report(const lc_upkeep *upkeep, const char *what, int64_t done, int64_t total,
                             loci_error *err)
{
    if (upkeep->progress == NULL)
        return LOCI_OK;
    return upkeep->progress(upkeep->ctx, what, done, total, err);
}

/* ---- Users ----------------------------------------------------------------------------------- */

/* The names of the last user are bound to the statement that answers the next one, so two pairs of
 * buffers alternate. */

#define NAME_BYTES_MAX 65536 /* In a damaged store names may be longer than LC_ID_BYTES_MAX. */

const lc_sql lc_user_heads_sql = {
    "select tenant_id, user_id, seq, recorded_at, objects from heads"
    " where (tenant_id, user_id) > ($1, $2) order by tenant_id, user_id limit 1",
    "tt", "ttiii"};

void lc_user_walk_init(lc_user_walk *walk, lc_heap *heap)
{
    *walk = (lc_user_walk){0};
    lc_buf_init(&walk->tenant_id, heap, LOCI_MEM_REQUESTS, NAME_BYTES_MAX);
    lc_buf_init(&walk->user_id, heap, LOCI_MEM_REQUESTS, NAME_BYTES_MAX);
    lc_buf_init(&walk->spare_tenant_id, heap, LOCI_MEM_REQUESTS, NAME_BYTES_MAX);
    lc_buf_init(&walk->spare_user_id, heap, LOCI_MEM_REQUESTS, NAME_BYTES_MAX);
}

void lc_user_walk_clear(lc_user_walk *walk)
{
    lc_buf_clear(&walk->tenant_id);
    lc_buf_clear(&walk->user_id);
    lc_buf_clear(&walk->spare_tenant_id);
    lc_buf_clear(&walk->spare_user_id);
    walk->found = false;
}

void lc_user_walk_restart(lc_user_walk *walk)
{
    lc_buf_reset(&walk->tenant_id);
    lc_buf_reset(&walk->user_id);
    walk->found = false;
}

static void swap(lc_buf *a, lc_buf *b)
{
    lc_buf c = *a;

    *a = *b;
    *b = c;
}

static loci_status take_row(lc_user_walk *walk, const lc_rows *rows, loci_error *err)
{
    loci_status status;

    lc_buf_reset(&walk->spare_tenant_id);
    lc_buf_reset(&walk->spare_user_id);
    lc_buf_append(&walk->spare_tenant_id, lc_rows_str(rows, 0));
    lc_buf_append(&walk->spare_user_id, lc_rows_str(rows, 1));
    if (rows->sql->columns[2] != '\0')
        walk->head = (lc_head){.seq = lc_rows_i64(rows, 2),
                               .recorded_at = lc_rows_i64(rows, 3),
                               .objects = lc_rows_i64(rows, 4)};
    status = lc_buf_status(&walk->spare_tenant_id, err);
    return status != LOCI_OK ? status : lc_buf_status(&walk->spare_user_id, err);
}

loci_status lc_user_walk_next(lc_tx *tx, lc_user_walk *walk, const lc_sql *next_sql,
                              loci_error *err)
{
    lc_arg args[] = {LC_T(lc_user_walk_tenant(walk)), LC_T(lc_user_walk_user(walk))};
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, next_sql, args, &rows, &found, err);

    if (status == LOCI_OK && found)
        status = take_row(walk, &rows, err);
    lc_rows_end(&rows);
    if (status != LOCI_OK)
        return status;
    walk->found = found;
    if (found) {
        swap(&walk->tenant_id, &walk->spare_tenant_id);
        swap(&walk->user_id, &walk->spare_user_id);
    }
    return LOCI_OK;
}

/* ---- Problems -------------------------------------------------------------------------------- */

/* Sentences are made safe when they are added: names from a damaged store may be any bytes, and the
 * list is shown in JSON and on terminals. */

/* Drops a character that was cut in the middle. */
static void drop_torn_tail(char *text)
{
    size_t len = strlen(text);
    size_t start = len;

    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0 || (unsigned char)text[start - 1] < 0xC0)
        return;
    if (!lc_utf8_is_valid((loci_str){text + start - 1, len - start + 1}))
        text[start - 1] = '\0';
}

static void clean(char *text)
{
    bool is_valid = lc_utf8_is_valid(loci_str_of(text));

    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c == 0x7F || (c >= 0x80 && !is_valid))
            *text = '?';
    }
}

void lc_problems_add(lc_problems *problems, const char *format, ...)
{
    va_list list;
    char *text;
    int needed;

    if (problems->count++ >= LC_PROBLEMS_MAX)
        return;
    text = problems->text[problems->count - 1];
    va_start(list, format);
    needed = vsnprintf(text, LC_PROBLEM_BYTES, format, list);
    va_end(list);
    if (needed >= LC_PROBLEM_BYTES)
        drop_torn_tail(text);
    clean(text);
}

/* Appends `text` as a JSON string; false, leaving `*len` alone, when it does not fit. */
static bool append_json(char *out, size_t *len, size_t max, const char *text)
{
    size_t at = *len;

    if (at + 2 > max)
        return false;
    out[at++] = '"';
    for (; *text != '\0'; text++) {
        if (at + 4 > max)
            return false;
        if (*text == '"' || *text == '\\')
            out[at++] = '\\';
        out[at++] = *text;
    }
    out[at++] = '"';
    *len = at;
    return true;
}

loci_status lc_problems_status(const lc_problems *problems, loci_error *err)
{
    char data[LOCI_ERROR_DATA_BYTES];
    size_t room = sizeof data - 2; /* For "]}". */
    size_t len;

    if (problems->count == 0)
        return LOCI_OK;

    len = (size_t)snprintf(data, sizeof data, "{\"count\":%lld,\"problems\":[",
                           (long long)problems->count);
    for (int i = 0; i < problems->count && i < LC_PROBLEMS_MAX; i++) {
        size_t before = len;

        if (i > 0)
            data[len++] = ',';
        if (!append_json(data, &len, room - 1, problems->text[i])) {
            len = before;
            break;
        }
    }
    memcpy(data + len, "]}", 2);
    (void)lc_fail(err, LOCI_ECORRUPT, "%lld problem%s, first: %s", (long long)problems->count,
                  problems->count == 1 ? "" : "s", problems->text[0]);
    lc_error_set_data(err, (loci_str){data, len + 2});
    return LOCI_ECORRUPT;
}
