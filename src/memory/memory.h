/* memory.h - statements about a user, the people around them and their projects.
 *
 * A memory is one statement. Its text, entities and key never change: another text is another
 * memory, which may supersede this one. The members that do change (importance, pin, status,
 * mentions, metadata, label) are its state. A memory that ended is never revived.
 *
 *     (none) --stored--> active --archived--> archived
 *        |                  |-----stored----> superseded    another memory took its place
 *        '----stored----> claimed              it contradicts one that it may not replace
 *
 * The key of a new statement decides its effect: see lc_memory_decide(). Isolation: only the
 * persona itself sees its memories, and they supersede only its own.
 *
 * Events: memory.stored adds a memory and ends those it supersedes, memory.changed sets the state
 * of one, memory.forgotten erases. Projections: memories, and memory_tags (the entities and the
 * metadata of a memory, to filter by). Texts are also found in `vectors`, by their hash
 * (recall/recall.h).
 */
#ifndef LC_MEMORY_MEMORY_H
#define LC_MEMORY_MEMORY_H

#include "base/arena.h"
#include "base/str.h"
#include "memory/understood.h"
#include "recall/forget.h"
#include "store/row.h"

extern const lc_room lc_memory_room;

#define LC_MEMORY_TEXT_BYTES_MAX (256 * 1024)
#define LC_MEMORY_REFS_MAX 16
#define LC_MEMORY_PINS_MAX 20 /* That one persona, or a caller without one, sees. */
#define LC_MEMORY_IMPORTANCE_MAX 3
#define LC_CARD_IMPORTANCE_MIN 2
#define LC_MEMORY_SESSIONS_MAX 3 /* Sessions of mentions that are remembered. */
#define LC_MEMORY_VERSIONS_MAX 1000
#define LC_MEMORY_TAGS_MAX 3 /* Of one lc_memory_page. */
#define LC_MEMORY_SOURCES "shadow_extraction|seeded_profile|curated_fold|api"
#define LC_MEMORY_STATUSES "active|archived|superseded|claimed"

typedef enum lc_memory_type {
    LC_MEMORY_PROFILE,
    LC_MEMORY_PEOPLE,
    LC_MEMORY_PROJECT
} lc_memory_type;

typedef enum lc_memory_status {
    LC_MEMORY_ACTIVE,
    LC_MEMORY_ARCHIVED,
    LC_MEMORY_SUPERSEDED,
    LC_MEMORY_CLAIMED
} lc_memory_status;

typedef struct lc_memory {
    loci_str id; /* mem_…, of the event `seq`. */
    int64_t seq;
    lc_memory_type type;
    loci_str text;
    loci_str entity_refs;  /* JSON array of refs, its subject first. */
    loci_str entity_label; /* The subject as people write it; none = none. */
    loci_str entity_type;  /* Of the subject: person, place, org, project … */
    loci_str fact_type;
    int64_t importance; /* As given; a pinned memory is treated as 3. */
    bool pinned;
    loci_str memory_key; /* type|entity_ref|fact_type[|attribute] */
    loci_str attribute;  /* Of which its subject has one; none = not known. */
    loci_str value;      /* Of the attribute, if the rules read one. */
    loci_str source;
    lc_memory_status status;
    double confidence;
    loci_str trust; /* user system tool web model */
    int64_t observed_at;
    int64_t recorded_at;
    int64_t ended_at;     /* 0 = active, or a claim. */
    int64_t confirmed_at; /* 0 = never. */
    int64_t mentions;     /* How often it was stored. */
    loci_str sessions;    /* JSON array: the first sessions that mentioned it. */
    loci_str persona_id;  /* "" = it belongs to all. */
    loci_str metadata;    /* JSON object as given. */
    loci_str supersedes;  /* JSON array of ids. */
    loci_str superseded_by;
    loci_str contests;   /* For a claim: id of the memory it contradicts. */
    loci_str statement;  /* Hash of the normalised text. */
    int64_t changed_seq; /* Of the last event that changed the row. */
    bool raised;         /* The curator has raised its importance. */
} lc_memory;

extern const lc_row_type lc_memory_row;       /* lc_memory */
extern const lc_row_type lc_memory_state_row; /* lc_memory: id and state */
extern const lc_event_type lc_memory_stored_event;
extern const lc_event_type lc_memory_changed_event;
extern const lc_event_type lc_memory_forgotten_event;

/* The effective importance. */
static inline int64_t lc_memory_importance(const lc_memory *memory)
{
    return memory->pinned ? LC_MEMORY_IMPORTANCE_MAX : memory->importance;
}

/* As an answer, with the effective importance. `client`: the program that wrote it, a JSON object;
 * none = unknown. */
void lc_memory_put(lc_json_writer *out, const lc_memory *memory, loci_str client);

/* ---- Writing --------------------------------------------------------------------------------- */

typedef enum lc_memory_outcome {
    LC_MEMORY_CREATED,
    LC_MEMORY_MENTIONED,
    LC_MEMORY_REPLACED, /* "superseded" */
    LC_MEMORY_KEPT_BOTH,
    LC_MEMORY_CONTESTED, /* "claimed" */
    LC_MEMORY_ENDED      /* Only of statements with `ended_at`. */
} lc_memory_outcome;
#define LC_MEMORY_OUTCOMES "created|mentioned|superseded|kept_both|claimed"
const char *lc_memory_outcome_name(lc_memory_outcome outcome);

/* A statement as the caller gives it. Members that are empty or -1 are derived from the text
 * (understood.h) or have their default. */
typedef struct lc_memory_input {
    loci_str text;
    loci_str type, entity_label, entity_type, fact_type, attribute, source, trust, metadata;
    lc_str_list entity_refs; /* items NULL = not given. */
    int64_t importance;      /* -1 = 1. */
    bool pinned;
    double confidence; /* NaN = 1. */
    int64_t observed_at;
    int64_t
        ended_at; /* Time at which it ended; history if that has passed. 0 = it has not ended. */
    /* For an import or a seed, which may be repeated: a statement that was recorded up to this seq
     * and superseded since is skipped, unless it is newer. 0 = no statement is skipped. */
    int64_t replayed_seq;
    loci_str persona_id;
    loci_str session_id;
    lc_memory replaces; /* memory.update: the memory that this one replaces; id none = none. */
} lc_memory_input;

typedef struct lc_memory_result {
    lc_memory_outcome outcome;
    lc_memory memory; /* As it is now: the new one, or the one that was mentioned. */
    loci_str old;     /* Id of the memory that it superseded, or none. */
} lc_memory_result;

/* A decision, and the data to write it. */
typedef struct lc_memory_plan lc_memory_plan;

/* Decides; writes nothing and finds every error. With the same key (user, persona, type, subject,
 * fact type, attribute):
 *
 *     the same statement, or a value that says no more     mentioned
 *     the same attribute, another value                    superseded
 *       of a pinned memory, or of a trusted one by a
 *       tool, the web or a model                           claimed
 *       observed before the current one                    superseded by it at once
 *     no attribute, other memories of the subject          kept_both
 *     one that is not true any more                        ended
 *
 * else created. A statement that is stored already as history or as a claim is not stored again.
 * `input` and the texts it points to must live until the commit. */
loci_status lc_memory_decide(lc_tx *tx, const lc_memory_input *input, lc_arena *arena,
                             lc_memory_plan **out, loci_error *err);
/* Whether committing appends an event. */
bool lc_memory_plan_writes(const lc_memory_plan *plan);
/* Text of `out` is in the arena. */
loci_status lc_memory_commit(lc_tx *tx, lc_memory_plan *plan, lc_memory_result *out,
                             loci_error *err);

/* Another text in the place of a memory, with everything else that was known about it. */
typedef struct lc_memory_restatement {
    const lc_memory *old;
    loci_str text;
    loci_str trust; /* Of the caller. */
} lc_memory_restatement;
loci_status lc_memory_restate(lc_tx *tx, const lc_memory_restatement *what, lc_arena *arena,
                              lc_memory *out, loci_error *err);

/* Appends memory.stored; sets id, seq and recorded_at. Its entities are known. */
loci_status lc_memory_append(lc_tx *tx, lc_memory *memory, lc_arena *arena, loci_error *err);
/* Appends memory.changed with the state of `memory` as it is to be; ended_at follows from the
 * status. */
loci_status lc_memory_change(lc_tx *tx, lc_memory *memory, loci_error *err);
/* LOCI_ELIMIT if pinning one more memory of this persona would show a reader more than
 * LC_MEMORY_PINS_MAX. */
loci_status lc_memory_check_pins(lc_tx *tx, loci_str persona_id, loci_error *err);

/* ---- Reading --------------------------------------------------------------------------------- */

/* A memory that the persona sees, of any status; LOCI_ENOTFOUND. Text is in the arena. */
loci_status lc_memory_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                           lc_memory *out, loci_error *err);

typedef loci_status lc_memory_visit(void *ctx, const lc_memory *memory, loci_error *err);
typedef struct lc_memory_page {
    loci_str persona_id;
    loci_str status;                   /* None = any. */
    loci_str type;                     /* None = any. */
    loci_str entity_id;                /* About this entity, or an alias of it; none = any. */
    loci_str tags[LC_MEMORY_TAGS_MAX]; /* lc_memory_metadata_tag(), all of them; none = any. */
    int64_t before_seq;                /* Newest first, from here on. */
    int64_t limit;
} lc_memory_page;
loci_status lc_memory_each(lc_tx *tx, const lc_memory_page *page, lc_memory_visit *visit, void *ctx,
                           loci_error *err);
/* The memories that it replaced, that replaced it or that contested it, and all memories with its
 * attribute in its persona: by observed_at, at most LC_MEMORY_VERSIONS_MAX. */
loci_status lc_memory_find_versions(lc_tx *tx, const lc_memory *memory, lc_arena *arena,
                                    lc_memory **out, size_t *out_count, loci_error *err);
/* Pinned ones: importance, then newest, then id; at most LC_MEMORY_PINS_MAX. */
loci_status lc_memory_each_pinned(lc_tx *tx, loci_str persona_id, lc_memory_visit *visit, void *ctx,
                                  loci_error *err);

/* The tag of an entity, of an entity on whose card the memory may be, and of a member of metadata,
 * in the arena; `ptr` is NULL when out of memory. */
loci_str lc_memory_entity_tag(lc_arena *arena, loci_str ref);
loci_str lc_memory_card_tag(lc_arena *arena, loci_str ref);
loci_str lc_memory_metadata_tag(lc_arena *arena, loci_str name, loci_str json);
/* Calls `visit` with the tag of each member of `metadata` that can be asked for: text, numbers and
 * truth values. Tags live in `arena`. */
typedef loci_status lc_memory_tag_visit(void *ctx, loci_str tag, loci_error *err);
loci_status lc_memory_each_metadata_tag(lc_arena *arena, loci_str metadata,
                                        lc_memory_tag_visit *visit, void *ctx, loci_error *err);

/* ---- Forgetting ------------------------------------------------------------------------------ */

#define LC_MEMORY_FORGET_MAX 100000 /* That one call forgets. */

typedef struct lc_memory_target {
    loci_str id;          /* None = those of `which`. */
    lc_memory_page which; /* Persona and filters; before_seq and limit are not used. */
    /* Ref or id of an entity that has no row (any more): only memories that a rewind took back can
     * be about it. None = which.entity_id says it. */
    loci_str gone_entity;
} lc_memory_target;
typedef struct lc_memory_oblivion lc_memory_oblivion;

/* Adds to `f` the memories, also those that a rewind took back, their duplicates, and the entities
 * that no other memory names; LOCI_ENOTFOUND if there are none. Writes nothing. */
loci_status lc_memory_decide_forget(lc_tx *tx, const lc_memory_target *target, lc_forgetting *f,
                                    lc_memory_oblivion **out, loci_error *err);
/* Appends memory.forgotten. */
loci_status lc_memory_commit_forget(lc_tx *tx, const lc_memory_oblivion *oblivion, loci_error *err);

#endif /* LC_MEMORY_MEMORY_H */
