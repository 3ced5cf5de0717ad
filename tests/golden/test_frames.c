/* test_frames.c - logs of frames, as test_events.c has them of facts. */
#include "lib/calls.h"
#include "lib/files.h"

#include <string.h>

static const char *const releases[] = {"0.1"};

static const char *log_of(const char *release)
{
    return test_source_path(test_format("tests/golden/frames-%s.ndjson", release));
}

/* Behind the first line, which names the store. */
static loci_str content_of(const char *path)
{
    loci_str log = test_read_file(path);
    const char *line = memchr(log.ptr, '\n', log.len);

    CHECK(line != NULL);
    return (loci_str){line, log.len - (size_t)(line - log.ptr)};
}

/* Frames of a release with every kind of event, one tree of them forgotten; and the same log is
 * exported again. */
TEST(golden_frames, logs_of_every_release_can_be_read)
{
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        const char *dir = test_tmpdir(), *out = test_path(dir, "again.ndjson");
        loci_engine *engine = test_open(test_path(dir, "store.db"));
        loci_str frames, first;

        test_call(engine, "store.import", "{\"path\":\"%s\"}", log_of(releases[i]));
        frames = test_call(engine, "frame.list", "{'user_id':'ann','status':'any'}");
        first = test_call(engine, "frame.get", "{\"user_id\":\"ann\",\"id\":%s}",
                          test_member(frames, "frames.2.id").ptr);
        CHECK_GOLDEN(test_format("tests/golden/frames-%s.txt", releases[i]),
                     test_format("%s\n%s\n", frames.ptr, first.ptr));
        test_call(engine, "store.export", "{\"path\":\"%s\"}", out);
        CHECK_STR_EQ(content_of(out), content_of(log_of(releases[i])));
        test_close(engine);
    }
}
