/* when.h - dates in plain English: "tomorrow at 5", "next Friday", "in two weeks", "by June 3".
 *
 * A date is found in a part of a text and resolved against the time at which the text was said.
 * "Friday" is the next one to come; "next Friday" is that of the next week, which begins on Monday.
 * A day without a time of day is a calendar day: it is resolved to 00:00 UTC of that day, whatever
 * the time zone, so that it never becomes the day before. With a time of day it is a moment. "At 5"
 * means 17:00; from 8 on the hour is taken as it is.
 */
#ifndef LC_TALK_WHEN_H
#define LC_TALK_WHEN_H

#include "talk/term.h"

typedef struct lc_when {
    size_t first, count; /* The terms, with "on", "by" and "at" in front; count 0 = no date. */
    int64_t at_us;       /* Resolved. */
    bool has_time;       /* A moment, not a day. */
} lc_when;

/* When a text was said. */
typedef struct lc_moment {
    int64_t at_us;
    int64_t offset_us; /* Of local time: UTC plus this. */
} lc_moment;

/* The first date of the terms that can be resolved; false if there is none. */
bool lc_when_find(lc_terms terms, const lc_moment *said, lc_when *out);

#endif /* LC_TALK_WHEN_H */
