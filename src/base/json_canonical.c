/* json_canonical.c - the form of which hashes are taken and by which values are compared.
 *
 * Byte order of names is code point order, as UTF-8 keeps it. Every open container has its members,
 * in the order to write them, in the scratch arena: objects sorted, arrays as they are. Recursion
 * is a stack of those.
 */
#include "base/json_tree.h"

#include "base/assert.h"
#include "base/error.h"

/* An open container; `entries` is NULL for an array, whose elements are walked from `next`. */
typedef struct level {
    const lc_json_entry *entries;
    size_t at;
    size_t count;
    const lc_json *next;
} level;

static bool enter(lc_arena *scratch, const lc_json *container, level *out)
{
    *out = (level){.count = lc_json_count(container), .next = lc_json_first(container)};
    if (lc_json_kind_of(container) != LC_JSON_OBJECT || out->count == 0)
        return true;
    out->entries = lc_json_sort_members(scratch, container);
    return out->entries != NULL;
}

/* The next value of a level, or NULL. */
static const lc_json *advance(level *from)
{
    const lc_json *value = from->next;

    if (from->entries != NULL)
        return from->at < from->count ? from->entries[from->at++].member : NULL;
    if (value != NULL)
        from->next = lc_json_next(value);
    return value;
}

/* False when out of memory. */
static bool write_sorted(lc_json_writer *w, lc_arena *scratch, const lc_json *value)
{
    level levels[LC_JSON_DEPTH_MAX];
    unsigned depth = 0;

    for (;;) {
        lc_jw_put_parsed(w, value);
        if (lc_json_is_container(value)) {
            LC_ASSERT(depth < LC_JSON_DEPTH_MAX);
            if (!enter(scratch, value, &levels[depth++]))
                return false;
        }
        value = NULL;
        while (depth > 0 && (value = advance(&levels[depth - 1])) == NULL) {
            depth--;
            lc_jw_end(w);
        }
        if (value == NULL)
            return true;
        if (levels[depth - 1].entries != NULL)
            lc_jw_name_str(w, lc_json_name(value));
    }
}

loci_status lc_json_canonical(lc_arena *scratch, const lc_json *value, lc_buf *out, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(scratch);
    lc_json_writer w;
    bool has_memory;

    lc_jw_init(&w, out);
    has_memory = write_sorted(&w, scratch, value);
    lc_arena_rewind(scratch, mark);
    return has_memory ? lc_buf_status(out, err) : lc_fail_memory(err);
}
