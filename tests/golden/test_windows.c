/* test_windows.c - logs of windows and their resources, as test_events.c has them of facts. */
#include "lib/calls.h"
#include "lib/files.h"

#include <string.h>

static const char *const releases[] = {"0.1"};

static const char *log_of(const char *release)
{
    return test_source_path(test_format("tests/golden/windows-%s.ndjson", release));
}

/* Behind the first line, which names the store. */
static loci_str content_of(const char *path)
{
    loci_str log = test_read_file(path);
    const char *line = memchr(log.ptr, '\n', log.len);

    CHECK(line != NULL);
    return (loci_str){line, log.len - (size_t)(line - log.ptr)};
}

/* Pages, notes, links and a forgotten resource of a release are read, and exported again. */
TEST(golden_windows, logs_of_every_release_can_be_read)
{
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        const char *dir = test_tmpdir(), *out = test_path(dir, "again.ndjson");
        loci_engine *engine = test_open(test_path(dir, "store.db"));
        loci_str window, resources;

        test_call(engine, "store.import", "{\"path\":\"%s\"}", log_of(releases[i]));
        window = test_call(engine, "window.get", "{'user_id':'ann'}");
        resources = test_call(engine, "resource.list", "{'user_id':'ann'}");
        CHECK_GOLDEN(test_format("tests/golden/windows-%s.txt", releases[i]),
                     test_format("%s\n%s\n", window.ptr, resources.ptr));
        test_call(engine, "store.export", "{\"path\":\"%s\"}", out);
        CHECK_STR_EQ(content_of(out), content_of(log_of(releases[i])));
        test_close(engine);
    }
}
