/* window_draw.h - a window as a drawing for people: how full it is, its resources by region with
 * the symbols of their states, notes and links below them, and what would be paged out next. */
#ifndef LC_CLI_WINDOW_DRAW_H
#define LC_CLI_WINDOW_DRAW_H

#include "base/json.h"
#include "cli/terminal.h"

/* Draws the answers of window.map (its pressure) and of window.parse for a map of level 2, in lines
 * that fit the terminal; without one in lines of any length. Members that are missing are not
 * drawn. */
void lc_window_draw(const lc_terminal *terminal, const lc_json *map, const lc_json *parsed,
                    lc_buf *out);

#endif /* LC_CLI_WINDOW_DRAW_H */
