/* fuzz_map.c - any bytes as a mind map.
 *
 * A text that is accepted must come back byte for byte when the parsed map is written, and a text
 * that is refused must come with a message. The bytes are also used as the URI, summary and note of
 * a resource: a map of it must be readable at every level, with one resource in it.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "window/mind_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static lc_heap heap;
static lc_tokenizer tokenizer;

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

/* Writes a map and parses its text. */
static lc_mind_map repeat(const lc_mind_map *map, int level, lc_arena *arena, lc_buf *text)
{
    lc_mind_map parsed;
    lc_mind_map_order order = {map, level, &tokenizer, arena};

    lc_buf_reset(text);
    demand(lc_mind_map_write(&order, text, NULL) == LOCI_OK);
    demand(lc_mind_map_parse(lc_buf_str(text), arena, &parsed, NULL) == LOCI_OK);
    return parsed;
}

static void check_as_content(loci_str content, lc_arena *arena, lc_buf *text)
{
    lc_mind_map_link link = {content, content};
    lc_mind_map_resource resource = {.id = LC_STR("res_1"),
                                     .uri = content,
                                     .kind = LC_KIND_CODE,
                                     .state = LC_RESOURCE_INDEXED,
                                     .attention = 2,
                                     .summary = content,
                                     .annotations = {&content, 1},
                                     .tags = {&content, 1},
                                     .links = &link,
                                     .link_count = 1};
    lc_mind_map map = {.context_max = 1000, .resources = &resource, .resource_count = 1};

    for (int level = 1; level <= 3; level++) {
        lc_mind_map parsed = repeat(&map, level, arena, text);

        demand(parsed.level == level && parsed.resource_count <= 1);
        demand(parsed.resource_count == 1 || parsed.group_count == 1);
        if (level == 1 && parsed.resource_count == 1)
            demand(lc_str_eq(parsed.resources[0].uri, content));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    loci_str input = {(const char *)data, bytes};
    lc_mind_map parsed;
    lc_arena arena;
    lc_buf text;
    loci_error err = {0};

    if (heap.allocator.resize == NULL) {
        lc_heap_init(&heap, (loci_allocator){0});
        lc_tokenizer_init(&tokenizer, &heap, LC_ENCODING_O200K_BASE);
    }
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&text, &heap, LOCI_MEM_REQUESTS, LC_MIND_MAP_BYTES_MAX);
    if (lc_mind_map_parse(input, &arena, &parsed, &err) == LOCI_OK) {
        (void)repeat(&parsed, parsed.level, &arena, &text);
        demand(lc_str_eq(lc_buf_str(&text), input));
    } else {
        demand(err.message[0] != 0);
    }
    if (lc_utf8_is_valid(input) && (bytes == 0 || memchr(data, 0, bytes) == NULL))
        check_as_content(input, &arena, &text);
    lc_buf_clear(&text);
    lc_arena_clear(&arena);
    return 0;
}
