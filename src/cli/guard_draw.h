/* guard_draw.h - the memory of a process as a drawing for people: how full it is, its course, where
 * the bytes are, who holds them, and the last decisions of the guard. */
#ifndef LC_CLI_GUARD_DRAW_H
#define LC_CLI_GUARD_DRAW_H

#include "base/json.h"
#include "cli/terminal.h"

/* Draws an answer of guard.status in lines that fit the terminal; without one in lines of any
 * length. Members that are missing are not drawn. */
void lc_guard_draw(const lc_terminal *terminal, const lc_json *status, lc_buf *out);

#endif /* LC_CLI_GUARD_DRAW_H */
