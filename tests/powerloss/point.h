/* point.h - one run of a program that may lose its power, and what it had acknowledged until then.
 *
 *     point p = point_begin(&(point_plan){.argv = argv, .at = 17, .seed = 3});
 *     ... look at the files in the directory, without the shim ...
 *     point_end(&p);
 *
 * The word "DIR" in an argument or the input stands for the point's directory. Where a point fails,
 * the test fails, and its directory is kept.
 */
#ifndef LC_TESTS_POWERLOSS_POINT_H
#define LC_TESTS_POWERLOSS_POINT_H

#include "lib/test.h"

typedef struct point_plan {
    const char *const *argv; /* Ends with NULL. */
    loci_str input;
    uint64_t at; /* The change at which the power goes; 0 = it stays. */
    uint64_t seed;
    bool is_lying;    /* fsync does nothing. */
    const char *like; /* A directory whose files are copied into the point's first, or NULL. */
} point_plan;

typedef struct point {
    const char *dir;
    bool went_dark;   /* Else the program ended by itself, well. */
    uint64_t changes; /* Counted by the shim; 0 when the power went. */
    loci_str input;   /* What it was given. */
    loci_str out;     /* Standard output. */
    loci_str acks;    /* What came over descriptor 100. */
} point;

point point_begin(const point_plan *plan);
/* Removes the directory. */
void point_end(point *p);

/* The lines of `text` one after the other; false at the end and for a last line that is not whole.
 */
bool point_next_line(loci_str *text, loci_str *out_line);

/* Whether SQLite finds the file whole; what it says is left in `out_problem`. */
bool point_is_whole(const char *path, const char **out_problem);

/* How a series of points went, for the last line of a test and for runs with a lying disk. */
typedef struct point_tally {
    uint64_t points;
    uint64_t dark;
    uint64_t lost;    /* Acknowledged and gone. */
    uint64_t corrupt; /* Cannot be opened, is not whole, or log and projections differ. */
    bool is_control;  /* Losses are what is looked for; else each fails the test. */
    const char *what;
} point_tally;

void point_note_lost(point_tally *tally, const point *p, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void point_note_corrupt(point_tally *tally, const point *p, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints the tally; a control that lost nothing, or a series in which the power never went, fails.
 */
void point_report(const point_tally *tally);

#endif /* LC_TESTS_POWERLOSS_POINT_H */
