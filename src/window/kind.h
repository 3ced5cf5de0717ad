/* kind.h - the closed sets of words of a window: kinds, states, regions and policies.
 *
 * Rows and events hold the words; the code works with the numbers. The functions that return a name
 * never fail; those that find one return false, writing nothing, for any other text.
 */
#ifndef LC_WINDOW_KIND_H
#define LC_WINDOW_KIND_H

#include "loci.h"

#include <stdbool.h>

/* In the order in which maps list them: who the agent is, what it knows, what it works with. */
typedef enum lc_resource_kind {
    LC_KIND_SOUL,
    LC_KIND_USER,
    LC_KIND_IMPRESSIONS,
    LC_KIND_MEMORY,
    LC_KIND_DAILY,
    LC_KIND_TOOLS,
    LC_KIND_CONFIG,
    LC_KIND_CODE,
    LC_KIND_DOCUMENT,
    LC_KIND_OTHER,
    LC_KINDS
} lc_resource_kind;
#define LC_KIND_CHOICES "soul|user|impressions|memory|daily|tools|config|code|document|other"

typedef enum lc_resource_state {
    LC_RESOURCE_UNKNOWN, /* — Not discovered yet. */
    LC_RESOURCE_COLD,    /* ○ Known, neither loaded nor summarised. */
    LC_RESOURCE_LOADED,  /* ✓ In the context of the agent. */
    LC_RESOURCE_HOT,     /* ◆ In the context, with an attention of more than 1. */
    LC_RESOURCE_INDEXED, /* ● Only its summary is kept. */
    LC_RESOURCE_OFFLINE, /* ✗ Cannot be read. */
    LC_RESOURCE_STATES
} lc_resource_state;
#define LC_RESOURCE_STATE_CHOICES "unknown|cold|loaded|hot|indexed|offline"

/* How far away a resource is; a function of its state. */
typedef enum lc_resource_region {
    LC_REGION_ACTIVE,  /* In the context: 0 ms. Loaded and hot. */
    LC_REGION_INDEXED, /* Less than 100 ms. */
    LC_REGION_COLD,    /* Less than 5 s. Cold and unknown. */
    LC_REGION_OFFLINE,
    LC_REGIONS
} lc_resource_region;
#define LC_REGION_CHOICES "active|indexed|cold|offline"

typedef enum lc_window_policy {
    LC_POLICY_LRU,
    LC_POLICY_SIZE_FIRST,
    LC_POLICY_KEEP_RELATIONAL,
    LC_POLICY_KEEP_TECHNICAL,
    LC_POLICIES
} lc_window_policy;
#define LC_POLICY_CHOICES "lru|size_first|keep_relational|keep_technical"

const char *lc_resource_kind_name(lc_resource_kind kind);
const char *lc_resource_state_name(lc_resource_state state);
const char *lc_resource_state_symbol(lc_resource_state state);
const char *lc_resource_region_name(lc_resource_region region);
const char *lc_window_policy_name(lc_window_policy policy);
lc_resource_region lc_resource_region_of(lc_resource_state state);
/* The kind of a resource by the end of its URI: "SOUL.md", "2026-03-01.md", "main.c". */
lc_resource_kind lc_resource_kind_guess(loci_str uri);

bool lc_resource_kind_find(loci_str name, lc_resource_kind *out);
bool lc_resource_state_find(loci_str name, lc_resource_state *out);
bool lc_resource_region_find(loci_str name, lc_resource_region *out);
bool lc_window_policy_find(loci_str name, lc_window_policy *out);

#endif /* LC_WINDOW_KIND_H */
