/* op.h - one operation: what it is called, takes, answers and does.
 *
 * The table of operations (op_table.c) is the only place where loci's surface is written down.
 * Argument checks, `loci call`, the friendly commands, HTTP routes, OpenAPI, MCP tools, completion,
 * the man page and docs/reference.md are all made from it. Adding an operation is one entry and one
 * handler.
 */
#ifndef LC_OPS_OP_H
#define LC_OPS_OP_H

#include "base/arena.h"
#include "base/json.h"
#include "store/user_kind.h"

typedef struct loci_engine loci_engine;

typedef enum lc_param_kind {
    LC_PARAM_STRING,
    LC_PARAM_INT,
    LC_PARAM_REAL,
    LC_PARAM_BOOL,
    LC_PARAM_TIME,    /* RFC 3339 text, int64 µs inside. */
    LC_PARAM_STRINGS, /* Array of strings. */
    LC_PARAM_OBJECT,
    LC_PARAM_ANY /* Any JSON value. */
} lc_param_kind;

#define LC_PARAM_REQUIRED 1u
#define LC_PARAM_POSITIONAL                                                                        \
    2u /* On the command line it may be given without its name, in order.                          \
        */

typedef struct lc_param {
    const char *name;
    lc_param_kind kind;
    unsigned flags;
    const char *default_text; /* JSON of the default, or NULL = absent. Applied by the check. */
    int64_t min, max;    /* Numbers: value. Strings: bytes. Arrays: elements. 0, 0 = not limited. */
    const char *choices; /* "a|b|c" for strings, or NULL. */
    const char *help;
} lc_param;

typedef struct lc_result {
    const char *name; /* Member of the answer; "facts[].id" for nested ones. */
    lc_param_kind kind;
    const char *help;
} lc_result;

typedef enum lc_cost {
    LC_COST_POINT, /* A look-up: on an event loop if it can peek, else in a pool. */
    LC_COST_WORK,  /* A read that takes a while: in a pool. */
    LC_COST_WRITE  /* Changes something: in the writer. */
} lc_cost;

#define LC_OP_USER 1u /* Acts for a user: also takes user_id and persona_id. */
#define LC_OP_MUTATES                                                                              \
    2u /* Changes something: also takes request_id and expected_seq (with USER). */
#define LC_OP_IDEMPOTENT 4u /* Doing it twice is doing it once. */
#define LC_OP_ADMIN 8u      /* About the whole store: admin principals only. */
#define LC_OP_ALONE 16u     /* Not in a batch: it has no transaction of its own. */
#define LC_OP_STREAMS 32u   /* Says more than its answer: progress or lines (loci_call_stream). */
#define LC_OP_TENANT_ADMIN                                                                         \
    64u                   /* About the whole tenant: its admins, and those of the store, only.     \
                           */
#define LC_OP_SECRET 128u /* Its answer holds a secret: a repeat gets lc_call.repeat_answer. */

#define LC_OP_SESSION 256u /* Happens in a session: also takes session_id. */
#define LC_OP_READS_OWN                                                                            \
    1024u /* A write that, before it writes, reads rows of its user only: lc_write.reads_own. */

typedef struct lc_call lc_call;

typedef struct lc_op {
    const char *name;         /* "fact.write" */
    const char *help;         /* One line, no full stop. */
    const lc_param *params;   /* Ends with a NULL name. */
    const lc_result *results; /* Ends with a NULL name. */
    lc_cost cost;
    unsigned flags;      /* LC_OP_... */
    const char *http;    /* "GET /v1/facts/{key}" or NULL = only POST /v1/call/{op}. */
    const char *mcp;     /* "tool action", or NULL = not offered to models. */
    const char *example; /* Arguments, for help and docs; a test runs every one. */
    /* Before the transaction, in the caller's thread: arguments into C types at call->input. May be
     * NULL. */
    loci_status (*prepare)(lc_call *call, loci_error *err);
    /* Reads: work that takes more than 100 us and needs no snapshot, such as embedding a query,
     * after `prepare` in the thread that runs the operation. May be NULL. */
    loci_status (*compute)(lc_call *call, loci_error *err);
    /* Reads: on a snapshot. Writes: in the writer, perhaps more than once. Writes the answer. */
    loci_status (*run)(lc_call *call, lc_tx *tx, loci_error *err);
    /* Reads: tried before any transaction with the user's state of peek_kind, if that state is
     * known to be current. Writes the answer and returns true, or returns false. NULL = none. */
    bool (*peek)(lc_call *call, const void *state);
    const lc_user_kind *peek_kind;
    /* ALONE operations have this instead of `run`: no transaction. */
    loci_status (*run_alone)(lc_call *call, loci_error *err);
    /* After the commit of a call that ran: what this process remembers of the rows it changed is
     * brought up to date. Once per group of calls, in the caller's or the writer's thread; the call
     * itself may be gone. NULL = nothing to do. */
    void (*committed)(loci_engine *engine);
} lc_op;

#define LC_PARAMS_MAX 40

/* A checked argument. */
typedef struct lc_value {
    bool is_set; /* Given, or has a default. */
    const lc_json *json;
    union {
        loci_str str;
        int64_t i64; /* INT and TIME. */
        double f64;
        bool boolean;
    } as;
} lc_value;

/* One call in progress; everything in it dies with its arena. */
struct lc_call {
    loci_engine *engine;
    const lc_op *op;
    lc_arena *arena;
    lc_value values[LC_PARAMS_MAX]; /* In the order of lc_op_param(). */

    loci_str tenant_id;     /* From the principal. */
    loci_str user_id;       /* "" for operations of no user. */
    loci_str persona_id;    /* None = none. */
    bool is_of_persona;     /* The principal is narrowed to it. */
    loci_str authority_max; /* The principal's ceilings; none = not capped. */
    loci_str trust_max;
    bool is_admin;        /* Of the store. */
    bool is_tenant_admin; /* Of the tenant; an admin of the store is one too. */

    int64_t now_us;      /* Domain time. */
    int64_t deadline_us; /* Monotonic. */
    const volatile int *cancel;

    void *input;        /* What prepare made. */
    lc_json_writer out; /* The answer: run writes one object. */
    lc_buf *answer;     /* What `out` writes to. */
    /* SECRET operations: what is kept for a repeat of the request, without the secret. */
    loci_str repeat_answer;
    loci_sink_fn *sink; /* NULL = nobody listens. */
    void *sink_ctx;
};

/* The table. */
size_t lc_op_count(void);
const lc_op *lc_op_at(size_t index); /* In the order of the reference. */
const lc_op *lc_op_find(loci_str name);
/* LOCI_ENOTFOUND naming the nearest operation. */
loci_status lc_op_load(loci_str name, const lc_op **out, loci_error *err);

/* Its parameters, behind its own the implied ones (user_id, persona_id, session_id, request_id,
 * expected_seq); NULL behind the last. */
const lc_param *lc_op_param(const lc_op *op, size_t index);
const char *lc_param_kind_name(lc_param_kind kind);

/* Checks `args` (an object) against the parameters of call->op and fills call->values, also user_id
 * and persona_id. Unknown, missing and wrong ones are LOCI_EINVAL naming the parameter, what was
 * given and what is allowed; near misses are suggested. A narrowed principal's foreign user is
 * LOCI_ENOTFOUND. */
loci_status lc_op_check(lc_call *call, const lc_json *args, loci_error *err);

/* Checked arguments by name; the name must be a parameter of the operation (asserted). */
const lc_value *lc_call_value(const lc_call *call, const char *name);
bool lc_call_has(const lc_call *call, const char *name);
loci_str lc_call_str(const lc_call *call, const char *name); /* None when absent. */
int64_t lc_call_i64(const lc_call *call, const char *name, int64_t absent);
bool lc_call_bool(const lc_call *call, const char *name);

/* Tells the listener how far the work is; LOCI_ECANCELLED when it wants no more, or the caller gave
 * up. */
loci_status lc_call_progress(lc_call *call, const char *what, int64_t done, int64_t total,
                             loci_error *err);
/* Gives the listener one line of output: {"line": json}. */
loci_status lc_call_line(lc_call *call, loci_str json, loci_error *err);
/* Whether the caller wants no answer any more. */
bool lc_call_is_given_up(const lc_call *call);
/* LOCI_ECANCELLED or LOCI_EDEADLINE when the call should end. */
loci_status lc_call_pause_point(const lc_call *call, loci_error *err);

#endif /* LC_OPS_OP_H */
