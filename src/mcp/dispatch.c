/* dispatch.c - parses a message, checks it and calls the provider's function.
 *
 *     text -> JSON -> JSON-RPC -> which generation? -> its rules -> method -> provider
 *
 * The order of the checks is part of the protocol: a request that is wrong in two ways must get the
 * error of the first. For the newer generation over HTTP it is: version header, `_meta`, header and
 * body agree, version supported, log level, Mcp-Method, Mcp-Name, method known, Mcp-Param-*.
 */
#include "mcp/dispatch.h"

#include <stdio.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/trace.h"
#include "base/utf8.h"
#include "mcp/mcp_private.h"

static const char modern_version[] = "2026-07-28";
/* The first is offered to clients that ask for one that is not here. */
static const char *const legacy_versions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                              "2024-11-05"};

static const char *find_legacy(loci_str version)
{
    for (size_t i = 0; i < sizeof legacy_versions / sizeof legacy_versions[0]; i++) {
        if (lc_str_is(version, legacy_versions[i]))
            return legacy_versions[i];
    }
    return NULL;
}

static void fail_params(lc_mcp_exchange *x, const char *message)
{
    lc_mcp_refuse(x, 0, LC_MCP_INVALID_PARAMS, message, LC_STR_NONE);
}

static void fail_memory(lc_mcp_exchange *x)
{
    lc_mcp_refuse(x, 0, LC_MCP_INTERNAL_ERROR, "out of memory", LC_STR_NONE);
}

static loci_str param_text(const lc_mcp_exchange *x, const char *name)
{
    const lc_json *value = lc_json_find(x->params, name, LC_JSON_STRING);

    return value != NULL ? lc_json_str(value) : LC_STR_NONE;
}

/* ---- Life of a connection -------------------------------------------------------------------- */

/* Finishes the exchange with the content of `text`, which is cleared. */
static void finish_text(lc_mcp_exchange *x, lc_buf *text)
{
    loci_error err;

    if (lc_buf_status(text, &err) == LOCI_OK)
        lc_mcp_finish(x, lc_buf_str(text));
    else
        lc_mcp_refuse(x, 0, LC_MCP_INTERNAL_ERROR, err.message, LC_STR_NONE);
    lc_buf_clear(text);
}

static void write_capabilities(const lc_mcp_exchange *x, lc_json_writer *w)
{
    loci_str members = x->server->capabilities;

    lc_jw_name(w, "capabilities");
    lc_buf_append_byte(w->buf, '{');
    /* Levels can be set in the older generation, also if the provider logs nothing. */
    if (!x->is_modern)
        lc_buf_append(w->buf, LC_STR("\"logging\":{}"));
    else if (members.len > 0)
        members = (loci_str){members.ptr + 1, members.len - 1}; /* Without the comma. */
    lc_buf_append(w->buf, members);
    lc_jw_raw(w, LC_STR("}"));
}

static void write_instructions(const lc_mcp_exchange *x, lc_json_writer *w)
{
    if (x->server->provider->instructions.len > 0)
        lc_jw_member_str(w, "instructions", x->server->provider->instructions);
}

static loci_str member_text(const lc_json *object, const char *name)
{
    const lc_json *value = lc_json_find(object, name, LC_JSON_STRING);

    return value != NULL ? lc_json_str(value) : LC_STR("");
}

/* Copies the client's description of itself; a client that initializes twice is the same one. */
static bool keep_client(lc_mcp_exchange *x, lc_mcp_session *session)
{
    const lc_json *info = lc_json_find(x->params, "clientInfo", LC_JSON_OBJECT);
    const lc_json *given = lc_json_find(x->params, "capabilities", LC_JSON_OBJECT);
    loci_str copy;
    lc_json_writer w;
    lc_buf text;

    if (session->capabilities != NULL)
        return true;
    session->client_name = lc_arena_copy(&session->arena, member_text(info, "name"));
    session->client_version = lc_arena_copy(&session->arena, member_text(info, "version"));
    lc_buf_init(&text, x->server->heap, LOCI_MEM_REQUESTS, LC_MCP_MESSAGE_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_value(&w, given != NULL ? given : x->empty_object);
    copy = lc_buf_status(&text, NULL) == LOCI_OK ? lc_arena_copy(&session->arena, lc_buf_str(&text))
                                                 : LC_STR_NONE;
    lc_buf_clear(&text);
    return copy.ptr != NULL && session->client_name.ptr != NULL &&
           session->client_version.ptr != NULL &&
           lc_json_parse(&session->arena, copy, 0, &session->capabilities, NULL) == LOCI_OK;
}

static void run_initialize(lc_mcp_exchange *x)
{
    const lc_json *asked = lc_json_find(x->params, "protocolVersion", LC_JSON_STRING);
    const char *version = asked != NULL ? find_legacy(lc_json_str(asked)) : NULL;
    lc_json_writer w;
    lc_buf text;

    if (asked == NULL) {
        fail_params(x, "protocolVersion: expected a version such as \"2025-11-25\"");
        return;
    }
    if (x->session == NULL || !keep_client(x, x->session)) {
        fail_memory(x);
        return;
    }
    if (version == NULL)
        version = legacy_versions[0];
    x->session->version = version;
    x->begun_session = x->session->id[0] != '\0' ? x->session->id : NULL;
    if (x->server->provider->lists_change)
        lc_mcp_listener_add_lists(&x->session->notices, LC_MCP_TOOLS | LC_MCP_PROMPTS);
    lc_buf_init(&text, x->server->heap, LOCI_MEM_REQUESTS, LC_MCP_MESSAGE_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "protocolVersion", version);
    write_capabilities(x, &w);
    lc_jw_member_raw(&w, "serverInfo", x->server->info);
    write_instructions(x, &w);
    lc_jw_end(&w);
    finish_text(x, &text);
}

static void run_discover(lc_mcp_exchange *x)
{
    lc_json_writer w;
    lc_buf text;

    lc_buf_init(&text, x->server->heap, LOCI_MEM_REQUESTS, LC_MCP_MESSAGE_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    lc_jw_name(&w, "supportedVersions"); /* Only those that need no initialize. */
    lc_jw_array(&w);
    lc_jw_text(&w, modern_version);
    lc_jw_end(&w);
    write_capabilities(x, &w);
    write_instructions(x, &w);
    lc_jw_end(&w);
    finish_text(x, &text);
}

static void run_ping(lc_mcp_exchange *x)
{
    lc_mcp_finish(x, LC_STR("{}"));
}

static void run_set_level(lc_mcp_exchange *x)
{
    int level = lc_mcp_level_find(param_text(x, "level"));

    if (level < 0) {
        fail_params(x, "level: expected debug, info, notice, warning, error, critical, alert or "
                       "emergency");
        return;
    }
    lc_mcp_enter(x->server);
    x->session->level = level;
    lc_mcp_leave(x->server);
    lc_mcp_finish(x, LC_STR("{}"));
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* These lists are one page: no cursor was ever given out. */
static void finish_list(lc_mcp_exchange *x, const lc_mcp_entries *entries)
{
    const lc_json *cursor = lc_json_member(x->params, LC_STR("cursor"));

    if (cursor != NULL && lc_json_kind_of(cursor) != LC_JSON_NULL &&
        !(lc_json_kind_of(cursor) == LC_JSON_STRING && lc_json_str(cursor).len == 0))
        fail_params(x, "cursor: unknown; request the list without a cursor");
    else
        lc_mcp_finish(x, entries->result);
}

static void run_tools_list(lc_mcp_exchange *x)
{
    finish_list(x, &x->server->tools);
}

static void run_prompts_list(lc_mcp_exchange *x)
{
    finish_list(x, &x->server->prompts);
}

static void run_templates_list(lc_mcp_exchange *x)
{
    static const lc_mcp_entries none = {.result = {"{\"resourceTemplates\":[]}", 24}};

    finish_list(x, x->server->templates.result.ptr != NULL ? &x->server->templates : &none);
}

static void run_resources_list(lc_mcp_exchange *x)
{
    const lc_mcp_provider *provider = x->server->provider;
    const lc_json *cursor = lc_json_member(x->params, LC_STR("cursor"));

    if (cursor != NULL && lc_json_kind_of(cursor) != LC_JSON_STRING &&
        lc_json_kind_of(cursor) != LC_JSON_NULL) {
        fail_params(x, "cursor: expected a string");
        return;
    }
    /* A client that has seen the list may want to know when it changes. */
    if (x->session != NULL && !x->is_modern && x->session->version != NULL &&
        provider->lists_change && provider->is_changed_by != NULL)
        lc_mcp_listener_add_lists(&x->session->notices, LC_MCP_RESOURCES);
    if (provider->list_resources == NULL)
        lc_mcp_finish(x, LC_STR("{\"resources\":[]}"));
    else
        provider->list_resources(provider->ctx, x, param_text(x, "cursor"));
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static const lc_json *arguments_of(const lc_mcp_exchange *x)
{
    const lc_json *arguments = lc_json_member(x->params, LC_STR("arguments"));

    if (arguments == NULL || lc_json_kind_of(arguments) == LC_JSON_NULL)
        return x->empty_object;
    return lc_json_kind_of(arguments) == LC_JSON_OBJECT ? arguments : NULL;
}

/* The tool or prompt that is named; NULL when the exchange was answered with an error. */
static const lc_mcp_entry *load_entry(lc_mcp_exchange *x, const lc_mcp_entries *entries,
                                      const char *kind)
{
    loci_str name = param_text(x, "name");
    const lc_mcp_entry *entry = name.ptr != NULL ? lc_mcp_entry_find(entries, name) : NULL;
    char message[LOCI_ERROR_MESSAGE_BYTES];

    if (entry != NULL && arguments_of(x) != NULL)
        return entry;
    if (entry != NULL)
        (void)snprintf(message, sizeof message, "arguments: expected an object");
    else if (name.ptr == NULL)
        (void)snprintf(message, sizeof message, "name: expected the name of a %s", kind);
    else
        (void)snprintf(message, sizeof message, "Unknown %s: %.*s", kind,
                       (int)lc_utf8_cut(name, 100), name.ptr);
    fail_params(x, message);
    return NULL;
}

static void run_tools_call(lc_mcp_exchange *x)
{
    const lc_mcp_provider *provider = x->server->provider;
    const lc_mcp_entry *tool = load_entry(x, &x->server->tools, "tool");

    if (tool == NULL)
        return;
    x->tool = tool->name;
    provider->call_tool(provider->ctx, x, tool->name, arguments_of(x));
}

static void run_prompts_get(lc_mcp_exchange *x)
{
    const lc_mcp_provider *provider = x->server->provider;
    const lc_mcp_entry *prompt = load_entry(x, &x->server->prompts, "prompt");
    char message[LOCI_ERROR_MESSAGE_BYTES];

    if (prompt == NULL)
        return;
    for (size_t i = 0; i < prompt->required_count; i++) {
        loci_str name = prompt->required[i];

        if (lc_json_member(arguments_of(x), name) != NULL)
            continue;
        (void)snprintf(message, sizeof message, "Missing argument: %.*s", LC_STR_ARG(name));
        fail_params(x, message);
        return;
    }
    provider->get_prompt(provider->ctx, x, prompt->name, arguments_of(x));
}

/* The URI of the request; none when the exchange was answered with an error. */
static loci_str load_uri(lc_mcp_exchange *x)
{
    loci_str uri = param_text(x, "uri");

    if (uri.len > 0 && uri.len <= LC_MCP_URI_BYTES_MAX)
        return uri;
    fail_params(x, "uri: expected the URI of a resource");
    return LC_STR_NONE;
}

static void run_resources_read(lc_mcp_exchange *x)
{
    const lc_mcp_provider *provider = x->server->provider;
    loci_str uri = load_uri(x);

    if (uri.ptr != NULL)
        provider->read_resource(provider->ctx, x, uri);
}

static void run_complete(lc_mcp_exchange *x)
{
    const lc_mcp_provider *provider = x->server->provider;
    const lc_json *ref = lc_json_find(x->params, "ref", LC_JSON_OBJECT);
    const lc_json *argument = lc_json_find(x->params, "argument", LC_JSON_OBJECT);
    const lc_json *type = lc_json_find(ref, "type", LC_JSON_STRING);
    bool is_prompt = type != NULL && lc_str_is(lc_json_str(type), "ref/prompt");
    bool is_resource = type != NULL && lc_str_is(lc_json_str(type), "ref/resource");
    const lc_json *name = lc_json_find(ref, is_prompt ? "name" : "uri", LC_JSON_STRING);

    if ((!is_prompt && !is_resource) || name == NULL)
        fail_params(x, "ref: expected {\"type\":\"ref/prompt\",\"name\":…} or "
                       "{\"type\":\"ref/resource\",\"uri\":…}");
    else if (lc_json_find(argument, "name", LC_JSON_STRING) == NULL ||
             lc_json_find(argument, "value", LC_JSON_STRING) == NULL)
        fail_params(x, "argument: expected {\"name\":…,\"value\":…}");
    else if (is_prompt && lc_mcp_entry_find(&x->server->prompts, lc_json_str(name)) == NULL)
        /* A hint while a user types: for a prompt that does not exist there is none. */
        lc_mcp_finish(x, LC_STR("{\"completion\":{\"values\":[],\"total\":0,\"hasMore\":false}}"));
    else
        provider->complete(provider->ctx, x, ref, argument);
}

/* ---- Subscriptions --------------------------------------------------------------------------- */

static void fail_watch(lc_mcp_exchange *x, lc_mcp_watch_result result)
{
    char message[LOCI_ERROR_MESSAGE_BYTES];

    if (result == LC_MCP_NO_MEMORY) {
        fail_memory(x);
        return;
    }
    (void)snprintf(message, sizeof message, "at most %d resources can be subscribed to at a time",
                   LC_MCP_URIS_MAX);
    fail_params(x, message);
}

static void run_subscribe(lc_mcp_exchange *x)
{
    loci_str uri = load_uri(x);
    lc_mcp_watch_result result;

    if (uri.ptr == NULL)
        return;
    result = lc_mcp_listener_watch(&x->session->notices, uri);
    if (result == LC_MCP_WATCHED)
        lc_mcp_finish(x, LC_STR("{}"));
    else
        fail_watch(x, result);
}

static void run_unsubscribe(lc_mcp_exchange *x)
{
    loci_str uri = load_uri(x);

    if (uri.ptr == NULL)
        return;
    lc_mcp_listener_unwatch(&x->session->notices, uri);
    lc_mcp_finish(x, LC_STR("{}"));
}

static bool is_wanted(const lc_json *filter, const char *name)
{
    const lc_json *value = lc_json_find(filter, name, LC_JSON_BOOL);

    return value != NULL && lc_json_bool(value);
}

/* The lists of the filter that this server reports about. */
static unsigned honoured_lists(const lc_mcp_exchange *x, const lc_json *filter)
{
    const lc_mcp_provider *provider = x->server->provider;
    unsigned lists = 0;

    if (provider->lists_change && is_wanted(filter, "toolsListChanged"))
        lists |= LC_MCP_TOOLS;
    if (provider->lists_change && is_wanted(filter, "promptsListChanged"))
        lists |= LC_MCP_PROMPTS;
    if (provider->lists_change && provider->is_changed_by != NULL &&
        is_wanted(filter, "resourcesListChanged"))
        lists |= LC_MCP_RESOURCES;
    return lists;
}

static void write_acknowledgement(const lc_mcp_exchange *x, const lc_mcp_listener *listener,
                                  lc_buf *out)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "jsonrpc", "2.0");
    lc_jw_member_text(&w, "method", "notifications/subscriptions/acknowledged");
    lc_jw_name(&w, "params");
    lc_jw_object(&w);
    lc_jw_name(&w, "_meta");
    lc_jw_object(&w);
    lc_jw_member_raw(&w, LC_MCP_META "subscriptionId", x->id);
    lc_jw_end(&w);
    lc_jw_name(&w, "notifications");
    lc_jw_object(&w);
    if ((listener->lists & LC_MCP_TOOLS) != 0)
        lc_jw_member_bool(&w, "toolsListChanged", true);
    if ((listener->lists & LC_MCP_PROMPTS) != 0)
        lc_jw_member_bool(&w, "promptsListChanged", true);
    if ((listener->lists & LC_MCP_RESOURCES) != 0)
        lc_jw_member_bool(&w, "resourcesListChanged", true);
    if (listener->watched_count > 0) {
        lc_jw_name(&w, "resourceSubscriptions");
        lc_jw_array(&w);
        for (size_t i = 0; i < listener->watched_count; i++)
            lc_jw_str(&w, listener->watched[i].uri);
        lc_jw_end(&w);
    }
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
}

/* Adds the resources of the filter; false when the exchange was answered with an error. */
static bool watch_all(lc_mcp_exchange *x, lc_mcp_listener *listener, const lc_json *filter)
{
    const lc_json *uris = lc_json_find(filter, "resourceSubscriptions", LC_JSON_ARRAY);

    if (uris == NULL || x->server->provider->is_changed_by == NULL)
        return true;
    for (const lc_json *at = lc_json_first(uris); at != NULL; at = lc_json_next(at)) {
        loci_str uri = lc_json_kind_of(at) == LC_JSON_STRING ? lc_json_str(at) : LC_STR_NONE;
        lc_mcp_watch_result result;

        if (uri.len == 0 || uri.len > LC_MCP_URI_BYTES_MAX) {
            fail_params(x, "resourceSubscriptions: expected URIs of resources");
            return false;
        }
        result = lc_mcp_listener_watch(listener, uri);
        if (result != LC_MCP_WATCHED) {
            fail_watch(x, result);
            return false;
        }
    }
    return true;
}

/* On stdio the session keeps the listener. False when it has too many. */
static bool keep_listener(lc_mcp_session *session, lc_mcp_listener *listener)
{
    bool is_kept;

    lc_mcp_enter(session->server);
    is_kept = session->listener_count < LC_MCP_LISTENERS_MAX;
    if (is_kept) {
        listener->sibling = session->listeners;
        session->listeners = listener;
        session->listener_count++;
    }
    lc_mcp_leave(session->server);
    return is_kept;
}

static void run_listen(lc_mcp_exchange *x)
{
    const lc_json *filter = lc_json_member(x->params, LC_STR("notifications"));
    lc_mcp_listener *listener = NULL;
    lc_mcp_answer first = lc_mcp_describe(x);
    lc_buf text;

    if (filter == NULL || lc_json_kind_of(filter) != LC_JSON_OBJECT) {
        fail_params(x, "notifications: expected an object such as {\"toolsListChanged\":true}");
        return;
    }
    listener = lc_mcp_listener_new(x->server, x->id, honoured_lists(x, filter));
    if (listener == NULL) {
        fail_memory(x);
        return;
    }
    if (!watch_all(x, listener, filter)) {
        lc_mcp_listener_free(listener);
        return;
    }
    lc_buf_init(&text, x->server->heap, LOCI_MEM_REQUESTS, LC_MCP_MESSAGE_BYTES_MAX);
    write_acknowledgement(x, listener, &text);
    if (lc_buf_status(&text, NULL) != LOCI_OK) {
        lc_mcp_listener_free(listener);
        fail_memory(x);
    } else if (x->transport->listen != NULL) {
        first.message = lc_buf_str(&text);
        x->transport->listen(x->transport_ctx, listener, &first);
        lc_mcp_drop(x);
    } else if (!keep_listener(x->session, listener)) {
        lc_mcp_listener_free(listener);
        fail_params(x, "too many subscriptions are open; cancel one");
    } else {
        first.message = lc_buf_str(&text); /* The answer comes when the subscription ends. */
        x->transport->answer(x->transport_ctx, &first);
        lc_mcp_drop(x);
    }
    lc_buf_clear(&text);
}

/* ---- Methods --------------------------------------------------------------------------------- */

#define BOTH (LC_MCP_IS_LEGACY | LC_MCP_IS_MODERN)
#define LISTED (BOTH | LC_MCP_IS_CACHEABLE)
/* Lists that change only with another version of the program. */
#define STATIC_TTL_MS 60000

static const lc_mcp_method methods[] = {
    {"initialize", LC_MCP_IS_LEGACY, 0, run_initialize},
    {"ping", LC_MCP_IS_LEGACY, 0, run_ping},
    {"logging/setLevel", LC_MCP_IS_LEGACY, 0, run_set_level},
    {"server/discover", LC_MCP_IS_MODERN | LC_MCP_IS_CACHEABLE, STATIC_TTL_MS, run_discover},
    {"tools/list", LISTED, STATIC_TTL_MS, run_tools_list},
    {"tools/call", BOTH, 0, run_tools_call},
    {"prompts/list", LISTED, STATIC_TTL_MS, run_prompts_list},
    {"prompts/get", BOTH, 0, run_prompts_get},
    {"resources/list", LISTED, 0, run_resources_list},
    {"resources/templates/list", LISTED, STATIC_TTL_MS, run_templates_list},
    {"resources/read", LISTED | LC_MCP_IS_RESOURCE_READ, 0, run_resources_read},
    {"resources/subscribe", LC_MCP_IS_LEGACY, 0, run_subscribe},
    {"resources/unsubscribe", LC_MCP_IS_LEGACY, 0, run_unsubscribe},
    {"completion/complete", BOTH, 0, run_complete},
    {"subscriptions/listen", LC_MCP_IS_MODERN, 0, run_listen},
};

/* Whether the provider offers the kind of object that the method is about. */
static bool is_offered(const lc_mcp_server *server, const lc_mcp_method *method)
{
    const lc_mcp_provider *provider = server->provider;
    loci_str name = loci_str_of(method->name);

    if (lc_str_starts(name, LC_STR("tools/")))
        return provider->tools.len > 0 && provider->call_tool != NULL;
    if (lc_str_starts(name, LC_STR("prompts/")))
        return provider->prompts.len > 0 && provider->get_prompt != NULL;
    if (method->run == run_subscribe || method->run == run_unsubscribe)
        return provider->is_changed_by != NULL;
    if (lc_str_starts(name, LC_STR("resources/")))
        return provider->read_resource != NULL;
    return method->run != run_complete || provider->complete != NULL;
}

static const lc_mcp_method *find_method(const lc_mcp_exchange *x, loci_str name)
{
    unsigned era = x->is_modern ? LC_MCP_IS_MODERN : LC_MCP_IS_LEGACY;

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if ((methods[i].flags & era) != 0 && lc_str_is(name, methods[i].name) &&
            is_offered(x->server, &methods[i]))
            return &methods[i];
    }
    return NULL;
}

static const char *loggable_name(loci_str name)
{
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (lc_str_is(name, methods[i].name))
            return methods[i].name;
    }
    return lc_str_starts(name, LC_STR("notifications/")) ? "notifications" : "other";
}

static void refuse_method(lc_mcp_exchange *x, loci_str name)
{
    char message[LOCI_ERROR_MESSAGE_BYTES];

    (void)snprintf(message, sizeof message, "Method not found: %.*s", (int)lc_utf8_cut(name, 100),
                   name.ptr);
    lc_mcp_refuse(x, 0, LC_MCP_METHOD_NOT_FOUND, message, LC_STR_NONE);
}

/* ---- The newer generation -------------------------------------------------------------------- */

static loci_str header(const lc_mcp_exchange *x, const char *name)
{
    loci_str value = x->head != NULL ? x->head->header(x->head->ctx, name) : LC_STR_NONE;

    return value.ptr != NULL ? lc_str_trim(value) : value;
}

/* A header that may be =?base64?…?=. False when the encoding is broken. */
static bool decode_header(lc_mcp_exchange *x, loci_str *value)
{
    static const loci_str prefix = LC_STR("=?base64?"), suffix = LC_STR("?=");
    loci_str text = *value;
    size_t padding = 0, bytes;
    char *decoded;

    if (text.len < prefix.len + suffix.len || !lc_str_starts(text, prefix) ||
        memcmp(text.ptr + text.len - suffix.len, suffix.ptr, suffix.len) != 0)
        return true;
    text = (loci_str){text.ptr + prefix.len, text.len - prefix.len - suffix.len};
    while (padding < 2 && padding < text.len && text.ptr[text.len - 1 - padding] == '=')
        padding++;
    if (text.len % 4 != 0)
        return false;
    bytes = text.len / 4 * 3 - padding;
    decoded = lc_arena_alloc(&x->arena, bytes);
    if (decoded == NULL || !lc_base64_read(text, decoded, bytes) ||
        !lc_utf8_is_valid((loci_str){decoded, bytes}))
        return false;
    *value = (loci_str){decoded, bytes};
    return true;
}

static bool refuse_header(lc_mcp_exchange *x, const char *name, const char *why)
{
    char message[LOCI_ERROR_MESSAGE_BYTES];

    (void)snprintf(message, sizeof message, "Header mismatch: %s %s", name, why);
    lc_mcp_refuse(x, 400, LC_MCP_HEADER_MISMATCH, message, LC_STR_NONE);
    return false;
}

static bool refuse_version(lc_mcp_exchange *x, loci_str version)
{
    lc_json_writer w;
    lc_buf data;

    lc_buf_init(&data, x->server->heap, LOCI_MEM_REQUESTS, LC_MCP_MESSAGE_BYTES_MAX);
    lc_jw_init(&w, &data);
    lc_jw_object(&w);
    lc_jw_name(&w, "supported");
    lc_jw_array(&w);
    lc_jw_text(&w, modern_version);
    lc_jw_end(&w);
    lc_jw_member_str(&w, "requested", version);
    lc_jw_end(&w);
    lc_mcp_refuse(x, 400, LC_MCP_UNSUPPORTED_VERSION, "Unsupported protocol version",
                  lc_buf_status(&data, NULL) == LOCI_OK ? lc_buf_str(&data) : LC_STR_NONE);
    lc_buf_clear(&data);
    return false;
}

/* The checks of a request's envelope, in their order; false when it was answered. */
static bool check_envelope(lc_mcp_exchange *x, const lc_json *meta)
{
    const lc_json *version = lc_json_find(meta, LC_MCP_META "protocolVersion", LC_JSON_STRING);
    const lc_json *capabilities = lc_json_find(meta, LC_MCP_META "clientCapabilities",
                                               LC_JSON_OBJECT);
    const lc_json *level = meta != NULL ? lc_json_member(meta, LC_STR(LC_MCP_META "logLevel"))
                                        : NULL;
    loci_str stated = header(x, "MCP-Protocol-Version");

    if (x->head != NULL && stated.ptr == NULL)
        return refuse_header(x, "MCP-Protocol-Version", "is missing");
    if (version == NULL || capabilities == NULL) {
        lc_mcp_refuse(x, x->is_modern ? 400 : 0, LC_MCP_INVALID_PARAMS,
                      "_meta needs " LC_MCP_META "protocolVersion (a string) and " LC_MCP_META
                      "clientCapabilities (an object)",
                      LC_STR_NONE);
        return false;
    }
    if (x->head != NULL && !lc_str_eq(stated, lc_json_str(version)))
        return refuse_header(x, "MCP-Protocol-Version", "is not the version in _meta");
    if (!lc_str_is(lc_json_str(version), modern_version))
        return refuse_version(x, lc_json_str(version));
    if (level != NULL && lc_json_kind_of(level) != LC_JSON_NULL) {
        x->level = lc_json_kind_of(level) == LC_JSON_STRING ? lc_mcp_level_find(lc_json_str(level))
                                                            : -1;
        if (x->level < 0) {
            lc_mcp_refuse(x, 400, LC_MCP_INVALID_PARAMS,
                          LC_MCP_META "logLevel: expected a level such as \"info\"", LC_STR_NONE);
            return false;
        }
    }
    x->client.capabilities = capabilities;
    return true;
}

/* Headers repeat what is in the body, so that a proxy can route without reading it. */
static bool check_headers(lc_mcp_exchange *x, loci_str method)
{
    static const struct {
        const char *method;
        const char *param;
    } named[] = {{"tools/call", "name"}, {"prompts/get", "name"}, {"resources/read", "uri"}};
    loci_str stated = header(x, "Mcp-Method");

    if (x->head == NULL)
        return true;
    if (!lc_str_eq(stated, method))
        return refuse_header(x, "Mcp-Method", "is not the method of the body");
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        loci_str name = param_text(x, named[i].param);

        if (!lc_str_is(method, named[i].method) || name.ptr == NULL)
            continue;
        stated = header(x, "Mcp-Name");
        if (stated.ptr == NULL)
            return refuse_header(x, "Mcp-Name", "is missing");
        if (!decode_header(x, &stated))
            return refuse_header(x, "Mcp-Name", "is not valid Base64");
        if (!lc_str_eq(stated, name))
            return refuse_header(x, "Mcp-Name", "is not the name in the body");
    }
    return true;
}

/* The text that a header has for an argument: a string as it is, other scalars as JSON. */
static loci_str header_text(lc_mcp_exchange *x, const lc_json *value)
{
    loci_str out = LC_STR_NONE;
    lc_json_writer w;
    lc_buf text;

    if (lc_json_kind_of(value) == LC_JSON_STRING)
        return lc_json_str(value);
    lc_buf_init(&text, x->server->heap, LOCI_MEM_REQUESTS, LC_MCP_MESSAGE_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_value(&w, value);
    if (lc_buf_status(&text, NULL) == LOCI_OK)
        out = lc_arena_copy(&x->arena, lc_buf_str(&text));
    lc_buf_clear(&text);
    return out;
}

static bool check_param_headers(lc_mcp_exchange *x)
{
    const lc_mcp_entry *tool = lc_mcp_entry_find(&x->server->tools, param_text(x, "name"));
    const lc_json *arguments = arguments_of(x);

    if (x->head == NULL || x->method->run != run_tools_call || tool == NULL || arguments == NULL)
        return true;
    for (size_t i = 0; i < tool->header_count; i++) {
        const lc_json *value = lc_json_member(arguments, tool->headers[i].argument);
        loci_str stated = header(x, tool->headers[i].header);
        bool is_given = value != NULL && lc_json_kind_of(value) != LC_JSON_NULL;

        if (is_given != (stated.ptr != NULL))
            return refuse_header(x, tool->headers[i].header,
                                 is_given ? "is missing" : "has no argument in the body");
        if (!is_given)
            continue;
        if (!decode_header(x, &stated))
            return refuse_header(x, tool->headers[i].header, "is not valid Base64");
        if (!lc_str_eq(stated, header_text(x, value)))
            return refuse_header(x, tool->headers[i].header, "is not the argument in the body");
    }
    return true;
}

static void receive_modern(lc_mcp_exchange *x, const lc_json *meta, loci_str method)
{
    const lc_json *info = lc_json_find(meta, LC_MCP_META "clientInfo", LC_JSON_OBJECT);

    x->level = LC_MCP_SILENT;
    if (x->id.ptr == NULL) { /* A notification: HTTP clients cancel by hanging up. */
        lc_mcp_end(x);
        return;
    }
    if (!check_envelope(x, meta) || !check_headers(x, method))
        return;
    x->method = find_method(x, method);
    if (x->method == NULL) {
        refuse_method(x, method);
        return;
    }
    if (!check_param_headers(x))
        return;
    x->client.name = member_text(info, "name");
    x->client.version = member_text(info, "version");
    x->head = NULL;
    if (x->session != NULL)
        lc_mcp_session_add(x->session, x);
    x->method->run(x);
}

/* ---- The older generation -------------------------------------------------------------------- */

/* Over HTTP: finds the session of a request, or begins it. False when it was answered. */
static bool find_session(lc_mcp_exchange *x, loci_str method)
{
    loci_str id = header(x, "Mcp-Session-Id");

    if (x->head == NULL)
        return true;
    if (x->id.ptr != NULL && lc_str_is(method, "initialize")) {
        x->session = lc_mcp_session_begin(x->server, x->head->owner);
        if (x->session != NULL)
            return true;
        fail_memory(x);
        return false;
    }
    if (id.ptr == NULL) {
        lc_mcp_refuse(x, 400, LC_MCP_INVALID_REQUEST,
                      "the header Mcp-Session-Id is missing: send `initialize` first, or the "
                      "_meta of protocol version 2026-07-28",
                      LC_STR_NONE);
        return false;
    }
    x->session = lc_mcp_session_find(x->server, id, x->head->owner);
    if (x->session != NULL)
        return true;
    lc_mcp_refuse(x, 404, LC_MCP_INVALID_REQUEST,
                  "the session was not found or has ended: send `initialize` again", LC_STR_NONE);
    return false;
}

static void receive_notification(lc_mcp_exchange *x, loci_str method)
{
    const lc_json *id = lc_json_member(x->params, LC_STR("requestId"));
    loci_str text = LC_STR_NONE;

    /* Without memory the request continues: it can be cancelled again. */
    if (lc_str_is(method, "notifications/cancelled") && id != NULL && lc_mcp_scalar(x, id, &text) &&
        text.ptr != NULL && x->session != NULL)
        lc_mcp_session_cancel(x->session, text);
    lc_mcp_end(x);
}

/* The client answers a question of the server. */
static void receive_response(lc_mcp_exchange *x)
{
    loci_str id = x->id;
    lc_mcp_exchange *asking;

    x->id = LC_STR_NONE; /* It is not a request. */
    if (!find_session(x, LC_STR("")))
        return;
    asking = lc_mcp_session_take_ask(x->session, id);
    if (asking != NULL)
        asking->reply(asking->reply_ctx, asking,
                      lc_json_find(x->message, "result", LC_JSON_OBJECT));
    lc_mcp_end(x);
}

static void receive_legacy(lc_mcp_exchange *x, loci_str method)
{
    lc_mcp_session *session;
    bool is_initialize = lc_str_is(method, "initialize");

    if (!find_session(x, method))
        return;
    x->head = NULL;
    if (x->id.ptr == NULL) {
        receive_notification(x, method);
        return;
    }
    session = x->session;
    x->method = find_method(x, method);
    if (x->method == NULL) {
        refuse_method(x, method);
        return;
    }
    lc_mcp_enter(x->server);
    x->level = session->level;
    lc_mcp_leave(x->server);
    if (!is_initialize && session->capabilities != NULL) {
        x->client.name = session->client_name;
        x->client.version = session->client_version;
        x->client.capabilities = session->capabilities;
        x->client.can_be_asked = true;
    }
    lc_mcp_session_add(session, x);
    x->method->run(x);
}

/* ---- Every message --------------------------------------------------------------------------- */

static void refuse_request(lc_mcp_exchange *x, const char *message)
{
    lc_mcp_refuse(x, 400, LC_MCP_INVALID_REQUEST, message, LC_STR_NONE);
}

static void read_trace(lc_mcp_exchange *x, const lc_json *meta)
{
    const lc_json *given = lc_json_find(meta, "traceparent", LC_JSON_STRING);
    loci_str text = given != NULL ? lc_json_str(given) : header(x, "traceparent");

    if (!lc_trace_is_parent(text))
        return;
    /* The headers end before the exchange; without memory it is served without its trace. */
    x->client.traceparent = given != NULL ? text : lc_arena_copy(&x->arena, text);
}

/* The message is a JSON-RPC request or notification. */
static void receive_call(lc_mcp_exchange *x, loci_str method)
{
    const lc_json *params = lc_json_member(x->message, LC_STR("params"));
    loci_str stated = header(x, "MCP-Protocol-Version");
    const lc_json *token;
    const lc_json *meta;

    x->method_name = loggable_name(method);
    if (params != NULL && lc_json_kind_of(params) != LC_JSON_OBJECT) {
        lc_mcp_refuse(x, 400, LC_MCP_INVALID_PARAMS, "params: expected an object", LC_STR_NONE);
        return;
    }
    if (params != NULL)
        x->params = params;
    meta = lc_json_find(x->params, "_meta", LC_JSON_OBJECT);
    token = meta != NULL ? lc_json_member(meta, LC_STR("progressToken")) : NULL;
    if (token != NULL && !lc_mcp_scalar(x, token, &x->progress_token)) {
        fail_memory(x);
        return;
    }
    read_trace(x, meta);
    x->is_modern = (meta != NULL &&
                    lc_json_member(meta, LC_STR(LC_MCP_META "protocolVersion")) != NULL) ||
                   (stated.ptr != NULL && find_legacy(stated) == NULL);
    /* On stdio a client of the newer generation cancels by a notification, which has no _meta that
     * would be needed to understand it. */
    if (x->is_modern && (x->id.ptr != NULL || x->head != NULL)) {
        receive_modern(x, meta, method);
        return;
    }
    if (!x->is_modern)
        x->cancel = &x->is_cancelled; /* A client that hangs up may ask for the answer again. */
    receive_legacy(x, method);
}

static void receive_message(lc_mcp_exchange *x)
{
    const lc_json *version, *method, *id;

    if (lc_json_kind_of(x->message) != LC_JSON_OBJECT) {
        refuse_request(x, lc_json_kind_of(x->message) == LC_JSON_ARRAY
                              ? "batches are not supported: send one message at a time"
                              : "expected a JSON-RPC message, an object");
        return;
    }
    version = lc_json_member(x->message, LC_STR("jsonrpc"));
    method = lc_json_member(x->message, LC_STR("method"));
    id = lc_json_member(x->message, LC_STR("id"));
    if (id != NULL && !lc_mcp_scalar(x, id, &x->id))
        fail_memory(x);
    else if (id != NULL && x->id.ptr == NULL)
        refuse_request(x, "id: expected a string or an integer");
    else if (version == NULL || lc_json_kind_of(version) != LC_JSON_STRING ||
             !lc_str_is(lc_json_str(version), "2.0"))
        refuse_request(x, "jsonrpc: expected \"2.0\"");
    else if (method != NULL && lc_json_kind_of(method) == LC_JSON_STRING)
        receive_call(x, lc_json_str(method));
    else if (method != NULL)
        refuse_request(x, "method: expected a string");
    else if (id != NULL && (lc_json_member(x->message, LC_STR("result")) != NULL ||
                            lc_json_member(x->message, LC_STR("error")) != NULL))
        receive_response(x);
    else
        refuse_request(x, "expected a request with a method, or a response with a result");
}

/* NULL when out of memory: the message is then answered. */
static lc_mcp_exchange *begin(lc_mcp_server *server, const lc_mcp_incoming *in)
{
    static const loci_str no_memory = LC_STR(
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"out of memory\"}}");
    lc_mcp_exchange *x = lc_heap_zalloc(server->heap, sizeof *x, LOCI_MEM_REQUESTS);

    if (x == NULL) {
        in->transport->answer(in->ctx, &(lc_mcp_answer){.message = no_memory,
                                                        .http_status = 500,
                                                        .code = LC_MCP_INTERNAL_ERROR});
        return NULL;
    }
    x->server = server;
    x->head = in->head;
    x->transport = in->transport;
    x->transport_ctx = in->ctx;
    x->cancel = in->cancel != NULL ? in->cancel : &x->is_cancelled;
    x->session = in->session;
    lc_arena_init(&x->arena, server->heap, LOCI_MEM_REQUESTS);
    if (x->session != NULL) {
        lc_mcp_enter(server);
        lc_mcp_session_hold(x->session);
        lc_mcp_leave(server);
    }
    return x;
}

void lc_mcp_receive(lc_mcp_server *server, const lc_mcp_incoming *incoming)
{
    lc_mcp_exchange *x = begin(server, incoming);
    loci_str text;
    loci_error err;
    loci_status status;

    if (x == NULL)
        return;
    text = lc_arena_copy(&x->arena, incoming->text);
    if (text.ptr == NULL ||
        lc_json_parse(&x->arena, LC_STR("{}"), 0, &x->empty_object, NULL) != LOCI_OK) {
        lc_mcp_refuse(x, 500, LC_MCP_INTERNAL_ERROR, "out of memory", LC_STR_NONE);
        return;
    }
    x->params = x->client.capabilities = x->empty_object;
    status = lc_json_parse(&x->arena, text, LC_JSON_ALLOW_NUL, &x->message, &err);
    if (status == LOCI_OK)
        receive_message(x);
    else if (status == LOCI_ERESOURCE)
        lc_mcp_refuse(x, 500, LC_MCP_INTERNAL_ERROR, err.message, LC_STR_NONE);
    else
        lc_mcp_refuse(x, 400, LC_MCP_PARSE_ERROR, err.message, LC_STR_NONE);
}

void lc_mcp_refuse_large(lc_mcp_server *server, const lc_mcp_incoming *incoming, size_t bytes_max)
{
    lc_mcp_exchange *x = begin(server, incoming);
    char message[LOCI_ERROR_MESSAGE_BYTES];

    if (x == NULL)
        return;
    (void)snprintf(message, sizeof message,
                   "the message has more than %zu bytes and was discarded; send smaller arguments",
                   bytes_max);
    lc_mcp_refuse(x, 413, LC_MCP_INVALID_REQUEST, message, LC_STR_NONE);
}
