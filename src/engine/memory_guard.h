/* memory_guard.h - the one guard of an engine, which keeps its process below a memory limit.
 *
 * Usage is the bytes that heaps count by category: the engine's, and those of a server around it.
 * The guard's caches are the states of users and the pages of the database library.
 *
 * guard/ has the layers; here the engine opens them with its settings. An engine with threads has a
 * guard from open to close, with a thread of its own. An inline engine opens one without a thread
 * when an operation first asks for it, because most commands end before a guard could measure
 * twice; it measures when it is asked.
 *
 * The guard's thread calls back into caches and workers, so it ends before they are freed.
 */
#ifndef LC_ENGINE_MEMORY_GUARD_H
#define LC_ENGINE_MEMORY_GUARD_H

#include "engine/engine.h"

extern const lc_setting lc_setting_guard_agents_bytes_max;
extern const lc_setting lc_setting_guard_enabled;
extern const lc_setting lc_setting_guard_limit_bytes;
extern const lc_setting lc_setting_guard_machine_percent;

typedef struct lc_memory_guard lc_memory_guard;

/* Options of an engine's guard besides its settings. Borrowed for the call. */
typedef struct lc_memory_guard_options {
    const loci_guard_options *parts; /* lc_engine_parts.guard */
    loci_variable_fn *variable;      /* For the service manager's reports; may be NULL. */
    void *variable_ctx;
} lc_memory_guard_options;

loci_status lc_memory_guard_new(loci_engine *engine, const lc_memory_guard_options *options,
                                lc_memory_guard **out, loci_error *err);
/* Ends the guard's thread, then the guard. NULL is fine. */
void lc_memory_guard_free(lc_memory_guard *memory);
/* The guard if there is one now; NULL when it is off, and in an inline engine that never needed
 * it. For work that asks for admission: without a guard everything is admitted. */
loci_guard *lc_memory_guard_running(lc_memory_guard *memory);

#endif /* LC_ENGINE_MEMORY_GUARD_H */
