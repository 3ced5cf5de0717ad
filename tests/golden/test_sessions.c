/* test_sessions.c - logs of sessions with a rewind, as test_events.c has them of facts. */
#include "lib/calls.h"
#include "lib/files.h"

#include <string.h>

static const char *const releases[] = {"0.1"};

static const char *log_of(const char *release)
{
    return test_source_path(test_format("tests/golden/sessions-%s.ndjson", release));
}

/* Behind the first line, which names the store. */
static loci_str content_of(const char *path)
{
    loci_str log = test_read_file(path);
    const char *line = memchr(log.ptr, '\n', log.len);

    CHECK(line != NULL);
    return (loci_str){line, log.len - (size_t)(line - log.ptr)};
}

static const char *const reads[][2] = {
    {"session.list", "{}"}, {"session.messages", "{'session_id':'s'}"},
    {"fact.list", "{}"},    {"fact.history", "{'key':'city'}"},
    {"fact.claims", "{}"},  {"memory.list", "{'status':'any'}"},
    {"entity.list", "{}"},  {"todo.list", "{'status':'any'}"},
};

/* What was taken back stays so, and what it had replaced is there. */
TEST(golden_sessions, logs_of_every_release_can_be_read)
{
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        const char *dir = test_tmpdir(), *out = test_path(dir, "again.ndjson");
        loci_engine *engine = test_open(test_path(dir, "store.db"));
        const char *all = "";

        test_call(engine, "store.import", "{\"path\":\"%s\"}", log_of(releases[i]));
        for (size_t k = 0; k < sizeof reads / sizeof reads[0]; k++)
            all = test_format("%s%s\n", all,
                              test_call(engine, reads[k][0], "%s", test_json(reads[k][1])).ptr);
        CHECK_GOLDEN(test_format("tests/golden/sessions-%s.txt", releases[i]), all);
        test_call(engine, "store.export", "{\"path\":\"%s\"}", out);
        CHECK_STR_EQ(content_of(out), content_of(log_of(releases[i])));
        test_close(engine);
    }
}
