/* fill.h - fill a store quickly with facts, messages, memories, vectors and users.
 *
 * Facts, messages and memories go through the public API, 100 per transaction. Users are filled
 * by many concurrent calls, since a transaction belongs to one user. Embedding 100,000 texts would
 * take minutes, so their vectors are not made by the encoder: each text that a room offers for
 * embedding (recall/recall.h) gets a pseudo-random unit vector chosen by the hash of the text,
 * under the generation of the encoder in use. A search reads and compares them like real ones; only
 * the order of its hits means nothing.
 *
 * Any failure ends the benchmark.
 */
#ifndef LC_BENCH_LIB_FILL_H
#define LC_BENCH_LIB_FILL_H

#include "lib/rounds.h"
#include "loci.h"

/* Opens the store; `flags` as loci_open_options has them. */
loci_engine *fill_open(const char *path, uint32_t flags);
/* Runs one call whose answer does not matter. */
void fill_call(loci_engine *engine, const char *operation, const char *args);

/* The words that texts and queries are made of. */
const char *fill_word(unsigned nth);

/* Facts `first` to `last - 1` of a user. Their keys are FILL_KEY_FORMAT of a word and a number. */
#define FILL_KEY_FORMAT "%s_%06d"
void fill_facts(loci_engine *engine, const char *user, int first, int last);
/* Versions of the facts of FILL_VERSION_KEYS keys in turn; every second one belongs to one persona.
 */
#define FILL_VERSION_KEYS 1000
void fill_versions(loci_engine *engine, const char *user, int first, int last);
/* Messages of one session. */
void fill_messages(loci_engine *engine, const char *user, int first, int last);
/* Users "user-<first>" to "user-<last - 1>" with `facts` facts each. The engine needs threads. */
void fill_users(loci_engine *engine, int first, int last, int facts);
/* Memories, and the same with vectors that the caller gives. */
void fill_memories(loci_engine *engine, const char *user, int first, int last);
void fill_given_memories(loci_engine *engine, const char *user, int first, int last);
/* The arguments of memory.store and of memory.recall with a given vector. */
#define FILL_ARGS_BYTES 4096
void fill_memory_args(char out[FILL_ARGS_BYTES], const char *user, int number);
void fill_recall_args(char out[FILL_ARGS_BYTES], const char *user, unsigned nth);
/* Vectors of all texts of a user. Returns how many; 0 if no encoder is installed. */
int fill_vectors(loci_engine *engine, const char *user);

#endif /* LC_BENCH_LIB_FILL_H */
