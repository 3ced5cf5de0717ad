/* usage.h - what the APIs of models reported about contexts: their own token counts, and how much
 * of the prompt came from their caches.
 *
 * loci counts tokens in an encoding that it knows. Many models have one of their own, so its counts
 * are estimates for them. A caller that reports the number of input tokens of a kept context
 * (context.usage) gives one measurement of the ratio between the two. The ratio of a model and an
 * encoding is that of two sums which halve about every 35 reports, so that it follows a change of
 * the model. It is used from LC_USAGE_REPORTS_MIN reports on: context.build {model} then takes its
 * budget as tokens of that model.
 *
 * A request usually has more than the context: tools, earlier turns, a prompt of the program. A
 * report that is far from the count of the context is one of those, and does not change the ratio.
 *
 * The table is operational, as that of kept contexts. A user has at most LC_USAGE_MODELS_MAX rows;
 * the one that was reported longest ago is deleted first.
 */
#ifndef LC_CONTEXT_USAGE_H
#define LC_CONTEXT_USAGE_H

#include "store/event.h"
#include "store/row.h"

#define LC_USAGE_MODELS_MAX 100
#define LC_USAGE_REPORTS_MIN 3
#define LC_USAGE_RATIO_MIN 0.5
#define LC_USAGE_RATIO_MAX 3.0

typedef struct lc_model_usage {
    loci_str model;
    loci_str encoding; /* Of the counts: the name of an encoding, or LC_USAGE_ESTIMATED. */
    int64_t reports;   /* All of them, */
    int64_t used;      /* and those that the ratio is made of. */
    int64_t input_tokens, cached_tokens; /* Of all reports. */
    double counted, reported;            /* The two sums. */
    int64_t updated_at;
} lc_model_usage;
extern const lc_row_type lc_model_usage_row;
extern const lc_table lc_model_usage_table;

#define LC_USAGE_ESTIMATED "estimated"

/* One report of an API. */
typedef struct lc_usage_report {
    loci_str model, encoding;
    int64_t counted_tokens; /* By loci, of the part of the request that it built. */
    int64_t input_tokens;   /* By the API, of the whole request, those from its cache included. */
    int64_t cached_tokens;
    int64_t other_tokens; /* Of `input_tokens`: not built by loci. */
} lc_usage_report;

/* In the writer. Adds the report to its row, which is written to `out` with its texts in the arena;
 * `*is_used` says whether it changed the ratio. */
loci_status lc_usage_add(lc_tx *tx, const lc_usage_report *report, lc_arena *arena,
                         lc_model_usage *out, bool *is_used, loci_error *err);

/* The row of a model and an encoding; all zeros if nothing was reported. */
loci_status lc_usage_find(lc_tx *tx, loci_str model, loci_str encoding, lc_arena *arena,
                          lc_model_usage *out, loci_error *err);

typedef loci_status lc_usage_visit(void *ctx, const lc_model_usage *usage, loci_error *err);
/* By model and encoding; texts live until `visit` returns. */
loci_status lc_usage_each(lc_tx *tx, lc_usage_visit *visit, void *ctx, loci_error *err);

/* Tokens of the model per counted token; 0 = too few reports. */
double lc_usage_ratio(const lc_model_usage *usage);
/* Part of the input tokens that came from the provider's cache. */
double lc_usage_hit_rate(const lc_model_usage *usage);

#endif /* LC_CONTEXT_USAGE_H */
