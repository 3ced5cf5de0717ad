/* answer.h - a JSON text that the caller of the library owns. */
#ifndef LC_ENGINE_ANSWER_H
#define LC_ENGINE_ANSWER_H

#include "base/heap.h"

struct loci_answer {
    lc_heap *heap;
    struct loci_answer *next; /* For those who keep a queue of them. */
    size_t len;
    char text[]; /* Terminated. */
};

/* A copy of `json`; NULL when out of memory. */
loci_answer *lc_answer_new(lc_heap *heap, loci_str json);

#endif /* LC_ENGINE_ANSWER_H */
