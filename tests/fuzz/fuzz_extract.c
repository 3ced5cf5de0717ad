/* fuzz_extract.c - any bytes as a message and the answer of a chat model about it: the message up
 * to the first newline, the answer behind it. What is accepted was said: the quote is in the
 * message and the value is in the quote, byte for byte but for white space, case and width. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/utf8.h"
#include "context/extract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

/* Whether every ASCII letter and digit of `part` comes in `text`, in this order: what remains when
 * white space and case do not matter, found in another way than the code that is tested. */
static bool has_letters_of(loci_str text, loci_str part)
{
    size_t at = 0;

    for (size_t i = 0; i < part.len; i++) {
        char c = part.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
            continue;
        while (at < text.len && (text.ptr[at] | 0x20) != c && text.ptr[at] != c)
            at++;
        if (at == text.len)
            return false;
        at++;
    }
    return true;
}

static void check(const lc_extract_input *input, const lc_extract_list *list)
{
    demand(list->count <= LC_EXTRACT_PROPOSALS_MAX);
    for (size_t i = 0; i < list->count; i++) {
        const lc_extract_proposal *p = &list->items[i];

        demand(p->at < input->text.len && p->quote.len > 0 && p->value.len > 0);
        demand(p->key.len > 0 && p->key.len <= LC_EXTRACT_KEY_BYTES_MAX);
        demand(p->value.len <= LC_EXTRACT_VALUE_BYTES_MAX);
        demand(
            has_letters_of((loci_str){input->text.ptr + p->at, input->text.len - p->at}, p->quote));
        demand(p->supersedes.len == 0 || lc_str_is(p->supersedes, "city"));
        for (size_t j = 0; j < i; j++)
            demand(!lc_str_eq(list->items[j].key, p->key));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const uint8_t *end = memchr(data, '\n', bytes);
    lc_extract_input input = {.known = {{LC_STR("city"), LC_STR("Oslo")}}, .known_count = 1};
    lc_extract_list list;
    const lc_json *json;
    loci_error err;
    lc_heap heap;
    lc_arena arena;

    if (end == NULL)
        return 0;
    input.text = (loci_str){(const char *)data, (size_t)(end - data)};
    if (!lc_utf8_is_valid(input.text)) /* Messages are checked where they enter. */
        return 0;
    lc_heap_init(&heap, (loci_allocator){0});
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    if (lc_json_parse(&arena, (loci_str){(const char *)end + 1, bytes - input.text.len - 1}, 0,
                      &json, &err) == LOCI_OK &&
        lc_extract_check(&arena, json, &input, &list, &err) == LOCI_OK)
        check(&input, &list);
    lc_arena_clear(&arena);
    return 0;
}
