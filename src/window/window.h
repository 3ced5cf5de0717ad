/* window.h - the agent's context window: which resources are in it, and how full it is.
 *
 * A window belongs to a user and persona and survives sessions. It has resources: files, inline
 * texts and objects of loci. Each is in one of the states of resource_state.h; those that are
 * loaded or hot take tokens of the window. The row of the window has the sums, so that no operation
 * reads all resources: its cost does not depend on their number.
 *
 * Writing takes two steps. A caller loads the window and a resource, decides on the next state with
 * the functions below (a wrong request fails here, before anything is written), and appends it:
 *
 *     status = lc_window_load(tx, persona_id, arena, &window, err);
 *     status = lc_resource_load(tx, &window, id, arena, &resource, err);
 *     status = lc_resource_page_out(&window, &resource, summary, err);
 *     status = lc_resource_commit(tx, &window, &resource, &note, err);
 *
 * Events: window.set, resource.discovered, resource.changed, resource.noted, resource.linked,
 * resource.forgotten. Each has in its refs the state of the window after it, which consists of
 * numbers and words of loci only: so the window stays right when a resource and the payloads of its
 * events are forgotten.
 */
#ifndef LC_WINDOW_WINDOW_H
#define LC_WINDOW_WINDOW_H

#include "base/arena.h"
#include "pressure/ladder.h"
#include "recall/forget.h"
#include "store/row.h"
#include "window/evict.h"
#include "window/resource_state.h"

#define LC_WINDOW_TOKENS_MAX 100000000          /* context_max at most. */
#define LC_RESOURCE_TEXT_BYTES_MAX (512 * 1024) /* An inline text; its JSON must fit an event. */
#define LC_RESOURCE_NAME_BYTES_MAX 1024         /* A path, or the name of a text. */
#define LC_RESOURCE_NOTES_MAX 32                /* Annotations of a resource, */
#define LC_RESOURCE_NOTE_BYTES_MAX 2000         /* and bytes of each. */
#define LC_RESOURCE_TAGS_MAX 32
#define LC_RESOURCE_LINKS_MAX 32
#define LC_RESOURCE_SUMMARY_BYTES_MAX 4000
#define LC_RESOURCES_MAX 1000000 /* Of one window. */
#define LC_CANDIDATES_MAX 50     /* Candidates for eviction that a call may ask for, */
#define LC_CANDIDATES_SHOWN 5    /* and those that answers show by themselves. */

#define LC_RESOURCE_SOURCES "file|text|object"
#define LC_RESOURCE_MODES "full|summary"

extern const lc_room lc_window_room;
extern const lc_setting lc_setting_window_evict_after_ms;
extern const lc_setting lc_setting_window_roots;

/* ---- The window ------------------------------------------------------------------------------ */

typedef struct lc_window {
    loci_str id;            /* win_… */
    loci_str persona_id;    /* "" = of no persona. */
    int64_t context_max;    /* Tokens of the model's context, */
    int64_t reserve_output; /* and those of them that are kept free for its answer. */
    lc_window_policy policy;
    int64_t opened_at;
    int64_t resource_count;
    int64_t active_count;
    int64_t active_tokens;
    lc_pressure level;
    int64_t critical_since; /* 0 = it is not critical. A page_out of the agent starts it again. */
} lc_window;

extern const lc_row_type lc_window_row;

/* Tokens that resources may take: at least 1. */
static inline int64_t lc_window_limit(const lc_window *window)
{
    return window->context_max - window->reserve_output;
}

/* `*found` is false if the persona has none. */
loci_status lc_window_find(lc_tx *tx, loci_str persona_id, lc_arena *arena, lc_window *out,
                           bool *found, loci_error *err);
/* LOCI_ENOTFOUND that says how to open one. */
loci_status lc_window_load(lc_tx *tx, loci_str persona_id, lc_arena *arena, lc_window *out,
                           loci_error *err);
/* Opens the window (without an id: it gets one in the arena), or changes its sizes and policy.
 * LOCI_EOVERBUDGET if its resources would not fit any more. */
loci_status lc_window_set(lc_tx *tx, lc_window *window, lc_arena *arena, loci_error *err);

/* ---- Resources ------------------------------------------------------------------------------- */

typedef struct lc_resource {
    loci_str id; /* res_… */
    int64_t seq;
    loci_str window_id;
    loci_str uri;    /* file:///…, text:NAME or loci:ID */
    loci_str source; /* file, text or object */
    lc_resource_kind kind;
    lc_resource_state state;
    loci_str mode;         /* full or summary; none = it is not active. */
    int64_t size_tokens;   /* Of the whole content; 0 = not counted yet. */
    bool is_estimated;     /* The counts are estimates. */
    int64_t window_tokens; /* In the window now. */
    double attention;
    int64_t last_accessed; /* When it was discovered, paged in or given attention. */
    loci_str summary;      /* None = there is none. */
    int64_t summary_tokens;
    loci_str hash; /* Of the content that was counted and summarised; none = it was not read. */
    int64_t modified_at; /* Of the file, when it was read; 0 = none. */
    int64_t size_bytes;
    int64_t read_at; /* When the content was last read; 0 = never. */
    bool is_stale;
    loci_str problem;     /* Why it is offline; none = it is not. */
    int64_t ttl_s;        /* Seconds after read_at from which it is stale; 0 = none. */
    loci_str annotations; /* JSON array of {at, text}. */
    loci_str tags;        /* JSON array of strings. */
    loci_str links;       /* JSON array of {to, label?}. */
    int64_t created_at;
    loci_str region; /* By the state, for answers. */
    /* Columns of indexes, made from the others: never in events or answers. */
    int64_t is_active, place, bucket, relational, technical, is_protected;
    /* When it was loaded, for the sums of the window. */
    int64_t counted_tokens;
    bool was_active;
} lc_resource;

extern const lc_row_type lc_resource_row;

/* By its id (res_…), its URI or the absolute path of its file; LOCI_ENOTFOUND. Text lives in
 * `arena`. */
loci_status lc_resource_load(lc_tx *tx, const lc_window *window, loci_str id, lc_arena *arena,
                             lc_resource *out, loci_error *err);
/* The same; if there is none, `out` has no id. */
loci_status lc_resource_find(lc_tx *tx, const lc_window *window, loci_str id, lc_arena *arena,
                             lc_resource *out, loci_error *err);
/* The text of a resource with the source `text`. */
loci_status lc_resource_read_text(lc_tx *tx, const lc_resource *resource, lc_arena *arena,
                                  loci_str *out, loci_error *err);
/* Whether it has to be read again: marked, or older than its TTL. */
bool lc_resource_is_outdated(const lc_resource *resource, int64_t now_us);

typedef struct lc_resource_page {
    loci_str state, kind, region; /* None = any. */
    int64_t after_seq;
    int64_t limit;
} lc_resource_page;
typedef loci_status lc_resource_visit(void *ctx, const lc_resource *resource, loci_error *err);
/* In the order of discovery. */
loci_status lc_resource_each(lc_tx *tx, const lc_window *window, const lc_resource_page *page,
                             lc_resource_visit *visit, void *ctx, loci_error *err);
/* The most important ones: attention, region, last access, id. For maps. */
loci_status lc_resource_each_important(lc_tx *tx, const lc_window *window, int64_t limit,
                                       lc_resource_visit *visit, void *ctx, loci_error *err);

/* All resources by region and kind. */
typedef struct lc_resource_group {
    lc_resource_region region;
    lc_resource_kind kind;
    int64_t count, tokens;
} lc_resource_group;
#define LC_RESOURCE_GROUPS_MAX (LC_REGIONS * LC_KINDS)
loci_status lc_resource_count_groups(lc_tx *tx, const lc_window *window,
                                     lc_resource_group out[LC_RESOURCE_GROUPS_MAX], size_t *count,
                                     loci_error *err);

/* ---- Decisions ------------------------------------------------------------------------------- */

/* Content that was read (window/source.h). */
typedef struct lc_resource_content {
    loci_str text; /* None = not asked for. */
    int64_t tokens;
    bool is_estimated;
    int64_t bytes;
    loci_str hash;
    int64_t modified_at;
    loci_str summary;
    int64_t summary_tokens;
} lc_resource_content;

/* These change `resource` as asked or fail and change nothing: LOCI_ECONFLICT for a move that its
 * state does not allow. None writes. */

/* Its content was read: it gets size, hash and summary, and leaves `offline`. */
loci_status lc_resource_take_content(lc_resource *resource, const lc_resource_content *content,
                                     int64_t now_us, loci_error *err);
/* LOCI_EOVERBUDGET if it does not fit. */
loci_status lc_resource_page_in(const lc_window *window, lc_resource *resource,
                                lc_resource_move move, loci_str mode, loci_error *err);
/* `summary` with its tokens replaces the extract; none = it stays. */
loci_status lc_resource_page_out(lc_resource *resource, loci_str summary, int64_t tokens,
                                 loci_error *err);
/* `attention` is from 0 to LC_ATTENTION_MAX. */
loci_status lc_resource_attend(lc_resource *resource, double attention, loci_error *err);
loci_status lc_resource_mark_stale(lc_resource *resource, loci_error *err);
loci_status lc_resource_mark_offline(lc_resource *resource, loci_str problem, loci_error *err);

/* Why a resource changes: part of the event. */
typedef struct lc_resource_note {
    const char *move; /* "page_in" */
    const char *by;   /* agent or engine */
    loci_str why;     /* Of the engine's own changes; none = asked for. */
} lc_resource_note;

/* Appends resource.discovered; sets id, seq and created_at. `text` is that of an inline text, or
 * none. LOCI_ELIMIT if the window has too many resources. */
loci_status lc_resource_add(lc_tx *tx, lc_window *window, lc_resource *resource, loci_str text,
                            lc_id *out_id, loci_error *err);
/* Appends resource.changed: the state, and the sums and the pressure of the window. */
loci_status lc_resource_commit(lc_tx *tx, lc_window *window, lc_resource *resource,
                               const lc_resource_note *note, loci_error *err);
/* Append resource.noted (annotations and tags) and resource.linked (links). */
loci_status lc_resource_set_notes(lc_tx *tx, lc_resource *resource, loci_error *err);
loci_status lc_resource_set_links(lc_tx *tx, const lc_resource *resource, loci_error *err);

/* ---- Pressure -------------------------------------------------------------------------------- */

typedef struct lc_resource_list {
    lc_resource *items;
    size_t count;
} lc_resource_list;
/* The next resources to evict by the window's policy, in order; at most `limit`. */
loci_status lc_window_candidates(lc_tx *tx, const lc_window *window, int64_t limit, lc_arena *arena,
                                 lc_resource_list *out, loci_error *err);
/* The part of a resource that the order depends on. */
lc_evictable lc_resource_evictable(const lc_resource *resource);

/* Pages out by policy if the window has been critical for `evict_after_ms` (0 = never), until it
 * is not critical any more or only protected resources are left. `out` has the resources that it
 * paged out, at most LC_CANDIDATES_MAX of them, as they were before. */
loci_status lc_window_relieve(lc_tx *tx, lc_window *window, int64_t evict_after_ms, lc_arena *arena,
                              lc_resource_list *out, loci_error *err);
/* When that will happen; INT64_MAX = never. */
int64_t lc_window_evicts_at(const lc_window *window, int64_t evict_after_ms);

/* ---- Forgetting (recall/forget.h) ------------------------------------------------------------ */

/* A resource to forget, and those whose links to it are removed. */
typedef struct lc_resource_oblivion {
    lc_window window;
    lc_resource resource;
    lc_resource_list linking; /* As they are to be. */
} lc_resource_oblivion;

/* Adds the resource and its events to `f`; LOCI_ENOTFOUND. */
loci_status lc_resource_decide_forget(loci_str persona_id, loci_str id, lc_forgetting *f,
                                      lc_resource_oblivion *out, loci_error *err);
loci_status lc_resource_commit_forget(lc_tx *tx, lc_resource_oblivion *oblivion, loci_error *err);

#endif /* LC_WINDOW_WINDOW_H */
