/* state_input.h - reading a file of timelines: its lines, the members of their objects, its times.
 *
 * A timeline is one JSON object a line in the format of StateBench 1.0: `id`, `track`,
 * `initial_state` and `events`. The file is trusted to be that: what is not ends the process and
 * names the line. Memory comes from arenas and never runs out, or ends the process too.
 */
#ifndef LC_BENCH_LIB_STATE_INPUT_H
#define LC_BENCH_LIB_STATE_INPUT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "loci.h"

_Noreturn void state_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The whole file, to be cleared. */
void state_file_read(const char *path, lc_heap *heap, lc_buf *out);

void *state_alloc(lc_arena *arena, size_t bytes); /* Zeroed. */
loci_str state_copy(lc_arena *arena, loci_str text);
/* `text` must outlive the value. NULL when it is no JSON object. */
const lc_json *state_parse(lc_arena *arena, loci_str text);

/* The member, or NULL when it is missing or null. */
const lc_json *state_member(const lc_json *object, const char *name);
/* The member, null too; a missing one ends the process. */
const lc_json *state_need(const lc_json *object, const char *name);
/* Its text; empty when it is missing, null or no string. */
loci_str state_text(const lc_json *object, const char *name);
/* The first element of the array that the member is; NULL when it is none or empty. */
const lc_json *state_first(const lc_json *object, const char *name);

/* Times in the file have no zone: they are UTC. */
int64_t state_time(loci_str text);

#endif /* LC_BENCH_LIB_STATE_INPUT_H */
