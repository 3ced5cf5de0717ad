/* format.c - see format.h. */
#include "context/format.h"

#include "base/error.h"
#include "base/str.h"
#include "fact/authority.h"

lc_context_format lc_format_find(loci_str name)
{
    if (lc_str_is(name, "markdown"))
        return LC_CONTEXT_MARKDOWN;
    if (lc_str_is(name, "json"))
        return LC_CONTEXT_JSON;
    return lc_str_is(name, "messages") ? LC_CONTEXT_MESSAGES : LC_CONTEXT_TEXT;
}

lc_pack_style lc_format_style(lc_context_format format)
{
    switch (format) {
    case LC_CONTEXT_MARKDOWN:
        return LC_PACK_MARKDOWN;
    case LC_CONTEXT_JSON:
        return LC_PACK_JSON;
    default:
        return LC_PACK_LINES;
    }
}

static const char *label_of(loci_str trust)
{
    if (lc_str_is(trust, "web"))
        return " [from the web]";
    if (lc_str_is(trust, "tool"))
        return " [from a tool]";
    return lc_str_is(trust, "model") ? " [from a model]" : " [not verified]";
}

loci_status lc_format_label(lc_arena *arena, lc_candidate *candidate, loci_error *err)
{
    if (candidate->trust.len == 0 || lc_trust_is_trusted(candidate->trust))
        return LOCI_OK;
    candidate->tail = lc_context_join(
        arena, (loci_str[]){candidate->tail, loci_str_of(label_of(candidate->trust))}, 2);
    candidate->trust = LC_STR_NONE; /* A candidate may be shown twice: it is labelled once. */
    return candidate->tail.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void put_part(loci_str text, bool is_breakpoint, lc_json_writer *out)
{
    lc_jw_object(out);
    lc_jw_member_text(out, "type", "text");
    lc_jw_member_str(out, "text", text);
    if (is_breakpoint) {
        lc_jw_name(out, "cache_control");
        lc_jw_object(out);
        lc_jw_member_text(out, "type", "ephemeral");
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

static void begin_message(const char *role, lc_json_writer *out)
{
    lc_jw_object(out);
    lc_jw_member_text(out, "role", role);
    lc_jw_name(out, "content");
    lc_jw_array(out);
}

static void end_message(lc_json_writer *out)
{
    lc_jw_end(out);
    lc_jw_end(out);
}

void lc_format_put_request(const lc_context_input *input, loci_str text, size_t prefix_bytes,
                           lc_json_writer *out)
{
    loci_str prefix = lc_str_trim((loci_str){text.ptr, prefix_bytes});
    loci_str state = text; /* An empty text may have no address. */
    bool has_query = lc_str_trim(input->query).len > 0;

    if (prefix_bytes > 0)
        state = (loci_str){text.ptr + prefix_bytes, text.len - prefix_bytes};
    state = lc_str_trim(state);
    lc_jw_name(out, "request");
    lc_jw_object(out);
    if (prefix.len > 0 && !input->is_for_openai) {
        lc_jw_name(out, "system");
        lc_jw_array(out);
        put_part(prefix, true, out);
        lc_jw_end(out);
    }
    lc_jw_name(out, "messages");
    lc_jw_array(out);
    if (prefix.len > 0 && input->is_for_openai) {
        begin_message("system", out);
        put_part(prefix, false, out);
        end_message(out);
    }
    if (state.len > 0 || has_query) {
        begin_message("user", out);
        if (state.len > 0)
            put_part(state, false, out);
        if (has_query)
            put_part(input->query, false, out);
        end_message(out);
    }
    lc_jw_end(out);
    lc_jw_end(out);
}
