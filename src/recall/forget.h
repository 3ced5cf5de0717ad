/* forget.h - forgetting: what all rooms share when something is erased for good.
 *
 * A room that lets its things be forgotten does four things in one write:
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
 * deletes the vectors, empties the stored answers that name one of the ids, and asks for the scrub
 * of the files. Everything is gone for every reader with the commit; the bytes are gone from the
 * files when the job store.scrub has run.
 *
 * Why a rebuild gives the same rows: tombstones keep their refs, an erased event adds no text, and
 * the forgotten-event is applied at its place in the log, where it removes what is still there.
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

#define LC_FORGET_LISTED_MAX 1000 /* Items that an answer names; all are counted. */
#define LC_FORGET_KINDS_MAX 8

/* One thing to forget. */
typedef struct lc_forget_item {
    const char *kind; /* "fact", static: what it is called in answers. */
    loci_str id;
    int64_t seq;   /* Of the event that wrote it, whose payload is erased; 0 = none. */
    loci_str text; /* That its vector was made from; none = it has no vector. */
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
    int64_t last_event_seq;           /* Of lc_forget_add_event(). */
    int64_t events, vectors, answers; /* The last two: after lc_forget_finish(). */
    int64_t review_count;             /* Facts that need a review since a base of theirs is gone. */
    bool is_finished;
    lc_id job_id; /* Of the scrub. */
} lc_forgetting;

void lc_forget_begin(lc_forgetting *f, lc_tx *tx, lc_arena *arena);
void lc_forget_end(lc_forgetting *f); /* Frees what is not in the arena; twice is fine. */

/* Copies the item. The same id twice is once. */
loci_status lc_forget_add(lc_forgetting *f, const lc_forget_item *item, loci_error *err);
/* One more event whose payload belongs to what is forgotten; the same twice in a row is once. */
loci_status lc_forget_add_event(lc_forgetting *f, int64_t seq, loci_error *err);
/* After the events of all rooms were appended. */
loci_status lc_forget_finish(lc_forgetting *f, loci_error *err);

/* Forgets everything of the current user: appends user.forgotten and finishes. */
loci_status lc_forget_user(lc_forgetting *f, loci_error *err);

/* Members of an answer: removed{}, items[], items_left_out. Before lc_forget_finish(), in a dry
 * run, items have the beginning of their text. */
void lc_forget_put(const lc_forgetting *f, lc_json_writer *out);

#endif /* LC_RECALL_FORGET_H */
