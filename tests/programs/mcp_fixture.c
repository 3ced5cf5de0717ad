/* mcp_fixture.c - what the conformance suite of MCP wants a server to offer, behind loci's own
 * dispatcher and HTTP transport. Names and texts are those that the suite checks.
 *
 *     mcp_fixture [PORT]     prints its URL, serves on 127.0.0.1, ends with its standard input
 *
 * There is no engine and no token: everyone who can reach the port may call.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "server/mcp.h"

#define PNG                                                                                        \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJg" \
    "gg=="
#define WAV "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
#define TEXT(text) "{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}"
#define EMPTY "{\"type\":\"object\",\"additionalProperties\":false}"

typedef void tool_fn(lc_mcp_exchange *exchange, const lc_json *arguments, const char *data);

typedef struct tool {
    const char *name;
    const char *schema;
    tool_fn *run;
    const char *data; /* Of the function. */
} tool;

static void finish(lc_mcp_exchange *exchange, const char *result)
{
    lc_mcp_finish(exchange, loci_str_of(result));
}

static void run_fixed(lc_mcp_exchange *exchange, const lc_json *arguments, const char *data)
{
    (void)arguments;
    finish(exchange, data);
}

/* {"content":[{"type":"text","text":…}]} */
static void finish_with_text(lc_mcp_exchange *exchange, const char *prefix, loci_str text)
{
    lc_json_writer w;
    lc_buf out, line;

    lc_buf_init(&out, lc_mcp_arena(exchange)->heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_buf_init(&line, lc_mcp_arena(exchange)->heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_buf_append(&line, loci_str_of(prefix));
    lc_buf_append(&line, text);
    lc_jw_init(&w, &out);
    lc_jw_object(&w);
    lc_jw_name(&w, "content");
    lc_jw_array(&w);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "type", "text");
    lc_jw_member_str(&w, "text", lc_buf_str(&line));
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_mcp_finish(exchange, lc_buf_str(&out));
    lc_buf_clear(&out);
    lc_buf_clear(&line);
}

static loci_str text_of(const lc_json *object, const char *name)
{
    const lc_json *value = lc_json_find(object, name, LC_JSON_STRING);

    return value != NULL ? lc_json_str(value) : LC_STR("");
}

/* ---- Tools that take a while ----------------------------------------------------------------- */

static void pause_ms(long ms)
{
    lc_clock_sleep_us(ms * 1000);
}

static void *log_slowly(void *ctx)
{
    lc_mcp_exchange *exchange = ctx;

    lc_mcp_log(exchange, "info", LC_STR("\"Tool execution started\""));
    pause_ms(50);
    lc_mcp_log(exchange, "info", LC_STR("\"Tool processing data\""));
    pause_ms(50);
    lc_mcp_log(exchange, "info", LC_STR("\"Tool execution completed\""));
    finish(exchange, TEXT("logged"));
    return NULL;
}

static void *progress_slowly(void *ctx)
{
    lc_mcp_exchange *exchange = ctx;

    for (int64_t done = 0; done <= 100; done += 50) {
        lc_mcp_progress(exchange, done, 100);
        pause_ms(50);
    }
    finish(exchange, TEXT("progressed"));
    return NULL;
}

static void start(void *(*body)(void *ctx), lc_mcp_exchange *exchange)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, body, exchange) == 0)
        (void)pthread_detach(thread);
    else
        lc_mcp_fail(exchange, LC_MCP_INTERNAL_ERROR, "no thread", LC_STR_NONE);
}

static void run_logging(lc_mcp_exchange *exchange, const lc_json *arguments, const char *data)
{
    (void)arguments;
    (void)data;
    start(log_slowly, exchange);
}

static void run_progress(lc_mcp_exchange *exchange, const lc_json *arguments, const char *data)
{
    (void)arguments;
    (void)data;
    start(progress_slowly, exchange);
}

/* ---- Questions to clients of the older generation -------------------------------------------- */

static void take_sample(void *ctx, lc_mcp_exchange *exchange, const lc_json *result)
{
    (void)ctx;
    if (result == NULL)
        lc_mcp_fail(exchange, LC_MCP_INTERNAL_ERROR, "the client did not answer", LC_STR_NONE);
    else
        finish_with_text(exchange, "LLM response: ",
                         text_of(lc_json_find(result, "content", LC_JSON_OBJECT), "text"));
}

static void run_sampling(lc_mcp_exchange *exchange, const lc_json *arguments, const char *data)
{
    lc_json_writer w;
    lc_buf params;

    (void)data;
    lc_buf_init(&params, lc_mcp_arena(exchange)->heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_jw_init(&w, &params);
    lc_jw_object(&w);
    lc_jw_name(&w, "messages");
    lc_jw_array(&w);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "role", "user");
    lc_jw_name(&w, "content");
    lc_jw_object(&w);
    lc_jw_member_text(&w, "type", "text");
    lc_jw_member_str(&w, "text", text_of(arguments, "prompt"));
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_member_int(&w, "maxTokens", 100);
    lc_jw_end(&w);
    lc_mcp_ask(exchange, "sampling/createMessage", lc_buf_str(&params), take_sample, NULL);
    lc_buf_clear(&params);
}

static void take_elicited(void *ctx, lc_mcp_exchange *exchange, const lc_json *result)
{
    const lc_json *content = result != NULL ? lc_json_find(result, "content", LC_JSON_OBJECT)
                                            : NULL;
    lc_json_writer w;
    lc_buf text;

    (void)ctx;
    if (result == NULL) {
        lc_mcp_fail(exchange, LC_MCP_INTERNAL_ERROR, "the client did not answer", LC_STR_NONE);
        return;
    }
    lc_buf_init(&text, lc_mcp_arena(exchange)->heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_buf_append(&text, text_of(result, "action"));
    lc_buf_append(&text, LC_STR(", content="));
    lc_jw_init(&w, &text);
    if (content != NULL)
        lc_jw_value(&w, content);
    else
        lc_jw_raw(&w, LC_STR("{}"));
    finish_with_text(exchange, "Elicitation completed: action=", lc_buf_str(&text));
    lc_buf_clear(&text);
}

/* `data` is the schema of the answer. */
static void run_elicitation(lc_mcp_exchange *exchange, const lc_json *arguments, const char *data)
{
    loci_str message = text_of(arguments, "message");
    lc_json_writer w;
    lc_buf params;

    lc_buf_init(&params, lc_mcp_arena(exchange)->heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_jw_init(&w, &params);
    lc_jw_object(&w);
    lc_jw_member_str(&w, "message", message.len > 0 ? message : LC_STR("Please fill in"));
    lc_jw_member_raw(&w, "requestedSchema", loci_str_of(data));
    lc_jw_end(&w);
    lc_mcp_ask(exchange, "elicitation/create", lc_buf_str(&params), take_elicited, NULL);
    lc_buf_clear(&params);
}

/* ---- Questions to clients of the newer generation -------------------------------------------- */

#define ASK_NAME                                                                                   \
    "\"user_name\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\","              \
    "\"message\":\"What is your name?\",\"requestedSchema\":{\"type\":\"object\","                 \
    "\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}}}"
#define ASK_SAMPLE(key, text)                                                                      \
    "\"" key "\":{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[{\"role\":"      \
    "\"user\",\"content\":{\"type\":\"text\",\"text\":\"" text "\"}}],\"maxTokens\":100}}"
#define ASK_ROOTS "\"client_roots\":{\"method\":\"roots/list\",\"params\":{}}"
#define ASK_FORM(key, text, property, type)                                                        \
    "\"" key                                                                                       \
    "\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"" text      \
    "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"" property                      \
    "\":{\"type\":\"" type "\"}},\"required\":[\"" property "\"]}}}"

static char state_key[32];

static void write_mac(loci_str text, char out[LC_HASH_TEXT_BYTES])
{
    lc_hash128 mac = {0, 0};

    mac = lc_hash128_chain(mac, (loci_str){state_key, sizeof state_key});
    mac = lc_hash128_chain(mac, text);
    lc_hash128_format(mac, out);
}

static void need_input(lc_mcp_exchange *exchange, const char *requests, const char *state)
{
    char mac[LC_HASH_TEXT_BYTES];
    lc_buf out;

    lc_buf_init(&out, lc_mcp_arena(exchange)->heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_buf_append_format(&out, "{\"resultType\":\"input_required\",\"inputRequests\":{%s}",
                         requests);
    if (state != NULL) {
        write_mac(loci_str_of(state), mac);
        lc_buf_append_format(&out, ",\"requestState\":\"%s.%s\"", state, mac);
    }
    lc_buf_append_byte(&out, '}');
    lc_mcp_finish(exchange, lc_buf_str(&out));
    lc_buf_clear(&out);
}

typedef enum state_check { STATE_NONE, STATE_GOOD, STATE_BAD } state_check;

/* Checks what the client sent back; a bad state is answered. */
static state_check open_state(lc_mcp_exchange *exchange, loci_str *out)
{
    const lc_json *given = lc_json_member(lc_mcp_params(exchange), LC_STR("requestState"));
    loci_str text = given != NULL && lc_json_kind_of(given) == LC_JSON_STRING ? lc_json_str(given)
                                                                              : LC_STR("");
    char mac[LC_HASH_TEXT_BYTES];
    size_t mac_bytes = LC_HASH_TEXT_BYTES - 1;

    *out = LC_STR("");
    if (given == NULL)
        return STATE_NONE;
    if (text.len > mac_bytes + 1) {
        *out = (loci_str){text.ptr, text.len - mac_bytes - 1};
        write_mac(*out, mac);
        if (text.ptr[out->len] == '.' && memcmp(text.ptr + out->len + 1, mac, mac_bytes) == 0)
            return STATE_GOOD;
    }
    lc_mcp_fail(exchange, LC_MCP_INVALID_PARAMS, "requestState failed integrity verification",
                LC_STR_NONE);
    return STATE_BAD;
}

static const lc_json *response(lc_mcp_exchange *exchange, const char *name)
{
    return lc_json_find(lc_json_find(lc_mcp_params(exchange), "inputResponses", LC_JSON_OBJECT),
                        name, LC_JSON_OBJECT);
}

/* The content of an accepted form, or NULL. */
static const lc_json *accepted(lc_mcp_exchange *exchange, const char *name)
{
    const lc_json *given = response(exchange, name);

    return lc_str_is(text_of(given, "action"), "accept")
               ? lc_json_find(given, "content", LC_JSON_OBJECT)
               : NULL;
}

static void run_input_elicitation(lc_mcp_exchange *exchange, const lc_json *arguments,
                                  const char *data)
{
    const lc_json *content = accepted(exchange, "user_name");
    char text[256];

    (void)arguments;
    (void)data;
    if (lc_json_find(content, "name", LC_JSON_STRING) == NULL) {
        need_input(exchange, ASK_NAME, NULL);
        return;
    }
    (void)snprintf(text, sizeof text, "%.*s!", LC_STR_ARG(text_of(content, "name")));
    finish_with_text(exchange, "Hello, ", loci_str_of(text));
}

static void run_input_sampling(lc_mcp_exchange *exchange, const lc_json *arguments,
                               const char *data)
{
    const lc_json *content = lc_json_find(response(exchange, "capital_question"), "content",
                                          LC_JSON_OBJECT);

    (void)arguments;
    (void)data;
    if (content == NULL)
        need_input(exchange, ASK_SAMPLE("capital_question", "What is the capital of France?"),
                   NULL);
    else
        finish_with_text(exchange, "", text_of(content, "text"));
}

static void run_input_roots(lc_mcp_exchange *exchange, const lc_json *arguments, const char *data)
{
    const lc_json *roots = lc_json_find(response(exchange, "client_roots"), "roots", LC_JSON_ARRAY);
    const lc_json *first = roots != NULL ? lc_json_first(roots) : NULL;

    (void)arguments;
    (void)data;
    if (roots == NULL)
        need_input(exchange, ASK_ROOTS, NULL);
    else
        finish_with_text(exchange, "roots: ", text_of(first, "uri"));
}

static void run_input_state(lc_mcp_exchange *exchange, const lc_json *arguments, const char *data)
{
    loci_str state;
    state_check check = open_state(exchange, &state);

    (void)arguments;
    (void)data;
    if (check == STATE_BAD)
        return;
    if (check == STATE_GOOD && response(exchange, "confirm") != NULL)
        finish(exchange, TEXT("state-ok"));
    else
        need_input(exchange, ASK_FORM("confirm", "Please confirm", "ok", "boolean"), "1");
}

static void run_input_multiple(lc_mcp_exchange *exchange, const lc_json *arguments,
                               const char *data)
{
    loci_str state;
    state_check check = open_state(exchange, &state);

    (void)arguments;
    (void)data;
    if (check == STATE_BAD)
        return;
    if (check == STATE_GOOD && response(exchange, "user_name") != NULL &&
        response(exchange, "greeting") != NULL && response(exchange, "client_roots") != NULL)
        finish(exchange, TEXT("all inputs received"));
    else
        need_input(exchange,
                   ASK_NAME "," ASK_SAMPLE("greeting", "Generate a greeting") "," ASK_ROOTS, "1");
}

static void run_input_rounds(lc_mcp_exchange *exchange, const lc_json *arguments, const char *data)
{
    const lc_json *one = accepted(exchange, "step1");
    const lc_json *two = accepted(exchange, "step2");
    loci_str state;
    state_check check = open_state(exchange, &state);
    char text[512];

    (void)arguments;
    (void)data;
    if (check == STATE_BAD)
        return;
    if (check == STATE_GOOD && lc_str_starts(state, LC_STR("2:")) && two != NULL) {
        (void)snprintf(text, sizeof text, "%.*s likes %.*s", (int)(state.len - 2), state.ptr + 2,
                       LC_STR_ARG(text_of(two, "color")));
        finish_with_text(exchange, "", loci_str_of(text));
    } else if (check == STATE_GOOD && one != NULL) {
        (void)snprintf(text, sizeof text, "2:%.*s", LC_STR_ARG(text_of(one, "name")));
        need_input(exchange,
                   ASK_FORM("step2", "Step 2: What is your favorite color?", "color", "string"),
                   text);
    } else {
        need_input(exchange, ASK_FORM("step1", "Step 1: What is your name?", "name", "string"),
                   "1:");
    }
}

static void run_input_capabilities(lc_mcp_exchange *exchange, const lc_json *arguments,
                                   const char *data)
{
    const lc_json *can = lc_mcp_get_client(exchange)->capabilities;
    bool can_sample = lc_json_member(can, LC_STR("sampling")) != NULL;
    bool can_elicit = lc_json_member(can, LC_STR("elicitation")) != NULL;

    (void)arguments;
    (void)data;
    if (can_sample && can_elicit)
        need_input(exchange, ASK_SAMPLE("s", "hi") "," ASK_NAME, NULL);
    else if (can_sample)
        need_input(exchange, ASK_SAMPLE("s", "hi"), NULL);
    else if (can_elicit)
        need_input(exchange, ASK_NAME, NULL);
    else
        finish(exchange, TEXT("no capability"));
}

static void run_streaming_elicitation(lc_mcp_exchange *exchange, const lc_json *arguments,
                                      const char *data)
{
    (void)arguments;
    (void)data;
    if (accepted(exchange, "user_name") != NULL)
        finish(exchange, TEXT("ok"));
    else
        need_input(exchange, ASK_NAME, NULL);
}

/* ---- Other tools ----------------------------------------------------------------------------- */

static void run_missing_capability(lc_mcp_exchange *exchange, const lc_json *arguments,
                                   const char *data)
{
    (void)arguments;
    (void)data;
    if (lc_json_member(lc_mcp_get_client(exchange)->capabilities, LC_STR("sampling")) == NULL)
        lc_mcp_fail(exchange, LC_MCP_MISSING_CAPABILITY, "Missing required client capability",
                    LC_STR("{\"requiredCapabilities\":{\"sampling\":{}}}"));
    else
        finish(exchange, TEXT("ok"));
}

static void run_announce(lc_mcp_exchange *exchange, const lc_json *arguments, const char *data)
{
    (void)arguments;
    lc_mcp_announce(exchange, strcmp(data, "tools") == 0 ? LC_MCP_TOOLS : LC_MCP_PROMPTS);
    finish(exchange, TEXT("ok"));
}

static void run_region(lc_mcp_exchange *exchange, const lc_json *arguments, const char *data)
{
    (void)data;
    finish_with_text(exchange, "region ", text_of(arguments, "region"));
}

#define FORM(properties) "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[]}"
#define OPTIONS                                                                                    \
    "[{\"const\":\"value1\",\"title\":\"First Option\"},{\"const\":\"value2\",\"title\":"          \
    "\"Second Option\"},{\"const\":\"value3\",\"title\":\"Third Option\"}]"

static const char user_form[] =
    "{\"type\":\"object\",\"properties\":{\"username\":{\"type\":\"string\",\"description\":"
    "\"User's response\"},\"email\":{\"type\":\"string\",\"description\":\"User's email "
    "address\"}},\"required\":[\"username\",\"email\"]}";
static const char default_form[] = FORM(
    "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
    "\"age\":{\"type\":\"integer\",\"default\":30},"
    "\"score\":{\"type\":\"number\",\"default\":95.5},"
    "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
    "\"default\":\"active\"},\"verified\":{\"type\":\"boolean\",\"default\":true}");
static const char enum_form[] = FORM(
    "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]},"
    "\"titledSingle\":{\"type\":\"string\",\"oneOf\":" OPTIONS "},"
    "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],\"enumNames\":"
    "[\"Option One\",\"Option Two\",\"Option Three\"]},"
    "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"option1\","
    "\"option2\",\"option3\"]}},"
    "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":" OPTIONS "}}");
static const char schema_2020[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\"$defs\":"
    "{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{\"street\":"
    "{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},\"properties\":{\"name\":{\"type\":"
    "\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},\"contactMethod\":{\"type\":"
    "\"string\",\"enum\":[\"phone\",\"email\"]},\"phone\":{\"type\":\"string\"},\"email\":"
    "{\"type\":\"string\"}},\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":"
    "[\"email\"]}]}],\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"
    "\"required\":[\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},\"else\":"
    "{\"required\":[\"email\"]},\"additionalProperties\":false}";

#define WITH(name)                                                                                 \
    "{\"type\":\"object\",\"properties\":{\"" name                                                 \
    "\":{\"type\":\"string\"}},\"required\":[\"" name "\"]}"
#define INPUT "test_input_required_result_"

static const tool tools[] = {
    {"test_simple_text", EMPTY, run_fixed, TEXT("This is a simple text response for testing.")},
    {"test_image_content", EMPTY, run_fixed,
     "{\"content\":[{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}]}"},
    {"test_audio_content", EMPTY, run_fixed,
     "{\"content\":[{\"type\":\"audio\",\"data\":\"" WAV "\",\"mimeType\":\"audio/wav\"}]}"},
    {"test_embedded_resource", EMPTY, run_fixed,
     "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\","
     "\"mimeType\":\"text/plain\",\"text\":\"This is an embedded resource content.\"}}]}"},
    {"test_multiple_content_types", EMPTY, run_fixed,
     "{\"content\":[{\"type\":\"text\",\"text\":\"Multiple content types test:\"},"
     "{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"},"
     "{\"type\":\"resource\",\"resource\":{\"uri\":\"test://mixed-content-resource\","
     "\"mimeType\":\"application/json\",\"text\":\"{\\\"test\\\":\\\"data\\\",\\\"value\\\":"
     "123}\"}}]}"},
    {"test_error_handling", EMPTY, run_fixed,
     "{\"content\":[{\"type\":\"text\",\"text\":\"This tool intentionally returns an error for "
     "testing\"}],\"isError\":true}"},
    {"test_tool_with_logging", EMPTY, run_logging, NULL},
    {"test_logging_tool", EMPTY, run_logging, NULL},
    {"test_tool_with_progress", EMPTY, run_progress, NULL},
    {"test_sampling", WITH("prompt"), run_sampling, NULL},
    {"test_elicitation", WITH("message"), run_elicitation, user_form},
    {"test_elicitation_sep1034_defaults", EMPTY, run_elicitation, default_form},
    {"test_elicitation_sep1330_enums", EMPTY, run_elicitation, enum_form},
    {"json_schema_2020_12_tool", schema_2020, run_fixed, TEXT("ok")},
    {"test_header_param",
     "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\",\"x-mcp-header\":"
     "\"Region\"}},\"required\":[\"region\"]}",
     run_region, NULL},
    {"test_missing_capability", EMPTY, run_missing_capability, NULL},
    {"test_streaming_elicitation", EMPTY, run_streaming_elicitation, NULL},
    {"test_trigger_tool_change", EMPTY, run_announce, "tools"},
    {"test_trigger_prompt_change", EMPTY, run_announce, "prompts"},
    {INPUT "elicitation", EMPTY, run_input_elicitation, NULL},
    {INPUT "sampling", EMPTY, run_input_sampling, NULL},
    {INPUT "list_roots", EMPTY, run_input_roots, NULL},
    {INPUT "request_state", EMPTY, run_input_state, NULL},
    {INPUT "tampered_state", EMPTY, run_input_state, NULL},
    {INPUT "multiple_inputs", EMPTY, run_input_multiple, NULL},
    {INPUT "multi_round", EMPTY, run_input_rounds, NULL},
    {INPUT "capabilities", EMPTY, run_input_capabilities, NULL},
};

#define TOOL_COUNT (sizeof tools / sizeof tools[0])

static void call_tool(void *ctx, lc_mcp_exchange *exchange, loci_str name, const lc_json *arguments)
{
    (void)ctx;
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        if (lc_str_is(name, tools[i].name)) {
            tools[i].run(exchange, arguments, tools[i].data);
            return;
        }
    }
    lc_mcp_fail(exchange, LC_MCP_INTERNAL_ERROR, "a listed tool is missing", LC_STR_NONE);
}

/* ---- Resources and prompts ------------------------------------------------------------------- */

static const char resources[] =
    "{\"resources\":["
    "{\"uri\":\"test://static-text\",\"name\":\"static-text\",\"description\":\"Static text\","
    "\"mimeType\":\"text/plain\"},"
    "{\"uri\":\"test://static-binary\",\"name\":\"static-binary\",\"description\":\"Static "
    "binary\",\"mimeType\":\"image/png\"},"
    "{\"uri\":\"test://watched-resource\",\"name\":\"watched\",\"description\":\"Watched\","
    "\"mimeType\":\"text/plain\"}]}";

static void list_resources(void *ctx, lc_mcp_exchange *exchange, loci_str cursor)
{
    (void)ctx;
    if (cursor.len > 0)
        lc_mcp_fail(exchange, LC_MCP_INVALID_PARAMS, "unknown cursor", LC_STR_NONE);
    else
        finish(exchange, resources);
}

static void read_template(lc_mcp_exchange *exchange, loci_str uri, loci_str id)
{
    lc_json_writer w, inner;
    lc_buf out, text;

    lc_buf_init(&out, lc_mcp_arena(exchange)->heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_buf_init(&text, lc_mcp_arena(exchange)->heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_jw_init(&inner, &text);
    lc_jw_object(&inner);
    lc_jw_member_str(&inner, "id", id);
    lc_jw_member_bool(&inner, "templateTest", true);
    lc_jw_member_text(&inner, "data", "Data for ID");
    lc_jw_end(&inner);
    lc_jw_init(&w, &out);
    lc_jw_object(&w);
    lc_jw_name(&w, "contents");
    lc_jw_array(&w);
    lc_jw_object(&w);
    lc_jw_member_str(&w, "uri", uri);
    lc_jw_member_text(&w, "mimeType", "application/json");
    lc_jw_member_str(&w, "text", lc_buf_str(&text));
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_mcp_finish(exchange, lc_buf_str(&out));
    lc_buf_clear(&out);
    lc_buf_clear(&text);
}

static void read_resource(void *ctx, lc_mcp_exchange *exchange, loci_str uri)
{
    static const loci_str prefix = LC_STR("test://template/"), suffix = LC_STR("/data");

    (void)ctx;
    if (lc_str_is(uri, "test://static-text"))
        finish(exchange, "{\"contents\":[{\"uri\":\"test://static-text\",\"mimeType\":"
                         "\"text/plain\",\"text\":\"This is the content of the static text "
                         "resource.\"}]}");
    else if (lc_str_is(uri, "test://static-binary"))
        finish(exchange, "{\"contents\":[{\"uri\":\"test://static-binary\",\"mimeType\":"
                         "\"image/png\",\"blob\":\"" PNG "\"}]}");
    else if (lc_str_is(uri, "test://watched-resource"))
        finish(exchange, "{\"contents\":[{\"uri\":\"test://watched-resource\",\"mimeType\":"
                         "\"text/plain\",\"text\":\"watched\"}]}");
    else if (lc_str_starts(uri, prefix) && uri.len > prefix.len + suffix.len &&
             memcmp(uri.ptr + uri.len - suffix.len, suffix.ptr, suffix.len) == 0)
        read_template(exchange, uri,
                      (loci_str){uri.ptr + prefix.len, uri.len - prefix.len - suffix.len});
    else
        lc_mcp_fail(exchange, LC_MCP_RESOURCE_NOT_FOUND, "Resource not found", LC_STR_NONE);
}

static const char prompts[] =
    "[{\"name\":\"test_simple_prompt\",\"description\":\"Simple\"},"
    "{\"name\":\"test_prompt_with_arguments\",\"description\":\"Arguments\",\"arguments\":["
    "{\"name\":\"arg1\",\"description\":\"First\",\"required\":true},"
    "{\"name\":\"arg2\",\"description\":\"Second\",\"required\":true}]},"
    "{\"name\":\"test_prompt_with_embedded_resource\",\"description\":\"Embedded\",\"arguments\":["
    "{\"name\":\"resourceUri\",\"description\":\"Resource\",\"required\":true}]},"
    "{\"name\":\"test_prompt_with_image\",\"description\":\"Image\"},"
    "{\"name\":\"test_input_required_result_prompt\",\"description\":\"Input required\"}]";

#define USER(content) "{\"role\":\"user\",\"content\":" content "}"
#define USER_TEXT(text) USER("{\"type\":\"text\",\"text\":\"" text "\"}")

static void finish_prompt(lc_mcp_exchange *exchange, const char *text)
{
    lc_json_writer w;
    lc_buf out;

    lc_buf_init(&out, lc_mcp_arena(exchange)->heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_jw_init(&w, &out);
    lc_jw_object(&w);
    lc_jw_name(&w, "messages");
    lc_jw_array(&w);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "role", "user");
    lc_jw_name(&w, "content");
    lc_jw_object(&w);
    lc_jw_member_text(&w, "type", "text");
    lc_jw_member_text(&w, "text", text);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_mcp_finish(exchange, lc_buf_str(&out));
    lc_buf_clear(&out);
}

static void finish_embedded(lc_mcp_exchange *exchange, loci_str uri)
{
    lc_json_writer w;
    lc_buf out;

    lc_buf_init(&out, lc_mcp_arena(exchange)->heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_jw_init(&w, &out);
    lc_jw_object(&w);
    lc_jw_name(&w, "messages");
    lc_jw_array(&w);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "role", "user");
    lc_jw_name(&w, "content");
    lc_jw_object(&w);
    lc_jw_member_text(&w, "type", "resource");
    lc_jw_name(&w, "resource");
    lc_jw_object(&w);
    lc_jw_member_str(&w, "uri", uri);
    lc_jw_member_text(&w, "mimeType", "text/plain");
    lc_jw_member_text(&w, "text", "Embedded resource content for testing.");
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_raw(&w, LC_STR(USER_TEXT("Please process the embedded resource above.")));
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_mcp_finish(exchange, lc_buf_str(&out));
    lc_buf_clear(&out);
}

static void get_prompt(void *ctx, lc_mcp_exchange *exchange, loci_str name,
                       const lc_json *arguments)
{
    const lc_json *content;
    char text[2100];

    (void)ctx;
    if (lc_str_is(name, "test_simple_prompt")) {
        finish(exchange, "{\"messages\":[" USER_TEXT("This is a simple prompt for testing.") "]}");
    } else if (lc_str_is(name, "test_prompt_with_arguments")) {
        (void)snprintf(text, sizeof text, "Prompt with arguments: arg1='%.*s', arg2='%.*s'",
                       LC_STR_ARG(text_of(arguments, "arg1")),
                       LC_STR_ARG(text_of(arguments, "arg2")));
        finish_prompt(exchange, text);
    } else if (lc_str_is(name, "test_prompt_with_embedded_resource")) {
        finish_embedded(exchange, text_of(arguments, "resourceUri"));
    } else if (lc_str_is(name, "test_prompt_with_image")) {
        finish(exchange, "{\"messages\":[" USER("{\"type\":\"image\",\"data\":\"" PNG
                                                "\",\"mimeType\":\"image/png\"}") "," //
               USER_TEXT("Please analyze the image above.") "]}");
    } else {
        content = accepted(exchange, "user_context");
        (void)snprintf(text, sizeof text, "context: %.*s", LC_STR_ARG(text_of(content, "context")));
        if (content == NULL)
            need_input(exchange,
                       ASK_FORM("user_context", "What context should the prompt use?", "context",
                                "string"),
                       NULL);
        else
            finish_prompt(exchange, text);
    }
}

static void complete(void *ctx, lc_mcp_exchange *exchange, const lc_json *ref,
                     const lc_json *argument)
{
    (void)ctx;
    (void)ref;
    (void)argument;
    finish(exchange, "{\"completion\":{\"values\":[\"paris\",\"park\",\"party\"],\"total\":3,"
                     "\"hasMore\":false}}");
}

static bool is_changed_by(void *ctx, loci_str uri, loci_str event_type)
{
    (void)ctx;
    (void)uri;
    (void)event_type;
    return false; /* There is no log. */
}

/* ---- Serving --------------------------------------------------------------------------------- */

typedef struct fixture {
    lc_env env;
    lc_mcp_http *mcp;
    lc_identity who;
} fixture;

static void handle(void *ctx, lc_http_request *request)
{
    fixture *f = ctx;
    lc_access_record *record = lc_arena_alloc(lc_http_arena(request), sizeof *record);

    if (record == NULL)
        abort();
    *record = (lc_access_record){.started_us = lc_clock_monotonic_us(), .route = LC_STR("-")};
    lc_http_set_state(request, record);
    if (!lc_str_is(lc_http_path(request), "/mcp"))
        lc_http_answer(request, &(lc_http_reply){.status = 404});
    else if (lc_str_is(lc_http_method(request), "POST") ||
             lc_str_is(lc_http_method(request), "GET") ||
             lc_str_is(lc_http_method(request), "DELETE"))
        lc_mcp_http_handle(f->mcp, request, &f->who);
    else
        lc_reply_method_not_allowed(request, "GET, POST, DELETE");
}

/* The list of tools as JSON. */
static void write_tools(lc_buf *out)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_array(&w);
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        lc_jw_object(&w);
        lc_jw_member_text(&w, "name", tools[i].name);
        lc_jw_member_text(&w, "description", tools[i].name);
        lc_jw_member_raw(&w, "inputSchema", loci_str_of(tools[i].schema));
        lc_jw_end(&w);
    }
    lc_jw_end(&w);
}

static void die(const loci_error *err)
{
    (void)fprintf(stderr, "mcp_fixture: %s\n", err->message);
    exit(1);
}

int main(int argc, char **argv)
{
    static fixture f;
    lc_mcp_provider provider = {
        .name = "loci-fixture",
        .title = "Conformance fixtures",
        .version = "1",
        .instructions = LC_STR("Fixtures of the conformance suite."),
        .prompts = {prompts, sizeof prompts - 1},
        .templates = LC_STR("[{\"uriTemplate\":\"test://template/{id}/data\",\"name\":"
                            "\"template\",\"description\":\"Template\",\"mimeType\":"
                            "\"application/json\"}]"),
        .call_tool = call_tool,
        .list_resources = list_resources,
        .read_resource = read_resource,
        .get_prompt = get_prompt,
        .complete = complete,
        .is_changed_by = is_changed_by,
        .lists_change = true,
    };
    char listen[32];
    lc_http_options http_options = {.listen = listen, .handle = handle, .ctx = &f};
    lc_http *http = NULL;
    loci_error err;
    lc_buf list;

    f.env.clock = lc_clock_system_us;
    f.who.token_id = "anyone";
    lc_heap_init(&f.env.heap, (loci_allocator){0});
    lc_random_init(&f.env.random, 1);
    if (!lc_random_secret(state_key, sizeof state_key))
        abort();
    lc_buf_init(&list, &f.env.heap, LOCI_MEM_ENGINE, 1u << 20);
    write_tools(&list);
    provider.tools = lc_buf_str(&list);
    if (lc_mcp_http_new(&(lc_mcp_http_options){.env = &f.env, .provider = &provider}, &f.mcp,
                        &err) != LOCI_OK)
        die(&err);
    (void)snprintf(listen, sizeof listen, "127.0.0.1:%ld",
                   argc > 1 ? strtol(argv[1], NULL, 10) : 0L);
    if (lc_http_start(&f.env, &http_options, &http, &err) != LOCI_OK)
        die(&err);
    (void)printf("http://127.0.0.1:%d/mcp\n", lc_http_port(http));
    (void)fflush(stdout);
    while (getchar() != EOF)
        continue;
    lc_http_stop(http);
    lc_mcp_http_free(f.mcp);
    lc_buf_clear(&list);
    return 0;
}
