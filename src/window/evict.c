/* evict.c - see evict.h. Pure. */
#include "window/evict.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/time.h"

/* Ranks under keep_relational and keep_technical. */
static const struct {
    int relational, technical;
} ranks[] = {
    [LC_KIND_SOUL] = {2, 0},   [LC_KIND_USER] = {2, 0},  [LC_KIND_IMPRESSIONS] = {2, 0},
    [LC_KIND_MEMORY] = {1, 1}, [LC_KIND_DAILY] = {1, 0}, [LC_KIND_TOOLS] = {0, 2},
    [LC_KIND_CONFIG] = {0, 2}, [LC_KIND_CODE] = {0, 2},  [LC_KIND_DOCUMENT] = {1, 1},
    [LC_KIND_OTHER] = {1, 1},
};

_Static_assert(sizeof ranks / sizeof ranks[0] == LC_KINDS, "every kind has its ranks");

int lc_attention_bucket(double attention)
{
    return attention <= 0 ? 0 : attention < 1 ? 1 : attention <= 1 ? 2 : 3;
}

int lc_kind_rank(lc_window_policy policy, lc_resource_kind kind)
{
    LC_ASSERT(kind < LC_KINDS);
    if (policy == LC_POLICY_KEEP_RELATIONAL)
        return ranks[kind].relational;
    return policy == LC_POLICY_KEEP_TECHNICAL ? ranks[kind].technical : 0;
}

bool lc_evict_allows(lc_window_policy policy, const lc_evictable *resource)
{
    return !resource->is_protected && lc_kind_rank(policy, resource->kind) < 2;
}

static int compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int lc_evict_compare(lc_window_policy policy, const lc_evictable *a, const lc_evictable *b)
{
    int order = compare_i64(lc_attention_bucket(a->attention), lc_attention_bucket(b->attention));

    if (order == 0)
        order = compare_i64(lc_kind_rank(policy, a->kind), lc_kind_rank(policy, b->kind));
    if (order == 0 && policy == LC_POLICY_SIZE_FIRST)
        order = compare_i64(b->tokens, a->tokens);
    if (order == 0)
        order = compare_i64(a->last_accessed, b->last_accessed);
    return order != 0 ? order : lc_str_compare(a->id, b->id);
}

loci_str lc_evict_explain(lc_window_policy policy, const lc_evictable *resource,
                          char out[LC_EVICT_REASON_BYTES])
{
    char attention[16], used[LC_TIME_BYTES_MAX + 1];
    int len;

    (void)snprintf(attention, sizeof attention, "%.4g", resource->attention);
    used[lc_time_format(resource->last_accessed, used)] = '\0';
    len = policy == LC_POLICY_LRU ? snprintf(out, LC_EVICT_REASON_BYTES,
                                             "attention %s; lru: last used %s", attention, used)
          : policy == LC_POLICY_SIZE_FIRST
              ? snprintf(out, LC_EVICT_REASON_BYTES,
                         "attention %s; size_first: %lld tokens, last used %s", attention,
                         (long long)resource->tokens, used)
              : snprintf(out, LC_EVICT_REASON_BYTES, "attention %s; %s: kind %s, last used %s",
                         attention, lc_window_policy_name(policy),
                         lc_resource_kind_name(resource->kind), used);
    LC_ASSERT(len > 0 && len < LC_EVICT_REASON_BYTES);
    return (loci_str){out, (size_t)len};
}
