/* collect_frame.c - the frame that the agent works on: the parts of its pack, in the forms that
 * half of the budget allows. Brief and critical handles are mandatory; the others compete with the
 * rest of the context, in their order of time. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "context/candidate.h"
#include "context/frame_pack.h"

#define BUDGET_PART 2

/* The reason in a manifest of a context; NULL = it is not named there, but by frame.pack. */
static const char *reason_of(const char *reason)
{
    if (strcmp(reason, "compaction") == 0)
        return "budget";
    return lc_str_is_choice(loci_str_of(reason),
                            "budget|duplicate|superseded|retracted|expired|claim")
               ? reason
               : NULL;
}

static loci_status add_part(lc_context *context, const lc_frame_part *part, int64_t place,
                            loci_error *err)
{
    const char *reason = part->reason != NULL ? reason_of(part->reason) : NULL;
    lc_candidate *to;

    if (part->reason != NULL && reason == NULL)
        return LOCI_OK;
    to = lc_context_add(context, LC_SECTION_FRAME);
    if (to == NULL)
        return lc_fail_memory(err);
    to->item.id = part->id;
    to->item.is_mandatory = part->is_mandatory && reason == NULL;
    to->item.is_block = true;
    to->item.place = place;
    to->order = part->rank;
    to->text = part->block;
    to->excluded = reason;
    return LOCI_OK;
}

loci_status lc_context_collect_frame(lc_context *context, loci_error *err)
{
    const lc_context_input *input = context->input;
    const lc_frame_pack_input pack = {.persona_id = input->view.persona_id,
                                      .frame_id = input->frame_id,
                                      .budget = input->budget / BUDGET_PART + 1,
                                      .min_level = context->is_frame_trimmed ? LC_COMPACTION_LIGHT
                                                                             : LC_COMPACTION_NONE,
                                      .counter = input->counter,
                                      .arena = context->arena};
    lc_frame_parts parts = {0};
    loci_status status = LOCI_OK;

    if (input->frame_id.ptr != NULL)
        status = lc_context_pack_parts(context->tx, &pack, &parts, err);
    for (size_t i = 0; i < parts.count && status == LOCI_OK; i++)
        status = add_part(context, &parts.items[i], (int64_t)i + 1, err);
    return status;
}
