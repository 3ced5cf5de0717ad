/* usage.h - layer 1 of the guard: how many bytes are in use, by category and by component.
 *
 * Two ways to account, which add up:
 *     charge / uncharge   before an allocation and after its free. The hot path: a few nanoseconds,
 *                         no lock, and refused when the bytes do not fit below the cap.
 *     report / release    a component with a name sets its size now and then, under a lock.
 *
 * Charges are accounted per thread. A thread takes bytes from the common total in portions (its
 * stock), so most charges touch only the thread's own memory; the total is at most one portion per
 * thread too high. Sums are exact when no charge is running.
 */
#ifndef LC_GUARD_USAGE_H
#define LC_GUARD_USAGE_H

#include "base/heap.h"
#include "base/limits.h"

#include <stdbool.h>

#define LC_WORK_KINDS (LOCI_WORK_FREES + 1)
#define LC_USAGE_STOCK_BYTES (64 * 1024) /* The largest portion. */

typedef struct lc_usage lc_usage;

/* A component in a list. */
typedef struct lc_usage_row {
    char name[LC_GUARD_NAME_BYTES_MAX + 1];
    loci_category category;
    int64_t bytes;
} lc_usage_row;

/* A registry without a cap. */
loci_status lc_usage_new(lc_heap *heap, lc_usage **out, loci_error *err);
/* No other thread may use the registry or, having charged, be ending. NULL is fine. */
void lc_usage_free(lc_usage *usage);

/* LOCI_ERESOURCE: above the cap of `work`. LOCI_EINVAL: bytes < 0 or an unknown category or kind of
 * work. Nothing changed in both cases. */
loci_status lc_usage_charge(lc_usage *usage, loci_category category, loci_work work, int64_t bytes);
/* LOCI_EINVAL, nothing changed: bytes < 0, an unknown category, or more than is charged in it. */
loci_status lc_usage_uncharge(lc_usage *usage, loci_category category, int64_t bytes);

/* Sets the size of a component, which is created if need be. */
loci_status lc_usage_report(lc_usage *usage, loci_str name, loci_category category, int64_t bytes,
                            loci_error *err);
loci_status lc_usage_release(lc_usage *usage, loci_str name, loci_error *err);

/* Charged and reported bytes of `category`; of all with LOCI_MEM_CATEGORIES. */
int64_t lc_usage_total(lc_usage *usage, loci_category category);
/* The same for all categories at once. */
void lc_usage_by_category(lc_usage *usage, int64_t out[LOCI_MEM_CATEGORIES]);
/* Writes up to `max` components of `category` (LOCI_MEM_CATEGORIES = any), largest first; returns
 * how many. */
size_t lc_usage_largest(lc_usage *usage, loci_category category, lc_usage_row *rows, size_t max);

/* Sets the maximum of charged bytes per kind of work; may be below the bytes charged now. */
void lc_usage_set_caps(lc_usage *usage, const int64_t caps[LC_WORK_KINDS]);
/* Calls `refused` after each refused charge, in the thread of the charge, without a lock. Set
 * before the first charge. */
void lc_usage_on_refused(lc_usage *usage, void (*refused)(void *ctx), void *ctx);
/* Charges refused so far. */
uint64_t lc_usage_refused(const lc_usage *usage);
/* Threads that have a stock. */
size_t lc_usage_threads(lc_usage *usage);

/* LOCI_EINVAL unless `name` has 1 to LC_GUARD_NAME_BYTES_MAX bytes of UTF-8 without control
 * characters. */
loci_status lc_usage_check_name(loci_str name, loci_error *err);

#endif /* LC_GUARD_USAGE_H */
