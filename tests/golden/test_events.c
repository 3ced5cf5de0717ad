/* test_events.c - logs written by each release; the newest code must read them all.
 *
 * events-X.Y.ndjson was exported by release X.Y and never changes; -forgotten has every kind of
 * forgetting and its tombstones. What the facts look like after its import, and what it looks like
 * when exported again, may change only where the CHANGELOG says so.
 */
#include "lib/calls.h"
#include "lib/files.h"

#include <string.h>

static const char *const releases[] = {"0.1", "0.1-forgotten"};

/* Everything the import of one release's log leads to, as text. */
static loci_str import(const char *release, const char *dir)
{
    loci_engine *engine = test_open(test_path(dir, test_format("store-%s.db", release)));
    const char *log = test_source_path(test_format("tests/golden/events-%s.ndjson", release));
    loci_str facts, personas, others;

    test_call(engine, "store.import", "{\"path\":\"%s\"}", log);
    facts = test_call(engine, "fact.list", "{}");
    personas = test_call(engine, "fact.list", "{\"persona_id\":\"coach\"}");
    others = test_call(engine, "fact.history", "{\"user_id\":\"another\",\"key\":\"city\"}");
    test_call(engine, "store.export", "{\"path\":\"%s\"}",
              test_path(dir, test_format("events-%s.ndjson", release)));
    test_close(engine);
    return loci_str_of(test_format("%s\n%s\n%s\n", facts.ptr, personas.ptr, others.ptr));
}

/* A store of an older release that cannot be read any more is a customer's memory lost. */
TEST(golden, logs_of_every_release_can_be_read)
{
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++)
        CHECK_GOLDEN(test_format("tests/golden/facts-%s.txt", releases[i]),
                     import(releases[i], test_tmpdir()));
}

/* Behind the first line, which names the store. */
static loci_str content_of(loci_str log)
{
    const char *line = memchr(log.ptr, '\n', log.len);

    CHECK(line != NULL);
    return (loci_str){line, log.len - (size_t)(line - log.ptr)};
}

TEST(golden, what_was_imported_is_exported_unchanged)
{
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        const char *dir = test_tmpdir();
        const char *name = test_format("events-%s.ndjson", releases[i]);

        import(releases[i], dir);
        CHECK_STR_EQ(
            content_of(test_read_file(test_path(dir, name))),
            content_of(test_read_file(test_source_path(test_format("tests/golden/%s", name)))));
    }
}
