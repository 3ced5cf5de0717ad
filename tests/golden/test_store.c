/* test_store.c - store files written by each release; the newest code must open them all.
 *
 * store-X.Y.sql is the file of a store that release X.Y wrote, as SQL; store-X.Y.ndjson is what
 * that release exported from it. Both never change. They were made by `loci batch --seed 7` with
 * facts of all kinds, sessions, messages, an identity, signals, a working set, tokens, a job and
 * settings.
 */
#include "lib/calls.h"
#include "lib/files.h"

#include <sqlite3.h>
#include <string.h>

#include "base/str.h"

static const char *const releases[] = {"0.1"};

/* 2026-03-01T10:45:00Z, five minutes after the last call. */
static int64_t tell_time(void *ctx)
{
    (void)ctx;
    return INT64_C(1772361900000000);
}

static const char *golden_path(const char *release, const char *suffix)
{
    return test_source_path(test_format("tests/golden/store-%s.%s", release, suffix));
}

/* Makes the file and opens it. */
static loci_engine *open_store(const char *release)
{
    const char *path = test_path(test_tmpdir(), "store.db");
    loci_open_options options = test_open_options(path);
    sqlite3 *db = NULL;
    loci_engine *engine;
    loci_error err;

    CHECK_EQ(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_EQ(sqlite3_exec(db, test_read_file(golden_path(release, "sql")).ptr, NULL, NULL, NULL),
             SQLITE_OK);
    CHECK_EQ(sqlite3_close(db), SQLITE_OK);
    options.clock = tell_time;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

/* An export without its first line, which has the version of the schema. */
static loci_str lines_of(loci_str exported)
{
    loci_str rest;

    (void)lc_str_split(exported, '\n', &rest);
    return rest;
}

static loci_str export(loci_engine *engine, const char *name)
{
    const char *path = test_path(test_tmpdir(), name);

    test_call(engine, "store.export", "{\"path\":\"%s\"}", path);
    return lines_of(test_read_file(path));
}

TEST(golden, stores_of_every_release_open_and_export_the_same)
{
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        loci_engine *engine = open_store(releases[i]);
        loci_str before = lines_of(test_read_file(golden_path(releases[i], "ndjson")));

        CHECK_STR_EQ(export(engine, "first.ndjson"), before);
        test_call(engine, "store.verify", "{}");
        test_call(engine, "store.rebuild", "{}");
        CHECK_STR_EQ(export(engine, "second.ndjson"), before);
        test_close(engine);
    }
}

/* Rows that are in no export too: jobs, tokens, the working set. */
TEST(golden, stores_of_every_release_answer_the_same)
{
    static const char *const calls[][2] = {
        {"fact.list", "{}"},
        {"fact.list", "{\"persona_id\":\"coach\",\"scope\":\"task\",\"scope_id\":\"t1\"}"},
        {"fact.history", "{\"key\":\"city\"}"},
        {"fact.claims", "{}"},
        {"fact.list", "{\"user_id\":\"zoë\"}"},
        {"session.list", "{\"persona_id\":\"coach\"}"},
        {"session.messages", "{\"session_id\":\"chat-42\"}"},
        {"working.list", "{\"session_id\":\"chat-42\"}"},
        {"environment.list", "{\"persona_id\":\"coach\"}"},
        {"job.list", "{}"},
    };

    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        loci_engine *engine = open_store(releases[i]);
        const char *all = "";

        for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++)
            all = test_format("%s%s %s\n%s\n", all, calls[c][0], calls[c][1],
                              test_call(engine, calls[c][0], "%s", calls[c][1]).ptr);
        CHECK_GOLDEN(test_format("tests/golden/store-%s.txt", releases[i]), loci_str_of(all));
        CHECK(strstr(test_call(engine, "token.list", "{}").ptr, "\"ci\"") != NULL);
        CHECK(strstr(test_call(engine, "config.get", "{\"name\":\"session.idle_minutes\"}").ptr,
                     "\"value\":45,") != NULL);
        test_close(engine);
    }
}
