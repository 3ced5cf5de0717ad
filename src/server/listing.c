#include "server/listing.h"

#include "base/str.h"

loci_str lc_listing_noun(const lc_op *op)
{
    loci_str verb;

    return lc_str_split(loci_str_of(op->name), '.', &verb);
}

bool lc_listing_is_first_of_noun(size_t index)
{
    loci_str noun = lc_listing_noun(lc_op_at(index));

    for (size_t i = 0; i < index; i++) {
        if (lc_str_eq(lc_listing_noun(lc_op_at(i)), noun))
            return false;
    }
    return true;
}

bool lc_listing_route(const lc_op *op, loci_str *out_method, loci_str *out_path)
{
    if (op->http == NULL)
        return false;
    *out_method = lc_str_split(loci_str_of(op->http), ' ', out_path);
    return out_path->ptr != NULL;
}

bool lc_listing_is_first_of_path(size_t index)
{
    loci_str method, path, other;

    if (!lc_listing_route(lc_op_at(index), &method, &path))
        return false;
    for (size_t i = 0; i < index; i++) {
        if (lc_listing_route(lc_op_at(i), &method, &other) && lc_str_eq(path, other))
            return false;
    }
    return true;
}

bool lc_listing_is_in_path(loci_str path, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i + len + 2 <= path.len; i++) {
        if (path.ptr[i] == '{' && memcmp(path.ptr + i + 1, name, len) == 0 &&
            path.ptr[i + 1 + len] == '}')
            return true;
    }
    return false;
}

bool lc_listing_has_body(loci_str method)
{
    return lc_str_is(method, "POST") || lc_str_is(method, "PUT") || lc_str_is(method, "PATCH");
}
