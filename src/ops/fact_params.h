/* fact_params.h - parameters and results that several operations on facts have. */
#ifndef LC_OPS_FACT_PARAMS_H
#define LC_OPS_FACT_PARAMS_H

#include "base/limits.h"
#include "ops/check.h"
#include "ops/op.h"

#define LC_FACT_KEY_PARAM                                                                          \
    {                                                                                              \
        .name = "key", .kind = LC_PARAM_STRING,                                                    \
        .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID, .min = 1,                  \
        .max = LC_KEY_BYTES_MAX, .help = "What the fact is about: the name of its slot"            \
    }
#define LC_FACT_WORD_PARAM(word, what)                                                             \
    {                                                                                              \
        .name = word, .kind = LC_PARAM_STRING, .flags = LC_PARAM_ID, .min = 1,                     \
        .max = LC_ID_BYTES_MAX, .help = what                                                       \
    }
#define LC_FACT_SCOPE_PARAM                                                                        \
    {                                                                                              \
        .name = "scope", .kind = LC_PARAM_STRING,                                                  \
        .choices = "global|task|hypothetical|draft|session",                                       \
        .help = "Where it counts; a fact of a scope hides the global one there"                    \
    }
#define LC_FACT_SCOPE_ID_PARAM                                                                     \
    LC_FACT_WORD_PARAM("scope_id", "Which task, hypothesis or draft; a session's is its own")
#define LC_FACT_LIMIT_PARAM                                                                        \
    {                                                                                              \
        .name = "limit", .kind = LC_PARAM_INT, .default_text = "100", .min = 1,                    \
        .max = LC_PAGE_ROWS_MAX, .help = "How many at most"                                        \
    }
#define LC_FACT_AUTHORITY_PARAM                                                                    \
    LC_FACT_WORD_PARAM("authority",                                                                \
                       "Who says so: policy, executive, admin, manager, employee, intern, guest,"  \
                       " or a title; never more than the token and the session's identity allow")
#define LC_FACT_TRUST_PARAM                                                                        \
    {                                                                                              \
        .name = "trust", .kind = LC_PARAM_STRING, .choices = "user|system|tool|web|model",         \
        .help = "Whose statement it is; those of tools, the web and models only claim"             \
    }

#endif /* LC_OPS_FACT_PARAMS_H */
