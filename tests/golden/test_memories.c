/* test_memories.c - logs of memories, entities and todos, as test_events.c has them of facts. */
#include "lib/calls.h"
#include "lib/files.h"

#include <string.h>

static const char *const releases[] = {"0.1"};

static const char *log_of(const char *release)
{
    return test_source_path(test_format("tests/golden/memories-%s.ndjson", release));
}

/* Behind the first line, which names the store. */
static loci_str content_of(const char *path)
{
    loci_str log = test_read_file(path);
    const char *line = memchr(log.ptr, '\n', log.len);

    CHECK(line != NULL);
    return (loci_str){line, log.len - (size_t)(line - log.ptr)};
}

/* What a release remembered, and what is exported again. */
TEST(golden_memories, logs_of_every_release_can_be_read)
{
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        const char *dir = test_tmpdir(), *out = test_path(dir, "again.ndjson");
        loci_engine *engine = test_open(test_path(dir, "store.db"));
        loci_str memories, personas, entities, todos;

        test_call(engine, "store.import", "{\"path\":\"%s\"}", log_of(releases[i]));
        memories = test_call(engine, "memory.list", "{'status':'any'}");
        personas = test_call(engine, "memory.list", "{'persona_id':'coach','entity':'thing:C++'}");
        entities = test_call(engine, "entity.list", "{'persona_id':'coach'}");
        todos = test_call(engine, "todo.list", "{'status':'any','persona_id':'coach'}");
        CHECK_GOLDEN(
            test_format("tests/golden/memories-%s.txt", releases[i]),
            test_format("%s\n%s\n%s\n%s\n", memories.ptr, personas.ptr, entities.ptr, todos.ptr));
        test_call(engine, "store.export", "{\"path\":\"%s\"}", out);
        CHECK_STR_EQ(content_of(out), content_of(log_of(releases[i])));
        test_close(engine);
    }
}
