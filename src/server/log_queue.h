/* log_queue.h - a queue of log lines, so that a thread that logs never waits for the log's reader.
 *
 * Lines are appended to a buffer, and one thread writes them, all that were gathered within a few
 * milliseconds at once: one write(2) for hundreds of requests. A reader that is stalled (a full
 * pipe, a stopped terminal) costs lines, never time: when the buffer is full, lines are dropped and
 * counted, and the next line that is written reports how many.
 */
#ifndef LC_SERVER_LOG_QUEUE_H
#define LC_SERVER_LOG_QUEUE_H

#include "base/heap.h"

#include <stdbool.h>

typedef struct lc_log_queue lc_log_queue;

/* Formats the line that reports `count` lost lines. Returns its bytes, at most `bytes_max`. */
typedef size_t lc_log_lost_line(int64_t count, char *out, size_t bytes_max);

/* Lines are written to `fd`, which the caller still owns. */
loci_status lc_log_queue_open(lc_heap *heap, int fd, lc_log_lost_line *lost_line,
                              lc_log_queue **out, loci_error *err);
/* Writes the queued lines, for at most two seconds. NULL is fine. */
void lc_log_queue_close(lc_log_queue *queue);

/* Queues a whole line with its line break; it is copied. Any thread. */
void lc_log_queue_put(lc_log_queue *queue, loci_str line);
/* Waits until everything queued before is written; false on timeout. */
bool lc_log_queue_flush(lc_log_queue *queue, int64_t timeout_ms);
/* Number of lines dropped since it was opened. */
int64_t lc_log_queue_lost(lc_log_queue *queue);

#endif /* LC_SERVER_LOG_QUEUE_H */
