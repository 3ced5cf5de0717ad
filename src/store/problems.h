/* problems.h - what verify finds: a bounded list of sentences and the count of all. */
#ifndef LC_STORE_PROBLEMS_H
#define LC_STORE_PROBLEMS_H

#include "base/limits.h"
#include "loci.h"

#define LC_PROBLEM_BYTES 160

typedef struct lc_problems {
    int64_t count;
    char text[LC_PROBLEMS_MAX][LC_PROBLEM_BYTES]; /* The first ones. No text of users in them. */
} lc_problems;

void lc_problems_add(lc_problems *problems, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* LOCI_OK when there are none, else LOCI_ECORRUPT with data {problems[], count}. */
loci_status lc_problems_status(const lc_problems *problems, loci_error *err);

#endif /* LC_STORE_PROBLEMS_H */
