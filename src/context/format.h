/* format.h - forms of a context: labels of untrusted lines, and requests for model APIs.
 *
 * In all formats but the plain text, the sections up to the foundation are the stable prefix: they
 * do not depend on the query. The other sections are in a fence (pack/layout.h). Only
 * users make rules and pin memories (fact/fact.h, memory/memory.h), so nothing in the prefix comes
 * from elsewhere; a line of a tool, the web or a model says so.
 *
 * A request goes to the API as it is:
 *
 *     Anthropic   {"system":   [{type, text, cache_control}],
 *                  "messages": [{"role":"user","content":[…]}]}
 *     OpenAI      {"messages": [{"role":"system","content":[…]}, {"role":"user","content":[…]}]}
 *
 * The prefix is the system prompt, with the cache breakpoint at its end; OpenAI caches prefixes
 * without one. The fence and the query are two parts of the user's message. Both APIs refuse empty
 * parts, so what is empty is left out.
 */
#ifndef LC_CONTEXT_FORMAT_H
#define LC_CONTEXT_FORMAT_H

#include "context/candidate.h"

#define LC_FORMAT_FENCED_FROM ((size_t)LC_SECTION_FOUNDATION + 1)

lc_context_format lc_format_find(loci_str name); /* One of LC_CONTEXT_FORMATS. */
lc_pack_style lc_format_style(lc_context_format format);

/* Marks the line of a candidate that is not trusted. */
loci_status lc_format_label(lc_arena *arena, lc_candidate *candidate, loci_error *err);

/* Writes the member `request`; the first `prefix_bytes` of the text are the prefix. */
void lc_format_put_request(const lc_context_input *input, loci_str text, size_t prefix_bytes,
                           lc_json_writer *out);

#endif /* LC_CONTEXT_FORMAT_H */
