/* fuzz_http_guard.c - any bytes as the head of a request, cut into fields the lenient way. What is
 * let in must be free of everything that can be read in two ways. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "server/http_guard.h"
#include "server/http_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define HEAD_BYTES_MAX 4096

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

static size_t count_named(const lc_http_head *head, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < head->field_count; i++)
        count += lc_http_is_same_name(head->fields[i].name, loci_str_of(name));
    return count;
}

static void demand_let_in(const lc_http_head *head, const lc_http_verdict *verdict)
{
    demand(count_named(head, "Host") == 1);
    demand(count_named(head, "Transfer-Encoding") == 0);
    demand(count_named(head, "Content-Length") == 1 || verdict->body_bytes == 0);
    demand(head->field_count <= LC_HTTP_FIELDS_MAX);
    for (size_t i = 0; i < head->field_count; i++) {
        demand(head->fields[i].name.len > 0);
        demand(memchr(head->fields[i].name.ptr, ' ', head->fields[i].name.len) == NULL);
        demand(memchr(head->fields[i].value.ptr, '\0', head->fields[i].value.len) == NULL);
        demand(memchr(head->fields[i].value.ptr, '\r', head->fields[i].value.len) == NULL);
        demand(memchr(head->fields[i].value.ptr, '\n', head->fields[i].value.len) == NULL);
    }
}

/* "method target\nname:value\n...", in place. */
static void read_head(loci_str text, lc_http_head *head, lc_http_field *fields)
{
    loci_str rest = LC_STR_NONE;
    loci_str line = lc_str_split(text, '\n', &rest);

    head->method = lc_str_split(line, ' ', &head->target);
    if (head->target.ptr == NULL)
        head->target = LC_STR("");
    head->is_target_bad = !lc_http_guard_is_target(head->target);
    head->fields = fields;
    while (rest.len > 0 && head->field_count <= LC_HTTP_FIELDS_MAX) {
        loci_str value = LC_STR_NONE;
        loci_str name;

        line = lc_str_split(rest, '\n', &rest);
        name = lc_str_split(line, ':', &value);
        if (value.ptr == NULL)
            value = LC_STR("");
        fields[head->field_count++] = (lc_http_field){name, value};
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const hosts[] = {"loci.example.org", NULL};
    const lc_http_rules rules = {.header_bytes_max = HEAD_BYTES_MAX,
                                 .body_bytes_max = 1000,
                                 .address = "0.0.0.0",
                                 .hosts = hosts};
    lc_http_field fields[LC_HTTP_FIELDS_MAX + 1];
    lc_http_head head = {.bytes = bytes};
    lc_http_verdict verdict;
    char copy[HEAD_BYTES_MAX + 1];
    size_t len = bytes;

    if (bytes > HEAD_BYTES_MAX)
        return 0;
    memcpy(copy, data, bytes);
    copy[bytes] = '\0';
    read_head((loci_str){copy, bytes}, &head, fields);
    verdict = lc_http_guard_check(&head, &rules);
    if (verdict.http_status == 0)
        demand_let_in(&head, &verdict);
    else
        demand(verdict.detail != NULL && verdict.http_status >= 400);
    (void)lc_http_guard_is_gapless(&head, copy, copy + bytes);
    (void)lc_http_guard_is_our_origin((loci_str){copy, bytes}, &rules);
    (void)lc_http_guard_is_trace_id((loci_str){copy, bytes});
    (void)lc_gzip_is_accepted((loci_str){copy, bytes});
    if (lc_http_guard_decode(copy, &len))
        demand(len <= bytes);
    return 0;
}
