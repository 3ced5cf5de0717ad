/* forget.h - forgetting: code that all rooms share to erase content for good.
 *
 * A room whose objects can be forgotten takes four steps in one write:
 *
 *     lc_forgetting f;
 *
 *     lc_forget_begin(&f, tx, arena);
 *     status = lc_forget_add(&f, &(lc_forget_item){"note", id, seq, text}, err);  for each thing
 *     status = lc_row_append(… &lc_note_forgotten_event …);          its apply deletes the rows
 *     status = lc_forget_finish(&f, err);
 *
 * lc_forget_add() collects: the event that wrote the thing, the text that its vector was made from,
 * the id that stored answers name it by. The room's event records the forgetting without any text
 * (lc_event_type.forgets). lc_forget_finish() then empties the payloads of the collected events,
 * deletes the vectors and the operational rows that name one of the ids (lc_table.forget_id),
 * empties the stored answers that name one of the ids, and queues the scrub of the files. After the
 * commit no reader sees any of it; the bytes are gone from the files when the job store.scrub has
 * run.
 *
 * Why a rebuild gives the same rows: tombstones keep their refs, an erased event adds no text, and
 * the forgotten-event is applied at its place in the log, where it removes the rows that are left.
 *
 * A dry run collects and stops there: nothing is written before the room's event.
 */
#ifndef LC_RECALL_FORGET_H
#define LC_RECALL_FORGET_H

#include "base/arena.h"
#include "base/id.h"
#include "base/json.h"
#include "base/map.h"
#include "store/db.h"
#include "store/withdrawal.h"

#define LC_FORGET_LISTED_MAX 1000 /* Items that an answer names; all are counted. */
#define LC_FORGET_KINDS_MAX 12

/* One thing to forget. */
typedef struct lc_forget_item {
    const char *kind; /* Name of the kind in answers, such as "fact"; a static string. */
    loci_str id;
    int64_t seq;   /* Seq of the event that wrote it, whose payload is erased; 0 = none. */
    loci_str text; /* Text that its vector was made from; none = it has no vector. */
} lc_forget_item;

typedef struct lc_forget_node lc_forget_node;

typedef struct lc_forgetting {
    lc_tx *tx;
    lc_arena *arena;
    lc_forget_node *first, **end; /* In the order of adding. */
    lc_map ids;                   /* lc_forget_node */
    int64_t item_count;
    struct {
        const char *kind;
        int64_t count;
    } kinds[LC_FORGET_KINDS_MAX]; /* In the order of their first item. */
    size_t kind_count;
    int64_t first_seq;                /* Lowest seq of an item; 0 = none has one. */
    int64_t last_event_seq;           /* Last seq passed to lc_forget_add_event(). */
    int64_t events, vectors, answers; /* The last two are set by lc_forget_finish(). */
    int64_t review_count;             /* Facts to review: an item they are based on is gone. */
    bool is_finished;
    lc_id job_id; /* Job that scrubs the files. */
} lc_forgetting;

void lc_forget_begin(lc_forgetting *f, lc_tx *tx, lc_arena *arena);
void lc_forget_end(lc_forgetting *f); /* Frees memory outside the arena; may be called twice. */

/* Copies the item. A repeated id is ignored. */
loci_status lc_forget_add(lc_forgetting *f, const lc_forget_item *item, loci_error *err);
/* Calls `visit` for each item of this kind that was added so far. */
typedef loci_status lc_forget_visit(void *ctx, const lc_forget_item *item, loci_error *err);
loci_status lc_forget_each(const lc_forgetting *f, const char *kind, lc_forget_visit *visit,
                           void *ctx, loci_error *err);
/* Adds an event whose payload is also erased. The same seq twice in a row is added once. */
loci_status lc_forget_add_event(lc_forgetting *f, int64_t seq, loci_error *err);
/* Adds events that a rewind took back (store/withdrawal.h): they have no rows any more, but their
 * payloads are still in the log. `match` is called for each event that passes the filter. It sets
 * `*out` if the event is to be forgotten, and may name its id and kind in `item`; seq and text are
 * set from the event. Text of the event lives in the arena. */
typedef loci_status lc_forget_match(void *ctx, const lc_event *event, lc_forget_item *item,
                                    bool *out, loci_error *err);
loci_status lc_forget_withdrawn(lc_forgetting *f, const lc_withdrawal_filter *filter,
                                lc_forget_match *match, void *ctx, loci_error *err);
/* Erases the collected content; call it after the events of all rooms were appended. */
loci_status lc_forget_finish(lc_forgetting *f, loci_error *err);

/* Forgets all data of the current user: appends user.forgotten and finishes. */
loci_status lc_forget_user(lc_forgetting *f, loci_error *err);

/* Members of an answer: removed{}, items[], items_left_out. In a dry run (before
 * lc_forget_finish()) each item also has the beginning of its text. */
void lc_forget_put(const lc_forgetting *f, lc_json_writer *out);

#endif /* LC_RECALL_FORGET_H */
