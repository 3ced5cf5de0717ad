/* curate.h - tidying up: near-duplicates become one memory, stale trivia is archived, memories that
 * the user confirms or repeats become more important. Pinned memories are never changed.
 *
 *     fold      memories of one persona, key and trust, without an attribute, whose words are the
 *               same but for endings, articles and fillers: the newest text takes the place of all
 *               of them, with the sum of mentions and the highest importance. memory.unfold stores
 *               the sources again.
 *     archive   importance 0, stored once, never confirmed, observed more than
 *               `memory.stale_days` ago
 *     raise     importance by one, once and never above 2: the user confirmed it, or mentioned it
 *               in three sessions
 *
 * A curator first reads all memories of a user, page by page, and collects actions; then each
 * action is applied in a write, which first checks that it still makes sense. So a run can be
 * stopped at any time: applied actions stay, and the next run finds the rest.
 */
#ifndef LC_MEMORY_CURATE_H
#define LC_MEMORY_CURATE_H

#include "base/map.h"
#include "memory/memory.h"
#include "text/term.h"

extern const lc_setting lc_setting_memory_stale_days;

typedef enum lc_curation_kind {
    LC_CURATE_FOLD,
    LC_CURATE_ARCHIVE,
    LC_CURATE_RAISE
} lc_curation_kind;

typedef struct lc_curation_part {
    int64_t seq;
    loci_str id;
    struct lc_curation_part *next;
} lc_curation_part;

typedef struct lc_curation {
    lc_curation_kind kind;
    lc_curation_part first; /* The memories it is about, oldest first. */
    lc_curation_part *last;
    struct lc_curation *next;
} lc_curation;

typedef struct lc_curator {
    lc_arena *arena; /* Everything lives in it. */
    int64_t stale_us;
    int64_t seen_seq;   /* Memories up to here were read. */
    int64_t seen_count; /* How many. */
    lc_curation *first, *last;
    lc_map folds; /* lc_curation by the properties that near-duplicates share. */
    lc_stemmer stemmer;
} lc_curator;

loci_status lc_curator_init(lc_curator *curator, lc_arena *arena, int64_t stale_us,
                            loci_error *err);
void lc_curator_clear(lc_curator *curator);
/* Reads the next page; `*out_is_done`: there is no more. */
loci_status lc_curator_read(lc_curator *curator, lc_tx *tx, bool *out_is_done, loci_error *err);
/* The first action that does something; folds of a single memory are skipped. NULL = none. */
const lc_curation *lc_curator_first(const lc_curator *curator);
const lc_curation *lc_curation_next(const lc_curation *curation);

/* Applies one action; `*out_is_done` is false if it does not make sense any more. */
loci_status lc_curation_apply(lc_tx *tx, const lc_curation *curation, lc_arena *arena,
                              bool *out_is_done, loci_error *err);
/* The last run for a user, of all personas. */
typedef struct lc_curation_run {
    int64_t at;       /* 0 = never. */
    int64_t memories; /* How many memories it read. */
} lc_curation_run;
extern const lc_table lc_curations_table;
extern const lc_event_type lc_memory_curated_event; /* {} {memories} */
/* Appends memory.curated at the end of a run. */
loci_status lc_curation_note(lc_tx *tx, int64_t memories, loci_error *err);
loci_status lc_curation_find_last(lc_tx *tx, lc_curation_run *out, loci_error *err);

/* Stores the sources of a fold again; LOCI_EINVAL if `fold` is not a fold. `out` is a JSON array of
 * ids. */
loci_status lc_memory_unfold(lc_tx *tx, const lc_memory *fold, lc_arena *arena, loci_str *out,
                             loci_error *err);

#endif /* LC_MEMORY_CURATE_H */
