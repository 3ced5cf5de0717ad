/* agents.h - programs outside the process that share its memory limit.
 *
 * An agent reports the memory it holds and registers the pipelines it runs, through operations of
 * the daemon. The guard counts its bytes like its own, and asks it by signals to free memory:
 *
 *     memory_pressure_changed  the level is new                         to those that listen
 *     evict_caches             drop caches                              to those that listen; ack
 *     compact_contexts         make contexts smaller, of `name` or all  to those that listen; ack
 *     pause_pipeline           stop the pipeline `name`, spill, ack     to its agent; ack
 *     resume_pipeline          it may go on                             to its agent
 *     pause_all, resume_all    an administrator's request               to all; pause_all: ack
 *
 * An agent that does not acknowledge within 5 s is gone: what it reported and registered is
 * forgotten, its stream ends, and it is not asked again until it comes back. So is one without a
 * stream that makes no call for ten minutes, because a process that ended cannot release anything.
 *
 * All of this is state of the running process: nothing is stored. An agent is known by its tenant,
 * its token, or without one its user, and its name together, so no other caller can touch what it
 * registered. Any thread may call; no function waits.
 */
#ifndef LC_GUARD_AGENTS_H
#define LC_GUARD_AGENTS_H

#include "base/heap.h"
#include "base/limits.h"

#include <stdbool.h>

#define LC_AGENT_ACK_MS 5000
#define LC_AGENT_IDLE_MS (10 * 60 * 1000)

typedef struct lc_agents lc_agents;

/* The caller. All three are compared. */
typedef struct lc_agent_id {
    loci_str tenant_id;
    loci_str owner_id; /* Its token, or else its user. */
    loci_str name;
} lc_agent_id;

/* The guard must be opened with lc_agents_signal() as the receiver of its signals, or with one that
 * calls it, then attached. Frees nothing of the guard. */
loci_status lc_agents_new(lc_heap *heap, lc_agents **out, loci_error *err);
void lc_agents_attach(lc_agents *agents, loci_guard *guard);
/* After the guard was closed and all streams. NULL is fine. */
void lc_agents_free(lc_agents *agents);
/* A loci_signal_fn; `ctx` is the lc_agents. */
void lc_agents_signal(void *ctx, const loci_signal *signal);

/* ---- Memory and pipelines -------------------------------------------------------------------- */

/* A size that an agent reports. */
typedef struct lc_agent_size {
    loci_str name; /* Of a component or pipeline. */
    loci_category category;
    int64_t bytes;
    int64_t tenant_bytes_max; /* Of all agents of the tenant together; 0 = a quarter of the limit.
                               */
} lc_agent_size;

/* Sets the size of a component, or of a running pipeline with the category pipelines. LOCI_EINVAL:
 * a negative size, or another category for a pipeline; LOCI_ENOTFOUND: the category is pipelines,
 * and there is no such pipeline; LOCI_ECONFLICT: it does not run; LOCI_ELIMIT: too many components
 * or bytes. Nothing changed in these cases. */
loci_status lc_agents_report(lc_agents *agents, const lc_agent_id *id, const lc_agent_size *size,
                             loci_error *err);
/* Forgets a component. LOCI_ENOTFOUND: it was never reported, or released before. */
loci_status lc_agents_release(lc_agents *agents, const lc_agent_id *id, loci_str name,
                              loci_error *err);

typedef enum lc_agent_state {
    LC_AGENT_IDLE, /* Registered, not begun. */
    LC_AGENT_RUNNING,
    LC_AGENT_PAUSING, /* Asked; has not acknowledged. */
    LC_AGENT_PAUSED
} lc_agent_state;

/* Texts are borrowed. */
typedef struct lc_agent_pipeline {
    loci_str agent, name;
    int32_t priority; /* The lowest is paused first. */
    loci_work work;   /* NORMAL or BULK. */
    lc_agent_state state;
    int64_t bytes; /* Held now. */
} lc_agent_pipeline;

/* Registers a pipeline of `pipeline`'s name, priority and work. LOCI_ECONFLICT: the name is taken;
 * LOCI_ELIMIT: too many. */
loci_status lc_agents_register(lc_agents *agents, const lc_agent_id *id,
                               const lc_agent_pipeline *pipeline, loci_error *err);
/* Asks to start a run of a registered pipeline that will hold `size->bytes`. `*retry_after_ms` is 0
 * if it was admitted; otherwise nothing changed, and it may ask again after that time.
 * LOCI_ENOTFOUND: not registered; LOCI_ECONFLICT: it runs. */
loci_status lc_agents_begin(lc_agents *agents, const lc_agent_id *id, const lc_agent_size *size,
                            int64_t *retry_after_ms, loci_error *err);
/* Ends the run, and the registration if `forgets`. LOCI_ENOTFOUND: not registered; LOCI_ECONFLICT:
 * it does not run, unless it `forgets`. */
loci_status lc_agents_end(lc_agents *agents, const lc_agent_id *id, loci_str name, bool forgets,
                          loci_error *err);

/* ---- Signals --------------------------------------------------------------------------------- */

typedef enum lc_agent_signal_kind {
    LC_AGENT_PRESSURE_CHANGED,
    LC_AGENT_EVICT_CACHES,
    LC_AGENT_COMPACT_CONTEXTS,
    LC_AGENT_PAUSE_PIPELINE,
    LC_AGENT_RESUME_PIPELINE,
    LC_AGENT_PAUSE_ALL,
    LC_AGENT_RESUME_ALL,
    LC_AGENT_SIGNALS
} lc_agent_signal_kind;

typedef struct lc_agent_signal {
    uint64_t id; /* Unique in the process. */
    lc_agent_signal_kind kind;
    loci_level level;                       /* When it was sent. */
    char name[LC_AGENT_ITEM_BYTES_MAX + 1]; /* Pipeline or component; "" = all. */
    int64_t bytes;                          /* Bytes to be freed; 0 = not known. */
    int64_t sent_ms;
    bool needs_ack;
    int64_t ack_within_ms; /* Time left to acknowledge; only of one that needs it. */
} lc_agent_signal;

const char *lc_agent_signal_name(lc_agent_signal_kind kind);
const char *lc_agent_state_name(lc_agent_state state);

/* Acknowledges a signal: it was done, or for evict_caches and compact_contexts it will be. `bytes`
 * is the size of a pipeline after its pause. LOCI_ENOTFOUND: no such signal waits; LOCI_ECONFLICT:
 * too late. */
loci_status lc_agents_ack(lc_agents *agents, const lc_agent_id *id, uint64_t signal_id,
                          int64_t bytes, lc_agent_signal *out, loci_error *err);
/* Sends PAUSE_ALL or RESUME_ALL to all agents; until RESUME_ALL no pipeline is admitted. Returns
 * how many agents it was sent to. */
uint32_t lc_agents_send(lc_agents *agents, lc_agent_signal_kind kind);

/* ---- Lists: `visit` is called under the lock and must not call the agents -------------------- */

typedef struct lc_agent_row {
    lc_agent_id id;
    bool is_listening; /* Has a stream. */
    int64_t bytes;     /* Of its components and pipelines. */
    uint32_t component_count, pipeline_count, signal_count;
} lc_agent_row;

typedef struct lc_agents_counters {
    int64_t agents, listening;              /* Now. */
    int64_t gone;                           /* Since the start. */
    bool is_paused;                         /* By PAUSE_ALL. */
    int64_t pipelines[LC_AGENT_PAUSED + 1]; /* By state. */
    int64_t sent[LC_AGENT_SIGNALS];         /* Signals by kind, since the start. */
    int64_t acknowledged;
} lc_agents_counters;

lc_agents_counters lc_agents_get_counters(lc_agents *agents);
void lc_agents_each(lc_agents *agents, void (*visit)(void *ctx, const lc_agent_row *row),
                    void *ctx);
/* Pipelines of the tenant of `id`: of its owner only, unless `is_of_all`; if it has a name, of that
 * agent only. */
void lc_agents_each_pipeline(lc_agents *agents, const lc_agent_id *id, bool is_of_all,
                             void (*visit)(void *ctx, const lc_agent_pipeline *pipeline),
                             void *ctx);
/* Signals that wait for the agent, oldest first. */
void lc_agents_each_signal(lc_agents *agents, const lc_agent_id *id,
                           void (*visit)(void *ctx, const lc_agent_signal *signal), void *ctx);

/* ---- Streams --------------------------------------------------------------------------------- */

/* An agent that listens. */
typedef struct lc_agent_stream lc_agent_stream;

/* Listens for the signals of an agent, first the level now and all that wait for it. A stream of
 * the same agent ends. */
loci_status lc_agent_stream_open(lc_agents *agents, const lc_agent_id *id, lc_agent_stream **out,
                                 loci_error *err);
/* Readable when lc_agent_stream_next() or lc_agent_stream_end() has news; an eventfd, read by the
 * owner. */
int lc_agent_stream_fd(const lc_agent_stream *stream);
/* The next signal; false: none now. */
bool lc_agent_stream_next(lc_agent_stream *stream, lc_agent_signal *out);
/* Why the stream is over: "no_ack" or "replaced"; NULL = it is not. */
const char *lc_agent_stream_end(lc_agent_stream *stream);
void lc_agent_stream_close(lc_agent_stream *stream); /* NULL is fine. */

#endif /* LC_GUARD_AGENTS_H */
