/* fuzz_config_edit.c - any bytes as the configuration file of another program. What can be read is
 * changed so that the entry is there afterwards, and removing the entry restores every byte. The
 * first byte chooses the format. */
#include <stdlib.h>

#include "mcp/config_edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define ENTRY "{\"command\":\"loci\",\"args\":[\"mcp\",\"--store\",\"a b\"]}"

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

static void check_undone(lc_arena *arena, const lc_config_file *before, const lc_config_file *after,
                         const lc_config_place *place)
{
    bool exists = false;
    lc_buf out;

    lc_buf_init(&out, arena->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    demand(lc_config_remove(arena, after, place, &out, &exists, NULL) == LOCI_OK);
    demand(exists);
    demand(lc_str_eq(lc_buf_str(&out), before->text));
    lc_buf_clear(&out);
}

static void check_again(lc_arena *arena, const lc_config_file *file, const lc_config_place *place,
                        const lc_config_entry *entry)
{
    lc_buf out;

    lc_buf_init(&out, arena->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    demand(lc_config_put(arena, file, place, entry, &out, NULL) == LOCI_OK);
    demand(lc_str_eq(lc_buf_str(&out), file->text));
    lc_buf_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const own[] = {"type", "command", "args", "url", NULL};
    static const lc_config_place places[] = {{{LC_STR("mcpServers"), LC_STR("loci")}, 2},
                                             {{LC_STR("mcp_servers"), LC_STR("loci")}, 2}};
    lc_config_entry entry = {LC_STR(ENTRY), own};
    lc_config_file file = {.exists = true}, changed;
    const lc_config_place *place;
    const lc_json *had = NULL, *has = NULL;
    lc_heap heap;
    lc_arena arena;
    lc_buf out;

    if (bytes == 0)
        return 0;
    file.format = data[0] == 'T' ? LC_CONFIG_TOML : LC_CONFIG_JSON;
    file.text = (loci_str){(const char *)data + 1, bytes - 1};
    place = &places[file.format == LC_CONFIG_TOML];
    lc_heap_init(&heap, (loci_allocator){0});
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    if (lc_config_find(&arena, &file, place, &had, NULL) == LOCI_OK &&
        lc_config_put(&arena, &file, place, &entry, &out, NULL) == LOCI_OK) {
        changed = (lc_config_file){file.format, lc_buf_str(&out), true};
        demand(lc_config_find(&arena, &changed, place, &has, NULL) == LOCI_OK);
        demand(has != NULL && lc_json_kind_of(has) == LC_JSON_OBJECT);
        demand(lc_json_find(has, "command", LC_JSON_STRING) != NULL);
        demand(lc_str_is(lc_json_str(lc_json_member(has, LC_STR("command"))), "loci"));
        demand(lc_json_find(has, "args", LC_JSON_ARRAY) != NULL);
        check_again(&arena, &changed, place, &entry);
        if (had == NULL)
            check_undone(&arena, &file, &changed, place);
    }
    lc_buf_clear(&out);
    lc_arena_clear(&arena);
    return 0;
}
