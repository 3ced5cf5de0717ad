/* fact.h - what is true now, why, and what was true before.
 *
 * A fact is one version of a slot. A slot is (scope, scope_id, key, persona) and holds one valid
 * fact, or several when its first write said `multi`. A write is judged in this order: authority
 * and trust (too little of either: it is kept as a claim and changes nothing), then time (older and
 * of equal rank: history only), then it supersedes. How often something is said never matters.
 *
 *     valid --superseded--> superseded      claim, late: history from the beginning
 *       `-----retracted---> retracted       expired: valid, but valid_until has passed
 *
 * When a fact stops being valid, everything derived from it, step by step, is marked needs_review
 * in the same event.
 *
 * Functions that write run in the writer with the user's head locked. lc_fact_decide() finds every
 * error and writes nothing; lc_fact_commit() appends the event. tx says whose facts these are
 * (tenant, user) and what time it is. Valid facts live in a table of their own, so what reads them
 * does not get slower with what was superseded. Text in answers lives in the arena given.
 */
#ifndef LC_FACT_FACT_H
#define LC_FACT_FACT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "fact/authority.h"
#include "recall/forget.h"
#include "store/event.h"

#define LC_FACT_NO_TIME INT64_MAX /* valid_until: for ever. */
#define LC_FACT_MULTI_MAX 1000    /* Valid facts of one slot. */
#define LC_FACT_REVIEW_MAX 10000  /* Facts that one event may mark. */
#define LC_FACT_TARGETS_MAX 100   /* supersedes, and depends_on. */
#define LC_FACT_CHAIN_MAX 1000    /* Slots that took over from one another. */

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
    lc_authority authority; /* Of who said it, as it counted then. */
    loci_str trust;         /* user system tool web model */
    loci_str memory_type;   /* user capability organizational */
    loci_str scope;         /* global task hypothetical draft session */
    loci_str scope_id;      /* "" = none. */
    loci_str persona_id;    /* "" = everybody's. */
    int64_t seq;            /* Of the event that wrote it. */
    int64_t observed_at;
    int64_t recorded_at;
    int64_t valid_until; /* LC_FACT_NO_TIME = for ever. */
    bool is_constraint;
    bool is_multi; /* Its slot holds several. */
    bool needs_review;
    bool has_derived;         /* Something was derived from it. */
    loci_str constraint_type; /* Or none. */
    lc_authority min_read;    /* rank 0 = anybody. */
    lc_authority min_write;
    loci_str required_permission; /* Or none. */
    loci_str hidden_from;         /* JSON array of labels, or none: see fact_rights.c. */
    loci_str supersedes;          /* JSON array of ids, or none. */
    loci_str depends_on;          /* JSON array of ids, or none. */
    lc_fact_standing standing;
    loci_str superseded_by; /* Id of the version after, or none. */
    int64_t ended_at;       /* When it stopped being valid; valid ones: LC_FACT_NO_TIME. */
    loci_str contests;      /* Of a claim: the id of what it is against, or none. */
    loci_str reason;        /* Of a retraction, or none. */
} lc_fact;

/* A fact in an answer, with what is computed for it. */
typedef struct lc_fact_shown {
    lc_fact fact;    /* First: offsets of its members are the same in both. */
    loci_str status; /* lc_fact_status(). */
    bool is_valid;
    bool is_late;
    loci_str derived; /* JSON array of ids. */
} lc_fact_shown;

/* Every member of lc_fact_shown, in the order of answers: where it is stored, and what it means. */
extern const lc_column lc_fact_columns[];
/* {row} of fact_past, and of both tables together: fact_current has no column that says how a fact
 * ended, and those are then none. */
extern const lc_row_type lc_fact_row;

/* Moves its text into the arena, for facts that a walk only lends; false when out of memory. */
bool lc_fact_keep(lc_arena *arena, lc_fact *fact);
/* "valid", "superseded", "retracted", "expired" or "claim". */
const char *lc_fact_status(const lc_fact *fact, int64_t now_us);
static inline bool lc_fact_is_expired(const lc_fact *fact, int64_t now_us)
{
    return fact->valid_until <= now_us;
}

/* ---- Who may see ----------------------------------------------------------------------------- */

typedef struct lc_fact_access {
    int rank;                 /* lc_authority_effective() of who reads; 0 = the lowest. */
    loci_str permissions;     /* JSON array of strings, or none. */
    loci_str permissions_max; /* Only those that are also here; none = all of them. */
} lc_fact_access;

/* Whether reading it needs a rank or a permission. */
static inline bool lc_fact_is_labelled(const lc_fact *fact)
{
    return fact->min_read.rank > 0 || fact->required_permission.len > 0;
}
/* Whether it is not for every reader. */
static inline bool lc_fact_is_restricted(const lc_fact *fact)
{
    return lc_fact_is_labelled(fact) || fact->hidden_from.len > 0;
}
bool lc_fact_may_read(const lc_fact *fact, const lc_fact_access *access);
/* The same for a reader that also reviews claims: a fact that was written beside one that the
 * reader sees is a claim to it, and becomes one here. */
bool lc_fact_may_review(lc_fact *fact, const lc_fact_access *access);
/* Whether the JSON array of strings has `permission`, which has neither quotes nor backslashes. */
bool lc_permissions_have(loci_str list, loci_str permission);
/* Whether every permission of `list` is in `max`. */
bool lc_permissions_within(loci_str list, loci_str max);

/* What a reader sees: what has no persona and its persona's own; its scope, before the facts of its
 * session, before the global ones. */
typedef struct lc_fact_view {
    loci_str persona_id; /* None = only what has none. */
    loci_str scope;      /* None or global = no inner scope. */
    loci_str scope_id;
    loci_str session_id; /* Whose session facts are seen; none = no session's. */
    lc_fact_access access;
} lc_fact_view;

/* ---- Writing --------------------------------------------------------------------------------- */

/* What somebody says. */
typedef struct lc_fact_input {
    loci_str key;
    loci_str value; /* Canonical JSON. */
    loci_str source;
    loci_str memory_type;   /* None = by the source. */
    lc_fact_view view;      /* Whose slot it is, what is seen by who writes. scope session: scope_id
                               is the session's id. */
    lc_authority authority; /* Effective: lc_authority_effective(). */
    loci_str trust;         /* After the cap: lc_trust_capped(). */
    int64_t observed_at;    /* LOCI_AT_CLOCK = the event's recorded_at. */
    int64_t valid_until;    /* LC_FACT_NO_TIME = for ever. */
    lc_str_list supersedes; /* Keys or ids. */
    lc_str_list depends_on; /* Keys or ids. */
    bool has_constraint;    /* is_constraint was given; else it is as the slot's fact was. */
    bool is_constraint;
    bool is_multi;            /* Counts in the first write of a slot. */
    bool yields;              /* Never supersedes: a claim if the slot has a fact. */
    loci_str constraint_type; /* These four: not given = as the slot's fact was. */
    lc_authority min_read;
    lc_authority min_write; /* At most the writer's own: more is lowered to that. */
    loci_str required_permission;
} lc_fact_input;

typedef enum lc_fact_outcome {
    LC_FACT_CREATED,
    LC_FACT_SUPERSEDED, /* Took the place of another. */
    LC_FACT_REPEATED,   /* The value was there already: nothing was written. */
    LC_FACT_LATE,       /* Older than what stands: history only. */
    LC_FACT_CLAIMED,    /* Too little authority or trust: kept, changes nothing. */
    LC_FACT_SHADOWED    /* First of its key in its scope, hiding a global one there. */
} lc_fact_outcome;

const char *lc_fact_outcome_name(lc_fact_outcome outcome);
#define LC_FACT_OUTCOMES "created|superseded|repeated|late|claimed|shadowed"

/* What a write will do; made by lc_fact_decide(), in its arena. */
typedef struct lc_fact_plan lc_fact_plan;

typedef struct lc_fact_result {
    lc_id id;            /* Of the new version, or of the one repeated. */
    lc_id superseded;    /* The first one whose place it took; "" = none. */
    lc_id contests;      /* Of a claim; "" = nothing. */
    int64_t seq;         /* Of the event, or of the one that wrote the repeated fact. */
    size_t review_count; /* Facts that now need a review, of those that the writer sees. */
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
/* Whether committing will append an event; what is repeated appends none. */
bool lc_fact_plan_writes(const lc_fact_plan *plan);

/* Takes back what a slot holds, or one version. */
typedef struct lc_fact_target {
    loci_str key; /* Of the view's innermost scope; none = `id` counts. */
    loci_str id;
    lc_fact_view view;
    lc_authority authority; /* Below the fact's own is LOCI_EFORBIDDEN; so is too little trust. */
    loci_str trust;
    loci_str reason; /* Or none. */
} lc_fact_target;

/* Forgetting (recall/forget.h): all versions under a key that the caller sees, in the view's scope
 * or in all; one version; or, without key and id, everything of the view's scope. What it may not
 * retract it may not forget: LOCI_EFORBIDDEN, and nothing is forgotten. A reason is not looked at.
 */
typedef struct lc_fact_oblivion lc_fact_oblivion;
/* Decides and collects into `f`; writes nothing. */
loci_status lc_fact_decide_forget(lc_tx *tx, const lc_fact_target *target, lc_forgetting *f,
                                  lc_fact_oblivion **out, loci_error *err);
/* Appends the events; lc_forget_finish() follows. */
loci_status lc_fact_commit_forget(lc_tx *tx, const lc_fact_oblivion *oblivion, loci_error *err);

typedef struct lc_fact_change {
    lc_id id; /* The first fact it was about. */
    int64_t seq;
    size_t count;        /* Facts changed. */
    size_t review_count; /* As that of lc_fact_result. */
} lc_fact_change;

/* Not the head, or nothing to take back: LOCI_ECONFLICT with data {head}, or LOCI_ENOTFOUND. */
typedef struct lc_fact_ending lc_fact_ending;
loci_status lc_fact_decide_retract(lc_tx *tx, const lc_fact_target *target, lc_arena *arena,
                                   lc_fact_ending **out, loci_error *err);
loci_status lc_fact_commit_retract(lc_tx *tx, const lc_fact_ending *ending, lc_fact_change *out,
                                   loci_error *err);
bool lc_fact_ending_needs_review(const lc_fact_ending *ending);
/* Says that a fact is still true although what it depended on is not. Finding it is
 * lc_fact_decide_retract()'s business too. */
loci_status lc_fact_commit_confirm(lc_tx *tx, const lc_fact_ending *ending, lc_fact_change *out,
                                   loci_error *err);

/* ---- Reading --------------------------------------------------------------------------------- */

/* The valid fact of a key that counts in the view: innermost scope first, a persona's own before
 * everybody's, of several the newest. Expired ones do not count; without one `out` has no id. A
 * fact that the reader may not see hides those behind it: `out` is then that fact. */
loci_status lc_fact_find_head(lc_tx *tx, const lc_fact_view *view, loci_str key, lc_arena *arena,
                              lc_fact *out, loci_error *err);
/* What can be said of a key: the head, else an expired fact, else the last that ended. A key never
 * written, or one that must not be read, is LOCI_ENOTFOUND. */
loci_status lc_fact_load_current(lc_tx *tx, const lc_fact_view *view, loci_str key, lc_arena *arena,
                                 lc_fact *out, loci_error *err);
/* One version or claim, whatever its scope. Restrictions are not looked at. */
loci_status lc_fact_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena, lc_fact *out,
                         loci_error *err);

typedef loci_status lc_fact_visit(void *ctx, const lc_fact *fact, loci_error *err);

/* Facts that count in the view in the order of their keys and ids, after (after_key, after_id). A
 * persona sees its own and everybody's of one key. `as_of`: the state after all events recorded
 * until then; LC_FACT_NO_TIME = now. The visit ends the walk with LOCI_ECANCELLED, which is not
 * reported. */
typedef struct lc_fact_page {
    loci_str after_key;
    loci_str after_id; /* Of that key; none = behind all of them. */
    int64_t as_of;
    int64_t limit; /* How many are wanted: these are read first, then more. */
} lc_fact_page;
loci_status lc_fact_each_valid(lc_tx *tx, const lc_fact_view *view, const lc_fact_page *page,
                               lc_fact_visit *visit, void *ctx, loci_error *err);

/* Every version of a key in the view's innermost scope, oldest first; claims are no versions. */
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

/* What an answer says about a fact that is not in its row; none = is left out. */
typedef struct lc_fact_about {
    loci_str derived; /* lc_fact_load_derived()'s. */
    loci_str client;  /* lc_event_find_client()'s. */
} lc_fact_about;

/* Writes a fact as one JSON object. */
void lc_fact_put(lc_json_writer *out, const lc_fact *fact, const lc_fact_about *about,
                 int64_t now_us);
/* Writes what is left of a key without a valid fact: {key, status, is_valid, superseded_by?,
 * ended_at}, without the value. `fact` is the last one, which is not valid at `now_us`. */
void lc_fact_put_ended(lc_json_writer *out, const lc_fact *fact, int64_t now_us);
/* JSON array of the ids of the valid facts that were derived from it and that the reader sees; none
 * when has_derived is not set. */
loci_status lc_fact_load_derived(lc_tx *tx, const lc_fact *fact, const lc_fact_view *view,
                                 lc_arena *arena, loci_str *out, loci_error *err);

/* ---- Facts that changed last ----------------------------------------------------------------- */

/* What changed last. */
typedef struct lc_fact_recent {
    loci_str persona_id; /* Its own and everybody's. */
    bool has_claims;     /* With what ended what was only claimed. */
    int64_t after_seq;   /* Written or ended by a later event. */
    int64_t limit;
} lc_fact_recent;
/* Valid facts, the last written first, of every scope; expired and restricted ones too. */
loci_status lc_fact_each_recent(lc_tx *tx, const lc_fact_recent *recent, lc_fact_visit *visit,
                                void *ctx, loci_error *err);
/* Those that were superseded or retracted, the last ended first. */
loci_status lc_fact_each_ended(lc_tx *tx, const lc_fact_recent *recent, lc_fact_visit *visit,
                               void *ctx, loci_error *err);

/* Which keys. */
typedef struct lc_fact_prefix {
    loci_str key;        /* How they begin. */
    loci_str persona_id; /* Its own and everybody's. */
    int64_t limit;
} lc_fact_prefix;
/* Valid global facts by key, the shortest first; expired and restricted ones too. */
loci_status lc_fact_each_prefix(lc_tx *tx, const lc_fact_prefix *prefix, lc_arena *arena,
                                lc_fact_visit *visit, void *ctx, loci_error *err);

/* Valid facts that need a review, of everybody; at most LC_FACT_REVIEW_MAX. */
loci_status lc_fact_each_in_doubt(lc_tx *tx, lc_fact_visit *visit, void *ctx, loci_error *err);

/* How many are not valid, by why. */
typedef struct lc_fact_counts {
    int64_t superseded; /* Late ones too: they never stood. */
    int64_t retracted;
    int64_t claims;
} lc_fact_counts;
/* Adds `count` facts of one standing, as fact_past has it. */
void lc_fact_counts_add(lc_fact_counts *counts, loci_str standing, int64_t count);

#endif /* LC_FACT_FACT_H */
