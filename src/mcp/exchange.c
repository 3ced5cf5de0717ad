/* exchange.c - the functions of an exchange that providers call, and the text of every message
 * sent.
 *
 * A result is spliced together from texts, not parsed and written again: providers give members of
 * the method, and only the few names that the dispatcher adds itself are looked for.
 */
#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "mcp/mcp_private.h"

#define MESSAGE_BYTES_MAX (LC_ANSWER_BYTES_MAX + 64u * 1024)

static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                     "error", "critical", "alert",  "emergency"};

int lc_mcp_level_find(loci_str name)
{
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (lc_str_is(name, levels[i]))
            return (int)i;
    }
    return -1;
}

lc_arena *lc_mcp_arena(lc_mcp_exchange *exchange)
{
    return &exchange->arena;
}

const lc_mcp_client *lc_mcp_get_client(const lc_mcp_exchange *exchange)
{
    return &exchange->client;
}

/* Appends up to 100 bytes of `text`; what could end a header or be taken for syntax becomes '-'. */
static size_t append_plain(char *out, size_t len, loci_str text)
{
    for (size_t i = 0; i < text.len && i < 100; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        bool is_plain = byte >= 0x20 && byte < 0x7F && strchr(";/={", byte) == NULL;

        out[len++] = is_plain ? (char)byte : '-';
    }
    return len;
}

bool lc_mcp_write_client(const lc_mcp_exchange *exchange, char out[LC_MCP_CLIENT_BYTES])
{
    const lc_mcp_client *client = &exchange->client;
    size_t len = append_plain(out, 0, lc_str_trim(client->name));

    if (len > 0 && client->version.len > 0) {
        out[len++] = '/';
        len = append_plain(out, len, lc_str_trim(client->version));
    }
    out[len] = '\0';
    return len > 0;
}

const lc_json *lc_mcp_params(const lc_mcp_exchange *exchange)
{
    return exchange->params;
}

void *lc_mcp_transport_ctx(const lc_mcp_exchange *exchange)
{
    return exchange->transport_ctx;
}

const volatile int *lc_mcp_cancel(const lc_mcp_exchange *exchange)
{
    return exchange->cancel;
}

bool lc_mcp_is_cancelled(const lc_mcp_exchange *exchange)
{
    return __atomic_load_n(&exchange->is_cancelled, __ATOMIC_SEQ_CST) != 0 ||
           (exchange->cancel != NULL && __atomic_load_n(exchange->cancel, __ATOMIC_SEQ_CST) != 0);
}

bool lc_mcp_scalar(lc_mcp_exchange *exchange, const lc_json *value, loci_str *out)
{
    lc_json_writer w;
    lc_buf text;

    *out = LC_STR_NONE;
    if (lc_json_kind_of(value) != LC_JSON_STRING && lc_json_kind_of(value) != LC_JSON_INT)
        return true;
    lc_buf_init(&text, exchange->server->heap, LOCI_MEM_REQUESTS, LC_MCP_MESSAGE_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_value(&w, value);
    if (lc_buf_status(&text, NULL) == LOCI_OK)
        *out = lc_arena_copy(&exchange->arena, lc_buf_str(&text));
    lc_buf_clear(&text);
    return out->ptr != NULL;
}

/* ---- Operations ------------------------------------------------------------------------------ */

void lc_mcp_run(lc_mcp_exchange *exchange, const char *operation, loci_str args,
                lc_mcp_then_fn *then, void *ctx)
{
    exchange->then = then;
    exchange->then_ctx = ctx;
    exchange->transport->run(exchange->transport_ctx, exchange, operation, args);
}

void lc_mcp_resume(lc_mcp_exchange *exchange, loci_status status, loci_str answer,
                   const loci_error *err)
{
    exchange->then(exchange->then_ctx, exchange, status, answer, err);
}

/* ---- Members of a result --------------------------------------------------------------------- */

typedef struct member_span {
    size_t begin, end; /* Of `"name":value`. */
    loci_str value;
} member_span;

/* The end of the string that begins at `at`. */
static size_t skip_string(loci_str json, size_t at)
{
    for (at++; at < json.len && json.ptr[at] != '"'; at++) {
        if (json.ptr[at] == '\\')
            at++;
    }
    return at + 1;
}

/* The end of the value that begins at `at`: the comma or brace behind it. */
static size_t skip_value(loci_str json, size_t at)
{
    size_t depth = 0;

    while (at < json.len) {
        char c = json.ptr[at];

        if (c == '"') {
            at = skip_string(json, at);
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            break;
        if (c == '{' || c == '[')
            depth++;
        else if (c == '}' || c == ']')
            depth--;
        at++;
    }
    return at;
}

static size_t skip_space(loci_str json, size_t at)
{
    while (at < json.len && (json.ptr[at] == ' ' || json.ptr[at] == '\n' || json.ptr[at] == '\r' ||
                             json.ptr[at] == '\t'))
        at++;
    return at;
}

/* Finds the member `name` of an object, not those of objects inside it. */
static bool find_member(loci_str json, const char *name, member_span *out)
{
    size_t at = skip_space(json, 0) + 1;
    size_t name_bytes = strlen(name);

    /* Most results have none of the names asked for: the text is looked through once, fast. */
    if (memmem(json.ptr, json.len, name, name_bytes) == NULL)
        return false;
    for (;;) {
        size_t begin = at = skip_space(json, at);
        size_t name_end;

        if (at >= json.len || json.ptr[at] != '"')
            return false;
        name_end = skip_string(json, at);
        at = skip_space(json, name_end);
        if (at >= json.len || json.ptr[at] != ':')
            return false;
        at = skip_space(json, at + 1);
        out->value.ptr = json.ptr + at;
        out->begin = begin;
        out->end = skip_value(json, at);
        out->value.len = out->end - at;
        if (name_end - begin == name_bytes + 2 &&
            memcmp(json.ptr + begin + 1, name, name_bytes) == 0)
            return out->end <= json.len;
        at = skip_space(json, out->end);
        if (at >= json.len || json.ptr[at] != ',')
            return false;
        at++;
    }
}

/* The members of an object, without its braces. */
static loci_str inside(loci_str object)
{
    object = lc_str_trim(object);
    return object.len >= 2 ? lc_str_trim((loci_str){object.ptr + 1, object.len - 2}) : LC_STR_NONE;
}

static void append_members(lc_buf *out, loci_str members, bool *is_first)
{
    members = lc_str_trim(members);
    while (members.len > 0 && members.ptr[0] == ',')
        members = lc_str_trim((loci_str){members.ptr + 1, members.len - 1});
    while (members.len > 0 && members.ptr[members.len - 1] == ',')
        members = lc_str_trim((loci_str){members.ptr, members.len - 1});
    if (members.len == 0)
        return;
    if (!*is_first)
        lc_buf_append_byte(out, ',');
    *is_first = false;
    lc_buf_append(out, members);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void append_meta(const lc_mcp_exchange *x, loci_str own, lc_buf *out, bool *is_first)
{
    bool is_first_in = true;

    if (!x->is_modern && x->client.traceparent.len == 0 && own.len == 0)
        return;
    append_members(out, LC_STR("\"_meta\":{"), is_first);
    if (x->is_modern) {
        append_members(out, LC_STR("\"" LC_MCP_META "serverInfo\":"), &is_first_in);
        lc_buf_append(out, x->server->info);
    }
    if (x->client.traceparent.len > 0) {
        append_members(out, LC_STR("\"traceparent\":\""), &is_first_in);
        lc_buf_append(out, x->client.traceparent);
        lc_buf_append_byte(out, '"');
    }
    append_members(out, inside(own), &is_first_in);
    lc_buf_append_byte(out, '}');
}

static void append_result(const lc_mcp_exchange *x, loci_str result, lc_buf *out)
{
    member_span meta, type;
    bool has_meta = find_member(result, "_meta", &meta);
    bool has_type = find_member(result, "resultType", &type);
    bool is_complete = !has_type || lc_str_is(type.value, "\"complete\"");
    bool is_first = true;

    lc_buf_append_byte(out, '{');
    if (x->is_modern && !has_type)
        append_members(out, LC_STR("\"resultType\":\"complete\""), &is_first);
    if (x->is_modern && is_complete && (x->method->flags & LC_MCP_IS_CACHEABLE) != 0) {
        append_members(out, LC_STR("\"cacheScope\":\"private\",\"ttlMs\":"), &is_first);
        lc_buf_append_format(out, "%lld", (long long)x->method->ttl_ms);
    }
    append_meta(x, has_meta ? meta.value : LC_STR_NONE, out, &is_first);
    if (has_meta) {
        loci_str text = lc_str_trim(result);
        size_t shift = (size_t)(text.ptr - result.ptr);

        append_members(out, (loci_str){text.ptr + 1, meta.begin - shift - 1}, &is_first);
        append_members(out, (loci_str){result.ptr + meta.end, text.len - 1 - (meta.end - shift)},
                       &is_first);
    } else {
        append_members(out, inside(result), &is_first);
    }
    lc_buf_append_byte(out, '}');
}

static void begin_message(const lc_mcp_exchange *x, lc_buf *out)
{
    lc_buf_append(out, LC_STR("{\"jsonrpc\":\"2.0\""));
    if (x->id.ptr != NULL) {
        lc_buf_append(out, LC_STR(",\"id\":"));
        lc_buf_append(out, x->id);
    }
}

static void append_error(const lc_mcp_exchange *x, int code, const char *message, loci_str data,
                         lc_buf *out)
{
    lc_json_writer w;

    begin_message(x, out);
    lc_buf_append(out, LC_STR(",\"error\":"));
    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_int(&w, "code", code);
    lc_jw_member_text(&w, "message", message);
    if (data.len > 0)
        lc_jw_member_raw(&w, "data", data);
    lc_jw_end(&w);
    lc_buf_append_byte(out, '}');
}

/* ---- Answering ------------------------------------------------------------------------------- */

lc_mcp_answer lc_mcp_describe(const lc_mcp_exchange *exchange)
{
    return (lc_mcp_answer){
        .http_status = 200,
        .session = exchange->begun_session,
        .method = exchange->method_name,
        .tool = exchange->tool,
        .traceparent = exchange->client.traceparent,
    };
}

void lc_mcp_drop(lc_mcp_exchange *exchange)
{
    lc_heap *heap = exchange->server->heap;

    lc_mcp_session_remove(exchange);
    lc_mcp_session_release(exchange->session);
    lc_arena_clear(&exchange->arena);
    lc_heap_free(heap, exchange, sizeof *exchange, LOCI_MEM_REQUESTS);
}

/* Sends the answer and frees the exchange. The transport may free the server with its last answer,
 * so nothing of it but the heap is used after that. */
static void conclude(lc_mcp_exchange *exchange, lc_mcp_answer *answer)
{
    lc_heap *heap = exchange->server->heap;
    char session_id[LC_MCP_SESSION_ID_BYTES];

    lc_mcp_session_remove(exchange); /* From now on it cannot be cancelled. */
    if (__atomic_load_n(&exchange->is_cancelled, __ATOMIC_SEQ_CST) != 0)
        answer->message = LC_STR_NONE;
    if (answer->session != NULL) {
        memcpy(session_id, answer->session, sizeof session_id);
        answer->session = session_id;
    }
    lc_mcp_session_release(exchange->session);
    exchange->transport->answer(exchange->transport_ctx, answer);
    lc_arena_clear(&exchange->arena);
    lc_heap_free(heap, exchange, sizeof *exchange, LOCI_MEM_REQUESTS);
}

void lc_mcp_end(lc_mcp_exchange *exchange)
{
    lc_mcp_answer answer = lc_mcp_describe(exchange);

    answer.http_status = 202;
    conclude(exchange, &answer);
}

/* HTTP knows the newer generation's errors by their status, too. */
static int usual_status(const lc_mcp_exchange *exchange, int code)
{
    if (!exchange->is_modern)
        return 200;
    if (code == LC_MCP_METHOD_NOT_FOUND)
        return 404;
    return code == LC_MCP_HEADER_MISMATCH || code == LC_MCP_MISSING_CAPABILITY ||
                   code == LC_MCP_UNSUPPORTED_VERSION
               ? 400
               : 200;
}

void lc_mcp_refuse(lc_mcp_exchange *exchange, int http_status, int code, const char *message,
                   loci_str data)
{
    static const loci_str no_memory = LC_STR(
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"out of memory\"}}");
    lc_mcp_answer answer = lc_mcp_describe(exchange);
    lc_buf text;

    lc_buf_init(&text, exchange->server->heap, LOCI_MEM_REQUESTS, MESSAGE_BYTES_MAX);
    append_error(exchange, code, message, data, &text);
    answer.message = lc_buf_str(&text);
    answer.code = code;
    answer.http_status = http_status != 0 ? http_status : usual_status(exchange, code);
    if (lc_buf_status(&text, NULL) != LOCI_OK) {
        answer.message = no_memory;
        answer.code = LC_MCP_INTERNAL_ERROR;
    }
    conclude(exchange, &answer);
    lc_buf_clear(&text);
}

void lc_mcp_finish(lc_mcp_exchange *exchange, loci_str result)
{
    lc_mcp_answer answer = lc_mcp_describe(exchange);
    member_span is_error;
    loci_error err;
    lc_buf text;

    lc_buf_init(&text, exchange->server->heap, LOCI_MEM_REQUESTS, MESSAGE_BYTES_MAX);
    begin_message(exchange, &text);
    lc_buf_append(&text, LC_STR(",\"result\":"));
    append_result(exchange, result, &text);
    lc_buf_append_byte(&text, '}');
    if (lc_buf_status(&text, &err) == LOCI_OK) {
        answer.message = lc_buf_str(&text);
        answer.is_tool_error = exchange->tool.ptr != NULL &&
                               find_member(result, "isError", &is_error) &&
                               lc_str_is(is_error.value, "true");
        conclude(exchange, &answer);
    } else {
        lc_mcp_refuse(exchange, 0, LC_MCP_INTERNAL_ERROR, err.message, LC_STR_NONE);
    }
    lc_buf_clear(&text);
}

void lc_mcp_fail(lc_mcp_exchange *exchange, int code, const char *message, loci_str data)
{
    bool is_read = exchange->method != NULL &&
                   (exchange->method->flags & LC_MCP_IS_RESOURCE_READ) != 0;
    const lc_json *uri = lc_json_find(exchange->params, "uri", LC_JSON_STRING);
    lc_json_writer w;
    lc_buf text;

    /* The newer generation has no code of its own for it, the older one no other. */
    if (code == LC_MCP_RESOURCE_NOT_FOUND && exchange->is_modern)
        code = LC_MCP_INVALID_PARAMS;
    else if (code == LC_MCP_INVALID_PARAMS && is_read && !exchange->is_modern)
        code = LC_MCP_RESOURCE_NOT_FOUND;
    lc_buf_init(&text, exchange->server->heap, LOCI_MEM_REQUESTS, LC_MCP_ERROR_BYTES_MAX);
    if (is_read && data.len == 0 && uri != NULL) {
        lc_jw_init(&w, &text);
        lc_jw_object(&w);
        lc_jw_member_str(&w, "uri", lc_json_str(uri));
        lc_jw_end(&w);
        if (lc_buf_status(&text, NULL) == LOCI_OK)
            data = lc_buf_str(&text);
    }
    lc_mcp_refuse(exchange, 0, code, message, data);
    lc_buf_clear(&text);
}

/* ---- On the way ------------------------------------------------------------------------------ */

/* Sends a notification, or with `ask` a request. Transports do not call back from `send`. */
static void send_message(lc_mcp_exchange *exchange, int64_t ask, const char *method,
                         loci_str params)
{
    lc_json_writer w;
    lc_buf text;

    lc_buf_init(&text, exchange->server->heap, LOCI_MEM_REQUESTS, MESSAGE_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "jsonrpc", "2.0");
    if (ask != 0)
        lc_jw_member_int(&w, "id", ask);
    lc_jw_member_text(&w, "method", method);
    if (params.len > 0)
        lc_jw_member_raw(&w, "params", params);
    lc_jw_end(&w);
    if (lc_buf_status(&text, NULL) == LOCI_OK && !lc_mcp_is_cancelled(exchange))
        exchange->transport->send(exchange->transport_ctx, exchange, lc_buf_str(&text));
    lc_buf_clear(&text);
}

void lc_mcp_notify(lc_mcp_exchange *exchange, const char *method, loci_str params)
{
    send_message(exchange, 0, method, params);
}

void lc_mcp_progress(lc_mcp_exchange *exchange, int64_t done, int64_t total)
{
    lc_json_writer w;
    lc_buf text;

    if (exchange->progress_token.ptr == NULL)
        return;
    lc_buf_init(&text, exchange->server->heap, LOCI_MEM_REQUESTS, MESSAGE_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    lc_jw_member_raw(&w, "progressToken", exchange->progress_token);
    lc_jw_member_int(&w, "progress", done);
    lc_jw_member_int(&w, "total", total);
    lc_jw_end(&w);
    if (lc_buf_status(&text, NULL) == LOCI_OK)
        lc_mcp_notify(exchange, "notifications/progress", lc_buf_str(&text));
    lc_buf_clear(&text);
}

void lc_mcp_log(lc_mcp_exchange *exchange, const char *level, loci_str data)
{
    lc_json_writer w;
    lc_buf text;

    if (lc_mcp_level_find(loci_str_of(level)) < exchange->level)
        return;
    lc_buf_init(&text, exchange->server->heap, LOCI_MEM_REQUESTS, MESSAGE_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "level", level);
    lc_jw_member_raw(&w, "data", data);
    lc_jw_end(&w);
    if (lc_buf_status(&text, NULL) == LOCI_OK)
        lc_mcp_notify(exchange, "notifications/message", lc_buf_str(&text));
    lc_buf_clear(&text);
}

void lc_mcp_ask(lc_mcp_exchange *exchange, const char *method, loci_str params,
                lc_mcp_reply_fn *then, void *ctx)
{
    lc_mcp_session *session = exchange->session;
    int64_t ask = 0;

    LC_ASSERT(exchange->ask == 0);
    if (exchange->client.can_be_asked) {
        lc_mcp_enter(exchange->server);
        if (!session->has_ended) {
            ask = ++session->last_ask;
            exchange->reply = then;
            exchange->reply_ctx = ctx;
            exchange->ask = ask;
            /* Under the lock: once it is sent, the answer or the end of the session may let another
             * thread finish the exchange. */
            send_message(exchange, ask, method, params);
        }
        lc_mcp_leave(exchange->server);
    }
    if (ask == 0)
        then(ctx, exchange, NULL);
}
