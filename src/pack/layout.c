/* layout.c - see layout.h. The text grows in one buffer; after each section its tokens are the
 * difference of two counts, so that sections add up to the whole. */
#include "pack/layout.h"

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

#define JSON_NEXT ",\n"

/* ---- Characters ------------------------------------------------------------------------------ */

/* Number of bytes at `i` that are a line break or another control character; 0 = neither. */
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

/* Number of bytes at `i` that are an invisible character; 0 = it is not one. */
static size_t hidden_bytes(loci_str text, size_t i)
{
    const unsigned char *at = (const unsigned char *)text.ptr + i;
    size_t left = text.len - i;

    if (left >= 2 && at[0] == 0xc2 && at[1] == 0xad) /* Soft hyphen. */
        return 2;
    if (left >= 3 && at[0] == 0xe2 && at[1] == 0x80)
        /* U+200B, 200E, 200F, 202A to 202E; the joiners 200C and 200D stay. */
        return at[2] == 0x8b || at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xaa && at[2] <= 0xae)
                   ? 3
                   : 0;
    if (left >= 3 && at[0] == 0xe2 && at[1] == 0x81) /* U+2060 to U+206F. */
        return at[2] >= 0xa0 && at[2] <= 0xaf ? 3 : 0;
    if (left >= 3 && at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf) /* U+FEFF. */
        return 3;
    if (left >= 4 && at[0] == 0xf3 && at[1] == 0xa0 && (at[2] == 0x80 || at[2] == 0x81))
        return 4; /* U+E0000 to U+E007F: tags, which spell ASCII unseen. */
    return 0;
}

/* Number of bytes at `i` that are a "<", or look like one; 0 = another character. */
static size_t opening_bytes(loci_str text, size_t i)
{
    const unsigned char *at = (const unsigned char *)text.ptr + i;

    if (at[0] == '<')
        return 1;
    if (text.len - i < 3 || at[0] != 0xef)
        return 0;
    return (at[1] == 0xbc && at[2] == 0x9c) || (at[1] == 0xb9 && at[2] == 0xa4) ? 3 : 0;
}

typedef struct cleaning {
    bool keeps_lines; /* A block: line feeds stay. */
    bool is_fenced;
} cleaning;

static void append_clean(lc_buf *out, loci_str text, cleaning how)
{
    size_t start = 0;

    for (size_t i = 0; i < text.len;) {
        size_t breaks = how.keeps_lines && text.ptr[i] == '\n' ? 0 : break_bytes(text, i);
        size_t hidden = how.is_fenced ? hidden_bytes(text, i) : 0;
        size_t opening = how.is_fenced ? opening_bytes(text, i) : 0;

        if (breaks + hidden + opening == 0) {
            i++;
            continue;
        }
        lc_buf_append(out, (loci_str){text.ptr + start, i - start});
        if (breaks > 0)
            lc_buf_append_byte(out, ' ');
        else if (opening > 0)
            lc_buf_append(out, LC_STR("&lt;"));
        i += breaks + hidden + opening;
        start = i;
    }
    lc_buf_append(out, (loci_str){text.ptr + start, text.len - start});
}

/* ---- Parts ----------------------------------------------------------------------------------- */

void lc_layout_line(lc_buf *out, const char *bullet, loci_str text)
{
    if (bullet != NULL)
        lc_buf_append(out, loci_str_of(bullet));
    append_clean(out, text, (cleaning){0});
    lc_buf_append_byte(out, '\n');
}

static bool is_fenced(const lc_pack *pack, size_t section)
{
    return pack->is_fenced && section >= pack->fenced_from;
}

void lc_layout_item(lc_buf *out, const lc_pack *pack, const lc_pack_item *item)
{
    const char *bullet = pack->sections[item->section].bullet;
    cleaning how = {item->is_block, is_fenced(pack, item->section)};

    if (pack->style == LC_PACK_JSON) {
        lc_json_writer writer;

        lc_jw_init(&writer, out);
        lc_jw_str(&writer, item->text);
        lc_buf_append(out, LC_STR(JSON_NEXT));
        return;
    }
    if (pack->style == LC_PACK_MARKDOWN && bullet != NULL && bullet[0] == '\0')
        bullet = "- ";
    if (!item->is_block && bullet != NULL)
        lc_buf_append(out, loci_str_of(bullet));
    append_clean(out, item->text, how);
    lc_buf_append_byte(out, '\n');
}

static void append_heading(lc_buf *out, const lc_pack *pack, size_t section, bool is_first)
{
    loci_str heading = loci_str_of(pack->sections[section].heading);

    if (pack->style == LC_PACK_JSON) {
        lc_buf_append_format(out, "%s\"%s\":[\n", is_first ? "{" : "",
                             pack->sections[section].name);
        return;
    }
    if (!is_first)
        lc_buf_append_byte(out, '\n');
    if (heading.len == 0)
        return;
    if (pack->style == LC_PACK_MARKDOWN) {
        heading.len -= heading.ptr[heading.len - 1] == ':';
        lc_layout_line(out, "## ", heading);
        lc_buf_append_byte(out, '\n');
        return;
    }
    lc_layout_line(out, NULL, heading);
}

/* Puts `end` in the place of the separator of two items or sections. */
static void end_json(lc_buf *out, const char *end)
{
    if (out->len >= sizeof JSON_NEXT - 1)
        lc_buf_truncate(out, out->len - (sizeof JSON_NEXT - 1));
    lc_buf_append(out, loci_str_of(end));
}

static void append_fence(lc_buf *out)
{
    if (out->len > 0)
        lc_buf_append_byte(out, '\n');
    lc_buf_append(out, LC_STR(LC_FENCE_OPEN LC_FENCE_NOTE));
}

void lc_layout_heading(lc_buf *out, const lc_pack *pack, size_t section)
{
    append_heading(out, pack, section, false);
    if (pack->style == LC_PACK_JSON)
        lc_buf_append(out, LC_STR("]" JSON_NEXT));
}

void lc_layout_fence(lc_buf *out, const lc_pack *pack)
{
    if (pack->is_fenced && pack->style != LC_PACK_JSON)
        lc_buf_append(out, LC_STR("\n" LC_FENCE_OPEN LC_FENCE_NOTE LC_FENCE_CLOSE));
}

/* ---- The whole ------------------------------------------------------------------------------- */

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

typedef struct rendering {
    lc_pack *pack;
    lc_buf *out;
    bool is_fence_open;
    size_t last; /* The section that was shown last; section_count = none yet. */
} rendering;

static void count_up_to(rendering *r, size_t section)
{
    lc_pack *pack = r->pack;
    int64_t before = pack->tokens;

    pack->tokens = pack->counter.count(pack->counter.ctx, lc_buf_str(r->out));
    pack->section_tokens[section] += pack->tokens - before;
    r->last = section;
}

static void render_section(rendering *r, size_t section)
{
    lc_pack *pack = r->pack;
    size_t shown = next_shown(pack, section, 0, SIZE_MAX);
    bool is_first = r->out->len == 0;

    pack->section_tokens[section] = 0;
    if (shown == pack->item_count)
        return;
    if (pack->style != LC_PACK_JSON && !r->is_fence_open && is_fenced(pack, section)) {
        pack->prefix_bytes = r->out->len;
        append_fence(r->out);
        r->is_fence_open = is_first = true;
    }
    append_heading(r->out, pack, section, is_first);
    while (shown < pack->item_count) {
        lc_layout_item(r->out, pack, pack->items[shown]);
        shown = next_shown(pack, section, pack->items[shown]->place, shown);
    }
    if (pack->style == LC_PACK_JSON)
        end_json(r->out, "]" JSON_NEXT);
    count_up_to(r, section);
}

loci_status lc_layout(lc_pack *pack, lc_buf *out, loci_error *err)
{
    rendering r = {.pack = pack, .out = out, .last = pack->section_count};

    lc_buf_reset(out);
    pack->tokens = 0;
    for (size_t section = 0; section < pack->section_count; section++)
        render_section(&r, section);
    if (!r.is_fence_open)
        pack->prefix_bytes = out->len;
    if (r.last < pack->section_count && (r.is_fence_open || pack->style == LC_PACK_JSON)) {
        if (r.is_fence_open)
            lc_buf_append(out, LC_STR(LC_FENCE_CLOSE));
        else
            end_json(out, "}\n");
        count_up_to(&r, r.last);
    }
    return lc_buf_status(out, err);
}
