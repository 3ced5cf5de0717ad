/* log_queue.h - lines on their way to a log, so that nobody who writes one waits for who reads it.
 *
 * Lines are put into memory, and one thread writes them out, as many at once as have gathered
 * within a few milliseconds: one write(2) for hundreds of requests. A reader that has stalled (a
 * full pipe, a stopped terminal) costs lines and never time: when the memory is full, lines are
 * dropped and counted, and the first line after them says how many.
 */
#ifndef LC_SERVER_LOG_QUEUE_H
#define LC_SERVER_LOG_QUEUE_H

#include "base/heap.h"

#include <stdbool.h>

typedef struct lc_log_queue lc_log_queue;

/* Writes the line that says so: `count` lines were lost. Returns its bytes, at most `bytes_max`. */
typedef size_t lc_log_lost_line(int64_t count, char *out, size_t bytes_max);

/* Lines go to `fd`, which stays the caller's. */
loci_status lc_log_queue_open(lc_heap *heap, int fd, lc_log_lost_line *lost_line,
                              lc_log_queue **out, loci_error *err);
/* Writes out what was put, as long as somebody takes it within two seconds. NULL is fine. */
void lc_log_queue_close(lc_log_queue *queue);

/* Any thread. A whole line, with its line break; it is copied. */
void lc_log_queue_put(lc_log_queue *queue, loci_str line);
/* Waits until everything put before is written; false when it took longer. */
bool lc_log_queue_flush(lc_log_queue *queue, int64_t timeout_ms);
/* How many lines were dropped, ever. */
int64_t lc_log_queue_lost(lc_log_queue *queue);

#endif /* LC_SERVER_LOG_QUEUE_H */
