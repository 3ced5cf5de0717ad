/* pack.h - items in, text out, and never a token more than the budget.
 *
 * A source (facts, memories, a conversation, a frame) hands over items that are already ranked; the
 * packer chooses, renders and keeps the account. What is mandatory goes in first: when that alone
 * does not fit, the call is refused with what would be needed. Then the sections in the order in
 * which they may choose, each up to its share of what is left; an item that does not fit is
 * skipped, not a stop. The text is rendered in the order of the section table, whatever the order
 * of choosing was.
 *
 * Tokens of parts do not add up to those of the whole: neighbours may merge, and in rare cases
 * split. The ledger adds parts, with their line breaks, and at the end the whole is counted; if it
 * is over, the last item chosen goes until it fits. So `used <= budget` always, exactly.
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
    int share_permille;  /* Of the budget without the mandatory; 1000 = what is left. */
} lc_pack_section;

typedef struct lc_pack_item {
    loci_str id;   /* Whose text it is, for the manifest; may be none. */
    loci_str text; /* Without its bullet and line break. */
    size_t section;
    int64_t place; /* Within its section the text is in this order; then in that of choosing. */
    bool is_mandatory;
    int64_t known_tokens; /* Of its line, when whoever keeps the text has counted it; 0 = not. */
    /* Set by the packer. */
    bool is_included;
    int64_t tokens; /* What it cost, its part of the line break included. */
} lc_pack_item;

typedef struct lc_pack {
    const lc_pack_section *sections; /* In the order of the text. */
    size_t section_count;
    lc_pack_item *const *items; /* In the order of choosing. */
    size_t item_count;
    int64_t budget;
    lc_counter counter;
    int64_t *section_tokens; /* Out: what each section cost; room for section_count. */
    int64_t tokens;          /* Out: of the whole text. */
} lc_pack;

/* What the line of an item costs by itself: for those who keep the count with the text. 0 when out
 * of memory. */
int64_t lc_pack_line_tokens(lc_heap *heap, lc_counter counter, const char *bullet, loci_str text);

/* Chooses and renders into `out`. LOCI_EBUDGET with the data {"needed": n} when the mandatory items
 * do not fit. */
loci_status lc_pack_run(lc_pack *pack, lc_buf *out, loci_error *err);

#endif /* LC_PACK_PACK_H */
