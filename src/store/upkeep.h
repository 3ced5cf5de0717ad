/* upkeep.h - common parts of work on a whole store: verify, rebuild, export, import.
 *
 * Such work runs on a connection of its own, takes long, reports its progress and can be stopped
 * between two steps. It never holds a snapshot or the write lock for longer than one step.
 */
#ifndef LC_STORE_UPKEEP_H
#define LC_STORE_UPKEEP_H

#include "base/limits.h"
#include "loci.h"
#include "store/db.h"
#include "store/dump.h"

/* `total` 0 = not known. Any status but LOCI_OK ends the work with that status. */
typedef loci_status lc_upkeep_progress(void *ctx, const char *what, int64_t done, int64_t total,
                                       loci_error *err);

typedef struct lc_upkeep {
    lc_db *db;
    const lc_dump_plan *plan;     /* Of db's catalogue; export and import need none. */
    lc_upkeep_progress *progress; /* NULL = not reported. */
    void *ctx;
    loci_str tenant_id; /* Export: only the users of this tenant, and no settings. None = all. */
} lc_upkeep;

/* One step: bodies of reads and slices of writes stop after this many events or this long. */
#define LC_UPKEEP_EVENTS 1000
#define LC_UPKEEP_BYTES ((size_t)8 << 20)
#define LC_UPKEEP_STEP_US 200000

/* How long a step of upkeep waits for the write lock. */
#define LC_UPKEEP_WAIT_MS 60000

#define LC_USER_LABEL_BYTES 84
/* "tenant/user" for messages, each cut to 40 bytes. */
void lc_user_label(char out[LC_USER_LABEL_BYTES], loci_str tenant_id, loci_str user_id);

/* Whether a status is about the data, not about the environment: verify notes the former as a
 * problem and continues, but cannot continue after the latter. */
bool lc_status_is_about_data(loci_status status);

/* How many users have a head, and the sum of their events. */
loci_status lc_upkeep_count(lc_db *db, int64_t *out_users, int64_t *out_events, loci_error *err);

/* LOCI_EINVAL if `path` is the file of the store, or one that SQLite keeps beside it: a file that
 * takes their place destroys the store. */
loci_status lc_upkeep_refuse_own_file(const lc_db *db, const char *path, loci_error *err);

loci_status lc_upkeep_report(const lc_upkeep *upkeep, const char *what, int64_t done, int64_t total,
                             loci_error *err);

/* ---- Users ----------------------------------------------------------------------------------- */

/* Goes through the users of a table in the order of the key, with one seek per user:
 *
 *     lc_user_walk_init(&walk, heap);
 *     while ((status = lc_user_walk_next(tx, &walk, &lc_user_heads_sql, err)) == LOCI_OK &&
 *            walk.found)
 *         … lc_user_walk_tenant(&walk) …
 *
 * Each step may be in another transaction: nothing is held between them. */

typedef struct lc_user_walk {
    lc_buf tenant_id; /* Of the user at hand. */
    lc_buf user_id;
    lc_buf spare_tenant_id; /* The one before, bound to the statement while the next is read. */
    lc_buf spare_user_id;
    lc_head head; /* When the statement answers it. */
    bool found;   /* False before the first and after the last user. */
} lc_user_walk;

/* Every user that has a head, with the head. Rows of the store itself, whose names are empty, are
 * left out. */
extern const lc_sql lc_user_heads_sql;

void lc_user_walk_init(lc_user_walk *walk, lc_heap *heap);
void lc_user_walk_clear(lc_user_walk *walk);
/* Starts again before the first user. */
void lc_user_walk_restart(lc_user_walk *walk);

/* Moves to the next user. `next_sql` takes the current (tenant_id, user_id), "tt", and returns one
 * row: "tt", or "ttiii" with seq, recorded_at and objects. */
loci_status lc_user_walk_next(lc_tx *tx, lc_user_walk *walk, const lc_sql *next_sql,
                              loci_error *err);

static inline loci_str lc_user_walk_tenant(const lc_user_walk *walk)
{
    return (loci_str){walk->tenant_id.ptr != NULL ? walk->tenant_id.ptr : "", walk->tenant_id.len};
}

static inline loci_str lc_user_walk_user(const lc_user_walk *walk)
{
    return (loci_str){walk->user_id.ptr != NULL ? walk->user_id.ptr : "", walk->user_id.len};
}

/* ---- Problems -------------------------------------------------------------------------------- */

/* The problems that verify finds: a bounded list of sentences and the count of all. */

#define LC_PROBLEM_BYTES 160

typedef struct lc_problems {
    int64_t count;
    char text[LC_PROBLEMS_MAX][LC_PROBLEM_BYTES]; /* The first ones. No text of users in them. */
} lc_problems;

void lc_problems_add(lc_problems *problems, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* LOCI_OK when there are none, else LOCI_ECORRUPT with data {problems[], count}. */
loci_status lc_problems_status(const lc_problems *problems, loci_error *err);

#endif /* LC_STORE_UPKEEP_H */
