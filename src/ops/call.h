/* call.h - one call from its text to its answer. Only ops/ includes this.
 *
 * A call is begun (arguments parsed and checked, all before any lock), run inside a transaction,
 * perhaps more than once, and ended. loci_call(), loci_submit() and loci_call_many() differ only in
 * the thread that waits and in the number of calls per transaction.
 */
#ifndef LC_OPS_CALL_H
#define LC_OPS_CALL_H

#include "engine/engine.h"
#include "ops/op.h"
#include "store/store_room.h"

/* The caller, the time and the deadline: the same for all calls of a batch. */
typedef struct lc_caller {
    loci_engine *engine;
    const loci_principal *principal; /* NULL = the engine's tenant, admin. */
    bool is_remote;                  /* LOCI_CALL_REMOTE. */
    int64_t now_us;
    int64_t deadline_us;
    const volatile int *cancel;
    loci_str request_id; /* From the options, or none. */
    loci_str client;     /* As in the options; none = not told. */
    loci_sink_fn *sink;
    void *sink_ctx;
} lc_caller;

/* One call. Zeroed storage; lc_run_end() frees its resources in every case. */
typedef struct lc_run {
    lc_call call;
    lc_arena arena;
    lc_buf answer;
    lc_arena_mark prepared; /* Memory is released to here before a run is repeated. */
    bool is_computed;       /* lc_op.compute has run. */
    size_t args_bytes;
    bool has_request;
    lc_request request;
    int64_t expected_seq;     /* -1 = any. */
    bool enqueued_job;        /* The last run did. */
    bool is_replayed;         /* The last run found a stored answer. */
    lc_quota_written written; /* Its part of the tenant's numbers. */
    loci_answer *out;         /* Made before the commit. */
} lc_run;

/* ---- The program that calls (client.c) ------------------------------------------------------- */

/* Reads loci_call_options.client: "name/version; model=NAME" or a JSON object. Writes a JSON object
 * {name, version?, model?} to `arena`. LOCI_EINVAL if it is neither or too long. */
loci_status lc_client_read(lc_arena *arena, loci_str text, loci_str *out, loci_error *err);

/* Fills `out` from the public options. */
loci_status lc_caller_init(lc_caller *out, loci_engine *engine, const loci_call_options *options,
                           loci_error *err);

/* Its permissions, also of a caller that was built with a header without them; may be NULL. */
const char *lc_principal_permissions(const loci_principal *principal);
const char *lc_principal_token(const loci_principal *principal); /* The same. */

/* Sets the domain time: `at_us`, or the clock's for LOCI_AT_CLOCK. Recorded times must be
 * representable in RFC 3339, and no call may push a user's log to the end of time: other years are
 * LOCI_EINVAL. */
loci_status lc_caller_set_time(lc_caller *caller, int64_t at_us, loci_error *err);

/* Replaces the main engine by that of the database in which the operation works: that of the
 * principal's tenant, unless it is an operation of the main store (LC_OP_MAIN). `operation` may be
 * NULL: a batch. */
loci_status lc_call_route(loci_engine **engine, const char *operation,
                          const loci_call_options *options, loci_error *err);

/* Copies the texts that `caller` borrows into `arena`, its principal to `out`; false when out of
 * memory. */
bool lc_caller_keep(lc_caller *caller, lc_arena *arena, loci_principal *out);

/* The request `request_id` of `caller`, without the hash of its arguments. Its key lives in
 * `arena`: a stored answer is found again only by a caller with the same rights. */
loci_status lc_request_init(lc_request *out, const lc_caller *caller, loci_str request_id,
                            lc_arena *arena, loci_error *err);

/* The part of `call` that comes from its caller: tenant, rights, time, deadline. */
void lc_call_set_caller(lc_call *call, const lc_caller *caller);

/* Parses and checks `args` for `operation` and runs its prepare. `args` must outlive the run. */
loci_status lc_run_begin(lc_run *run, const lc_caller *caller, const char *operation, loci_str args,
                         loci_error *err);
/* Sets up the storage before there is a call; lc_run_begin() does so itself when it is still
 * zeroed. */
void lc_run_init(lc_run *run, loci_engine *engine);
void lc_run_end(lc_run *run);

/* The transaction's part: stored answer, expected seq, the operation, the answer kept. A
 * lc_tx_body; `ctx` is the run. Leaves the answer in run->answer. */
loci_status lc_run_in_tx(lc_tx *tx, void *ctx, loci_error *err);
/* The same, and run->out is made of it. */
loci_status lc_run_and_answer(lc_tx *tx, void *ctx, loci_error *err);

/* Runs it as its cost demands and waits. Afterwards run->out is the answer. */
loci_status lc_run_wait(lc_run *run, loci_error *err);
/* Answers it from the state of its user, if that is current and the operation can (lc_op.peek). */
bool lc_run_peek(lc_run *run);
/* Runs the work after a commit: the operation's `committed`, and jobs that it added. */
void lc_run_committed(lc_run *run);
/* Has workers run the jobs that a commit added; an inline engine runs them here, until the deadline
 * of the call. */
void lc_start_jobs(loci_engine *engine, int64_t deadline_us);

/* The write of this run, as the store takes it. */
lc_write lc_run_write(lc_run *run);

/* Replaces references such as "$0.id" in `args` by values from `answers` (one text per call so
 * far). Without any, `*out` is `args`; else a new text in `arena`. */
loci_status lc_refs_resolve(lc_arena *arena, loci_str args, const loci_str *answers, size_t count,
                            loci_str *out, loci_error *err);

#endif /* LC_OPS_CALL_H */
