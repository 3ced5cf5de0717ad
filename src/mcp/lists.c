/* lists.c - the server: the provider's lists, read once and kept as the text that is sent.
 *
 * `tools/list` is the largest message most clients ever get, and it is the same for all of them:
 * writing it again for each request would be the most expensive part of a connection.
 */
#include "base/assert.h"
#include "base/error.h"
#include "mcp/mcp_private.h"

#define LIST_BYTES_MAX (1024u * 1024)
#define HEADER_BYTES_MAX 128

const lc_mcp_entry *lc_mcp_entry_find(const lc_mcp_entries *entries, loci_str name)
{
    for (size_t i = 0; i < entries->count; i++) {
        if (lc_str_eq(entries->items[i].name, name))
            return &entries->items[i];
    }
    return NULL;
}

/* Arguments of a tool that have the keyword x-mcp-header. */
static loci_status read_headers(lc_mcp_server *server, const lc_json *tool, lc_mcp_entry *entry,
                                loci_error *err)
{
    const lc_json *properties = lc_json_find(lc_json_find(tool, "inputSchema", LC_JSON_OBJECT),
                                             "properties", LC_JSON_OBJECT);
    lc_mcp_param_header *headers;

    if (properties == NULL)
        return LOCI_OK;
    headers = lc_arena_zalloc_array(&server->arena, lc_json_count(properties), sizeof *headers);
    if (headers == NULL)
        return lc_fail_memory(err);
    for (const lc_json *at = lc_json_first(properties); at != NULL; at = lc_json_next(at)) {
        const lc_json *header = lc_json_find(at, "x-mcp-header", LC_JSON_STRING);
        char name[HEADER_BYTES_MAX] = "Mcp-Param-";
        loci_str text = header != NULL ? lc_json_str(header) : LC_STR_NONE;
        size_t len = strlen(name);

        if (text.len == 0 || text.len >= sizeof name - len)
            continue;
        memcpy(name + len, text.ptr, text.len);
        text = lc_arena_copy(&server->arena, (loci_str){name, len + text.len});
        if (text.ptr == NULL)
            return lc_fail_memory(err);
        headers[entry->header_count++] = (lc_mcp_param_header){lc_json_name(at), text.ptr};
    }
    entry->headers = headers;
    return LOCI_OK;
}

/* Arguments of a prompt that must be given. */
static loci_status read_required(lc_mcp_server *server, const lc_json *prompt, lc_mcp_entry *entry,
                                 loci_error *err)
{
    const lc_json *arguments = lc_json_find(prompt, "arguments", LC_JSON_ARRAY);
    loci_str *required;

    if (arguments == NULL)
        return LOCI_OK;
    required = lc_arena_zalloc_array(&server->arena, lc_json_count(arguments), sizeof *required);
    if (required == NULL)
        return lc_fail_memory(err);
    for (const lc_json *at = lc_json_first(arguments); at != NULL; at = lc_json_next(at)) {
        const lc_json *name = lc_json_find(at, "name", LC_JSON_STRING);
        const lc_json *is_required = lc_json_find(at, "required", LC_JSON_BOOL);

        if (name != NULL && is_required != NULL && lc_json_bool(is_required))
            required[entry->required_count++] = lc_json_str(name);
    }
    entry->required = required;
    return LOCI_OK;
}

/* Writes {"member":list} to the arena. */
static loci_status write_result(lc_mcp_server *server, const char *member, const lc_json *list,
                                loci_str *out, loci_error *err)
{
    lc_json_writer w;
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, server->heap, LOCI_MEM_ENGINE, LIST_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    lc_jw_member_value(&w, member, list);
    lc_jw_end(&w);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(&server->arena, lc_buf_str(&text));
        status = out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

typedef struct list_source {
    loci_str json; /* The provider's. */
    const char *member;
    const char *name; /* Member of each entry that names it. */
    lc_mcp_entries *out;
} list_source;

static loci_status read_list(lc_mcp_server *server, const list_source *source, loci_error *err)
{
    const lc_json *list;
    lc_mcp_entry *entries;
    loci_str text;
    loci_status status;

    if (source->json.len == 0)
        return LOCI_OK;
    text = lc_arena_copy(&server->arena, source->json);
    status = text.ptr != NULL ? lc_json_parse(&server->arena, text, 0, &list, err)
                              : lc_fail_memory(err);
    if (status == LOCI_OK && lc_json_kind_of(list) != LC_JSON_ARRAY)
        status = lc_fail(err, LOCI_EINTERNAL, "%s: the provider's list is no array",
                         source->member);
    if (status != LOCI_OK)
        return status;
    entries = lc_arena_zalloc_array(&server->arena, lc_json_count(list), sizeof *entries);
    if (entries == NULL)
        return lc_fail_memory(err);
    source->out->items = entries;
    for (const lc_json *at = lc_json_first(list); status == LOCI_OK && at != NULL;
         at = lc_json_next(at)) {
        const lc_json *name = lc_json_find(at, source->name, LC_JSON_STRING);
        lc_mcp_entry *entry = &entries[source->out->count];

        if (name == NULL || lc_mcp_entry_find(source->out, lc_json_str(name)) != NULL)
            return lc_fail(err, LOCI_EINTERNAL,
                           "%s: an entry of the provider's list has no name, or that of another",
                           source->member);
        entry->name = lc_json_str(name);
        source->out->count++;
        status = read_headers(server, at, entry, err);
        if (status == LOCI_OK)
            status = read_required(server, at, entry, err);
    }
    if (status == LOCI_OK)
        status = write_result(server, source->member, list, &source->out->result, err);
    return status;
}

/* "name":… of serverInfo, and the members of `capabilities`. */
static void write_about(const lc_mcp_provider *provider, lc_buf *info, lc_buf *capabilities)
{
    bool can_watch = provider->is_changed_by != NULL;
    const char *lists = provider->lists_change ? "{\"listChanged\":true}" : "{}";
    lc_json_writer w;

    lc_jw_init(&w, info);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "name", provider->name);
    lc_jw_member_text(&w, "title", provider->title);
    lc_jw_member_text(&w, "version", provider->version);
    lc_jw_end(&w);
    if (provider->tools.len > 0)
        lc_buf_append_format(capabilities, ",\"tools\":%s", lists);
    if (provider->prompts.len > 0)
        lc_buf_append_format(capabilities, ",\"prompts\":%s", lists);
    if (provider->read_resource != NULL)
        lc_buf_append_format(capabilities, ",\"resources\":{%s%s}",
                             can_watch ? "\"subscribe\":true" : "",
                             can_watch && provider->lists_change ? ",\"listChanged\":true" : "");
    if (provider->complete != NULL)
        lc_buf_append(capabilities, LC_STR(",\"completions\":{}"));
}

static loci_status read_about(lc_mcp_server *server, loci_error *err)
{
    lc_buf info, capabilities;
    loci_status status;

    lc_buf_init(&info, server->heap, LOCI_MEM_ENGINE, LIST_BYTES_MAX);
    lc_buf_init(&capabilities, server->heap, LOCI_MEM_ENGINE, LIST_BYTES_MAX);
    write_about(server->provider, &info, &capabilities);
    status = lc_buf_status(&info, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&capabilities, err);
    if (status == LOCI_OK) {
        server->info = lc_arena_copy(&server->arena, lc_buf_str(&info));
        server->capabilities = lc_arena_copy(&server->arena, lc_buf_str(&capabilities));
        if (server->info.ptr == NULL || server->capabilities.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&info);
    lc_buf_clear(&capabilities);
    return status;
}

loci_status lc_mcp_server_new(lc_heap *heap, const lc_mcp_provider *provider, lc_mcp_lock lock,
                              lc_mcp_server **out, loci_error *err)
{
    lc_mcp_server *server = lc_heap_zalloc(heap, sizeof *server, LOCI_MEM_ENGINE);
    const list_source sources[] = {
        {provider->tools, "tools", "name", server != NULL ? &server->tools : NULL},
        {provider->prompts, "prompts", "name", server != NULL ? &server->prompts : NULL},
        {provider->templates, "resourceTemplates", "uriTemplate",
         server != NULL ? &server->templates : NULL},
    };
    loci_status status = LOCI_OK;

    if (server == NULL)
        return lc_fail_memory(err);
    server->heap = heap;
    server->provider = provider;
    server->lock = lock;
    lc_arena_init(&server->arena, heap, LOCI_MEM_ENGINE);
    for (size_t i = 0; status == LOCI_OK && i < sizeof sources / sizeof sources[0]; i++)
        status = read_list(server, &sources[i], err);
    if (status == LOCI_OK)
        status = read_about(server, err);
    if (status == LOCI_OK)
        *out = server;
    else
        lc_mcp_server_free(server);
    return status;
}

void lc_mcp_server_free(lc_mcp_server *server)
{
    if (server == NULL)
        return;
    while (server->sessions != NULL) {
        lc_mcp_session *first = server->sessions;

        lc_mcp_session_hold(first);
        lc_mcp_session_end(first);
        lc_mcp_session_release(first);
    }
    LC_ASSERT(server->listeners == NULL);
    lc_arena_clear(&server->arena);
    lc_heap_free(server->heap, server, sizeof *server, LOCI_MEM_ENGINE);
}
