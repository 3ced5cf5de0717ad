/* note_fixture.h - a store with a room of notes: small, but with everything that upkeep has to cope
 * with.
 *
 * `notes` has every kind of column and a partial index, `note_counts` has one row a user, and the
 * event note.written has an older version.
 */
#ifndef TEST_CONTRACT_NOTE_FIXTURE_H
#define TEST_CONTRACT_NOTE_FIXTURE_H

#include "lib/test.h"

#include "base/hash.h"
#include "base/str.h"
#include "store/db.h"
#include "store/dump.h"
#include "store/upkeep.h"

typedef struct notes {
    lc_env env;
    lc_dump_plan plan; /* Made before the connection, freed behind it. */
    lc_db *db;
    loci_error err;
} notes;

extern const lc_room note_room;
extern const lc_catalogue note_catalogue;
extern const lc_event_type note_written_event;

/* The clock of all fixtures, µs. */
extern _Atomic int64_t notes_now_us;

/* Opens `path`, creating it if need be; NULL = a new one in a directory of its own. */
void notes_open(notes *n, const char *path);
void notes_close(notes *n);
const char *notes_path(void);

loci_status notes_do(notes *n, const char *user, lc_tx_body *body, void *ctx);
/* One event each, as (tenant "t", `user`). */
void notes_write(notes *n, const char *user, int id, const char *text);
void notes_remove(notes *n, const char *user, int id);
/* `count` events of every sort. */
void notes_fill(notes *n, const char *user, int count);

/* Makes a snapshot of the present rows. The events that it replaces stay. */
void notes_compact(notes *n, const char *user);

/* Runs statements that no honest program would. */
void notes_damage(notes *n, const char *script);
/* What one statement without parameters answers. */
int64_t notes_number(notes *n, const lc_sql *sql);
/* The hash of all projections. */
lc_hash128 notes_hash(notes *n);

/* What verify finds. */
lc_problems notes_verify(notes *n);
/* Checks that verify finds something, and that its first sentence has `part` in it. */
void notes_expect_problem(notes *n, const char *part);
void notes_expect_sound(notes *n);

/* Like test_oom_sweep(), for work that can do without some of what it asks for (a statement that is
 * not cached is prepared again): LOCI_OK is right, too. What leaks is found when the test ends. */
void notes_oom_sweep(test_body *body, void *ctx);

#endif /* TEST_CONTRACT_NOTE_FIXTURE_H */
