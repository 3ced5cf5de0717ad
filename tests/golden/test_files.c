/* test_files.c - logs of files and their versions, as test_events.c has them of facts. */
#include "lib/calls.h"
#include "lib/files.h"

#include <string.h>

static const char *const releases[] = {"0.1"};

static const char *log_of(const char *release)
{
    return test_source_path(test_format("tests/golden/files-%s.ndjson", release));
}

/* Behind the first line, which names the store. */
static loci_str content_of(const char *path)
{
    loci_str log = test_read_file(path);
    const char *line = memchr(log.ptr, '\n', log.len);

    CHECK(line != NULL);
    return (loci_str){line, log.len - (size_t)(line - log.ptr)};
}

/* What a release kept in files, and what is exported again. */
TEST(golden_files, logs_of_every_release_can_be_read)
{
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        const char *dir = test_tmpdir(), *out = test_path(dir, "again.ndjson");
        loci_engine *engine = test_open(test_path(dir, "store.db"));
        loci_str view, list, history, first;

        test_call(engine, "store.import", "{\"path\":\"%s\"}", log_of(releases[i]));
        view = test_call(engine, "file.view", "{'user_id':'ann','path':'/memories/notes.md'}");
        list = test_call(engine, "file.list", "{'user_id':'ann','persona_id':'coach'}");
        history = test_call(engine, "file.history", "{'user_id':'ann','persona_id':'coach'}");
        first = test_call(engine, "file.get",
                          "{'user_id':'ann','path':'/memories/notes.md','version':2}");
        CHECK_GOLDEN(test_format("tests/golden/files-%s.txt", releases[i]),
                     test_format("%s\n%s\n%s\n%s\n", view.ptr, list.ptr, history.ptr, first.ptr));
        test_call(engine, "store.export", "{\"path\":\"%s\"}", out);
        CHECK_STR_EQ(content_of(out), content_of(log_of(releases[i])));
        test_close(engine);
    }
}
