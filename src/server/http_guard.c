/* http_guard.c - A request is accepted unless a rule refuses it. The rules go from the bytes to
 * their meaning, so that a later one can rely on the earlier ones. */
#include "server/http_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/str.h"

static lc_http_verdict refuse(int http_status, loci_status status, const char *detail)
{
    return (lc_http_verdict){.http_status = http_status, .status = status, .detail = detail};
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + 32) : letter;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

bool lc_http_is_same_name(loci_str a, loci_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.ptr[i]) != lower(b.ptr[i]))
            return false;
    }
    return true;
}

/* RFC 9110, 5.6.2: the bytes of a token as a bit set of ASCII, 64 per word. */
static const uint64_t token_bytes[2] = {
    UINT64_C(0x03FF6CFA00000000), /* ! # $ % & ' * + - . 0-9 */
    UINT64_C(0x57FFFFFFC7FFFFFE), /* A-Z ^ _ ` a-z | ~ */
};

static bool is_token(loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];

        if (byte >= 128 || (token_bytes[byte / 64] >> byte % 64 & 1) == 0)
            return false;
    }
    return text.len > 0;
}

/* No control characters but tabs. */
static bool is_field_value(loci_str text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones * 0x80;
    uint64_t block;
    size_t at = 0;

    /* Skip 8 bytes per step while all are printable ASCII. A byte above 0x7F ends this too, because
     * it can borrow from its neighbour; the loop below decides then. */
    for (; text.len - at >= sizeof block; at += sizeof block) {
        memcpy(&block, text.ptr + at, sizeof block);
        if (((block | (block - ones * 0x20) | ((block ^ ones * 0x7F) - ones)) & tops) != 0)
            break;
    }
    for (; at < text.len; at++) {
        unsigned char byte = (unsigned char)text.ptr[at];

        if ((byte < 0x20 && byte != '\t') || byte == 0x7F)
            return false;
    }
    return true;
}

bool lc_http_guard_is_target(loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];

        if (byte <= 0x20 || byte >= 0x7F || byte == '#')
            return false;
    }
    return text.len > 0 && (text.ptr[0] == '/' || lc_str_is(text, "*"));
}

/* ---- Host and Origin ------------------------------------------------------------------------- */

/* Splits "name:port" or "[v6]:port", with or without a port; false for anything else. */
static bool split_host(loci_str text, loci_str *name, bool *out_is_v6)
{
    loci_str port = LC_STR_NONE;
    const char *bracket;

    *out_is_v6 = text.len > 0 && text.ptr[0] == '[';
    if (*out_is_v6) {
        bracket = memchr(text.ptr, ']', text.len);
        if (bracket == NULL)
            return false;
        *name = (loci_str){text.ptr + 1, (size_t)(bracket - text.ptr) - 1};
        port = (loci_str){bracket + 1, text.len - name->len - 2};
        if (port.len > 0 && port.ptr[0] != ':')
            return false;
        if (port.len > 0)
            port = (loci_str){port.ptr + 1, port.len - 1};
    } else {
        *name = lc_str_split(text, ':', &port);
    }
    for (size_t i = 0; i < port.len; i++) {
        if (!is_digit(port.ptr[i]))
            return false;
    }
    return name->len > 0 && port.len <= 5;
}

/* A literal address as 16 bytes, v4 ones mapped; false for a name. */
static bool parse_address(loci_str text, bool is_v6, struct in6_addr *out)
{
    char copy[INET6_ADDRSTRLEN];
    struct in_addr v4;

    if (text.len >= sizeof copy)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (is_v6)
        return inet_pton(AF_INET6, copy, out) == 1;
    if (inet_pton(AF_INET, copy, &v4) != 1)
        return false;
    memset(out, 0, sizeof *out);
    out->s6_addr[10] = out->s6_addr[11] = 0xFF;
    memcpy(&out->s6_addr[12], &v4, sizeof v4);
    return true;
}

/* Loopback, or the address that is listened on. A page that reaches us by DNS rebinding has a name
 * as Host, never an address; so a server on all addresses accepts every literal address. */
static bool is_our_address(const struct in6_addr *address, const lc_http_rules *rules)
{
    static const struct in6_addr any_v4 = {.s6_addr = {[10] = 0xFF, [11] = 0xFF}};
    loci_str ours = loci_str_of(rules->address);
    struct in6_addr parsed;

    if (IN6_IS_ADDR_LOOPBACK(address) ||
        (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127))
        return true;
    if (rules->address == NULL ||
        !parse_address(ours, memchr(ours.ptr, ':', ours.len) != NULL, &parsed))
        return false;
    return IN6_IS_ADDR_UNSPECIFIED(&parsed) || memcmp(&parsed, &any_v4, sizeof parsed) == 0 ||
           memcmp(address, &parsed, sizeof parsed) == 0;
}

bool lc_http_guard_is_our_host(loci_str host, const lc_http_rules *rules)
{
    struct in6_addr address;
    loci_str name;
    bool is_v6;

    if (!split_host(host, &name, &is_v6))
        return false;
    if (parse_address(name, is_v6, &address))
        return is_our_address(&address, rules);
    if (is_v6)
        return false;
    if (lc_http_is_same_name(name, LC_STR("localhost")))
        return true;
    for (size_t i = 0; rules->hosts != NULL && rules->hosts[i] != NULL; i++) {
        loci_str ours = loci_str_of(rules->hosts[i]);

        if (lc_http_is_same_name(name, ours) || lc_http_is_same_name(host, ours))
            return true;
    }
    return false;
}

bool lc_http_guard_is_our_origin(loci_str origin, const lc_http_rules *rules)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < 2; i++) {
        size_t skipped = strlen(schemes[i]);

        if (lc_str_starts(origin, loci_str_of(schemes[i])))
            return lc_http_guard_is_our_host((loci_str){origin.ptr + skipped, origin.len - skipped},
                                             rules);
    }
    return false;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

/* The fields that are checked here, and how often they occur. */
typedef struct special {
    loci_str name;
    size_t count;
    loci_str value; /* Of the last. */
} special;

enum { LENGTH, ENCODING, HOST, ORIGIN, AUTHORIZATION, SPECIALS };

static bool check_fields(const lc_http_head *head, special *specials)
{
    for (size_t i = 0; i < head->field_count; i++) {
        const lc_http_field *field = &head->fields[i];

        if (!is_token(field->name) || !is_field_value(field->value))
            return false;
        for (size_t j = 0; j < SPECIALS; j++) {
            if (field->name.len == specials[j].name.len &&
                lc_http_is_same_name(field->name, specials[j].name)) {
                specials[j].count++;
                specials[j].value = lc_str_trim(field->value);
            }
        }
    }
    return true;
}

/* Digits only: servers differ in how they read a sign, a space or a list. */
static bool parse_length(loci_str text, size_t *out)
{
    size_t length = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.ptr[i]) || __builtin_mul_overflow(length, 10, &length) ||
            __builtin_add_overflow(length, (size_t)(text.ptr[i] - '0'), &length))
            return false;
    }
    *out = length;
    return text.len > 0;
}

static lc_http_verdict check_framing(const lc_http_head *head, const special *specials,
                                     const lc_http_rules *rules)
{
    lc_http_verdict fine = {0};

    /* libmicrohttpd parses chunks loosely (a bare LF, extensions of any bytes, trailers that name
     * the length) and shows only their content, so what it skipped cannot be checked here. */
    if (specials[ENCODING].count > 0) {
        if (specials[LENGTH].count > 0)
            return refuse(400, LOCI_EINVAL,
                          "a request must not have both Content-Length and Transfer-Encoding");
        if (specials[ENCODING].count > 1 || head->is_http_1_0 ||
            !lc_http_is_same_name(specials[ENCODING].value, LC_STR("chunked")))
            return refuse(400, LOCI_EINVAL, "unknown Transfer-Encoding");
        return refuse(411, LOCI_EINVAL,
                      "chunked bodies are not accepted; send the body with a Content-Length");
    }
    if (specials[LENGTH].count == 0)
        return fine;
    if (specials[LENGTH].count > 1 || !parse_length(specials[LENGTH].value, &fine.body_bytes))
        return refuse(400, LOCI_EINVAL, "Content-Length must occur once and be a number of bytes");
    if (fine.body_bytes > rules->body_bytes_max)
        return refuse(413, LOCI_ELIMIT, "the body exceeds the size limit of this server");
    return fine;
}

lc_http_verdict lc_http_guard_check(const lc_http_head *head, const lc_http_rules *rules)
{
    special specials[SPECIALS] = {
        [LENGTH] = {.name = LC_STR("Content-Length")},
        [ENCODING] = {.name = LC_STR("Transfer-Encoding")},
        [HOST] = {.name = LC_STR("Host")},
        [ORIGIN] = {.name = LC_STR("Origin")},
        [AUTHORIZATION] = {.name = LC_STR("Authorization")},
    };

    if (head->bytes > rules->header_bytes_max)
        return refuse(431, LOCI_ELIMIT, "the request line and headers exceed the size limit");
    if (head->field_count > LC_HTTP_FIELDS_MAX)
        return refuse(431, LOCI_ELIMIT, "a request may have at most 100 headers");
    if (head->query_count > LC_HTTP_FIELDS_MAX)
        return refuse(414, LOCI_ELIMIT, "a request may have at most 100 query parameters");
    if (!is_token(head->method) || head->is_target_bad)
        return refuse(400, LOCI_EINVAL, "the request line must be a method, a path and HTTP/1.1");
    if (!check_fields(head, specials))
        return refuse(
            400, LOCI_EINVAL,
            "a header must be a name, a colon without a space before it, and a printable value");
    if (specials[HOST].count != 1)
        return refuse(400, LOCI_EINVAL, "a request must have exactly one Host header");
    if (!lc_http_guard_is_our_host(specials[HOST].value, rules))
        return refuse(421, LOCI_EFORBIDDEN,
                      "this server does not answer for that Host; start it with --host NAME");
    if (specials[ORIGIN].count > 1 || (specials[ORIGIN].count == 1 &&
                                       !lc_http_guard_is_our_origin(specials[ORIGIN].value, rules)))
        return refuse(403, LOCI_EFORBIDDEN, "pages of this Origin may not call this server");
    /* Servers differ in which of two they use, which attackers exploit. */
    if (specials[AUTHORIZATION].count > 1)
        return refuse(400, LOCI_EINVAL, "a request may have at most one Authorization header");
    return check_framing(head, specials, rules);
}

/* ---- Layout ---------------------------------------------------------------------------------- */

bool lc_http_guard_is_gapless(const lc_http_head *head, const char *version, const char *end)
{
    /* Separators were replaced by NULs in place: a space is one byte, CRLF two. */
    const char *at = head->method.ptr + head->method.len + 1;

    if (head->target.ptr != at || head->target.ptr + head->target.len + 1 != version)
        return false;
    at = version + strlen("HTTP/1.1") + 2;
    for (size_t i = 0; i < head->field_count; i++) {
        const lc_http_field *field = &head->fields[i];

        if (field->name.ptr != at)
            return false;
        at += field->name.len + 1;
        if (field->value.ptr < at || field->value.ptr > end)
            return false;
        for (; at < field->value.ptr; at++) {
            if (*at != ' ' && *at != '\t')
                return false;
        }
        at += field->value.len + 2;
    }
    return at + 2 == end;
}

/* ---- Small checks ---------------------------------------------------------------------------- */

bool lc_http_guard_is_trace_id(loci_str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char letter = lower(id.ptr[i]);

        if (!is_digit(letter) && !(letter >= 'a' && letter <= 'z') &&
            (letter == '\0' || strchr("._:-", letter) == NULL))
            return false;
    }
    return id.len > 0 && id.len <= LC_HTTP_TRACE_ID_BYTES_MAX;
}

static int hex_value(char digit)
{
    char letter = lower(digit);

    if (is_digit(digit))
        return digit - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

bool lc_http_guard_decode(char *text, size_t *len)
{
    size_t written = 0;

    for (size_t i = 0; i < *len; i++) {
        int high, low;

        if (text[i] != '%') {
            text[written++] = text[i];
            continue;
        }
        if (*len - i < 3)
            return false;
        high = hex_value(text[i + 1]);
        low = hex_value(text[i + 2]);
        if (high < 0 || low < 0 || high + low == 0)
            return false;
        text[written++] = (char)(high * 16 + low);
        i += 2;
    }
    if (written < *len)
        text[written] = '\0';
    *len = written;
    return true;
}
