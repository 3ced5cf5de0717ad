/* frame_draw.h - frames as trees for people: goal and status of each frame, how its budget is
 * divided, and how long suspended and waiting work rests. */
#ifndef LC_CLI_FRAME_DRAW_H
#define LC_CLI_FRAME_DRAW_H

#include "base/arena.h"
#include "base/json.h"
#include "cli/terminal.h"

typedef struct lc_frame_drawing {
    const lc_terminal *terminal;
    lc_arena *arena; /* Scratch memory, left to the caller. */
    int64_t now_us;  /* For ages. */
    lc_buf *out;
} lc_frame_drawing;

/* Draws an answer of frame.list in lines that fit the terminal; without one in lines of any length.
 * Trees come newest first, the children of a frame oldest first. A frame whose parent is not in the
 * list is drawn as a root. LOCI_ENOMEM. */
loci_status lc_frame_draw(const lc_frame_drawing *drawing, const lc_json *list, loci_error *err);

#endif /* LC_CLI_FRAME_DRAW_H */
