/* pack.h - packs items into a text that never exceeds its budget of tokens.
 *
 * A source (facts, memories, a conversation, a frame) hands over items that are already ranked; the
 * packer chooses, renders and counts. Mandatory items go in first: if they alone do not fit, the
 * call is refused with the number of tokens needed. Then the other items are chosen in their order,
 * each section up to its share of the rest; an item that does not fit is skipped, and the next one
 * tried. The text is rendered in the order of the section table, independent of the order of
 * choosing.
 *
 * Tokens of parts do not add up to those of the whole: neighbours may merge, and in rare cases
 * split. The ledger adds up the parts, with their line breaks, and at the end the whole text is
 * counted; if it is over the budget, the last chosen item is dropped until it fits. So `used <=
 * budget` always, exactly.
 */
#ifndef LC_PACK_PACK_H
#define LC_PACK_PACK_H

#include "base/buf.h"

#include <stdbool.h>

/* Counts the tokens of a text. */
typedef struct lc_counter {
    int64_t (*count)(void *ctx, loci_str text);
    void *ctx;
} lc_counter;

typedef struct lc_pack_section {
    const char *name;    /* "facts" */
    const char *heading; /* A line above its items; NULL = none. */
    const char *bullet;  /* Before each item, such as "- ". */
    int share_permille;  /* Of the budget without mandatory items; 1000 = all that is left. */
} lc_pack_section;

typedef struct lc_pack_item {
    loci_str id;   /* Object that the text is from, for the manifest; may be none. */
    loci_str text; /* Without its bullet and line break. */
    size_t section;
    int64_t place; /* Sort key within its section; equal ones keep the order of items. */
    bool is_mandatory;
    /* Several lines, shown as they are, without a bullet: the text is escaped by its source, and no
     * line of it can be taken for a heading. */
    bool is_block;
    int64_t known_tokens; /* Of its line, if they are stored with the text; 0 = unknown. */
    /* Set by the packer. */
    bool is_included;
    int64_t tokens; /* Its cost, including its part of the line break. */
} lc_pack_item;

/* How the text is written: see layout.h. */
typedef enum lc_pack_style { LC_PACK_LINES, LC_PACK_MARKDOWN, LC_PACK_JSON } lc_pack_style;

typedef struct lc_pack {
    const lc_pack_section *sections; /* In the order of the text. */
    size_t section_count;
    lc_pack_item *const *items; /* In the order of choosing. */
    size_t item_count;
    int64_t budget;
    lc_counter counter;
    lc_pack_style style;
    bool is_fenced; /* The sections from fenced_from on are in a fence. */
    size_t fenced_from;
    int64_t *section_tokens; /* Out: what each section cost; room for section_count. */
    int64_t tokens;          /* Out: of the whole text. */
    size_t prefix_bytes;     /* Out: of the text before the fence. */
} lc_pack;

/* The tokens of an item's line by itself, for callers that store the count with the text. 0 if out
 * of memory. */
int64_t lc_pack_line_tokens(lc_heap *heap, lc_counter counter, const char *bullet, loci_str text);

/* Chooses and renders into `out`. LOCI_EBUDGET with the data {"needed": n} when the mandatory items
 * do not fit. */
loci_status lc_pack_run(lc_pack *pack, lc_buf *out, loci_error *err);

#endif /* LC_PACK_PACK_H */
