/* fact.h - what is true now, why, and what was true before.
 *
 * A fact is one version of a slot. A slot is (scope, scope_id, key, persona) and holds one valid
 * fact, or several if its first write set `multi`. A write is judged in this order: authority and
 * trust (if one is too low, the write is stored as a claim and changes nothing), then time (an
 * older statement of equal rank is stored as history only); otherwise it supersedes. Repetition
 * never changes validity.
 *
 *     valid --superseded--> superseded      claim, late: history from the beginning
 *       `-----retracted---> retracted       expired: valid, but valid_until has passed
 *
 * When a fact stops being valid, everything derived from it, step by step, is marked needs_review
 * in the same event.
 *
 * Functions that write run in the writer with the user's head locked. lc_fact_decide() finds every
 * error and writes nothing; lc_fact_commit() appends the event. tx says whose facts these are
 * (tenant, user) and what time it is. Valid facts have a table of their own, so reading them does
 * not get slower as superseded facts accumulate. Text in answers lives in the given arena.
 */
#ifndef LC_FACT_FACT_H
#define LC_FACT_FACT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "fact/authority.h"
#include "recall/forget.h"
#include "recall/rewind.h"
#include "store/event.h"

#define LC_FACT_NO_TIME INT64_MAX /* valid_until: no limit. */
#define LC_FACT_MULTI_MAX 1000    /* Valid facts of one slot. */
#define LC_FACT_REVIEW_MAX 10000  /* Facts that one event can mark for review. */
#define LC_FACT_TARGETS_MAX 100   /* Items of supersedes, and of depends_on. */
#define LC_FACT_CHAIN_MAX 1000    /* Length of a chain of slots that supersede one another. */

extern const lc_room lc_fact_room;

typedef enum lc_fact_standing {
    LC_FACT_VALID,
    LC_FACT_IS_SUPERSEDED,
    LC_FACT_IS_LATE,
    LC_FACT_IS_RETRACTED,
    LC_FACT_IS_CLAIM,
    LC_FACT_IS_ERASED
} lc_fact_standing;

typedef struct lc_fact {
    loci_str id;            /* fact_…: this version. */
    loci_str key;           /* The slot. */
    loci_str value;         /* Canonical JSON. */
    loci_str source;        /* Where it came from, or none. */
    lc_authority authority; /* Effective authority of the speaker at that time. */
    loci_str trust;         /* user system tool web model */
    loci_str memory_type;   /* user capability organizational */
    loci_str scope;         /* global task hypothetical draft session */
    loci_str scope_id;      /* "" = none. */
    loci_str persona_id;    /* "" = shared by all personas. */
    int64_t seq;            /* Of the event that wrote it. */
    int64_t observed_at;
    int64_t recorded_at;
    int64_t valid_until; /* LC_FACT_NO_TIME = no limit. */
    bool is_constraint;
    bool is_multi; /* Its slot can hold several facts. */
    bool needs_review;
    bool has_derived;         /* Something was derived from it. */
    loci_str constraint_type; /* Or none. */
    lc_authority min_read;    /* rank 0 = no minimum. */
    lc_authority min_write;
    loci_str required_permission; /* Or none. */
    loci_str hidden_from;         /* JSON array of labels, or none: see fact_rights.c. */
    loci_str supersedes;          /* JSON array of ids, or none. */
    loci_str depends_on;          /* JSON array of ids, or none. */
    lc_fact_standing standing;
    loci_str superseded_by; /* Id of the next version, or none. */
    int64_t ended_at;       /* When it stopped being valid; LC_FACT_NO_TIME while it is valid. */
    loci_str contests;      /* For a claim: id of the fact it contradicts, or none. */
    loci_str reason;        /* Of a retraction, or none. */
} lc_fact;

/* A fact in an answer, with its computed members. */
typedef struct lc_fact_shown {
    lc_fact fact;    /* First: offsets of its members are the same in both. */
    loci_str status; /* lc_fact_status(). */
    bool is_valid;
    bool is_late;
    loci_str derived; /* JSON array of ids. */
} lc_fact_shown;

/* Every member of lc_fact_shown, in the order of answers: where it is stored, and what it means. */
extern const lc_column lc_fact_columns[];
/* {row} of fact_past, and of a union of both tables: fact_current lacks the columns that say how a
 * fact ended; they are read as none. */
extern const lc_row_type lc_fact_row;

/* Copies the text of a fact that a walk only lends into the arena; false when out of memory. */
bool lc_fact_keep(lc_arena *arena, lc_fact *fact);
/* "valid", "superseded", "retracted", "expired" or "claim". */
const char *lc_fact_status(const lc_fact *fact, int64_t now_us);
static inline bool lc_fact_is_expired(const lc_fact *fact, int64_t now_us)
{
    return fact->valid_until <= now_us;
}

/* ---- Access ---------------------------------------------------------------------------------- */

typedef struct lc_fact_access {
    int rank;                 /* lc_authority_effective() of the reader; 0 = the lowest. */
    loci_str permissions;     /* JSON array of strings, or none. */
    loci_str permissions_max; /* Limits `permissions` to these; none = no limit. */
} lc_fact_access;

/* Whether reading it needs a rank or a permission. */
static inline bool lc_fact_is_labelled(const lc_fact *fact)
{
    return fact->min_read.rank > 0 || fact->required_permission.len > 0;
}
/* Whether some readers may not see it. */
static inline bool lc_fact_is_restricted(const lc_fact *fact)
{
    return lc_fact_is_labelled(fact) || fact->hidden_from.len > 0;
}
bool lc_fact_may_read(const lc_fact *fact, const lc_fact_access *access);
/* The same for a reader that also reviews claims: for a reader who sees the hidden fact, a fact
 * that was written beside it is a claim, and is turned into one here. */
bool lc_fact_may_review(lc_fact *fact, const lc_fact_access *access);
/* Whether the JSON array of strings has `permission`, which has neither quotes nor backslashes. */
bool lc_permissions_have(loci_str list, loci_str permission);
/* Whether every permission of `list` is in `max`. */
bool lc_permissions_within(loci_str list, loci_str max);

/* The facts a reader sees: shared ones and those of its persona. Facts of its scope take precedence
 * over facts of its session, and those over global facts. */
typedef struct lc_fact_view {
    loci_str persona_id; /* None = shared facts only. */
    loci_str scope;      /* None or global = no inner scope. */
    loci_str scope_id;
    loci_str session_id; /* The session to read facts of; none = facts of no session. */
    lc_fact_access access;
} lc_fact_view;

/* ---- Writing --------------------------------------------------------------------------------- */

/* The arguments of a write. */
typedef struct lc_fact_input {
    loci_str key;
    loci_str value; /* Canonical JSON. */
    loci_str source;
    loci_str memory_type; /* None = derived from the source. */
    lc_fact_view view;    /* Persona and scope of the slot, and the access of the writer. For scope
                             session, scope_id is the session's id. */
    lc_authority authority; /* Effective: lc_authority_effective(). */
    loci_str trust;         /* After the cap: lc_trust_capped(). */
    int64_t observed_at;    /* LOCI_AT_CLOCK = the event's recorded_at. */
    int64_t valid_until;    /* LC_FACT_NO_TIME = no limit. */
    lc_str_list supersedes; /* Keys or ids. */
    lc_str_list depends_on; /* Keys or ids. */
    bool has_constraint; /* is_constraint was given; else it is inherited from the slot's fact. */
    bool is_constraint;
    bool is_multi;            /* Takes effect in the first write of a slot only. */
    bool yields;              /* Never supersedes: becomes a claim if the slot has a fact. */
    loci_str constraint_type; /* If not given, these four are inherited from the slot's fact. */
    lc_authority min_read;
    lc_authority min_write; /* At most the writer's own: more is lowered to that. */
    loci_str required_permission;
} lc_fact_input;

typedef enum lc_fact_outcome {
    LC_FACT_CREATED,
    LC_FACT_SUPERSEDED, /* Took the place of another. */
    LC_FACT_REPEATED,   /* The slot has this value already: nothing was written. */
    LC_FACT_LATE,       /* Older than the valid fact: stored as history only. */
    LC_FACT_CLAIMED,    /* Too little authority or trust: stored, changes nothing. */
    LC_FACT_SHADOWED    /* First fact of its key in its scope; hides a global one there. */
} lc_fact_outcome;

const char *lc_fact_outcome_name(lc_fact_outcome outcome);
#define LC_FACT_OUTCOMES "created|superseded|repeated|late|claimed|shadowed"

/* The outcome of a decision, not yet written; made by lc_fact_decide(), in its arena. */
typedef struct lc_fact_plan lc_fact_plan;

typedef struct lc_fact_result {
    lc_id id;            /* Of the new version, or of the one repeated. */
    lc_id superseded;    /* The first fact that it superseded; "" = none. */
    lc_id contests;      /* For a claim: the fact it contradicts; "" = none. */
    int64_t seq;         /* Of the event, or of the one that wrote the repeated fact. */
    size_t review_count; /* Facts visible to the writer that now need a review. */
    lc_fact_outcome outcome;
} lc_fact_result;

/* Decides; writes nothing. supersedes: missing is LOCI_ENOTFOUND, not the head LOCI_ECONFLICT with
 * data {head}, the own key or a cycle LOCI_EINVAL. A slot that another one took over is
 * LOCI_ECONFLICT with data {head}. A depends_on that is missing is LOCI_ENOTFOUND, one that has
 * LC_FACT_REVIEW_MAX - 1 dependents already LOCI_ELIMIT. */
loci_status lc_fact_decide(lc_tx *tx, const lc_fact_input *input, lc_arena *arena,
                           lc_fact_plan **out, loci_error *err);
loci_status lc_fact_commit(lc_tx *tx, lc_fact_plan *plan, lc_arena *arena, lc_fact_result *out,
                           loci_error *err);
/* Whether committing will append an event; a repeated value appends none. */
bool lc_fact_plan_writes(const lc_fact_plan *plan);
/* The outcome that committing will return. */
lc_fact_outcome lc_fact_plan_outcome(const lc_fact_plan *plan);

/* The facts of a slot, or one version, to be retracted, confirmed or forgotten. */
typedef struct lc_fact_target {
    loci_str key; /* In the view's innermost scope; none = use `id`. */
    loci_str id;
    lc_fact_view view;
    lc_authority authority; /* Below the fact's own is LOCI_EFORBIDDEN; so is too little trust. */
    loci_str trust;
    loci_str reason; /* Or none. */
} lc_fact_target;

/* Forgetting (recall/forget.h): all versions of a key that the caller sees, in the view's scope or
 * in all scopes; one version; or, without key and id, every fact of the view's scope. A caller that
 * may not retract one of them gets LOCI_EFORBIDDEN, and nothing is forgotten. `reason` is ignored.
 */
typedef struct lc_fact_oblivion lc_fact_oblivion;
/* Decides and collects into `f`; writes nothing. */
loci_status lc_fact_decide_forget(lc_tx *tx, const lc_fact_target *target, lc_forgetting *f,
                                  lc_fact_oblivion **out, loci_error *err);
/* Appends the events; lc_forget_finish() follows. */
loci_status lc_fact_commit_forget(lc_tx *tx, const lc_fact_oblivion *oblivion, loci_error *err);

/* Taking back what was derived from messages that are withdrawn (recall/rewind.h). */
typedef struct lc_fact_withdrawal lc_fact_withdrawal;
/* Decides and adds to the items of `r`; writes nothing. */
loci_status lc_fact_decide_withdraw(lc_rewind *r, lc_fact_withdrawal **out, loci_error *err);
/* Appends the events. */
loci_status lc_fact_commit_withdraw(lc_tx *tx, lc_fact_withdrawal *withdrawal, loci_error *err);

typedef struct lc_fact_change {
    lc_id id; /* The first fact it was about. */
    int64_t seq;
    size_t count;        /* Facts changed. */
    size_t review_count; /* As that of lc_fact_result. */
} lc_fact_change;

/* LOCI_ECONFLICT with data {head} if the target is not the head of its slot; LOCI_ENOTFOUND if
 * there is nothing to retract. */
typedef struct lc_fact_ending lc_fact_ending;
loci_status lc_fact_decide_retract(lc_tx *tx, const lc_fact_target *target, lc_arena *arena,
                                   lc_fact_ending **out, loci_error *err);
loci_status lc_fact_commit_retract(lc_tx *tx, const lc_fact_ending *ending, lc_fact_change *out,
                                   loci_error *err);
bool lc_fact_ending_needs_review(const lc_fact_ending *ending);
/* Confirms that a fact is still true although a fact it depends on is not.
 * lc_fact_decide_retract() finds the fact for this, too. */
loci_status lc_fact_commit_confirm(lc_tx *tx, const lc_fact_ending *ending, lc_fact_change *out,
                                   loci_error *err);

/* ---- Reading --------------------------------------------------------------------------------- */

/* The valid fact of a key in the view: the innermost scope takes precedence, then the persona's own
 * facts, then the newest. Expired facts are ignored; if there is none, `out` has no id. A fact that
 * the reader may not see hides those of lower precedence: `out` is then that fact. */
loci_status lc_fact_find_head(lc_tx *tx, const lc_fact_view *view, loci_str key, lc_arena *arena,
                              lc_fact *out, loci_error *err);
/* The most recent state of a key: the head, else an expired fact, else the one that ended last. A
 * key that was never written, or that the reader may not see, is LOCI_ENOTFOUND. */
loci_status lc_fact_load_current(lc_tx *tx, const lc_fact_view *view, loci_str key, lc_arena *arena,
                                 lc_fact *out, loci_error *err);
/* One version or claim, in any scope. Restrictions are not checked. */
loci_status lc_fact_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena, lc_fact *out,
                         loci_error *err);

typedef loci_status lc_fact_visit(void *ctx, const lc_fact *fact, loci_error *err);

/* Valid facts of the view, ordered by key and id, after (after_key, after_id). A persona sees both
 * its own and the shared fact of a key. `as_of`: the state after all events recorded until then;
 * LC_FACT_NO_TIME = now. The visit can end the walk with LOCI_ECANCELLED, which is not reported. */
typedef struct lc_fact_page {
    loci_str prefix; /* Only keys that begin with it; none = all. */
    loci_str after_key;
    loci_str after_id; /* Of that key; none = after all facts of the key. */
    int64_t as_of;
    int64_t limit; /* Expected number of facts: the size of the first read. */
} lc_fact_page;
loci_status lc_fact_each_valid(lc_tx *tx, const lc_fact_view *view, const lc_fact_page *page,
                               lc_fact_visit *visit, void *ctx, loci_error *err);

/* Every version of a key in the view's innermost scope, oldest first; claims are not versions. */
typedef struct lc_fact_history {
    loci_str key; /* For claims: none = of all keys. */
    int64_t after_seq;
    int64_t limit; /* As that of a page. */
} lc_fact_history;
loci_status lc_fact_each_version(lc_tx *tx, const lc_fact_view *view,
                                 const lc_fact_history *history, lc_fact_visit *visit, void *ctx,
                                 loci_error *err);
/* Claims, oldest first. */
loci_status lc_fact_each_claim(lc_tx *tx, const lc_fact_view *view, const lc_fact_history *history,
                               lc_fact_visit *visit, void *ctx, loci_error *err);

/* Members of an answer that are not in the fact's row; none = left out. */
typedef struct lc_fact_about {
    loci_str derived; /* lc_fact_load_derived()'s. */
    loci_str client;  /* lc_event_find_client()'s. */
} lc_fact_about;

/* Writes a fact as one JSON object. */
void lc_fact_put(lc_json_writer *out, const lc_fact *fact, const lc_fact_about *about,
                 int64_t now_us);
/* Writes the state of a key without a valid fact: {key, status, is_valid, superseded_by?,
 * ended_at}, without the value. `fact` is its last fact, which is not valid at `now_us`. */
void lc_fact_put_ended(lc_json_writer *out, const lc_fact *fact, int64_t now_us);
/* JSON array of the ids of the valid facts that were derived from it and that the reader sees; none
 * when has_derived is not set. */
loci_status lc_fact_load_derived(lc_tx *tx, const lc_fact *fact, const lc_fact_view *view,
                                 lc_arena *arena, loci_str *out, loci_error *err);

/* ---- Recent changes -------------------------------------------------------------------------- */

typedef struct lc_fact_recent {
    loci_str persona_id; /* Facts of this persona and shared ones. */
    bool has_claims;     /* Claims are included. */
    int64_t after_seq;   /* Written or ended by a later event. */
    int64_t limit;
} lc_fact_recent;
/* Valid facts of every scope, newest first; includes expired and restricted ones. */
loci_status lc_fact_each_recent(lc_tx *tx, const lc_fact_recent *recent, lc_fact_visit *visit,
                                void *ctx, loci_error *err);
/* Facts that were superseded or retracted, most recently ended first. */
loci_status lc_fact_each_ended(lc_tx *tx, const lc_fact_recent *recent, lc_fact_visit *visit,
                               void *ctx, loci_error *err);

typedef struct lc_fact_prefix {
    loci_str key;        /* Prefix of the keys. */
    loci_str persona_id; /* Facts of this persona and shared ones. */
    int64_t limit;
} lc_fact_prefix;
/* Valid global facts by key, shortest key first; includes expired and restricted ones. */
loci_status lc_fact_each_prefix(lc_tx *tx, const lc_fact_prefix *prefix, lc_arena *arena,
                                lc_fact_visit *visit, void *ctx, loci_error *err);

/* Valid facts of all personas that need a review; at most LC_FACT_REVIEW_MAX. */
loci_status lc_fact_each_in_doubt(lc_tx *tx, lc_fact_visit *visit, void *ctx, loci_error *err);

/* Numbers of facts that are not valid, by reason. */
typedef struct lc_fact_counts {
    int64_t superseded; /* Includes late ones, which were never valid. */
    int64_t retracted;
    int64_t claims;
} lc_fact_counts;

#endif /* LC_FACT_FACT_H */
