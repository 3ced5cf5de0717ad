/* frame.h - frames: the tasks on an agent's stack, with their budgets.
 *
 * A frame is one task: a goal, a budget of tokens (frame/ledger.h), limits, handles to the things
 * that the task needs, and results. Frames form trees; a child gets its budget from its parent and
 * returns the rest. All of it is in the log, so an agent that crashed finds its stack
 * and the work that was in progress (lc_frame_each_pending()).
 *
 * Every event of a frame has the state of the frame afterwards, and that of its parent if it
 * changed too. So `apply` computes nothing, and forgetting one tree leaves the others as they are.
 *
 * Texts are stored once per user: a handle has the hash of its text, and frame/content.h finds the
 * text by it.
 *
 * Events: frame.pushed, updated, popped, suspended, resumed, handle_added, handle_removed,
 * result_added, compacted, tool_begun, tool_ended, budget_reserved, budget_consumed,
 * budget_released, budget_used, content_stored, forgotten; actor.resumed. Projections: frames,
 * frame_handles, frame_tools, frame_reservations, frame_suspensions, frame_contents.
 */
#ifndef LC_FRAME_FRAME_H
#define LC_FRAME_FRAME_H

#include "base/arena.h"
#include "base/str.h"
#include "frame/content.h"
#include "frame/frame_status.h"
#include "frame/ledger.h"
#include "recall/forget.h"
#include "store/row.h"

extern const lc_room lc_frame_room;
extern const lc_setting lc_setting_frame_budget_tokens;
extern const lc_setting lc_setting_frame_depth_max;
extern const lc_setting lc_setting_frame_orphan_grace_s;

#define LC_FRAME_DEPTH_MAX 64            /* Deepest frame; a root has depth 0. */
#define LC_FRAME_HANDLES_MAX 2000        /* Handles and results of one frame that are in use. */
#define LC_FRAME_TOOL_CALLS_MAX 10000    /* Tool calls of one frame. */
#define LC_FRAME_GOAL_BYTES_MAX 16384    /* Goal, reason, error, title. */
#define LC_FRAME_INPUTS_BYTES_MAX 262144 /* Inputs of a frame, arguments of a tool call. */
#define LC_FRAME_TIMEOUT_MS_MAX (INT64_C(366) * 86400 * 1000)
#define LC_FRAME_REF_BYTES_MAX 2048 /* Of a URL. */
#define LC_FRAME_NO_LIMIT (-1)

#define LC_FRAME_WAITS "child|tool|user|other"
#define LC_HANDLE_TYPES "event_ref|tool_output|worker_finding|worker_learning|artifact|document|url"
#define LC_HANDLE_PRIORITIES "critical|high|medium|low|background"
#define LC_TOOL_STATUSES "running|done|failed"

typedef enum lc_priority {
    LC_PRIORITY_CRITICAL,
    LC_PRIORITY_HIGH,
    LC_PRIORITY_MEDIUM,
    LC_PRIORITY_LOW,
    LC_PRIORITY_BACKGROUND
} lc_priority;

/* By its name, which is one of LC_HANDLE_PRIORITIES. */
lc_priority lc_priority_of(loci_str name);

/* The agent that works on it. A child has the scope of its parent. */
typedef struct lc_frame_scope {
    loci_str actor_id;
    loci_str session_id, thread_id; /* None = none. */
} lc_frame_scope;

/* Limits; LC_FRAME_NO_LIMIT = none. A child has at most those of its parent. */
typedef struct lc_frame_limits {
    int64_t max_subframe_depth; /* Depth of the deepest frame allowed; a root has depth 0. */
    int64_t max_context_tokens; /* Of a pack. */
    int64_t max_tool_calls;     /* Of this frame. */
    int64_t timeout_ms;         /* After which it is given up. */
} lc_frame_limits;

typedef struct lc_frame {
    loci_str id; /* frm_… */
    int64_t seq;
    loci_str parent_id;  /* "" for a root. */
    int64_t parent_seq;  /* 0 for a root. */
    int64_t root_seq;    /* Seq of the root of its tree. */
    loci_str persona_id; /* "" = shared by all personas. */
    lc_frame_scope scope;
    loci_str goal;
    loci_str inputs;   /* JSON; none = none. */
    loci_str metadata; /* JSON object; none = none. */
    int64_t depth;
    lc_frame_limits limits;
    int64_t deadline_at; /* 0 = none. */
    int64_t created_at;
    /* State: in every event of the frame. */
    lc_frame_status status;
    loci_str waiting_for; /* While it waits; none = not given. */
    lc_ledger ledger;     /* is_settled follows from the status. */
    int64_t tool_calls;   /* Begun so far. */
    int64_t children;     /* Open ones. */
    int64_t handles;      /* In use, results included. */
    int64_t context_tokens;
    loci_str context_hash; /* Of the handles; changes whenever they do. */
    loci_str error;        /* A failure below it that was not handled yet. */
    int64_t touched_seq;   /* Of the last event that changed it. */
    int64_t updated_at;
    int64_t completed_at; /* 0 = it is open. */
} lc_frame;

extern const lc_row_type lc_frame_row;
extern const lc_row_type lc_frame_state_row;  /* lc_frame: the state. */
extern const lc_row_type lc_frame_fields_row; /* lc_frame: goal, inputs, metadata. */

/* Something that a frame needs (a handle) or has produced (a result). */
typedef struct lc_frame_handle {
    loci_str id; /* hdl_… */
    int64_t seq;
    loci_str frame_id;
    int64_t root_seq;
    bool is_result;
    loci_str type;
    lc_priority priority;
    loci_str title;   /* None = none. */
    loci_str ref;     /* An id of any loci object, or a URL; none = it has a text. */
    loci_str hash;    /* Of its text; none = it has a ref. */
    int64_t tokens;   /* Of its text when it was added; 0 = it has a ref. */
    int64_t call_seq; /* Of the tool call that it is the output of; 0 = none. */
    int64_t created_at;
    int64_t removed_at; /* 0 = it is in use. */
} lc_frame_handle;

extern const lc_row_type lc_frame_handle_row;

typedef enum lc_tool_status { LC_TOOL_RUNNING, LC_TOOL_DONE, LC_TOOL_FAILED } lc_tool_status;

typedef struct lc_frame_tool {
    loci_str call_id; /* The caller's; unique in its frame. */
    int64_t seq;
    loci_str frame_id;
    int64_t root_seq;
    loci_str name;
    loci_str arguments; /* JSON; none = none. */
    int64_t started_at;
    /* State. */
    lc_tool_status status;
    loci_str handle_id; /* Its output; none = none. */
    loci_str error;     /* None = none. */
    int64_t ended_at;   /* 0 = it runs. */
} lc_frame_tool;

extern const lc_row_type lc_frame_tool_row;
extern const lc_row_type lc_frame_tool_state_row; /* lc_frame_tool: the state. */

typedef struct lc_frame_reservation {
    loci_str id; /* rsv_… */
    int64_t seq;
    loci_str frame_id;
    int64_t root_seq;
    loci_str purpose; /* None = none. */
    int64_t tokens;
    int64_t left; /* State: still set aside. */
    int64_t created_at;
} lc_frame_reservation;

extern const lc_row_type lc_frame_reservation_row;
extern const lc_row_type lc_frame_left_row; /* lc_frame_reservation: the state. */

/* A frame that was suspended. Its token resumes it, once. */
typedef struct lc_frame_suspension {
    int64_t seq;
    loci_str frame_id;
    int64_t root_seq;
    loci_str token_hash; /* SHA-256, as digits. */
    loci_str reason;     /* None = none. */
    int64_t suspended_at;
    int64_t expires_at;
    int64_t resumed_at; /* 0 = the token was not used. */
} lc_frame_suspension;

extern const lc_row_type lc_frame_suspension_row;

/* ---- Reading (frame_read.c) ------------------------------------------------------------------ */

/* One that the persona sees; LOCI_ENOTFOUND. */
loci_status lc_frame_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                          lc_frame *out, loci_error *err);

typedef struct lc_frame_list {
    lc_frame *items;
    size_t count;
} lc_frame_list;
/* The frames from the root to `frame`, which is the last. */
loci_status lc_frame_load_stack(lc_tx *tx, const lc_frame *frame, lc_arena *arena,
                                lc_frame_list *out, loci_error *err);

#define LC_FRAME_NEAR 3 /* Frames above that a pack names beside the root. */
/* The root of the frame's tree and the last LC_FRAME_NEAR frames above it, root first; none for a
 * root. */
loci_status lc_frame_load_above(lc_tx *tx, const lc_frame *frame, lc_arena *arena,
                                lc_frame_list *out, loci_error *err);

typedef loci_status lc_frame_visit(void *ctx, const lc_frame *frame, loci_error *err);
typedef struct lc_frame_page {
    loci_str persona_id;
    lc_frame_scope scope; /* Absent members are not compared. */
    loci_str status;      /* None = any; "open" = active, waiting or suspended. */
    loci_str parent_id;   /* None = any. */
    int64_t root_seq;     /* 0 = any. */
    int64_t before_seq;   /* Newest first, from here on. */
    int64_t limit;
} lc_frame_page;
loci_status lc_frame_each(lc_tx *tx, const lc_frame_page *page, lc_frame_visit *visit, void *ctx,
                          loci_error *err);

typedef loci_status lc_frame_handle_visit(void *ctx, const lc_frame_handle *handle,
                                          loci_error *err);
/* The handles and results of a frame that are in use, oldest first. */
loci_status lc_frame_each_handle(lc_tx *tx, loci_str frame_id, lc_frame_handle_visit *visit,
                                 void *ctx, loci_error *err);
/* One in use, of any frame: the caller checks the frame. LOCI_ENOTFOUND. */
loci_status lc_frame_load_handle(lc_tx *tx, loci_str id, lc_arena *arena, lc_frame_handle *out,
                                 loci_error *err);
/* Finds the call with the frame_id and call_id of `tool`; `*found` is false if there is none. */
loci_status lc_frame_find_tool(lc_tx *tx, lc_arena *arena, lc_frame_tool *tool, bool *found,
                               loci_error *err);
/* Finds a call by its seq, of any frame: the caller checks the frame. */
loci_status lc_frame_find_call(lc_tx *tx, int64_t seq, lc_arena *arena, lc_frame_tool *out,
                               bool *found, loci_error *err);
typedef loci_status lc_frame_tool_visit(void *ctx, const lc_frame_tool *tool, loci_error *err);
/* Tool calls of a frame, oldest first; only those that run if `running`. */
loci_status lc_frame_each_tool(lc_tx *tx, loci_str frame_id, bool running,
                               lc_frame_tool_visit *visit, void *ctx, loci_error *err);
/* Of any frame: the caller checks the frame. LOCI_ENOTFOUND. */
loci_status lc_frame_load_reservation(lc_tx *tx, loci_str id, lc_arena *arena,
                                      lc_frame_reservation *out, loci_error *err);
typedef loci_status lc_frame_reservation_visit(void *ctx, const lc_frame_reservation *reservation,
                                               loci_error *err);
/* Reservations of a frame with tokens left, oldest first. */
loci_status lc_frame_each_reservation(lc_tx *tx, loci_str frame_id,
                                      lc_frame_reservation_visit *visit, void *ctx,
                                      loci_error *err);

/* ---- Forgetting (frame_forget.c) ------------------------------------------------------------- */

/* Trees to forget, whole. */
typedef struct lc_frame_oblivion {
    int64_t *roots; /* Seqs. */
    size_t root_count, root_room;
    int64_t *contents; /* Seqs of the events with texts that no other tree has. */
    size_t content_count, content_room;
} lc_frame_oblivion;
/* Which trees: the one that a frame belongs to, or those of sessions. */
typedef struct lc_frame_target {
    loci_str persona_id;
    loci_str id; /* None = by sessions. */
    lc_str_list sessions;
} lc_frame_target;
/* Collects the trees into `f` and `out`; writes nothing. LOCI_ENOTFOUND if the persona sees no such
 * frame; a session without frames is no error. */
loci_status lc_frame_decide_forget(lc_tx *tx, const lc_frame_target *target, lc_forgetting *f,
                                   lc_frame_oblivion *out, loci_error *err);
/* Appends frame.forgotten if there is something to forget; lc_forget_finish() follows. */
loci_status lc_frame_commit_forget(lc_tx *tx, const lc_frame_oblivion *oblivion, loci_error *err);

/* ---- Suspending and resuming (frame_resume.c) ------------------------------------------------ */

#define LC_FRAME_TOKEN_BYTES 37 /* "frt_", 128 bits from the kernel as digits, NUL. */
#define LC_FRAME_TTL_S_MAX (INT64_C(366) * 86400)

/* A new token and its hash; false when the kernel has no randomness to give. */
bool lc_frame_token_make(char text[LC_FRAME_TOKEN_BYTES]);
/* The hash of a token's text, in the arena; `ptr` is NULL when out of memory. */
loci_str lc_frame_token_hash(lc_arena *arena, loci_str token);

/* `suspension` has token_hash, reason and expires_at. LOCI_ECONFLICT if the frame or a child cannot
 * be suspended: children are popped or suspended first. */
loci_status lc_frame_suspend(lc_tx *tx, lc_frame *frame, lc_frame_suspension *suspension,
                             loci_error *err);
/* Resumes the frame of the token, which works once: LOCI_ENOTFOUND for an unknown token, or one of
 * a frame that the persona does not see; LOCI_ECONFLICT if it was used, has expired, or the frame
 * has ended. */
loci_status lc_frame_resume(lc_tx *tx, loci_str persona_id, loci_str token_hash, lc_arena *arena,
                            lc_frame *out, loci_error *err);

/* An agent: its scope, and the persona that its calls use. */
typedef struct lc_actor {
    loci_str persona_id;
    lc_frame_scope scope;
} lc_actor;

/* The frame on top of the stack of an actor: the active one that was changed last, the deepest
 * first; without any, a waiting or suspended one. */
loci_status lc_frame_find_top(lc_tx *tx, const lc_actor *actor, lc_arena *arena, lc_frame *out,
                              bool *found, loci_error *err);

#define LC_PENDING_TYPES "waiting|waiting_for_user|tool_in_progress|suspended|unhandled_error"
#define LC_PENDING_MAX 1000

/* Work that an actor has to take up again. Texts are borrowed for the visit. */
typedef struct lc_frame_pending {
    const char *type; /* One of LC_PENDING_TYPES. */
    loci_str frame_id;
    loci_str goal;
    loci_str detail;    /* Tool, reason, error or what it waits for; none = none. */
    loci_str call_id;   /* Of a tool call. */
    int64_t since;      /* When it began. */
    int64_t expires_at; /* Of a suspension; 0 = none. */
} lc_frame_pending;
typedef loci_status lc_frame_pending_visit(void *ctx, const lc_frame_pending *pending,
                                           loci_error *err);
/* That of all open frames of an actor, oldest frame first, at most LC_PENDING_MAX frames. */
loci_status lc_frame_each_pending(lc_tx *tx, const lc_actor *actor, lc_frame_pending_visit *visit,
                                  void *ctx, loci_error *err);
/* Appends actor.resumed. */
loci_status lc_actor_note_resumed(lc_tx *tx, const lc_frame_scope *scope, int64_t frames,
                                  int64_t pending, loci_error *err);

/* Fails open frames past their timeout, and suspended ones whose token has expired. */
extern const lc_sweep lc_frame_sweep;

/* ---- Changing (frame_write.c) ---------------------------------------------------------------- */

/* Every function finds its errors before it writes, and updates the structs like their rows. */

/* A request for a new frame: `frame` has parent_id, persona_id, scope, goal, inputs, metadata and
 * limits. */
typedef struct lc_frame_push {
    lc_frame *frame;
    int64_t budget; /* LC_FRAME_NO_LIMIT = a default. */
    int64_t
        root_budget;   /* Default of a root; a child gets half of its parent's available tokens. */
    int64_t depth_max; /* Deepest frame of any tree: a setting. */
} lc_frame_push;
/* LOCI_ENOTFOUND, LOCI_ECONFLICT (the parent has ended or has another scope), LOCI_ELIMIT (depth,
 * time), LOCI_EOVERBUDGET {requested, available}. */
loci_status lc_frame_push_one(lc_tx *tx, const lc_frame_push *push, lc_arena *arena, lc_id *out_id,
                              loci_error *err);

/* Appends frame.updated. `has_fields`: goal, inputs or metadata differ. */
loci_status lc_frame_update(lc_tx *tx, lc_frame *frame, bool has_fields, loci_error *err);

/* How a frame ends. */
typedef struct lc_frame_end {
    lc_frame_status status;   /* completed, failed or cancelled */
    loci_str error;           /* For the parent; none = none. */
    const lc_content *result; /* Its result, also for the parent; NULL = none. */
    loci_str title;           /* Of the result; none = none. */
    lc_priority priority;     /* Of the result. */
    bool cascades; /* Cancels the open frames below it first; else they are a conflict. */
} lc_frame_end;
/* Ends the frame, releases its reservations, fails its running tool calls, settles its budget with
 * the parent, and returns how many frames ended. */
loci_status lc_frame_pop(lc_tx *tx, lc_frame *frame, const lc_frame_end *end, lc_arena *arena,
                         int64_t *out_count, loci_error *err);

/* Adds a handle or result, with a text (`content`) or a ref (`content` NULL). Sets id, hash, tokens
 * and the times of `handle`. */
loci_status lc_frame_add_handle(lc_tx *tx, lc_frame *frame, lc_frame_handle *handle,
                                const lc_content *content, lc_arena *arena, loci_error *err);
loci_status lc_frame_remove_handle(lc_tx *tx, lc_frame *frame, const lc_frame_handle *handle,
                                   lc_arena *arena, loci_error *err);

/* LOCI_EOVERBUDGET {requested, available} if fewer tokens are available. */
loci_status lc_frame_reserve(lc_tx *tx, lc_frame *frame, lc_frame_reservation *reservation,
                             lc_arena *arena, loci_error *err);
loci_status lc_frame_consume(lc_tx *tx, lc_frame *frame, lc_frame_reservation *reservation,
                             int64_t tokens, loci_error *err);
loci_status lc_frame_release(lc_tx *tx, lc_frame *frame, lc_frame_reservation *reservation,
                             loci_error *err);
loci_status lc_frame_use(lc_tx *tx, lc_frame *frame, int64_t tokens, loci_error *err);

/* LOCI_ELIMIT when max_tool_calls is reached. The call id is new in the frame. */
loci_status lc_frame_begin_tool(lc_tx *tx, lc_frame *frame, lc_frame_tool *tool, loci_error *err);
/* Ends a running call: failed if it has an error. Its output, if there is one, becomes a handle. */
loci_status lc_frame_end_tool(lc_tx *tx, lc_frame *frame, lc_frame_tool *tool,
                              const lc_content *output, lc_arena *arena, loci_error *err);

/* LOCI_ECONFLICT unless the frame can work: it is active or waiting. LOCI_ELIMIT when it is past
 * its timeout. */
loci_status lc_frame_check_works(const lc_tx *tx, const lc_frame *frame, loci_error *err);

#endif /* LC_FRAME_FRAME_H */
