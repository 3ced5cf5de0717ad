/* op_guard.h - what the operations on the guard share: the agent that calls, and its signals. */
#ifndef LC_OPS_OP_GUARD_H
#define LC_OPS_OP_GUARD_H

#include "base/limits.h"
#include "guard/agents.h"
#include "ops/op.h"

/* The parameter agent_id, whose value is the member `m` of the input struct `T`. */
#define LC_AGENT_PARAM(T, m)                                                                       \
    {                                                                                              \
        LC_ARG_STR("agent_id", T, m), .flags = LC_PARAM_ID, .default_text = "\"default\"",         \
                                      .min = 1, .max = LC_AGENT_NAME_BYTES_MAX,                    \
                                      .help = "Name of the calling agent, of its own choice; "     \
                                              "agents with the same token need different names"    \
    }
#define LC_AGENT_ITEM_PARAM(T, m, help_)                                                           \
    {                                                                                              \
        LC_ARG_STR("name", T, m), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID,  \
                                  .min = 1, .max = LC_AGENT_ITEM_BYTES_MAX, .help = help_          \
    }
#define LC_AGENT_BYTES_PARAM(T, m, flags_, default_, help_)                                        \
    {                                                                                              \
        LC_ARG_INT("bytes", T, m), .flags = (flags_), .default_text = default_, .min = 0,          \
                                   .max = LC_GUARD_BYTES_MAX, .help = help_                        \
    }
#define LC_LEVEL_CHOICES "normal|elevated|high|critical"
#define LC_LEVEL_RESULT                                                                            \
    {                                                                                              \
        "level", LC_PARAM_STRING, "Level of memory pressure now", .choices = LC_LEVEL_CHOICES      \
    }

/* The caller as an agent called `name`. */
lc_agent_id lc_call_agent(const lc_call *call, loci_str name);
/* The quota of the caller's tenant, for lc_agent_size. */
int64_t lc_call_agents_bytes_max(const lc_call *call);
/* Writes LC_LEVEL_RESULT; nothing without a guard. */
void lc_call_put_level(lc_call *call);

extern const lc_record lc_signal_record;
/* Writes an object of that type. */
void lc_agent_signal_write(const lc_agent_signal *signal, lc_json_writer *w);

#endif /* LC_OPS_OP_GUARD_H */
