/* pack.c - choosing by the ledger, rendering by the section table. */
#include "pack/pack.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"

#define TEXT_BYTES_MAX (64 << 20)
#define TOKEN_BYTES_MANY 16 /* No text that is worth showing has tokens so long on average. */

/* ---- Rendering ------------------------------------------------------------------------------- */

/* How many bytes at `i` break a line, or are a control character in another way; 0 = none do. */
static size_t break_bytes(loci_str text, size_t i)
{
    const unsigned char *at = (const unsigned char *)text.ptr + i;
    size_t left = text.len - i;

    if (at[0] < 0x20 || at[0] == 0x7f)
        return 1;
    if (left >= 2 && at[0] == 0xc2 && at[1] < 0xa0) /* U+0080 to U+009F. */
        return 2;
    if (left >= 3 && at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9))
        return 3; /* U+2028 and U+2029. */
    return 0;
}

/* One line: whatever breaks lines inside becomes a space, so that no text can pass for a heading.
 */
static void append_line(lc_buf *out, const char *bullet, loci_str text)
{
    size_t start = 0;

    if (bullet != NULL)
        lc_buf_append(out, loci_str_of(bullet));
    for (size_t i = 0; i < text.len;) {
        size_t bytes = break_bytes(text, i);

        if (bytes == 0) {
            i++;
            continue;
        }
        lc_buf_append(out, (loci_str){text.ptr + start, i - start});
        lc_buf_append_byte(out, ' ');
        i += bytes;
        start = i;
    }
    lc_buf_append(out, (loci_str){text.ptr + start, text.len - start});
    lc_buf_append_byte(out, '\n');
}

static void append_heading(lc_buf *out, const char *heading, bool is_first)
{
    if (!is_first)
        lc_buf_append_byte(out, '\n');
    if (heading != NULL)
        append_line(out, NULL, loci_str_of(heading));
}

int64_t lc_pack_line_tokens(lc_heap *heap, lc_counter counter, const char *bullet, loci_str text)
{
    lc_buf line;
    int64_t tokens = 0;

    lc_buf_init(&line, heap, LOCI_MEM_REQUESTS, TEXT_BYTES_MAX);
    append_line(&line, bullet, text);
    if (lc_buf_status(&line, NULL) == LOCI_OK)
        tokens = counter.count(counter.ctx, lc_buf_str(&line));
    lc_buf_clear(&line);
    return tokens;
}

/* What one line costs by itself. */
static int64_t line_tokens(const lc_pack *pack, lc_buf *scratch, const lc_pack_item *item)
{
    if (item->known_tokens > 0)
        return item->known_tokens;
    lc_buf_reset(scratch);
    append_line(scratch, pack->sections[item->section].bullet, item->text);
    return pack->counter.count(pack->counter.ctx, lc_buf_str(scratch));
}

static int64_t heading_tokens(const lc_pack *pack, lc_buf *scratch, size_t section)
{
    lc_buf_reset(scratch);
    append_heading(scratch, pack->sections[section].heading, false);
    return pack->counter.count(pack->counter.ctx, lc_buf_str(scratch));
}

/* The next item of a section to be shown after the one at (`place`, `index`); item_count at its
 * end. Sections have few items, so looking through all of them is cheaper than sorting would be. */
static size_t next_shown(const lc_pack *pack, size_t section, int64_t place, size_t index)
{
    size_t best = pack->item_count;

    for (size_t i = 0; i < pack->item_count; i++) {
        const lc_pack_item *item = pack->items[i];
        bool is_after = index == SIZE_MAX || item->place > place ||
                        (item->place == place && i > index);

        if (!item->is_included || item->section != section || !is_after)
            continue;
        if (best == pack->item_count || item->place < pack->items[best]->place)
            best = i;
    }
    return best;
}

static loci_status render(lc_pack *pack, lc_buf *out, loci_error *err)
{
    lc_buf_reset(out);
    pack->tokens = 0;
    for (size_t s = 0; s < pack->section_count; s++) {
        size_t shown = next_shown(pack, s, 0, SIZE_MAX);
        int64_t before = pack->tokens;

        if (shown < pack->item_count)
            append_heading(out, pack->sections[s].heading, out->len == 0);
        while (shown < pack->item_count) {
            append_line(out, pack->sections[s].bullet, pack->items[shown]->text);
            shown = next_shown(pack, s, pack->items[shown]->place, shown);
            if (shown == pack->item_count)
                pack->tokens = pack->counter.count(pack->counter.ctx, lc_buf_str(out));
        }
        pack->section_tokens[s] = pack->tokens - before;
    }
    return lc_buf_status(out, err);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

typedef struct ledger {
    int64_t left;      /* Of the budget. */
    int64_t mandatory; /* Spent before anything was chosen. */
    bool *is_open;     /* Sections whose heading is paid. */
    int64_t *spent;    /* By each section. */
} ledger;

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
        /* Counting takes longer than looking: what is far too long is not counted. */
        if ((int64_t)item->text.len > TOKEN_BYTES_MANY * account->left)
            continue;
        cost = line_tokens(pack, scratch, item);
        with_heading = cost + (account->is_open[item->section]
                                   ? 0
                                   : heading_tokens(pack, scratch, item->section));
        item->tokens = cost;
        if (with_heading <= account->left &&
            account->spent[item->section] + with_heading <= share_of(pack, account, item->section))
            take(item, account, with_heading);
    }
}

/* What must be in. Its exact size is known before anything is chosen. */
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
    status = render(pack, out, err);
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

/* The parts fitted, the whole does not: the last one chosen goes. */
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
        status = render(pack, out, err);
    while (status == LOCI_OK && pack->tokens > pack->budget && drop_last(pack))
        status = render(pack, out, err);
    lc_buf_clear(&scratch);
    lc_heap_free(heap, room, bytes + 1, out->category);
    return status;
}
