/* sqlite_vec.h - the peer of the vector scan: npm's sqlite-vec, loaded into SQLite. */
#ifndef LC_BENCH_LIB_SQLITE_VEC_H
#define LC_BENCH_LIB_SQLITE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SQLITE_VEC_PACKAGE "sqlite-vec-linux-x64@0.1.9"

typedef struct sqlite_vec sqlite_vec;

/* A table of vectors in memory. NULL, after saying why, when the extension cannot be had. Any later
 * failure ends the process. */
sqlite_vec *sqlite_vec_open(uint32_t dimension);
void sqlite_vec_close(sqlite_vec *peer);
/* Vectors get the rowids 1, 2, ... */
void sqlite_vec_add(sqlite_vec *peer, const float *values, uint32_t count);
/* Writes the row numbers, from 0, of the nearest `limit`; answers how many. */
size_t sqlite_vec_search(sqlite_vec *peer, const float *query, size_t limit, uint32_t *out);

#endif /* LC_BENCH_LIB_SQLITE_VEC_H */
