/* pack.c - choosing by the ledger; layout.h shows what was chosen. */
#include "pack/pack.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "pack/layout.h"

#define TEXT_BYTES_MAX (64 << 20)
#define TOKEN_BYTES_MANY 16 /* Useful text never has tokens of this length on average. */

/* ---- Counting -------------------------------------------------------------------------------- */

int64_t lc_pack_line_tokens(lc_heap *heap, lc_counter counter, const char *bullet, loci_str text)
{
    lc_buf line;
    int64_t tokens = 0;

    lc_buf_init(&line, heap, LOCI_MEM_REQUESTS, TEXT_BYTES_MAX);
    lc_layout_line(&line, bullet, text);
    if (lc_buf_status(&line, NULL) == LOCI_OK)
        tokens = counter.count(counter.ctx, lc_buf_str(&line));
    lc_buf_clear(&line);
    return tokens;
}

/* The tokens of one line by itself. */
static int64_t line_tokens(const lc_pack *pack, lc_buf *scratch, const lc_pack_item *item)
{
    if (item->known_tokens > 0 && pack->style == LC_PACK_LINES && !pack->is_fenced)
        return item->known_tokens;
    lc_buf_reset(scratch);
    lc_layout_item(scratch, pack, item);
    return pack->counter.count(pack->counter.ctx, lc_buf_str(scratch));
}

static int64_t heading_tokens(const lc_pack *pack, lc_buf *scratch, size_t section)
{
    lc_buf_reset(scratch);
    lc_layout_heading(scratch, pack, section);
    return pack->counter.count(pack->counter.ctx, lc_buf_str(scratch));
}

static int64_t fence_tokens(const lc_pack *pack, lc_buf *scratch)
{
    lc_buf_reset(scratch);
    lc_layout_fence(scratch, pack);
    return scratch->len > 0 ? pack->counter.count(pack->counter.ctx, lc_buf_str(scratch)) : 0;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

typedef struct ledger {
    int64_t left;      /* Of the budget. */
    int64_t mandatory; /* Spent before anything was chosen. */
    bool *is_open;     /* Sections whose heading is paid. */
    int64_t *spent;    /* By each section. */
} ledger;

/* Tokens for opening the section; 0 if it is open. */
static int64_t opening_tokens(const lc_pack *pack, const ledger *account, lc_buf *scratch,
                              size_t section)
{
    bool is_fence_open = section < pack->fenced_from;

    if (account->is_open[section])
        return 0;
    for (size_t i = pack->fenced_from; i < pack->section_count && !is_fence_open; i++)
        is_fence_open = account->is_open[i];
    return heading_tokens(pack, scratch, section) +
           (is_fence_open ? 0 : fence_tokens(pack, scratch));
}

static int64_t share_of(const lc_pack *pack, const ledger *account, size_t section)
{
    int64_t free_tokens = pack->budget - account->mandatory;

    return free_tokens / 1000 * pack->sections[section].share_permille +
           free_tokens % 1000 * pack->sections[section].share_permille / 1000;
}

static void take(lc_pack_item *item, ledger *account, int64_t tokens)
{
    account->left -= tokens;
    account->spent[item->section] += tokens;
    account->is_open[item->section] = true;
    item->is_included = true;
}

static void choose(lc_pack *pack, ledger *account, lc_buf *scratch)
{
    for (size_t i = 0; i < pack->item_count; i++) {
        lc_pack_item *item = pack->items[i];
        int64_t cost, with_heading;

        if (item->is_included)
            continue;
        /* A token is a byte at least, so that a hopeless item need not be counted. */
        if (account->left <= 0)
            return;
        /* Counting is slow: a text that is far too long is not counted. */
        if ((int64_t)item->text.len > TOKEN_BYTES_MANY * account->left)
            continue;
        cost = line_tokens(pack, scratch, item);
        with_heading = cost + opening_tokens(pack, account, scratch, item->section);
        item->tokens = cost;
        if (with_heading <= account->left &&
            account->spent[item->section] + with_heading <= share_of(pack, account, item->section))
            take(item, account, with_heading);
    }
}

/* Takes the mandatory items. Their exact size is known before any other item is chosen. */
static loci_status take_mandatory(lc_pack *pack, ledger *account, lc_buf *out, loci_error *err)
{
    loci_status status;
    char needed[64];

    for (size_t i = 0; i < pack->item_count; i++) {
        lc_pack_item *item = pack->items[i];

        item->is_included = item->is_mandatory;
        if (!item->is_mandatory)
            continue;
        account->is_open[item->section] = true;
        item->tokens = line_tokens(pack, out, item);
    }
    status = lc_layout(pack, out, err);
    if (status != LOCI_OK)
        return status;
    account->mandatory = pack->tokens;
    account->left = pack->budget - pack->tokens;
    if (account->left >= 0)
        return LOCI_OK;
    (void)lc_fail(err, LOCI_EBUDGET,
                  "a budget of %lld tokens is too small: what must be in it needs %lld",
                  (long long)pack->budget, (long long)pack->tokens);
    (void)snprintf(needed, sizeof needed, "{\"needed\":%lld}", (long long)pack->tokens);
    lc_error_set_data(err, loci_str_of(needed));
    return LOCI_EBUDGET;
}

/* The sum of the parts fitted, but the whole text does not: drops the last chosen item. */
static bool drop_last(lc_pack *pack)
{
    for (size_t i = pack->item_count; i-- > 0;) {
        lc_pack_item *item = pack->items[i];

        if (item->is_included && !item->is_mandatory) {
            item->is_included = false;
            return true;
        }
    }
    return false;
}

loci_status lc_pack_run(lc_pack *pack, lc_buf *out, loci_error *err)
{
    lc_heap *heap = out->heap;
    size_t bytes = pack->section_count * (sizeof(bool) + sizeof(int64_t));
    ledger account = {0};
    lc_buf scratch;
    void *room = lc_heap_zalloc(heap, bytes + 1, out->category);
    loci_status status;

    lc_buf_init(&scratch, heap, out->category, TEXT_BYTES_MAX);
    if (room == NULL)
        return lc_fail_memory(err);
    account.spent = room;
    account.is_open = (bool *)(account.spent + pack->section_count);
    status = take_mandatory(pack, &account, out, err);
    if (status == LOCI_OK) {
        choose(pack, &account, &scratch);
        status = lc_buf_status(&scratch, err);
    }
    if (status == LOCI_OK)
        status = lc_layout(pack, out, err);
    while (status == LOCI_OK && pack->tokens > pack->budget && drop_last(pack))
        status = lc_layout(pack, out, err);
    lc_buf_clear(&scratch);
    lc_heap_free(heap, room, bytes + 1, out->category);
    return status;
}
