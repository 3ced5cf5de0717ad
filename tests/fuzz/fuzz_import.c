/* fuzz_import.c - any bytes as a file to import: the check answers in words, names the line, and
 * never crashes. What it lets pass has the counts that its own last line says. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "engine/rooms.h"
#include "store/transfer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

typedef struct text {
    loci_str all;
    size_t at;
} text;

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

static loci_status next_line(void *ctx, lc_buf *line, bool *found, loci_error *err)
{
    text *t = ctx;
    loci_str rest = {t->all.ptr + t->at, t->all.len - t->at};

    lc_buf_reset(line);
    *found = rest.len > 0;
    lc_buf_append(line, lc_str_split(rest, '\n', &rest));
    t->at = rest.ptr == NULL ? t->all.len : (size_t)(rest.ptr - t->all.ptr);
    return lc_buf_status(line, err);
}

static loci_status rewind_text(void *ctx, loci_error *err)
{
    (void)err;
    ((text *)ctx)->at = 0;
    return LOCI_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const lc_catalogue catalogue = {lc_engine_rooms};
    text t = {.all = {bytes > 0 ? (const char *)data : "", bytes}};
    lc_import_source source = {.next = next_line, .rewind = rewind_text, .ctx = &t};
    lc_transfer_counts counts = {.users = -1};
    loci_error err = {0};
    loci_status status;
    lc_heap heap;

    lc_heap_init(&heap, (loci_allocator){0});
    status = lc_import_check(&catalogue, &heap, &source, &counts, &err);
    if (status == LOCI_OK) {
        demand(t.at == 0 && counts.users >= 0 && counts.events >= 0);
    } else {
        demand(status == LOCI_EINVAL || status == LOCI_EUNSUPPORTED || status == LOCI_ELIMIT);
        demand(strncmp(err.message, "line ", 5) == 0);
        demand(lc_utf8_is_valid(loci_str_of(err.message)));
        demand(counts.users == -1);
    }
    for (int i = 0; i < LOCI_MEM_CATEGORIES; i++)
        demand(lc_heap_live_bytes(&heap, (loci_category)i) == 0);
    return 0;
}
