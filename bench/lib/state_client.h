/* state_client.h - loci as a host uses it: operations by name on a temporary store, at a time that
 * the host sets.
 *
 * A call that loci refuses is counted and written down, and is no reason to stop. A call that
 * breaks (internal, corrupt, out of memory) ends the process.
 */
#ifndef LC_BENCH_LIB_STATE_CLIENT_H
#define LC_BENCH_LIB_STATE_CLIENT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "loci.h"

typedef struct state_client {
    lc_heap *heap;
    loci_engine *engine;
    int64_t now_us; /* What loci's clock says. */
    int calls, refused;
    /* Of the timeline that is played: */
    lc_arena *arena; /* Answers live here. */
    char user_id[32];
    lc_buf refusals; /* One line each: operation, arguments, code and message. */
} state_client;

/* Makes the store, which goes with the process. The client must not move afterwards. */
void state_client_open(state_client *client, lc_heap *heap);
void state_client_close(state_client *client);
/* From now on calls are for the user of the `number`th timeline. */
void state_client_turn_to(state_client *client, lc_arena *arena, int number);

/* One call: begin, write the arguments, end. */
typedef struct state_call {
    lc_buf buf;
    lc_json_writer args;
} state_call;

void state_call_begin(state_call *c, const state_client *client);
/* An argument; left out when it is empty. */
void state_call_text(state_call *c, const char *name, loci_str text);
/* The answer, or NULL when loci refused. */
const lc_json *state_call_end(state_call *c, state_client *client, const char *operation);

#endif /* LC_BENCH_LIB_STATE_CLIENT_H */
