/* http_reply.c - zlib at its fastest level, with its tables in the arena of the request.
 *
 * The output buffer is one byte shorter than the body, so packing fails by itself when the body
 * does not shrink. A small body gets small tables: clearing the default ones (256 KiB) costs more
 * than the packing. */
#include "server/http_reply.h"

#include <zlib.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "server/http_guard.h"
#include "server/http_private.h"

#define LEVEL 1
#define GZIP_WRAPPER 16 /* Added to the window's bits. */
#define SMALL_BODY_BYTES (16u * 1024)

/* ---- gzip ------------------------------------------------------------------------------------ */

static bool has_quality_0(loci_str parameters)
{
    loci_str rest = parameters;

    while (rest.len > 0) {
        loci_str one = lc_str_trim(lc_str_split(rest, ';', &rest));

        if (one.len < 3 || (one.ptr[0] != 'q' && one.ptr[0] != 'Q') || one.ptr[1] != '=')
            continue;
        for (size_t i = 2; i < one.len; i++) {
            if (one.ptr[i] != '0' && one.ptr[i] != '.')
                return false;
        }
        return true;
    }
    return false;
}

bool lc_gzip_is_accepted(loci_str accept_encoding)
{
    loci_str rest = accept_encoding;
    bool is_any_accepted = false;

    while (rest.len > 0) {
        loci_str parameters = LC_STR_NONE;
        loci_str one = lc_str_split(rest, ',', &rest);
        loci_str name = lc_str_trim(lc_str_split(one, ';', &parameters));

        if (lc_http_is_same_name(name, LC_STR("gzip")))
            return !has_quality_0(parameters);
        if (lc_str_is(name, "*"))
            is_any_accepted = !has_quality_0(parameters);
    }
    return is_any_accepted;
}

static voidpf zlib_alloc(voidpf opaque, uInt count, uInt each_bytes)
{
    return lc_arena_zalloc_array(opaque, count, each_bytes);
}

static void zlib_free(voidpf opaque, voidpf block)
{
    (void)opaque; /* The arena frees everything at once. */
    (void)block;
}

bool lc_gzip_pack(lc_arena *arena, loci_str body, loci_str *out)
{
    bool is_small = body.len <= SMALL_BODY_BYTES;
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = arena};
    char *packed;
    int answer;

    if (body.len < LC_GZIP_BYTES_MIN || body.len > UINT32_MAX / 2)
        return false;
    packed = lc_arena_alloc(arena, body.len - 1);
    if (packed == NULL ||
        deflateInit2(&stream, LEVEL, Z_DEFLATED, (is_small ? 12 : MAX_WBITS) + GZIP_WRAPPER,
                     is_small ? 5 : 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    stream.next_in = (Bytef *)(uintptr_t)body.ptr;
    stream.avail_in = (uInt)body.len;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)(body.len - 1);
    answer = deflate(&stream, Z_FINISH);
    (void)deflateEnd(&stream); /* Fails only when output is left, which `answer` shows. */
    if (answer != Z_STREAM_END)
        return false;
    *out = (loci_str){packed, stream.total_out};
    return true;
}

bool lc_gzip_unpack(lc_arena *arena, loci_str packed, size_t bytes, loci_str *out)
{
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = arena};
    char *text = lc_arena_alloc(arena, bytes);
    int answer;

    if (text == NULL || bytes > UINT32_MAX || packed.len > UINT32_MAX ||
        inflateInit2(&stream, MAX_WBITS + GZIP_WRAPPER) != Z_OK)
        return false;
    stream.next_in = (Bytef *)(uintptr_t)packed.ptr;
    stream.avail_in = (uInt)packed.len;
    stream.next_out = (Bytef *)text;
    stream.avail_out = (uInt)bytes;
    answer = inflate(&stream, Z_FINISH);
    (void)inflateEnd(&stream); /* Its memory is the arena's. */
    if (answer != Z_STREAM_END || stream.total_out != bytes)
        return false;
    *out = (loci_str){text, bytes};
    return true;
}

/* ---- Problem documents ----------------------------------------------------------------------- */

const char *lc_http_title(int http_status)
{
    static const struct {
        int http_status;
        const char *title;
    } titles[] = {
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {411, "Length Required"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {421, "Misdirected Request"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
        {507, "Insufficient Storage"},
    };

    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        if (titles[i].http_status == http_status)
            return titles[i].title;
    }
    return "Unknown";
}

/* Adds the members of `json` that the document does not have already. */
static void write_data(lc_json_writer *w, lc_arena *scratch, const char *json)
{
    static const char *const members[] = {"type", "title",    "status", "detail",
                                          "code", "trace_id", NULL};
    const lc_json *data;

    if (json == NULL || json[0] == '\0' ||
        lc_json_parse(scratch, loci_str_of(json), LC_JSON_ALLOW_NUL, &data, NULL) != LOCI_OK ||
        lc_json_kind_of(data) != LC_JSON_OBJECT)
        return;
    for (const lc_json *member = lc_json_first(data); member != NULL;
         member = lc_json_next(member)) {
        size_t i = 0;

        while (members[i] != NULL && !lc_str_is(lc_json_name(member), members[i]))
            i++;
        if (members[i] != NULL)
            continue;
        lc_jw_name_str(w, lc_json_name(member));
        lc_jw_value(w, member);
    }
}

void lc_problem_write(const lc_problem *problem, lc_arena *scratch, lc_buf *out)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "type", "about:blank");
    lc_jw_member_text(&w, "title", lc_http_title(problem->http_status));
    lc_jw_member_int(&w, "status", problem->http_status);
    lc_jw_member_text(&w, "detail", problem->detail);
    lc_jw_member_text(&w, "code", loci_status_name(problem->code));
    if (problem->trace_id != NULL)
        lc_jw_member_text(&w, "trace_id", problem->trace_id);
    write_data(&w, scratch, problem->data);
    lc_jw_end(&w);
}

/* Sends `err` with the status and headers of `reply`. */
static void answer_problem(lc_http_request *request, lc_http_reply *reply, const loci_error *err)
{
    lc_problem problem = {.http_status = reply->status,
                          .code = err->status,
                          .detail = err->message,
                          .trace_id = request->trace_id,
                          .data = err->data};
    lc_buf text;

    lc_buf_init(&text, request->arena.heap, LOCI_MEM_REQUESTS, LC_PROBLEM_BYTES_MAX);
    lc_problem_write(&problem, &request->arena, &text);
    reply->content_type = LC_PROBLEM_TYPE;
    if (lc_buf_status(&text, NULL) == LOCI_OK)
        reply->body = lc_buf_str(&text);
    lc_http_answer(request, reply);
    lc_buf_clear(&text);
}

void lc_http_answer_error(lc_http_request *request, const loci_error *err)
{
    int64_t retry_ms = lc_error_retry_ms(err);
    lc_http_reply reply = {.status = loci_status_http(err->status),
                           .authenticate = err->status == LOCI_EAUTH ? "Bearer" : NULL,
                           .retry_after_s = retry_ms > 0 ? (retry_ms + 999) / 1000
                                            : err->status == LOCI_EUNAVAILABLE ? 1
                                                                               : 0};

    /* A limit that time lifts is one of rate, not of size. */
    if (err->status == LOCI_ELIMIT && retry_ms > 0)
        reply.status = 429;

    answer_problem(request, &reply, err);
}

void lc_http_answer_not_allowed(lc_http_request *request, const char *allow)
{
    lc_http_reply reply = {.status = 405, .allow = allow};
    loci_error err;

    (void)lc_fail(&err, LOCI_EUNSUPPORTED, "this path allows %s", allow);
    answer_problem(request, &reply, &err);
}
