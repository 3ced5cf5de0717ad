/* op.h - one operation: its name, parameters, answer and handler.
 *
 * The table of operations (op_table.c) is the only place where loci's surface is written down.
 * Argument checks, `loci call`, the friendly commands, HTTP routes, OpenAPI, MCP tools, completion,
 * the man page and docs/reference.md are all made from it. Adding an operation is one entry and one
 * handler.
 *
 * Each parameter names the member of the operation's input struct that its value goes to. The check
 * allocates the struct (lc_op.input_bytes), fills it and leaves it at call->input; handlers never
 * look up arguments by name. An optional parameter that is absent, or null, leaves in its member:
 *
 *     STRING         loci_str          LC_STR_NONE (ptr is NULL)
 *     INT, TIME      int64_t           LC_ABSENT
 *     REAL           double            NaN
 *     BOOL           bool              never absent: such a parameter has a default
 *     BOOL           lc_tristate       LC_UNSET: without a default
 *     STRINGS        lc_str_list       items is NULL (an empty array has items)
 *     OBJECT, ANY    const lc_json *   NULL
 *     JSON           loci_str          LC_STR_NONE; canonical JSON text
 *
 * null is a value only for a required parameter of kind ANY or JSON.
 */
#ifndef LC_OPS_OP_H
#define LC_OPS_OP_H

#include <stddef.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "engine/secrets.h"
#include "store/user_kind.h"

typedef struct loci_engine loci_engine;
typedef struct lc_row_type lc_row_type;

/* ---- Parameters ------------------------------------------------------------------------------ */

typedef enum lc_param_kind {
    LC_PARAM_STRING,
    LC_PARAM_INT,
    LC_PARAM_REAL,
    LC_PARAM_BOOL,
    LC_PARAM_TIME,    /* RFC 3339 text; int64 µs in C. */
    LC_PARAM_STRINGS, /* Array of strings, none of them empty. */
    LC_PARAM_OBJECT,
    LC_PARAM_ANY, /* Any JSON value, as a tree. */
    LC_PARAM_JSON /* Any JSON value, as canonical text. */
} lc_param_kind;

#define LC_ABSENT INT64_MIN

typedef enum lc_tristate { LC_UNSET, LC_FALSE, LC_TRUE } lc_tristate;

#define LC_PARAM_REQUIRED 1u
#define LC_PARAM_POSITIONAL 2u  /* On the command line: may be given without its name, in order. */
#define LC_PARAM_ONE_OR_MANY 4u /* STRINGS: one string is accepted as an array of one. */
#define LC_PARAM_SAID                                                                              \
    512u /* A text of users that is stored: searched for secrets (engine/secrets.h). */
#define LC_PARAM_ID                                                                                \
    256u /* Names something: no control characters, which could forge log lines.                   \
          */

typedef struct lc_param {
    const char *name;
    lc_param_kind kind;
    unsigned flags;
    const char *default_text; /* JSON of the default, or NULL = absent. Applied by the check. */
    /* Numbers: value. STRING and JSON: bytes. STRINGS: elements. 0, 0 = not limited. */
    int64_t min, max;
    const char *choices; /* "a|b|c" for STRING and STRINGS, or NULL. */
    const char *help;    /* A noun phrase without a full stop. */
    size_t offset;       /* Of its member in the input struct; the macros below fill it in. */
    const char *alias;   /* Another name that is understood, or NULL. */
    int64_t item_max;    /* STRINGS: bytes of each element. 0 = not limited. */
} lc_param;

/* The place of `member` in the input struct `T`; does not compile if it is not of this type. */
#define LC_SLOT(type, T, member)                                                                   \
    (offsetof(T, member) + 0 * sizeof(_Generic(&((T *)0)->member, type * : 0)))

/* The beginning of a parameter: {LC_ARG_INT("budget", input, budget), .min = 1, .help = "…"}. */
#define LC_ARG_STR(n, T, m) .name = n, .kind = LC_PARAM_STRING, .offset = LC_SLOT(loci_str, T, m)
#define LC_ARG_INT(n, T, m) .name = n, .kind = LC_PARAM_INT, .offset = LC_SLOT(int64_t, T, m)
#define LC_ARG_REAL(n, T, m) .name = n, .kind = LC_PARAM_REAL, .offset = LC_SLOT(double, T, m)
#define LC_ARG_TIME(n, T, m) .name = n, .kind = LC_PARAM_TIME, .offset = LC_SLOT(int64_t, T, m)
#define LC_ARG_JSON(n, T, m) .name = n, .kind = LC_PARAM_JSON, .offset = LC_SLOT(loci_str, T, m)
/* With a default, in a bool; without one, in an lc_tristate. */
#define LC_ARG_BOOL(n, T, m, default_)                                                             \
    .name = n, .kind = LC_PARAM_BOOL, .offset = LC_SLOT(bool, T, m), .default_text = default_
#define LC_ARG_TRISTATE(n, T, m)                                                                   \
    .name = n, .kind = LC_PARAM_BOOL, .offset = LC_SLOT(lc_tristate, T, m)
#define LC_ARG_STRINGS(n, T, m)                                                                    \
    .name = n, .kind = LC_PARAM_STRINGS, .offset = LC_SLOT(lc_str_list, T, m)
#define LC_ARG_OBJECT(n, T, m)                                                                     \
    .name = n, .kind = LC_PARAM_OBJECT, .offset = LC_SLOT(const lc_json *, T, m)
#define LC_ARG_ANY(n, T, m)                                                                        \
    .name = n, .kind = LC_PARAM_ANY, .offset = LC_SLOT(const lc_json *, T, m)

/* A whole parameter that names something: 1 to LC_ID_BYTES_MAX bytes without control characters. */
#define LC_NAME_PARAM(n, T, m, flags_, help_)                                                      \
    {                                                                                              \
        LC_ARG_STR(n, T, m), .flags = (flags_) | LC_PARAM_ID, .min = 1, .max = LC_ID_BYTES_MAX,    \
                             .help = help_                                                         \
    }
#define LC_ID_PARAM(T, m, help_)                                                                   \
    LC_NAME_PARAM("id", T, m, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, help_)
#define LC_KEY_PARAM(T, m, flags_, help_)                                                          \
    {                                                                                              \
        LC_ARG_STR("key", T, m), .flags = (flags_) | LC_PARAM_POSITIONAL | LC_PARAM_ID, .min = 1,  \
                                 .max = LC_KEY_BYTES_MAX, .help = help_                            \
    }

/* A rule about several parameters. */
typedef enum lc_param_rule_kind {
    LC_RULE_END,         /* Ends the list. */
    LC_RULE_EXACTLY_ONE, /* One of `params` must be given, and no more. */
    LC_RULE_AT_MOST_ONE,
    LC_RULE_NEEDS /* The first of `params` may be given only with the second. */
} lc_param_rule_kind;

typedef struct lc_param_rule {
    lc_param_rule_kind kind;
    const char *params; /* "key|id" */
} lc_param_rule;

/* ---- Answers --------------------------------------------------------------------------------- */

typedef struct lc_record lc_record;

#define LC_RESULT_OPTIONAL 1u /* May be left out. */
#define LC_RESULT_NULLABLE 2u /* May be null. */
#define LC_RESULT_LIST 4u     /* An array of such values. */
#define LC_RESULT_MAP 8u      /* An object of such values, whose names are data. */

/* A member of an answer. */
typedef struct lc_result {
    const char *name;
    lc_param_kind kind; /* Of the value, or of each element; not used with `record`. */
    const char *help;   /* A noun phrase without a full stop. */
    unsigned flags;
    const char *choices;     /* "a|b|c" for STRING and STRINGS, or NULL. */
    const lc_record *record; /* The value is an object with these members. */
} lc_result;

/* The type of an object in answers. Its members are those of `base`, then the columns of `row` that
 * are shown, then `members`; each of the three may be NULL. */
struct lc_record {
    const char *name; /* "Fact"; NULL = used in one place only. */
    const lc_record *base;
    const lc_row_type *row;
    const char *group;        /* Only the columns of this group; NULL = those of no group. */
    const char *required;     /* "a|b": only these are always there; NULL = as each one says. */
    const lc_result *members; /* Ends with a NULL name. */
};

/* A member of the answers of all operations with a parameter of LC_PARAM_SAID. */
extern const lc_record lc_warning_record;
extern const lc_record lc_event_record; /* As lc_event_write() writes it. */
/* The program that wrote something, as lc_event_find_client() returns it. */
extern const lc_record lc_client_record;
#define LC_CLIENT_RESULT                                                                           \
    {                                                                                              \
        "client", 0, "Program that wrote it, and its session; absent if it is unknown",            \
            LC_RESULT_OPTIONAL, .record = &lc_client_record                                        \
    }
#define LC_WARNINGS_RESULT                                                                         \
    {                                                                                              \
        "warnings", 0, "Changes loci made to the arguments; absent if none",                       \
            LC_RESULT_LIST | LC_RESULT_OPTIONAL, .record = &lc_warning_record                      \
    }

/* The same of searches, which have no such parameter: lc_call_put_warning(). */
#define LC_SEARCH_WARNINGS_RESULT                                                                  \
    {                                                                                              \
        "warnings", LC_PARAM_STRINGS,                                                              \
            "What the search could not use, and the next step; absent if it used everything",      \
            LC_RESULT_OPTIONAL                                                                     \
    }

/* A member of the answers of all operations that lc_op_may_replay(). */
extern const lc_result lc_replayed_result;

#define LC_RECORD_MEMBERS_MAX 48

/* Writes all members of `record` and returns how many. */
size_t lc_record_members(const lc_record *record, lc_result out[LC_RECORD_MEMBERS_MAX]);

/* ---- Presentation to people ------------------------------------------------------------------ */

/* How the command line shows an answer to a person (cli/answer.h); programs get all of it. Names
 * are members of the answer's record, those of `columns`, `id` and `bar` members of the rows of its
 * list: the first member that is a list of records. A test checks them. */
typedef struct lc_look {
    /* For a list: the columns of its rows, the most important first: "key value observed_at id". An
     * operation with columns is a list; its answer may be CSV. */
    const char *columns;
    const char *id; /* For a list: the column that --ids prints; NULL = id, else the first one. */
    /* For a change: one sentence instead of the answer's members. {name} is a member of the answer,
     * else an argument; {name a=b,c=d} replaces words; a part in [brackets] is omitted if one of
     * its members is absent, false, 0 or empty: "{outcome late=kept} {key}[, due {due_at}]". */
    const char *sentence;
    const char *text;   /* The member that is the answer: it is printed as it is. */
    const char *hidden; /* Members for programs. Flags among them are shown if they are false. */
    const char *bar;    /* A column with a number from 0 to 1, shown as a bar. */
    bool is_of_texts;   /* Rows are read like a page: `text` in full, the other columns below. */
} lc_look;

/* The record of the rows of a list; `*out_name`, which may be NULL, gets the member's name. NULL if
 * no member of `record` is a list of records. */
const lc_record *lc_record_rows(const lc_record *record, const char **out_name);

/* ---- Operations ------------------------------------------------------------------------------ */

typedef enum lc_cost {
    LC_COST_POINT, /* A look-up: on an event loop if it can peek, else in a pool. */
    LC_COST_WORK,  /* A read that takes a while: in a pool. */
    LC_COST_WRITE  /* Changes something: in the writer. */
} lc_cost;

#define LC_OP_USER 1u       /* Acts for a user: also takes user_id and persona_id. */
#define LC_OP_MUTATES 2u    /* Changes something: takes request_id and, with USER, expected_seq. */
#define LC_OP_IDEMPOTENT 4u /* A repeat has no further effect. */
#define LC_OP_ADMIN 8u      /* About the whole store: admin principals only. */
#define LC_OP_ALONE 16u     /* Not in a batch: it has no transaction of its own. */
#define LC_OP_STREAMS 32u   /* Reports progress or lines beside its answer (loci_call_stream). */
#define LC_OP_TENANT_ADMIN 64u /* About the whole tenant: admins of the tenant or store only. */
#define LC_OP_SECRET 128u      /* Its answer has a secret: a repeat gets lc_call.repeat_answer. */
#define LC_OP_SESSION 256u     /* Happens in a session: also takes session_id. */
#define LC_OP_WHOLE_USER 512u  /* About all personas of a user: not for callers of one persona. */
#define LC_OP_READS_OWN 1024u  /* A write that first reads rows of its user: lc_write.reads_own. */
#define LC_OP_DESTROYS 2048u   /* Ends, hides or removes something that others may still need. */
#define LC_OP_NO_STORE 4096u   /* Its answer does not depend on the store. */
#define LC_OP_FILES 8192u /* Works on named files alone: for when the store cannot be opened. */
#define LC_OP_LINES                                                                                \
    16384u /* With STREAMS: may give its result as lines (lc_call_line), over HTTP as the body. */
#define LC_OP_STARTS 32768u /* Begins what others add to: refused if memory is critical. */
#define LC_OP_BULK                                                                                 \
    65536u /* With ALONE: works through much data; queues if memory is scarce, later refused. */
/* Calls without BULK and STARTS are short, or free memory, and are always let in. */
#define LC_OP_PROCESS 131072u /* With MUTATES: changes this process only: no request_id. */
#define LC_OP_JOB 262144u     /* With ALONE and MUTATES: starts a durable job (ops/op_job.h). */
#define LC_OP_MAIN 524288u    /* About tokens or settings: in the main store (lc_call_route()). */
#define LC_OP_LONG 1048576u   /* Over HTTP it may take an hour: it cannot be a job. */

typedef struct lc_call lc_call;

typedef struct lc_op {
    const char *name;           /* "fact.write" */
    const char *help;           /* One line, an imperative sentence without a full stop. */
    const lc_param *params;     /* Ends with a NULL name. */
    const lc_param_rule *rules; /* Ends with LC_RULE_END; NULL = none. */
    size_t input_bytes;      /* Size of the input struct that `params` fill; 0 = no parameters. */
    const lc_record *answer; /* Never NULL. */
    lc_cost cost;
    unsigned flags;   /* LC_OP_... */
    const char *http; /* "GET /v1/facts/{key}" or NULL = only POST /v1/call/{op}. */
    const char *mcp;  /* "tool action" or "tool" (ops/tool.h); NULL = not offered to models. */
    /* For an operation in `mcp`: its parameters and the members of its answer that models see. */
    const char *mcp_takes; /* "key limit=20": names, with defaults other than the parameter's. */
    const char *mcp_shows; /* "facts(key value) next_cursor"; see lc_shown. */
    lc_look look;          /* Presentation of the answer to people. */
    const char *example;   /* Arguments, for help and docs; a test runs every one. */
    /* Before the transaction, in the caller's thread, with call->input filled: does the work that
     * needs no transaction, and finds errors that the table cannot express. May be NULL. */
    loci_status (*prepare)(lc_call *call, loci_error *err);
    /* Work that takes more than 100 us and needs no transaction, such as embedding a query or
     * reading a file, after `prepare` in the thread that runs the operation; never in the writer,
     * except for a call of a batch. May be NULL. */
    loci_status (*compute)(lc_call *call, loci_error *err);
    /* Reads: on a snapshot. Writes: in the writer, perhaps more than once. Writes the answer. */
    loci_status (*run)(lc_call *call, lc_tx *tx, loci_error *err);
    /* Reads that set call->kept: in a write after the snapshot, perhaps more than once, stores it
     * in operational tables, and appends members to call->answer (", \"name\": …"). Not called in a
     * batch. NULL = the operation keeps nothing. */
    loci_status (*keep)(lc_call *call, lc_tx *tx, loci_error *err);
    /* Reads: tried before any transaction with the user's state of peek_kind, if that state is
     * known to be current. Writes the answer and returns true, or returns false. NULL = none. */
    bool (*peek)(lc_call *call, const void *state);
    const lc_user_kind *peek_kind;
    /* ALONE operations have this instead of `run`: no transaction. */
    loci_status (*run_alone)(lc_call *call, loci_error *err);
    /* After the commit of a call: updates the caches of this process for the changed rows. Runs
     * once per group of calls, in the caller's or the writer's thread; the call itself may no
     * longer exist. NULL = nothing to do. */
    void (*committed)(loci_engine *engine);
    /* Writes: after the commit, in the thread of the caller or of the pool, waits for the job that
     * the call started, if its arguments ask for it. True: it has written another answer to
     * call->out. Not called in a batch. NULL = there is nothing to wait for. */
    bool (*wait)(lc_call *call);
} lc_op;

#define LC_PARAMS_MAX 40

/* Parameters that follow from an operation's flags. */
typedef struct lc_implied_args {
    loci_str user_id; /* As given, or the default; see lc_call.user_id. */
    loci_str persona_id;
    loci_str session_id;
    loci_str request_id;
    int64_t expected_seq;
} lc_implied_args;

/* One call in progress; everything in it dies with its arena. */
struct lc_call {
    loci_engine *engine;
    const lc_op *op;
    lc_arena *arena;
    uint64_t given; /* Which arguments were given and not null: bit i is lc_op_param(op, i). */

    loci_str tenant_id;     /* From the principal. */
    loci_str user_id;       /* "" for operations of no user. */
    loci_str persona_id;    /* None = none. */
    bool is_of_persona;     /* The principal is narrowed to it. */
    loci_str authority_max; /* The principal's ceilings; none = not capped. */
    loci_str trust_max;
    loci_str permissions_max; /* JSON array of strings; none = any. */
    loci_str token_id;        /* Of the caller; none = none. */
    loci_str client;          /* The program that calls, a JSON object; none = not told. */
    bool is_whole;            /* Nothing narrows or caps the principal. */
    bool is_admin;            /* Of the store. */
    bool is_tenant_admin;     /* Of the tenant; an admin of the store is one too. */
    bool is_batched;          /* Part of a batch: `compute` runs in its transaction. */
    bool is_remote;           /* Another program: names no files outside store.transfer_dir. */

    int64_t now_us;      /* Domain time. */
    int64_t deadline_us; /* Monotonic. */
    const volatile int *cancel;

    void *input;                      /* The operation's input struct, filled from its arguments. */
    lc_implied_args implied;          /* The arguments that are not the operation's own. */
    lc_json_writer out;               /* The answer: run writes one object. */
    lc_buf *answer;                   /* The buffer of `out`. */
    lc_secrets_found secrets;         /* Secrets removed from its arguments; shown as `warnings`. */
    const struct lc_request *request; /* JOB operations: the request of the call, or NULL. */
    bool is_replayed;                 /* They set it: an earlier call had started the job. */
    /* SECRET operations: the answer that is stored for a repeated request, without the secret. */
    loci_str repeat_answer;
    loci_sink_fn *sink; /* NULL = no listener. */
    void *sink_ctx;
    /* Set by a search in an engine without threads that lacked vectors: they are made, and the
     * search runs once more. */
    bool wants_vectors;
    void *kept; /* Set by a read whose operation has `keep`; NULL = there is nothing to keep. */
};

/* The table. */
size_t lc_op_count(void);
const lc_op *lc_op_at(size_t index); /* In the order of the reference. */
/* Whether a repeat with the same request_id returns the first answer, with `replayed`. */
bool lc_op_may_replay(const lc_op *op);
/* All members that an answer of `op` may have; returns how many. */
size_t lc_op_results(const lc_op *op, lc_result out[LC_RECORD_MEMBERS_MAX]);
const lc_op *lc_op_find(loci_str name);
/* All of them in this order, in linear time: begin with zeros, NULL is the end. */
typedef struct lc_op_cursor {
    size_t group, index;
} lc_op_cursor;
const lc_op *lc_op_next(lc_op_cursor *at);
/* LOCI_ENOTFOUND naming the nearest operation. */
loci_status lc_op_load(loci_str name, const lc_op **out, loci_error *err);

/* Its own parameters, then the implied ones (user_id, persona_id, session_id, request_id,
 * expected_seq); NULL after the last. */
const lc_param *lc_op_param(const lc_op *op, size_t index);
const char *lc_param_kind_name(lc_param_kind kind);

/* "fact" of fact.write. */
loci_str lc_op_noun(const lc_op *op);
/* Whether no operation before lc_op_at(index) has its noun. */
bool lc_op_is_first_of_noun(size_t index);
/* "GET" and "/v1/facts/{id}"; false for an operation without a route of its own. */
bool lc_op_route(const lc_op *op, loci_str *out_method, loci_str *out_path);
/* Whether "{name}" is in the path. */
bool lc_path_has(loci_str path, const char *name);

/* Checks `args` (an object) against the parameters and rules of call->op and fills call->input,
 * call->implied, user_id and persona_id. Unknown, missing and wrong arguments are LOCI_EINVAL with
 * a message that names the parameter, the given and the allowed values; near misses are suggested.
 * Another user than the one that the principal is narrowed to is LOCI_ENOTFOUND. */
loci_status lc_op_check(lc_call *call, const lc_json *args, loci_error *err);
/* The part of it that is about rights: whether this caller may run call->op for the user and
 * persona that `args` name. Other arguments are not checked; they may still be references. */
loci_status lc_op_check_rights(const lc_call *call, const lc_json *args, loci_error *err);

/* Reports progress to the listener; LOCI_ECANCELLED when the listener or the caller wants the call
 * to end. */
loci_status lc_call_progress(lc_call *call, const char *what, int64_t done, int64_t total,
                             loci_error *err);
/* Gives the listener one line of output: {"line": json}. */
loci_status lc_call_line(lc_call *call, loci_str json, loci_error *err);
/* Whether the caller cancelled the call. */
bool lc_call_is_given_up(const lc_call *call);
/* LOCI_ECANCELLED or LOCI_EDEADLINE when the call should end. */
loci_status lc_call_pause_point(const lc_call *call, loci_error *err);

/* Writes LC_SEARCH_WARNINGS_RESULT with `warning`, which may be none. */
void lc_call_put_warning(lc_call *call, loci_str warning);

#endif /* LC_OPS_OP_H */
