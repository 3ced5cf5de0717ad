/* op_memory.h - shared by the operations on memories. */
#ifndef LC_OPS_OP_MEMORY_H
#define LC_OPS_OP_MEMORY_H

#include "memory/memory.h"
#include "ops/op.h"
#include "store/vector.h"

extern const lc_record lc_memory_record;

/* LOCI_EFORBIDDEN unless a statement of this trust (none = the caller's) is a user's or the
 * system's. `what` names the parameter or operation. */
loci_status lc_memory_check_trusted(const lc_call *call, loci_str trust, const char *what,
                                    loci_error *err);

/* Arguments `vector` and `model`: a vector that the caller made. */
typedef struct lc_vector_args {
    const lc_json *vector;
    loci_str model;
} lc_vector_args;
#define LC_VECTOR_PARAMS(T, m, of)                                                                 \
    {LC_ARG_ANY("vector", T, m.vector),                                                            \
     .help = "Vector of " of ", made by the caller: up to 4096 numbers (default: the embedder)"},  \
        LC_NAME_PARAM("model", T, m.model, 0,                                                      \
                      "Name of the model that made the vector; vectors of other models are not "   \
                      "compared with it")
#define LC_VECTOR_RULE                                                                             \
    {                                                                                              \
        LC_RULE_NEEDS, "model|vector"                                                              \
    }
/* The vector at length 1 in the arena, NULL if none was given, and its generation in `out`. */
loci_status lc_memory_read_vector(lc_call *call, const lc_vector_args *args, lc_embedding *out,
                                  const float **out_vector, loci_error *err);

/* Arguments that choose memories without a query. */
typedef struct lc_memory_filter_args {
    loci_str entity; /* Ref or id; none = any. */
    const lc_json *metadata;
} lc_memory_filter_args;
/* Sets the entity and the tags of `page`; LOCI_ENOTFOUND for an unknown entity. */
loci_status lc_memory_set_filter(lc_call *call, lc_tx *tx, const lc_memory_filter_args *in,
                                 lc_memory_page *page, loci_error *err);

/* One that is active, or LOCI_ECONFLICT. */
loci_status lc_memory_load_active(lc_call *call, lc_tx *tx, loci_str id, lc_memory *out,
                                  loci_error *err);
/* LOCI_EINVAL for a text that is empty or too long. */
loci_status lc_memory_check_text(loci_str text, const char *where, loci_error *err);

extern const lc_op lc_memory_store_op;
extern const lc_op lc_memory_seed_op;
extern const lc_op lc_memory_import_op;
extern const lc_op lc_memory_forget_op; /* op_forget.c */

#endif /* LC_OPS_OP_MEMORY_H */
