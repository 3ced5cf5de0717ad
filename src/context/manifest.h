/* manifest.h - what is in a context and what is not, with the reason for each. */
#ifndef LC_CONTEXT_MANIFEST_H
#define LC_CONTEXT_MANIFEST_H

#include "base/arena.h"
#include "base/json.h"
#include "pack/pack.h"

#define LC_CONTEXT_BYTES_MAX (32 << 20)
#define LC_MANIFEST_EXCLUDED_MAX 50 /* The best losers; all are counted. */

/* In the order of the text: what changes with every call last, so that a provider's cache of the
 * prompt serves. */
typedef enum lc_section {
    LC_SECTION_IDENTITY,
    LC_SECTION_CONSTRAINTS,
    LC_SECTION_FACTS,
    LC_SECTION_CONVERSATION,
    LC_SECTION_WORKING,
    LC_SECTION_ENVIRONMENT,
    LC_SECTION_COUNT
} lc_section;

#define LC_MANIFEST_REASONS 10

typedef struct lc_manifest {
    lc_arena *arena;
    struct {
        loci_str id;
        const char *reason;
    } excluded[LC_MANIFEST_EXCLUDED_MAX];
    size_t excluded_count;
    int64_t counts[LC_MANIFEST_REASONS];
} lc_manifest;

void lc_manifest_init(lc_manifest *manifest, lc_arena *arena);
/* `reason` is one of superseded retracted restricted scope expired needs_review claim duplicate
 * irrelevant budget. The id is copied. */
void lc_manifest_exclude(lc_manifest *manifest, loci_str id, const char *reason);
/* Names without counting. */
void lc_manifest_name(lc_manifest *manifest, loci_str id, const char *reason);
/* Counts without naming. */
void lc_manifest_count(lc_manifest *manifest, const char *reason, int64_t count);

/* The members of the answer. */
void lc_manifest_put(const lc_manifest *manifest, const lc_pack *pack, loci_str text,
                     bool is_estimated, lc_json_writer *out);

#endif /* LC_CONTEXT_MANIFEST_H */
