#include "server/http_guard.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "lib/test.h"

static const char *const hosts[] = {"loci.example.org", "proxy:8443", NULL};
static const lc_http_rules rules = {
    .header_bytes_max = 1000, .body_bytes_max = 100, .address = "10.0.0.7", .hosts = hosts};

/* Judges headers written as "Name: value|Name: value". */
static lc_http_verdict judge(const char *headers)
{
    lc_http_field fields[LC_HTTP_FIELDS_MAX + 1];
    lc_http_head head = {
        .method = LC_STR("GET"), .target = LC_STR("/"), .fields = fields, .bytes = strlen(headers)};
    loci_str rest = loci_str_of(headers);

    while (rest.len > 0) {
        loci_str line = lc_str_split(rest, '|', &rest), value = LC_STR_NONE;
        loci_str name = lc_str_split(line, ':', &value);

        fields[head.field_count++] = (lc_http_field){name, value};
    }
    return lc_http_guard_check(&head, &rules);
}

/* Each can be read in two ways by a proxy and by us, or names a host that is not ours. */
TEST(http_guard, refuses_what_can_be_read_in_two_ways)
{
    static const struct {
        const char *headers;
        int status; /* 0 = let in. */
    } cases[] = {
        {"Host: localhost", 0},
        {"Host: localhost|Content-Length: 5", 0},
        {"Host: localhost|Transfer-Encoding: chunked", 411},
        {"Host: localhost|Transfer-Encoding: Chunked", 411},
        {"Host: localhost|Content-Length: 100", 0},
        {"Host: localhost|Content-Length: 101", 413},
        {"Host: localhost|Content-Length: 5|Transfer-Encoding: chunked", 400},
        {"Host: localhost|Transfer-Encoding: chunked|Content-Length: 5", 400},
        {"Host: localhost|Content-Length: 5|Content-Length: 6", 400},
        {"Host: localhost|Content-Length: 5|Content-Length: 5", 400},
        {"Host: localhost|content-length: 5|CONTENT-LENGTH: 5", 400},
        {"Host: localhost|Content-Length: 5, 5", 400},
        {"Host: localhost|Content-Length: +5", 400},
        {"Host: localhost|Content-Length: -5", 400},
        {"Host: localhost|Content-Length: 0x5", 400},
        {"Host: localhost|Content-Length: 5 5", 400},
        {"Host: localhost|Content-Length:", 400},
        {"Host: localhost|Content-Length: 99999999999999999999", 400},
        {"Host: localhost|Content-Length : 5", 400},
        {"Host: localhost|Transfer-Encoding: xchunked", 400},
        {"Host: localhost|Transfer-Encoding: chunked, chunked", 400},
        {"Host: localhost|Transfer-Encoding: gzip, chunked", 400},
        {"Host: localhost|Transfer-Encoding: identity", 400},
        {"Host: localhost|Transfer-Encoding:", 400},
        {"Host: localhost|Transfer-Encoding: chunked|Transfer-Encoding: chunked", 400},
        {"Host: localhost|Transfer-Encoding: \vchunked", 400},
        {"Host: localhost|: empty", 400},
        {"Host: localhost| X: leading space", 400},
        {"Host: localhost|X Y: z", 400},
        {"Host: localhost|X: a\rb", 400},
        {"Host: localhost|X: a\177", 400},
        {"Host: localhost|X: tab\tand \303\266", 0},
        {"", 400},
        {"Host: localhost|Host: localhost", 400},
        {"Host: localhost|host: evil.com", 400},
        {"Host:", 421},
        {"Host: evil.com", 421},
        {"Host: localhost|Origin: http://localhost:3000", 0},
        {"Host: localhost|Origin: https://loci.example.org", 0},
        {"Host: localhost|Origin: http://evil.com", 403},
        {"Host: localhost|Authorization: Bearer a", 0},
        {"Host: localhost|Authorization: Bearer a|authorization: Bearer a", 400},
        {"Host: localhost|Origin: null", 403},
        {"Host: localhost|Origin:", 403},
        {"Host: localhost|Origin: file://localhost", 403},
        {"Host: localhost|Origin: http://localhost/path", 403},
        {"Host: localhost|Origin: http://localhost.evil.com", 403},
        {"Host: localhost|Origin: http://a@localhost", 403},
        {"Host: localhost|Origin: http://localhost|Origin: http://localhost", 403},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lc_http_verdict verdict = judge(cases[i].headers);

        if (verdict.http_status != cases[i].status)
            test_fail(__FILE__, __LINE__, "%s: expected %d, was %d", cases[i].headers,
                      cases[i].status, verdict.http_status);
        CHECK(verdict.http_status == 0 || verdict.detail != NULL);
    }
}

TEST(http_guard, reports_the_size_of_the_body)
{
    CHECK_EQ(judge("Host: localhost").body_bytes, 0);
    CHECK_EQ(judge("Host: localhost|Content-Length: 0").body_bytes, 0);
    CHECK_EQ(judge("Host: localhost|Content-Length: 7").body_bytes, 7);
}

TEST(http_guard, refuses_chunks_of_http_1_0)
{
    lc_http_field fields[] = {{LC_STR("Host"), LC_STR("localhost")},
                              {LC_STR("Transfer-Encoding"), LC_STR("chunked")}};
    lc_http_head head = {
        .method = LC_STR("POST"), .is_http_1_0 = true, .fields = fields, .field_count = 2};

    CHECK_EQ(lc_http_guard_check(&head, &rules).http_status, 400);
    head.field_count = 1;
    CHECK_EQ(lc_http_guard_check(&head, &rules).http_status, 0);
}

TEST(http_guard, holds_its_limits)
{
    lc_http_field fields[LC_HTTP_FIELDS_MAX + 1];
    lc_http_head head = {.method = LC_STR("GET"), .fields = fields, .bytes = 1000};

    fields[0] = (lc_http_field){LC_STR("Host"), LC_STR("localhost")};
    for (size_t i = 1; i <= LC_HTTP_FIELDS_MAX; i++)
        fields[i] = (lc_http_field){LC_STR("X"), LC_STR("")};
    for (size_t count = LC_HTTP_FIELDS_MAX - 1; count <= LC_HTTP_FIELDS_MAX + 1; count++) {
        head.field_count = count;
        CHECK_EQ(lc_http_guard_check(&head, &rules).http_status,
                 count <= LC_HTTP_FIELDS_MAX ? 0 : 431);
    }
    head.field_count = 1;
    for (size_t bytes = 999; bytes <= 1001; bytes++) {
        head.bytes = bytes;
        CHECK_EQ(lc_http_guard_check(&head, &rules).http_status, bytes <= 1000 ? 0 : 431);
    }
    head.bytes = 10;
    head.query_count = LC_HTTP_FIELDS_MAX + 1;
    CHECK_EQ(lc_http_guard_check(&head, &rules).http_status, 414);
}

TEST(http_guard, knows_its_hosts)
{
    static const struct {
        const char *host;
        bool is_ours;
    } cases[] = {
        {"localhost", true},
        {"LocalHost:7077", true},
        {"127.0.0.1", true},
        {"127.9.9.9:1", true},
        {"[::1]:7077", true},
        {"[::1]", true},
        {"[0:0:0:0:0:0:0:1]", true},
        {"[::ffff:127.0.0.1]", true},
        {"10.0.0.7:80", true},
        {"10.0.0.8", false},
        {"LOCI.example.ORG:99999", true},
        {"loci.example.org.", false},
        {"loci.example.org.evil.com", false},
        {"proxy:8443", true},
        {"proxy", false},
        {"proxy:8444", false},
        {"0x7f.1", false},
        {"127.1", false},
        {"2130706433", false},
        {"localhost:", true},
        {"localhost:80a", false},
        {"localhost:123456", false},
        {"localhost:80:80", false},
        {"[::1", false},
        {"[::1]x", false},
        {"[localhost]", false},
        {"[]", false},
        {"::1", false},
        {"", false},
        {":80", false},
        {"user@localhost", false},
        {"localhost/", false},
    };
    lc_http_rules any = {.address = "0.0.0.0"}, any_v6 = {.address = "::"}, none = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (lc_http_guard_is_our_host(loci_str_of(cases[i].host), &rules) != cases[i].is_ours)
            test_fail(__FILE__, __LINE__, "Host: %s", cases[i].host);
    }
    /* Where all addresses are listened on any of them will do, but no unlisted name. */
    CHECK(lc_http_guard_is_our_host(LC_STR("192.168.1.5:7077"), &any));
    CHECK(lc_http_guard_is_our_host(LC_STR("[fe80::1]"), &any_v6));
    CHECK(!lc_http_guard_is_our_host(LC_STR("evil.com"), &any));
    CHECK(!lc_http_guard_is_our_host(LC_STR("192.168.1.5"), &none));
    CHECK(lc_http_guard_is_our_host(LC_STR("localhost"), &none));
}

TEST(http_guard, takes_decent_trace_ids)
{
    char *longest = test_bytes(LC_HTTP_TRACE_ID_BYTES_MAX + 1);

    CHECK(lc_http_guard_is_trace_id(LC_STR("req_01-A.b:9")));
    CHECK(!lc_http_guard_is_trace_id(LC_STR("")));
    CHECK(!lc_http_guard_is_trace_id(LC_STR("a b")));
    CHECK(!lc_http_guard_is_trace_id(LC_STR("a\"b")));
    CHECK(!lc_http_guard_is_trace_id(LC_STR("a\nb")));
    CHECK(!lc_http_guard_is_trace_id(LC_STR("\303\266")));
    CHECK(!lc_http_guard_is_trace_id((loci_str){"a\0b", 3}));
    memset(longest, 'x', LC_HTTP_TRACE_ID_BYTES_MAX + 1);
    CHECK(lc_http_guard_is_trace_id((loci_str){longest, LC_HTTP_TRACE_ID_BYTES_MAX - 1}));
    CHECK(lc_http_guard_is_trace_id((loci_str){longest, LC_HTTP_TRACE_ID_BYTES_MAX}));
    CHECK(!lc_http_guard_is_trace_id((loci_str){longest, LC_HTTP_TRACE_ID_BYTES_MAX + 1}));
}

TEST(http_guard, knows_targets)
{
    CHECK(lc_http_guard_is_target(LC_STR("/")));
    CHECK(lc_http_guard_is_target(LC_STR("/a%20b?c=d&e")));
    CHECK(lc_http_guard_is_target(LC_STR("*")));
    CHECK(!lc_http_guard_is_target(LC_STR("")));
    CHECK(!lc_http_guard_is_target(LC_STR("http://evil.com/")));
    CHECK(!lc_http_guard_is_target(LC_STR("/a b")));
    CHECK(!lc_http_guard_is_target(LC_STR("/a\tb")));
    CHECK(!lc_http_guard_is_target(LC_STR("/a#b")));
    CHECK(!lc_http_guard_is_target(LC_STR("/\303\266")));
}

TEST(http_guard, decodes_escapes)
{
    static const struct {
        const char *text;
        const char *decoded; /* NULL = refused. */
    } cases[] = {
        {"", ""},        {"plain", "plain"},     {"%41%6a%6A", "Ajj"}, {"a%20b", "a b"},
        {"%", NULL},     {"%4", NULL},           {"%4g", NULL},        {"a%zzb", NULL},
        {"x%00y", NULL}, {"%c3%b6", "\303\266"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[32];
        size_t len = strlen(cases[i].text);

        snprintf(text, sizeof text, "%s", cases[i].text);
        CHECK_EQ(lc_http_guard_decode(text, &len), cases[i].decoded != NULL);
        if (cases[i].decoded != NULL)
            CHECK_STR_EQ(((loci_str){text, len}), cases[i].decoded);
    }
}

/* The buffer as libmicrohttpd leaves it: separators are NULs, and pointers lead into it. */
TEST(http_guard, sees_gaps)
{
    static const char buffer[] = "GET\0/a\0HTTP/1.1\0\0Host\0 x\0\0B\0y\0\0\0";
    const char *end = buffer + sizeof buffer;
    lc_http_field fields[] = {{{buffer + 17, 4}, {buffer + 23, 1}},
                              {{buffer + 26, 1}, {buffer + 28, 1}}};
    lc_http_head head = {
        .method = {buffer, 3}, .target = {buffer + 4, 2}, .fields = fields, .field_count = 2};

    CHECK_EQ(end - buffer, 33);
    CHECK(lc_http_guard_is_gapless(&head, buffer + 7, end));
    CHECK(!lc_http_guard_is_gapless(&head, buffer + 7, end - 1)); /* A line ended by LF alone. */
    CHECK(!lc_http_guard_is_gapless(&head, buffer + 8, end));     /* A NUL in the target. */
    fields[1].value.len = 0;                                      /* A NUL in a value. */
    CHECK(!lc_http_guard_is_gapless(&head, buffer + 7, end));
    fields[1].value.len = 1;
    fields[0].value.ptr = buffer + 24; /* Something but white space was skipped. */
    CHECK(!lc_http_guard_is_gapless(&head, buffer + 7, end));
    head.field_count = 1; /* A line that is no field. */
    CHECK(!lc_http_guard_is_gapless(&head, buffer + 7, end));
}
