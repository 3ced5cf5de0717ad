/* acks.h - what a program had been answered before the power went, checked against what is left. */
#ifndef LC_TESTS_POWERLOSS_ACKS_H
#define LC_TESTS_POWERLOSS_ACKS_H

#include "point.h"

typedef struct ack {
    loci_str op; /* "fact.write", …, or "many": then args and answer are arrays. */
    loci_str args;
    loci_str answer;
} ack;

typedef struct ack_list {
    ack items[4096];
    size_t count;
} ack_list;

/* Adds the lines {"op","args","answer"} that came over the descriptor. */
void acks_read_lines(ack_list *list, loci_str lines);
/* Adds what `loci batch` answered: line n of `output` belongs to line n of `input`. Errors do not
 * count. */
void acks_read_batch(ack_list *list, loci_str input, loci_str output);
bool acks_has(const ack_list *list, const char *op);

/* Opens the store at `path` and looks for everything that was acknowledged up to `count`; log
 * against projections, pages, and that a repeated request answers the same and changes nothing. */
void acks_check(const ack_list *list, size_t count, const char *path, point_tally *tally,
                const point *p);

#endif /* LC_TESTS_POWERLOSS_ACKS_H */
