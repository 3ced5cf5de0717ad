/* collect_map.c - the map of the window, as one candidate, in the densest level: a context is about
 * a question, and the verbose map of a small window would take most of its budget. */
#include "base/error.h"
#include "base/str.h"
#include "context/candidate.h"
#include "window/window_map.h"

#define LEVEL 3

loci_status lc_context_collect_map(lc_context *context, loci_error *err)
{
    const lc_context_input *input = context->input;
    lc_window_map_order order = {
        .tokenizer = input->tokenizer, .arena = context->arena, .level = LEVEL};
    lc_window_map_text map = {.text = LC_STR_NONE};
    lc_candidate *candidate;
    lc_window window;
    bool found = false;
    loci_status status = lc_window_find(context->tx, input->view.persona_id, context->arena,
                                        &window, &found, err);

    if (status != LOCI_OK || !found || window.resource_count == 0 || input->relevant_only)
        return status;
    order.window = &window;
    status = lc_window_write_map(context->tx, &order, &map, err);
    if (status != LOCI_OK)
        return status;
    candidate = lc_context_add(context, LC_SECTION_MAP);
    if (candidate == NULL)
        return lc_fail_memory(err);
    candidate->item.id = window.id;
    candidate->text = lc_str_trim(map.text);
    candidate->item.is_block = true;
    return LOCI_OK;
}
