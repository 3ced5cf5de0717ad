/* rights.h - every operation × every kind of token × every way of calling.
 *
 * The walk takes operations and their arguments from the table of operations, so a new operation is
 * covered without being named. The expected answer (allowed, forbidden, unauthenticated, not found)
 * follows from the flags of the operation and from the limits of the token. Besides, no answer may
 * contain a canary of an owner that is foreign to the token, and no foreign id may be answered.
 *
 * A test says how a call is made, in process or over HTTP.
 */
#ifndef LC_TESTS_LIB_RIGHTS_H
#define LC_TESTS_LIB_RIGHTS_H

#include "lib/calls.h"
#include "ops/op.h"

#define RIGHTS_IDS_MAX 48

/* A kind of token. */
typedef struct rights_kind {
    const char *name;
    const char *tenant; /* NULL = the store's own. */
    const char *args;   /* Of token.create. */
    const char *user;   /* That it is narrowed to, or NULL. */
    const char *persona;
    unsigned scopes;
    bool is_store_admin;
    bool is_capped; /* Operations may find its authority or trust too low. */
    bool is_dead;   /* Expired or revoked. */
    /* Owners that are foreign to it: their canaries are never shown. */
    const char *foreign[5];
} rights_kind;

/* The last two, which must be in this order: a plain token and the administrator of the store. */
extern const rights_kind rights_kinds[];
extern const size_t rights_kind_count;

typedef struct rights_id {
    const char *owner; /* "CANARY-bob" */
    const char *user;  /* Argument that leads to it. */
    const char *id;
} rights_id;

typedef struct rights_world {
    rights_id ids[RIGHTS_IDS_MAX];
    size_t id_count;
    const char *tokens[16]; /* The secret of each kind. */
} rights_world;

/* Fills `store` with data of all owners, and makes the tokens. */
void rights_fill(rights_world *world, const char *store);

typedef struct rights_call {
    const rights_kind *kind;
    const char *token;
    const lc_op *op;
    const char *args;
    const char *beside; /* Arguments of fact.list, which is called after it in one batch; NULL = the
                           call is made alone. */
    const char *request_id; /* Or NULL. */
} rights_call;

/* Makes the call; the text of the answer or of the error goes to `*text`. */
typedef loci_status rights_ask(void *ctx, const rights_call *call, const char **text);

/* Tries everything. */
void rights_walk(const rights_world *world, rights_ask *ask, void *ctx);
/* The expected status of a call of `op` for that user and persona (NULL = not given): LOCI_OK if it
 * is allowed. */
loci_status rights_expected(const rights_kind *kind, const lc_op *op, const char *user,
                            const char *persona);
/* Fails the test when `text` has a canary that is foreign to `kind`. */
void rights_check_text(const rights_kind *kind, const char *what, const char *text);

#endif /* LC_TESTS_LIB_RIGHTS_H */
