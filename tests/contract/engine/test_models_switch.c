/* Another embedder than the one that made the stored vectors is never used silently: every search,
 * store.status and model.status say so and what to do, until model.reembed has replaced them. */
#include "lib/calls.h"
#include "lib/provider.h"
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "contract/probe_fixture.h"

#define LEXICAL "{\"model.embedder\":\"lexical\"}"
#define BUILTIN "{\"model.embedder\":\"builtin\"}"

static loci_engine *open_with(const char *path, const char *settings)
{
    loci_open_options options = test_open_options(path);
    loci_engine *engine = NULL;
    loci_error err;

    options.settings = settings;
    options.flags = LOCI_OPEN_INLINE | LOCI_OPEN_SEEDED;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

/* The searches and the two reports; `warning` is the path of the member in each answer. */
static const struct {
    const char *operation, *args, *warning;
} reports[] = {
    {"memory.recall", "{'query':'Where do I live?'}", "warnings"},
    {"session.search", "{'query':'harbour'}", "warnings"},
    {"context.build", "{'query':'Where do I live?'}", "warnings"},
    {"model.status", "{}", "vectors_warning"},
    {"store.status", "{}", "vectors_warning"},
};
#define REPORTS (sizeof reports / sizeof *reports)

static void check_warned(loci_engine *engine, const char *made_by, const char *advice)
{
    for (size_t i = 0; i < REPORTS; i++) {
        loci_str answer = test_call(engine, reports[i].operation, "%s", reports[i].args);
        loci_str warning = test_member(answer, reports[i].warning);

        CHECK_CONTAINS(warning, test_format("vectors made by %s", made_by));
        CHECK_CONTAINS(warning, advice);
    }
}

static void check_silent(loci_engine *engine)
{
    for (size_t i = 0; i < REPORTS; i++) {
        loci_str answer = test_call(engine, reports[i].operation, "%s", reports[i].args);
        loci_str warning = test_member(answer, reports[i].warning);

        CHECK(warning.len == 0 || memmem(warning.ptr, warning.len, "vectors made by", 15) == NULL);
    }
}

static void write_texts(loci_engine *engine)
{
    test_call(engine, "memory.store", "{'text':'I live in Bergen.'}");
    test_call(engine, "memory.store", "{'text':'My daughter plays the cello.'}");
    test_call(engine, "session.append", "{'role':'user','text':'We met at the harbour.'}");
}

/* The three embedders in turn. Reembedding with one ends the warnings about the one before. */
TEST(models_switch, is_reported_until_texts_are_embedded_again)
{
    const char *path = probe_path();
    provider_good good = {.dimensions = 8};
    provider *host = provider_start(provider_answer_well, &good);
    const char *remote = test_format("{\"model.embedder\":\"provider\",\"model.embed_url\":\"%s\","
                                     "\"model.embed_model\":\"small\","
                                     "\"model.embed_dimensions\":8,\"model.allow_private\":true}",
                                     provider_url(host));
    const struct {
        const char *settings, *made_by;
    } turns[] = {{BUILTIN, ""},
                 {LEXICAL, "builtin:use-lite-en:512:"},
                 {remote, "lexical:words:512:1"},
                 {BUILTIN, "provider:small:8"}};

    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        loci_engine *engine = open_with(path, turns[i].settings);
        loci_str status;

        if (i == 0)
            write_texts(engine);
        else
            check_warned(engine, turns[i].made_by, "run `loci model reembed`");
        test_call(engine, "model.reembed", "{}");
        check_silent(engine);
        status = test_call(engine, "store.status", "{}");
        CHECK_STR_EQ(test_member(status, "vectors.0.in_use"), "true");
        CHECK_EQ(test_member_int(status, "vectors.0.users"), 1);
        CHECK_STR_EQ(test_member(status, "vectors.1"), "");
        test_close(engine);
    }
    provider_stop(host);
    provider_good_clear(&good);
}

/* The data file is gone: texts are found by words, and the warning says what to install. Vectors
 * are kept, so with the file everything is as before. */
TEST(models_switch, a_missing_data_file_is_reported_and_harms_nothing)
{
    const char *path = probe_path(), *empty = test_tmpdir();
    loci_engine *engine = open_with(path, NULL);

    write_texts(engine);
    test_call(engine, "model.reembed", "{}");
    check_silent(engine);
    test_close(engine);

    engine = open_with(path, test_format("{\"data.dir\":\"%s\"}", empty));
    check_warned(engine, "builtin:use-lite-en:512:", "use_lite_en.loci is not in the folder");
    test_close(engine);
    engine = open_with(path,
                       test_format("{\"data.dir\":\"%s\",\"model.embedder\":\"builtin\"}", empty));
    check_warned(engine, "builtin:use-lite-en:512:", "the configured embedder is unavailable");
    test_close(engine);

    engine = open_with(path, NULL);
    check_silent(engine);
    test_close(engine);
}

/* Vectors that the caller gives have a model of their own, which no setting chooses. */
TEST(models_switch, given_vectors_are_never_stale)
{
    loci_engine *engine = open_with(probe_path(), LEXICAL);

    test_call(engine, "memory.store",
              "{'text':'I live in Bergen.','vector':[1,0,0],'model':'mine'}");
    check_silent(engine);
    CHECK_EQ(test_member_int(test_call(engine, "model.status", "{}"), "vectors_stale"), 0);
    test_close(engine);
}
