/* Lines that are added to, read from and rewound like a file. */
#include "contract/note_text.h"

#include <stdlib.h>
#include <string.h>

#include "store/store_room.h"

loci_status note_text_add(void *ctx, loci_str line, loci_error *err)
{
    note_text *t = ctx;

    (void)err;
    CHECK(memchr(line.ptr, '\n', line.len) == NULL);
    t->ptr = realloc(t->ptr, t->len + line.len + 2);
    memcpy(t->ptr + t->len, line.ptr, line.len);
    t->len += line.len + 1;
    t->ptr[t->len - 1] = '\n';
    t->ptr[t->len] = '\0';
    return LOCI_OK;
}

note_text note_text_export(notes *n, lc_transfer_counts *counts)
{
    lc_upkeep upkeep = {.db = n->db};
    lc_transfer_counts ignored;
    note_text t = {0};

    CHECK_OK(lc_export(&upkeep, note_text_add, &t, counts != NULL ? counts : &ignored, &n->err),
             n->err);
    return t;
}

static loci_status next_line(void *ctx, lc_buf *line, bool *found, loci_error *err)
{
    note_text *t = ctx;
    loci_str rest = {t->ptr + t->at, t->len - t->at};
    loci_str next;

    lc_buf_reset(line);
    *found = rest.len > 0;
    next = lc_str_split(rest, '\n', &rest);
    t->at = rest.ptr == NULL ? t->len : (size_t)(rest.ptr - t->ptr);
    lc_buf_append(line, next);
    return lc_buf_status(line, err);
}

static loci_status rewind_text(void *ctx, loci_error *err)
{
    (void)err;
    ((note_text *)ctx)->at = 0;
    return LOCI_OK;
}

lc_import_source note_text_source(note_text *t)
{
    t->at = 0;
    return (lc_import_source){.next = next_line, .rewind = rewind_text, .ctx = t};
}

loci_status note_text_import(notes *n, note_text *t, lc_transfer_counts *counts)
{
    lc_upkeep upkeep = {.db = n->db};
    lc_import_source source = note_text_source(t);
    lc_transfer_counts ignored;

    return lc_import(&upkeep, &source, counts != NULL ? counts : &ignored, &n->err);
}

static loci_status put_setting(lc_tx *tx, void *ctx, loci_error *err)
{
    const char *const *row = ctx;

    return lc_setting_row_put(tx,
                              &(lc_setting_row){.tenant_id = loci_str_of(row[0]),
                                                .name = loci_str_of(row[1]),
                                                .value = loci_str_of(row[2])},
                              err);
}

void notes_set(notes *n, const char *tenant, const char *name, const char *value)
{
    const char *row[] = {tenant, name, value};

    CHECK_OK(notes_do(n, "", put_setting, row), n->err);
}
