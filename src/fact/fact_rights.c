/* fact_rights.c - the rights to see and to end a fact, and writes by a caller that does not see all
 * facts of a slot.
 *
 * A fact has a label: the lowest rank and the permission that reading it needs. A caller must not
 * learn of the existence of a fact that it may not see, so the slot of such a fact is empty for
 * this caller: its write is answered as a first write, and it reads its own value back. Databases
 * with several levels of security call this polyinstantiation. The slot then holds a second fact,
 * beside the hidden one, with `hidden_from`: the labels of the facts that its writer could not see.
 * Readers cleared for one of these labels see the other fact; to them the second one is a claim. So
 * every reader sees one fact per slot, the row alone decides whether a reader may see it, and the
 * caller's statement is not lost.
 *
 * The next version of such a fact inherits its labels. A fact written by a caller with more rights
 * ends the facts beside it that its own readers can see.
 *
 * A label is written "rank:permission", as "4:" or "0:hr"; permissions have neither quotes nor
 * backslashes.
 */
#include "fact/fact_row.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"

/* ---- Permissions ----------------------------------------------------------------------------- */

/* Takes the next string, as it is written, off a JSON array of strings. */
static bool next_string(loci_str *list, loci_str *out)
{
    size_t start = 0, end;

    while (start < list->len && list->ptr[start] != '"')
        start++; /* A bracket or a comma. */
    end = ++start;
    while (end < list->len && list->ptr[end] != '"')
        end += list->ptr[end] == '\\' ? 2 : 1;
    if (end >= list->len)
        return false;
    *out = (loci_str){list->ptr + start, end - start};
    *list = (loci_str){list->ptr + end + 1, list->len - end - 1};
    return true;
}

bool lc_permissions_have(loci_str list, loci_str permission)
{
    loci_str each;

    while (next_string(&list, &each)) {
        if (lc_str_eq(each, permission))
            return true;
    }
    return false;
}

bool lc_permissions_within(loci_str list, loci_str max)
{
    loci_str each;

    while (next_string(&list, &each)) {
        if (!lc_permissions_have(max, each))
            return false;
    }
    return true;
}

/* ---- Labels ---------------------------------------------------------------------------------- */

static bool is_cleared(const lc_fact_access *access, int rank, loci_str permission)
{
    return rank <= access->rank &&
           (permission.len == 0 || (lc_permissions_have(access->permissions, permission) &&
                                    (access->permissions_max.ptr == NULL ||
                                     lc_permissions_have(access->permissions_max, permission))));
}

bool lc_fact_is_cleared(const lc_fact *fact, const lc_fact_access *access)
{
    return is_cleared(access, fact->min_read.rank, fact->required_permission);
}

/* Ranks have one digit. */
static bool is_excluded(loci_str labels, const lc_fact_access *access)
{
    loci_str label, permission;

    while (next_string(&labels, &label)) {
        loci_str rank = lc_str_split(label, ':', &permission);

        if (rank.len == 1 && is_cleared(access, rank.ptr[0] - '0', permission))
            return true;
    }
    return false;
}

bool lc_fact_may_read(const lc_fact *fact, const lc_fact_access *access)
{
    return lc_fact_is_cleared(fact, access) && !is_excluded(fact->hidden_from, access);
}

bool lc_fact_may_review(lc_fact *fact, const lc_fact_access *access)
{
    if (fact->standing == LC_FACT_VALID && is_excluded(fact->hidden_from, access))
        fact->standing = LC_FACT_IS_CLAIM;
    return lc_fact_is_cleared(fact, access);
}

const lc_fact *lc_fact_first_readable(const lc_fact_node *list, const lc_fact_access *access)
{
    while (list != NULL && !lc_fact_may_read(&list->fact, access))
        list = list->next;
    return list != NULL ? &list->fact : NULL;
}

static bool has_label(loci_str labels, int rank, loci_str permission)
{
    loci_str label, other;

    while (next_string(&labels, &label)) {
        loci_str number = lc_str_split(label, ':', &other);

        if (number.len == 1 && number.ptr[0] - '0' == rank &&
            lc_str_eq(other, lc_fact_or_empty(permission)))
            return true;
    }
    return false;
}

bool lc_fact_is_hidden_from(const lc_fact *fact, const lc_fact *other)
{
    return has_label(fact->hidden_from, other->min_read.rank, other->required_permission);
}

static loci_status add_label(lc_fact *fact, int rank, loci_str permission, lc_arena *arena,
                             loci_error *err)
{
    loci_str before = fact->hidden_from;
    size_t bytes = before.len + permission.len + 8;
    char *text;
    int len;

    if (has_label(before, rank, permission))
        return LOCI_OK;
    text = lc_arena_alloc(arena, bytes);
    if (text == NULL)
        return lc_fail_memory(err);
    /* Without the closing bracket of the list so far. */
    len = snprintf(text, bytes, "%.*s%s\"%d:%.*s\"]", (int)(before.len > 0 ? before.len - 1 : 0),
                   before.len > 0 ? before.ptr : "", before.len > 0 ? "," : "[", rank,
                   (int)permission.len, permission.len > 0 ? permission.ptr : "");
    fact->hidden_from = (loci_str){text, (size_t)len};
    return LOCI_OK;
}

loci_status lc_fact_hide(lc_fact *fact, const lc_fact *other, lc_arena *arena, loci_error *err)
{
    return add_label(fact, other->min_read.rank, other->required_permission, arena, err);
}

loci_status lc_fact_hide_like(lc_fact *fact, const lc_fact *other, lc_arena *arena, loci_error *err)
{
    loci_str labels = other->hidden_from, label, permission;
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && next_string(&labels, &label)) {
        loci_str rank = lc_str_split(label, ':', &permission);

        status = add_label(fact, rank.len == 1 ? rank.ptr[0] - '0' : 0, permission, arena, err);
    }
    return status;
}

/* ---- Ending ---------------------------------------------------------------------------------- */

bool lc_fact_may_end(const lc_fact_writer *writer, const lc_fact *fact)
{
    bool is_trusted = lc_trust_is_trusted(writer->trust);

    if (!lc_fact_is_cleared(fact, &writer->access) || writer->authority.rank < fact->min_write.rank)
        return false;
    if (lc_fact_is_expired(fact, writer->now_us))
        return true;
    if (!lc_trust_is_trusted(fact->trust))
        return is_trusted || writer->authority.rank >= fact->authority.rank;
    return is_trusted && writer->authority.rank >= fact->authority.rank;
}
