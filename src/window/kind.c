/* kind.c - One table of words per set, in the order of its enum. */
#include "window/kind.h"

#include <string.h>
#include <strings.h>

#include "base/assert.h"
#include "base/str.h"

static const char *const kinds[LC_KINDS] = {"soul",  "user",   "impressions", "memory",   "daily",
                                            "tools", "config", "code",        "document", "other"};
static const char *const regions[LC_REGIONS] = {"active", "indexed", "cold", "offline"};
static const char *const policies[LC_POLICIES] = {"lru", "size_first", "keep_relational",
                                                  "keep_technical"};
static const char *const states[LC_RESOURCE_STATES] = {"unknown", "cold",    "loaded",
                                                       "hot",     "indexed", "offline"};
static const struct {
    const char *symbol;
    lc_resource_region region;
} state_rows[LC_RESOURCE_STATES] = {
    [LC_RESOURCE_UNKNOWN] = {"—", LC_REGION_COLD},
    [LC_RESOURCE_COLD] = {"○", LC_REGION_COLD},
    [LC_RESOURCE_LOADED] = {"✓", LC_REGION_ACTIVE},
    [LC_RESOURCE_HOT] = {"◆", LC_REGION_ACTIVE},
    [LC_RESOURCE_INDEXED] = {"●", LC_REGION_INDEXED},
    [LC_RESOURCE_OFFLINE] = {"✗", LC_REGION_OFFLINE},
};

/* The place of `name` among `count` words, or `count`. */
static unsigned find(const char *const *words, unsigned count, loci_str name)
{
    unsigned i = 0;

    while (i < count && !lc_str_is(name, words[i]))
        i++;
    return i;
}

const char *lc_resource_kind_name(lc_resource_kind kind)
{
    LC_ASSERT(kind < LC_KINDS);
    return kinds[kind];
}

const char *lc_resource_state_name(lc_resource_state state)
{
    LC_ASSERT(state < LC_RESOURCE_STATES);
    return states[state];
}

const char *lc_resource_state_symbol(lc_resource_state state)
{
    LC_ASSERT(state < LC_RESOURCE_STATES);
    return state_rows[state].symbol;
}

const char *lc_resource_region_name(lc_resource_region region)
{
    LC_ASSERT(region < LC_REGIONS);
    return regions[region];
}

const char *lc_window_policy_name(lc_window_policy policy)
{
    LC_ASSERT(policy < LC_POLICIES);
    return policies[policy];
}

lc_resource_region lc_resource_region_of(lc_resource_state state)
{
    LC_ASSERT(state < LC_RESOURCE_STATES);
    return state_rows[state].region;
}

bool lc_resource_kind_find(loci_str name, lc_resource_kind *out)
{
    unsigned place = find(kinds, LC_KINDS, name);

    if (place == LC_KINDS)
        return false;
    *out = (lc_resource_kind)place;
    return true;
}

bool lc_resource_state_find(loci_str name, lc_resource_state *out)
{
    unsigned place = find(states, LC_RESOURCE_STATES, name);

    if (place == LC_RESOURCE_STATES)
        return false;
    *out = (lc_resource_state)place;
    return true;
}

bool lc_resource_region_find(loci_str name, lc_resource_region *out)
{
    unsigned place = find(regions, LC_REGIONS, name);

    if (place == LC_REGIONS)
        return false;
    *out = (lc_resource_region)place;
    return true;
}

bool lc_window_policy_find(loci_str name, lc_window_policy *out)
{
    unsigned place = find(policies, LC_POLICIES, name);

    if (place == LC_POLICIES)
        return false;
    *out = (lc_window_policy)place;
    return true;
}

/* ---- Guessing -------------------------------------------------------------------------------- */

/* Names of files that agents keep about themselves, without their ending. */
static const struct {
    const char *stems;
    lc_resource_kind kind;
} by_stem[] = {
    {"soul|identity|persona", LC_KIND_SOUL},         {"user|profile", LC_KIND_USER},
    {"impressions|impression", LC_KIND_IMPRESSIONS}, {"memory|memories|notes", LC_KIND_MEMORY},
    {"today|journal|daily", LC_KIND_DAILY},          {"tools|tool", LC_KIND_TOOLS},
};
static const struct {
    const char *endings;
    lc_resource_kind kind;
} by_ending[] = {
    {"c|h|cc|cpp|cxx|hpp|m|mm|rs|go|py|rb|js|mjs|cjs|ts|tsx|jsx|java|kt|swift|cs|php|pl|lua|sh|"
     "bash|sql|r|jl|hs|ml|ex|exs|erl|clj|scala|zig|dart|vue|css|scss|html|el|lisp|asm|s|proto|mk",
     LC_KIND_CODE},
    {"json|jsonc|yaml|yml|toml|ini|cfg|conf|env|properties|plist|xml", LC_KIND_CONFIG},
    {"md|markdown|txt|rst|adoc|org|tex|csv|tsv|log", LC_KIND_DOCUMENT},
};

static bool is_one_of(loci_str word, const char *list)
{
    for (loci_str rest = loci_str_of(list); rest.ptr != NULL;) {
        loci_str each = lc_str_split(rest, '|', &rest);

        if (each.len == word.len && strncasecmp(each.ptr, word.ptr, word.len) == 0)
            return true;
    }
    return false;
}

/* "2026-03-01", also with more behind it. */
static bool is_date(loci_str stem)
{
    for (size_t i = 0; i < 10; i++)
        if (i >= stem.len ||
            (i == 4 || i == 7 ? stem.ptr[i] != '-' : stem.ptr[i] < '0' || stem.ptr[i] > '9'))
            return false;
    return true;
}

lc_resource_kind lc_resource_kind_guess(loci_str uri)
{
    size_t start = uri.len, dot;
    loci_str stem, ending;

    while (start > 0 && uri.ptr[start - 1] != '/' && uri.ptr[start - 1] != ':')
        start--;
    dot = uri.len;
    while (dot > start && uri.ptr[dot - 1] != '.')
        dot--;
    stem = (loci_str){uri.ptr + start, dot > start + 1 ? dot - 1 - start : uri.len - start};
    ending = dot > start ? (loci_str){uri.ptr + dot, uri.len - dot} : LC_STR("");
    if (is_date(stem))
        return LC_KIND_DAILY;
    for (size_t i = 0; i < sizeof by_ending / sizeof *by_ending; i++)
        if (by_ending[i].kind == LC_KIND_CODE && is_one_of(ending, by_ending[i].endings))
            return LC_KIND_CODE; /* user.py is code, USER.md is not. */
    for (size_t i = 0; i < sizeof by_stem / sizeof *by_stem; i++)
        if (is_one_of(stem, by_stem[i].stems))
            return by_stem[i].kind;
    for (size_t i = 0; i < sizeof by_ending / sizeof *by_ending; i++)
        if (is_one_of(ending, by_ending[i].endings))
            return by_ending[i].kind;
    return LC_KIND_OTHER;
}
