/* tool.h - the tools of models: a few verbs over the table of operations.
 *
 * A model reads the list of tools at the start of every conversation and pays for it, so there are
 * few of them, chosen for the tasks of an agent. Each tool is one entry here; the operations it
 * runs name it in their column `mcp`, with the parameters (mcp_takes) and the members of the answer
 * (mcp_shows) that are worth a model's attention. Schemas, checks and texts follow from both.
 *
 * Hosts ask for permission per tool and read its annotations, so a tool has one effect: a test
 * compares the effect of a tool with the flags of its operations. An operation is added to a tool
 * by its column; a new tool is one more entry.
 */
#ifndef LC_OPS_TOOL_H
#define LC_OPS_TOOL_H

#include "ops/op.h"

#define LC_TOOLS_MAX 14
#define LC_TOOLS_BYTES_MAX (10 * 1024) /* All definitions together. */
#define LC_TOOL_LIMIT_MAX 50           /* Results per call; models page with `cursor`. */

typedef enum lc_effect {
    LC_EFFECT_READS,
    LC_EFFECT_ADDS,    /* Keeps everything that was there. */
    LC_EFFECT_DESTROYS /* LC_OP_DESTROYS. */
} lc_effect;

typedef struct lc_tool {
    const char *name;  /* [a-z0-9_], at most 32 bytes. */
    const char *title; /* For people, in the host's list. */
    const char *description;
    lc_effect effect;
    /* The parameter whose value, the second word of lc_op.mcp, says which operation; NULL = the
     * tool has one operation. */
    const char *selector;
    /* "" = its values say enough; NULL = the parameters of each value, in place of the values of
     * each parameter: shorter for many operations. */
    const char *selector_help;
    bool takes_whose; /* It also takes LC_TOOL_WHOSE. */
    /* Its interface was designed elsewhere and models know it: it takes no parameters of ours, may
     * mix effects, and its errors are given as they are. */
    bool is_foreign;
} lc_tool;

const lc_tool *lc_tool_at(size_t index); /* In the order of tools/list; NULL after the last. */
const lc_tool *lc_tool_find(loci_str name);
/* The operations of a tool, in the order of the table; NULL after the last. */
const lc_op *lc_tool_op(const lc_tool *tool, size_t index);
/* Its operation for a value of the selector; NULL = there is none. */
const lc_op *lc_tool_find_op(const lc_tool *tool, loci_str action);
/* "current" of "read_facts current"; empty for the only operation of a tool. */
loci_str lc_op_action(const lc_op *op);
lc_effect lc_op_effect(const lc_op *op);
/* A repeat of a call has no further effect, whatever operation it runs. */
bool lc_tool_is_idempotent(const lc_tool *tool);

/* The parameter that says whose state is written or looked up, "project" or "person". Searches need
 * none: a project also sees the person's data. */
#define LC_TOOL_WHOSE "whose"

/* One word of lc_op.mcp_takes. */
typedef struct lc_taken {
    loci_str name;
    loci_str value; /* JSON of the tool's own default; none = the parameter's. */
    const lc_param *param;
} lc_taken;

/* Takes the next one off `rest`; false at the end. */
bool lc_taken_next(const lc_op *op, loci_str *rest, lc_taken *out);
/* Whether a call without it fails: also if it is the one that is shown of "exactly one of". */
bool lc_taken_is_required(const lc_op *op, const lc_taken *taken);
/* The shown parameter called `name`, or with this alias; false = models do not see it. */
bool lc_op_takes(const lc_op *op, loci_str name, lc_taken *out);

/* One part of lc_op.mcp_shows: a member of the answer, or of an object in it.
 *
 *     results(id text)     an object, or a list of objects, of which these members are shown
 *     facts:claims(…)      the member `claims`, shown as `facts`
 *     facts:*(…)           the answer itself, shown as a list of one
 *     text!                a text that is shown as it is: it is what the model asked for
 *     ~tokens              shown, but not worth its bytes in the schema (of which an object's
 * members are no part) */
typedef struct lc_shown {
    loci_str name;    /* As shown. */
    loci_str source;  /* The member; none = the answer itself. */
    loci_str inner;   /* For an object: its shown members; none = it is not an object. */
    bool is_declared; /* In the schema of the tool's results. */
    bool is_verbatim;
} lc_shown;

/* Takes the next one off `rest`; false at the end. */
bool lc_shown_next(loci_str *rest, lc_shown *out);
/* The member of `record` that `shown` names; false if there is none, or it is the answer itself. */
bool lc_shown_find(const lc_record *record, const lc_shown *shown, lc_result *out);

/* Writes the definition of a tool for tools/list: names, schemas and annotations. */
void lc_tool_write(lc_json_writer *out, const lc_tool *tool);
/* Writes the array of all definitions. */
void lc_tools_write(lc_json_writer *out);

#endif /* LC_OPS_TOOL_H */
