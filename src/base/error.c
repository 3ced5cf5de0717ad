/* error.c - the table of statuses is the only place that relates a code to an HTTP status and an
 * exit code. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const lc_status_row rows[] = {
    {LOCI_OK, "ok", 200, 0, "It worked."},
    {LOCI_EINVAL, "invalid_argument", 400, 1,
     "The arguments are wrong; the message says which and how."},
    {LOCI_ENOTFOUND, "not_found", 404, 1, "The object does not exist, or is not yours to see."},
    {LOCI_ECONFLICT, "conflict", 409, 1,
     "The state is not what the caller assumed; read it and try again."},
    {LOCI_EFORBIDDEN, "forbidden", 403, 1, "The caller, or this process, may not do that."},
    {LOCI_EAUTH, "unauthenticated", 401, 1, "The call has no token, or its token is not valid."},
    {LOCI_ELIMIT, "limit", 413, 1, "Too large, too many or too deep."},
    {LOCI_EBUDGET, "budget_too_small", 422, 1,
     "The mandatory content does not fit into the budget."},
    {LOCI_EOVERBUDGET, "over_budget", 422, 1, "More was asked for than is left."},
    {LOCI_ENOTEVICTABLE, "nothing_evictable", 409, 1, "Only protected things are left."},
    {LOCI_ERESOURCE, "resource_exhausted", 507, 1, "Out of memory or disk; nothing was changed."},
    {LOCI_EDEADLINE, "deadline_exceeded", 504, 1,
     "It did not happen in time, and will not happen."},
    {LOCI_ECANCELLED, "cancelled", 499, 1, "The caller, or another call of its batch, gave it up."},
    {LOCI_EFENCED, "fenced", 409, 1, "Another worker has the lease now."},
    {LOCI_EUNSUPPORTED, "unsupported", 501, 1, "This loci cannot do that."},
    {LOCI_EUNAVAILABLE, "unavailable", 503, 1, "Not now; try again later."},
    {LOCI_ECORRUPT, "corrupt", 500, 1, "Stored data is damaged."},
    {LOCI_EINTERNAL, "internal", 500, 1, "A bug in loci; please report it."},
};

_Static_assert(sizeof rows / sizeof rows[0] == LOCI_EINTERNAL + 1, "one row a status, in order");

const lc_status_row *lc_status_rows(void)
{
    return rows;
}

static const lc_status_row *row_of(loci_status status)
{
    return (unsigned)status <= LOCI_EINTERNAL ? &rows[status] : &rows[LOCI_EINTERNAL];
}

const char *loci_status_name(loci_status status)
{
    return row_of(status)->name;
}

int loci_status_exit_code(loci_status status)
{
    return row_of(status)->exit_code;
}

int loci_status_http(loci_status status)
{
    return row_of(status)->http;
}

bool lc_status_find(loci_str name, loci_status *out)
{
    for (size_t i = 0; i <= LOCI_EINTERNAL; i++) {
        if (strlen(rows[i].name) == name.len && memcmp(rows[i].name, name.ptr, name.len) == 0) {
            *out = rows[i].status;
            return true;
        }
    }
    return false;
}

/* A message goes into logs, terminals and headers: one line, whole characters only. */
static void make_one_line(char *text, bool was_cut)
{
    size_t len = strlen(text);

    if (was_cut) {
        while (len > 0 && ((unsigned char)text[len - 1] & 0xC0) == 0x80)
            len--;
        if (len > 0 && (unsigned char)text[len - 1] >= 0xC0)
            len--;
        text[len] = '\0';
    }
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)
            text[i] = '?';
    }
}

loci_status lc_fail(loci_error *err, loci_status status, const char *format, ...)
{
    va_list list;
    int written;

    if (err == NULL)
        return status;

    err->status = status;
    err->data[0] = '\0';
    va_start(list, format);
    written = vsnprintf(err->message, sizeof err->message, format, list);
    va_end(list);
    make_one_line(err->message, written >= (int)sizeof err->message);
    return status;
}

loci_status lc_fail_memory(loci_error *err)
{
    return lc_fail(err, LOCI_ERESOURCE, "out of memory");
}

void lc_error_set_data(loci_error *err, loci_str json)
{
    if (err == NULL || json.len >= sizeof err->data)
        return;
    if (json.len > 0)
        memcpy(err->data, json.ptr, json.len);
    err->data[json.len] = '\0';
}

#define RETRY_MEMBER "\"retry_after_ms\":"

void lc_error_set_retry(loci_error *err, int64_t after_ms)
{
    if (err != NULL)
        (void)snprintf(err->data, sizeof err->data, "{" RETRY_MEMBER "%lld}", (long long)after_ms);
}

int64_t lc_error_retry_ms(const loci_error *err)
{
    /* Quotes inside a text are escaped, so this is always the name of a member. */
    const char *at = strstr(err->data, RETRY_MEMBER);

    return at == NULL ? 0 : strtoll(at + strlen(RETRY_MEMBER), NULL, 10);
}
