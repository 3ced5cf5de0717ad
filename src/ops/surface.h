/* surface.h - the interface of the library for the daemon and the command line, in addition to
 * loci.h: calls for an event loop, authentication of callers, the table of settings, and whether
 * the store answers.
 */
#ifndef LC_OPS_SURFACE_H
#define LC_OPS_SURFACE_H

#include <stdbool.h>

#include "engine/engine.h"
#include "engine/subscription.h" /* For streams of the daemon, */
#include "guard/agents.h"        /* of events and of signals. */
#include "ops/op.h"
#include "store/token.h"

/* ---- Calls without waiting (submit.c, many.c) ------------------------------------------------ */

/* As loci_submit(), but `done` may be called before it returns, in this thread, when the answer is
 * in memory (lc_op.peek): handing that to another thread would take longer than the answer. */
loci_status lc_submit_or_finish(loci_engine *engine, const char *operation, loci_str args,
                                const loci_call_options *options, loci_done_fn *done, void *ctx,
                                loci_error *err);

/* A call with a listener. */
typedef struct lc_streamed_call {
    const char *operation;
    loci_str args;
    loci_sink_fn *sink; /* As in loci_call_stream(). May wait: the call has a thread of its own. */
    loci_done_fn *done; /* After the last chunk. */
    void *ctx;          /* Of both. */
} lc_streamed_call;

/* loci_call_stream() without waiting. A status other than LOCI_OK means that neither function will
 * be called; LOCI_EUNAVAILABLE that too many such calls run. */
loci_status lc_submit_stream(loci_engine *engine, const lc_streamed_call *call,
                             const loci_call_options *options, loci_error *err);
/* The line in {"line":…}, exactly as the operation wrote it; false for any other chunk. */
bool lc_chunk_line(loci_str chunk, loci_str *out);

/* Whether it was stored by an earlier call, or batch, with the same request_id. */
bool lc_answer_is_replayed(const loci_answer *answer);

/* Sets the hook that is called once after each group of answers (lc_engine_on_drained). */
void lc_submit_on_drained(loci_engine *engine, void (*drained)(void *ctx), void *ctx);

typedef struct lc_many {
    const loci_request *requests;
    size_t count;
} lc_many;

/* loci_call_many() without waiting: checks all calls, queues them as one write and returns.
 * Arguments are copied. `done` gets the JSON array, or an error whose data has `index`; a status
 * other than LOCI_OK means that it will not be called. `options->cancel` must outlive the calls. */
loci_status lc_many_submit(loci_engine *engine, const lc_many *many,
                           const loci_call_options *options, loci_done_fn *done, void *ctx,
                           loci_error *err);

/* Adds `index`, which call it was, to the data of a failure. Returns `status`. */
loci_status lc_many_blame(loci_status status, size_t index, loci_error *err);

/* Ends open sessions if the setting session.close_on_shutdown is on. A process that serves clients
 * calls it before loci_close() when it ends. */
void lc_engine_shut_down(loci_engine *engine);

/* ---- Tokens ----------------------------------------------------------------------------------
 *
 * Finds the caller from the text of a token, once per request. A token seen within the last second
 * is not looked up again, and a text whose check digits are wrong never is. The meaning of `admin`
 * is defined here: a token with that scope manages its own tenant; it may also run the operations
 * on the whole store when its tenant is the one the engine was opened with and nothing narrows or
 * caps it. So may a token with the scope `metrics` read the figures of the whole store. */

/* The caller that a token identifies. Texts live in the arena it was made in. */
typedef struct lc_token_identity {
    loci_principal principal;
    unsigned scopes;      /* LC_SCOPE_... */
    const char *token_id; /* tok_… */
    int64_t expires_at;   /* System time in µs, or LC_TOKEN_NO_TIME. */
    bool sees_metrics;    /* Of the whole store. */
} lc_token_identity;

/* LOCI_EAUTH, in the same words whatever is wrong: not a token, unknown, another secret, expired or
 * revoked. Another status means that the store could not be read. Any thread. */
loci_status lc_token_authenticate(loci_engine *engine, loci_str bearer, lc_arena *arena,
                                  lc_token_identity *out, loci_error *err);
/* The same from memory, without waiting. LOCI_OK with *out_must_ask set means that only
 * lc_token_authenticate() can tell. */
loci_status lc_token_recall(loci_engine *engine, loci_str bearer, lc_arena *arena,
                            lc_token_identity *out, bool *out_must_ask, loci_error *err);
/* The failure above, also for requests that show no token at all. */
loci_status lc_token_refuse(loci_error *err);

/* The properties of a token that may have changed since it was authenticated. */
typedef struct lc_token_check {
    lc_id id;
    bool is_revoked;    /* Or no longer in the store. */
    int64_t expires_at; /* As in lc_token_identity. */
} lc_token_check;

/* Fills the rest of each check from its id, on one snapshot: for callers that stay longer than one
 * request. Waits for the store for at most a second. */
loci_status lc_token_recheck(loci_engine *engine, lc_token_check *checks, size_t count,
                             loci_error *err);
/* Changes with every commit of this process that changed tokens. Does not wait. */
uint64_t lc_token_generation(loci_engine *engine);

/* Whether the store has a valid token of any tenant; false if the store cannot be read. */
bool lc_token_exists_any(loci_engine *engine);

/* The scopes that a caller needs for `op`. */
unsigned lc_op_scopes(const lc_op *op);

/* ---- Settings --------------------------------------------------------------------------------
 *
 * The table of settings as surfaces see it: names to read from the environment, to complete and to
 * suggest, and the values of those that a surface obeys itself. Everything else about values is in
 * the operations config.*. */

typedef struct lc_setting_view {
    const char *name;    /* "call.timeout_ms" */
    const char *choices; /* "full|relaxed" or NULL. */
    const char *help;
    bool is_text; /* Its value is text even when it looks like a number. */
} lc_setting_view;

size_t lc_setting_view_count(void);
lc_setting_view lc_setting_view_at(size_t index);

/* The store-wide value in force of the integer `name`, or of a choice as its place in `choices`.
 * The name must be a setting's of such a kind (asserted). */
int64_t lc_setting_view_i64(loci_engine *engine, const char *name);

/* ---- Signals (op_signal.c) --------------------------------------------------------------------
 */

#define LC_SIGNALS_PATH "/v1/signals" /* Of signal.list, and of its stream. */

/* Listens for the signals of an agent of this caller (guard/agents.h). */
loci_status lc_signals_open(loci_engine *engine, const loci_principal *principal, loci_str agent_id,
                            lc_agent_stream **out, loci_error *err);
/* Appends the next signal as the JSON of signal.list; false when there is none now. */
bool lc_signals_next(lc_agent_stream *stream, lc_buf *out, uint64_t *out_id, const char **out_name);

/* ---- Timings ----------------------------------------------------------------------------------
 */

/* How long the parts of the engine took, for metrics. Does not wait. */
const lc_engine_timings *lc_timings_view(loci_engine *engine);

/* ---- Health ---------------------------------------------------------------------------------- */

/* Reads one row, which takes no longer than `timeout_ms`. */
loci_status lc_probe_store(loci_engine *engine, int64_t timeout_ms, loci_error *err);

#endif /* LC_OPS_SURFACE_H */
