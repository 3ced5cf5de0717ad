/* frame_status.h - the life of a frame: its statuses, and the table of moves between them.
 *
 *     active <--> waiting          for a child, a tool or a person
 *        |  \       /
 *        |   suspended             until its token is presented or expires
 *        |       |
 *     completed | failed | cancelled
 *
 * Every change of a status goes through lc_frame_move(), so a move that is not in the table fails
 * at the place that tries it.
 */
#ifndef LC_FRAME_FRAME_STATUS_H
#define LC_FRAME_FRAME_STATUS_H

#include <stdbool.h>

#include "loci.h"

/* In the order of LC_FRAME_STATUSES. */
typedef enum lc_frame_status {
    LC_FRAME_ACTIVE,
    LC_FRAME_WAITING,
    LC_FRAME_SUSPENDED,
    LC_FRAME_COMPLETED,
    LC_FRAME_FAILED,
    LC_FRAME_CANCELLED,
    LC_FRAME_STATUS_COUNT
} lc_frame_status;
#define LC_FRAME_STATUSES "active|waiting|suspended|completed|failed|cancelled"

/* Whether the frame still has work to do: it is neither completed nor failed nor cancelled. */
bool lc_frame_status_is_open(lc_frame_status status);
const char *lc_frame_status_name(lc_frame_status status);
/* False if there is no such status. */
bool lc_frame_status_find(loci_str name, lc_frame_status *out);
/* Whether the table has the move. */
bool lc_frame_status_leads(lc_frame_status from, lc_frame_status to);
/* Makes the move; one that is not in the table is LOCI_ECONFLICT and changes nothing. `id` is that
 * of the frame, for the message. */
loci_status lc_frame_move(lc_frame_status *status, lc_frame_status to, loci_str id,
                          loci_error *err);

#endif /* LC_FRAME_FRAME_STATUS_H */
