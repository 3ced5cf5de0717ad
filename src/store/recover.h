/* recover.h - makes a new store from the readable events of a damaged SQLite file.
 *
 * Only the events are needed: projections are rebuilt from them, as by an import. An event that
 * cannot be read, or that cannot be applied without a lost one, is replaced by an event
 * `event.lost`, so that the seqs of the others, and everything that refers to them, stay the same.
 * Settings are kept; jobs, tokens, stored answers and vectors are not.
 */
#ifndef LC_STORE_RECOVER_H
#define LC_STORE_RECOVER_H

#include "base/arena.h"
#include "store/upkeep.h"

#define LC_RECOVERY_RANGES_MAX 1000

/* Takes the place of an event that was lost. It has no payload and changes nothing. */
extern const lc_event_type lc_event_lost;

/* Events of one user that are not in the new store. */
typedef struct lc_lost_range {
    loci_str tenant_id;
    loci_str user_id;
    int64_t first_seq;
    int64_t last_seq;
    struct lc_lost_range *next;
} lc_lost_range;

typedef struct lc_recovery {
    int64_t users;
    int64_t events;             /* Kept. */
    int64_t events_lost;        /* In gaps between events that were kept, or behind the last one. */
    int64_t events_unusable;    /* Among these: events that were read, but depend on lost ones. */
    int64_t users_without_head; /* Whether events behind their last one were lost is not known. */
    int64_t settings;
    lc_lost_range *lost;  /* The first ones, by user and seq; in the arena. */
    int64_t ranges_lost;  /* How many there are. */
    bool wal_is_damaged;  /* Commits at the end of the write-ahead log could not be read. */
    lc_problems problems; /* Found by verify in the new store; none = it is sound. */
} lc_recovery;

typedef struct lc_recover {
    lc_env *env;
    const lc_catalogue *catalogue;
    const char *from; /* The damaged file; only read. */
    const char *to;   /* The new store. */
    bool replace;     /* If false, a file that exists is LOCI_ECONFLICT. */
    lc_upkeep_progress *progress;
    void *ctx;
    lc_arena *arena; /* For the result. */
} lc_recover;

/* LOCI_ENOTFOUND: there is no event of loci in the file; nothing was created. */
loci_status lc_recover_run(const lc_recover *recover, lc_recovery *out, loci_error *err);

#endif /* LC_STORE_RECOVER_H */
