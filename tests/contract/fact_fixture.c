/* fact_fixture.c - see fact_fixture.h. */
#include "contract/fact_fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "lib/files.h"
#include "lib/postgres.h"

static int64_t tell_time(void *ctx)
{
    return ((const facts *)ctx)->now_us;
}

void facts_open_store(facts *f, const char *store)
{
    loci_open_options options;

    *f = (facts){.store = store, .now_us = INT64_C(1700000000) * 1000000};
    options = test_open_options(f->store);
    options.clock = tell_time;
    options.clock_ctx = f;
    CHECK_OK(loci_open(&options, &f->engine, &f->err), f->err);
}

void facts_open(facts *f)
{
    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
}

void facts_close(facts *f)
{
    test_close(f->engine);
}

static loci_str copy(loci_str text)
{
    char *bytes = test_bytes(text.len + 1);

    memcpy(bytes, text.ptr, text.len);
    bytes[text.len] = '\0';
    return (loci_str){bytes, text.len};
}

loci_status facts_try(facts *f, const char *operation, loci_str *out, const char *args)
{
    loci_principal principal = {.size = sizeof principal,
                                .flags = LOCI_PRINCIPAL_ADMIN,
                                .tenant = f->tenant,
                                .authority = f->ceiling,
                                .trust = f->trust};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_status status;

    options.principal = &principal;
    status = loci_call(f->engine, operation, loci_str_of(test_json(args)), &options, &answer,
                       &f->err);
    if (status == LOCI_OK)
        *out = copy(loci_answer_json(answer));
    loci_answer_free(answer);
    return status;
}

__attribute__((format(printf, 1, 0))) static const char *format_args(const char *format,
                                                                     va_list args)
{
    static char text[8192];

    CHECK_LT(vsnprintf(text, sizeof text, test_json(format), args), (int)sizeof text);
    return text;
}

loci_str facts_call(facts *f, const char *operation, const char *args_format, ...)
{
    loci_str answer = LC_STR_NONE;
    loci_status status;
    va_list args;

    va_start(args, args_format);
    status = facts_try(f, operation, &answer, format_args(args_format, args));
    va_end(args);
    CHECK_OK(status, f->err);
    return answer;
}

const char *facts_write(facts *f, const char *outcome, const char *args_format, ...)
{
    loci_str answer = LC_STR_NONE;
    loci_status status;
    va_list args;

    va_start(args, args_format);
    status = facts_try(f, "fact.write", &answer, format_args(args_format, args));
    va_end(args);
    CHECK_OK(status, f->err);
    CHECK_STR_EQ(test_member_text(answer, "outcome"), outcome);
    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, "id")));
}

void facts_fail(facts *f, loci_status status, const char *part, const char *operation,
                const char *args)
{
    uint64_t before = test_store_hash(f->store, NULL);
    loci_str answer;

    CHECK_STATUS(status, facts_try(f, operation, &answer, args));
    CHECK_CONTAINS(f->err.message, part);
    CHECK_EQ(test_store_hash(f->store, NULL), before);
}

loci_str facts_value(facts *f, const char *args)
{
    loci_str answer;
    loci_status status = facts_try(f, "fact.current", &answer, args);

    if (status == LOCI_ENOTFOUND)
        return LC_STR("-");
    CHECK_OK(status, f->err);
    return test_member(answer, "value");
}

const char *facts_current(facts *f, const char *key, const char *member)
{
    loci_str answer = facts_call(f, "fact.current", "{'key':'%s'}", key);

    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, member)));
}

static bool holds(loci_str content, const char *text)
{
    return memmem(content.ptr, content.len, text, strlen(text)) != NULL;
}

bool facts_is_stored(const facts *f, const char *text)
{
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
    bool found = holds(test_store_content(f->store), text);

    for (size_t i = 0; !test_is_postgres() && i < 3; i++) {
        const char *path = test_format("%s%s", f->store, suffixes[i]);

        found |= test_file_exists(path) && holds(test_read_file(path), text);
    }
    return found;
}
