/* rewind.h - rewinding a session to a message: code that all rooms share.
 *
 * A rewind withdraws the later messages of a session, and the events that were derived from them
 * alone: those whose refs name one of them as `message_id` (lc_tx.source). lc_rewind_collect()
 * finds both by reading the refs of the user's events after the message, so the cost depends on the
 * number of later events. Each room then decides how its rows change without those events, and
 * records the change as an event of its own, whose `apply` updates the rows. Existing events in the
 * log do not change.
 *
 *     lc_rewind r;
 *
 *     lc_rewind_begin(&r, tx, arena);
 *     status = lc_rewind_collect(&r, err);
 *     status = lc_fact_decide_withdraw(&r, &facts, err);      for each room
 *     status = lc_fact_commit_withdraw(tx, facts, err);
 *
 * The withdrawn events are listed in the projection withdrawals (store/withdrawal.h).
 */
#ifndef LC_RECALL_REWIND_H
#define LC_RECALL_REWIND_H

#include "base/arena.h"
#include "base/map.h"
#include "store/event.h"

#define LC_REWIND_LISTED_MAX 1000 /* Items that an answer names; all are counted. */

/* An event to be taken back. */
typedef struct lc_rewind_event {
    int64_t seq;
    const lc_event_type *type;
    loci_str id; /* Id of the object that it wrote or changed: member `id` of its refs. */
} lc_rewind_event;

/* An object that the rewind changes, and how, for the answer. */
typedef struct lc_rewind_item {
    const char *kind;   /* message, fact, memory, entity, todo or proposal. */
    const char *action; /* withdrawn, restored or changed. */
    loci_str id;
    loci_str text; /* Beginning of its text, for a dry run; none = no text. */
} lc_rewind_item;

typedef struct lc_rewind_node lc_rewind_node;

typedef struct lc_rewind {
    lc_tx *tx;
    lc_arena *arena;
    loci_str session_id;     /* The session that is rewound. */
    loci_str message_id;     /* The last message that stays. */
    int64_t after_seq;       /* Seq of that message. */
    loci_str persona_id;     /* Messages of this persona and those shared by all personas. */
    lc_map messages;         /* Ids of the messages to withdraw. */
    lc_map before;           /* Seqs to skip: withdrawn before, or lc_rewind_keep(). */
    lc_rewind_event *events; /* Derived from `messages`, in the order of the log. */
    size_t event_count, event_room;
    lc_rewind_node *first, **end; /* Items, in the order of adding. */
    int64_t item_count;
} lc_rewind;

void lc_rewind_begin(lc_rewind *r, lc_tx *tx, lc_arena *arena);
void lc_rewind_end(lc_rewind *r); /* Frees memory outside the arena; may be called twice. */

/* Keeps a later message that must not be withdrawn: it belongs to a persona that the caller does
 * not see. */
loci_status lc_rewind_keep(lc_rewind *r, int64_t seq, loci_error *err);
/* Finds the messages and the events that were derived from them. */
loci_status lc_rewind_collect(lc_rewind *r, loci_error *err);
bool lc_rewind_has_message(const lc_rewind *r, loci_str id);
/* Reads the event with this seq as it is stored (not upcast); its text lives in the arena. */
loci_status lc_rewind_load(lc_rewind *r, int64_t seq, lc_event *out, loci_error *err);

/* Adds an item to the answer; copies it. */
loci_status lc_rewind_add(lc_rewind *r, const lc_rewind_item *item, loci_error *err);
/* Members of an answer: withdrawn{}, restored{}, changed{}, items[], items_left_out. */
void lc_rewind_put(const lc_rewind *r, bool with_text, lc_json_writer *out);

/* The event in which a room records what its rows become: lists of objects in the refs, each with
 * the id of a row. A long outcome is cut into several events. The caller sets r, type and err. */
typedef struct lc_rewind_outcome {
    lc_rewind *r;
    const lc_event_type *type;
    lc_event_draft draft;
    const char *list; /* The open list; NULL = none. */
    bool is_open;     /* The draft has an entry. */
    loci_status status;
    loci_error *err;
} lc_rewind_outcome;

/* Opens an object in the list: the caller adds members to draft.refs and ends it with lc_jw_end().
 * False when recording has failed. The entries of one list follow one another. */
bool lc_rewind_outcome_open(lc_rewind_outcome *to, const char *list, loci_str id);
/* Appends the event, if there is an entry; `status` says whether all went well. */
void lc_rewind_outcome_end(lc_rewind_outcome *to);

#endif /* LC_RECALL_REWIND_H */
