/* The built-in encoder through loci.h: what it says of itself, what its vectors are, that they do
 * not mix with those of words; and what is told of the data files that it and the tokenizers need.
 */
#include "lib/calls.h"
#include "lib/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "contract/probe_fixture.h"
#include "model/embedder.h"

#define DIMENSIONS 512
#define ENCODER "share/loci/use_lite_en.loci"

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

static double product(loci_str answer, int a, int b)
{
    double sum = 0;

    for (int i = 0; i < DIMENSIONS; i++) {
        loci_str left = test_member(answer, test_format("vectors.%d.%d", a, i));
        loci_str right = test_member(answer, test_format("vectors.%d.%d", b, i));

        CHECK(left.len > 0 && right.len > 0);
        sum += strtod(test_format("%.*s", LC_STR_ARG(left)), NULL) *
               strtod(test_format("%.*s", LC_STR_ARG(right)), NULL);
    }
    return sum;
}

TEST(builtin, is_what_an_engine_uses_by_itself)
{
    loci_engine *engine = open_with(probe_path(), NULL);
    loci_str status = test_call(engine, "model.status", "{}");

    CHECK_STR_EQ(test_member_text(status, "embedder"), "builtin");
    CHECK_EQ(test_member_int(status, "dimensions"), DIMENSIONS);
    CHECK(
        lc_str_starts(test_member_text(status, "generation"), LC_STR("builtin:use-lite-en:512:")));
    CHECK_STR_EQ(test_member(status, "lexical_only"), "false");
    CHECK_STR_EQ(test_member(status, "missing"), "null");
    CHECK_STR_EQ(test_member_text(status, "tokenizers.0.encoding"), "o200k_base");
    CHECK_STR_EQ(test_member(status, "tokenizers.0.estimated"), "false");
    CHECK_STR_EQ(test_member_text(status, "tokenizers.1.encoding"), "cl100k_base");
    CHECK_STR_EQ(test_member_text(status, "data.2.state"), "present");
    test_close(engine);
}

TEST(builtin, knows_what_texts_mean)
{
    loci_engine *engine = open_with(probe_path(), "{\"model.embedder\":\"builtin\"}");
    loci_str answer = test_call(engine, "model.embed",
                                "{'texts':['The child is ill.',"
                                "'Stock prices fell in Tokyo.',"
                                "'My daughter has a fever.','The child is ill.']}");

    CHECK_EQ(test_member_int(answer, "dimensions"), DIMENSIONS);
    CHECK_STR_EQ(test_member(answer, "lexical_only"), "false");
    for (int i = 0; i < 4; i++)
        CHECK(fabs(product(answer, i, i) - 1) < 1e-4);
    CHECK(product(answer, 0, 2) > product(answer, 0, 1) + 0.1);
    CHECK(product(answer, 0, 3) > 0.9999); /* In the order of texts. */
    CHECK_STR_EQ(test_member(answer, "vectors.4"), "");
    test_close(engine);
}

TEST(builtin, vectors_of_words_are_not_taken_for_its_own)
{
    const char *path = probe_path();
    loci_engine *engine = open_with(path, "{\"model.embedder\":\"lexical\"}");
    loci_str answer, of_words, of_meaning;
    loci_error err;

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    test_call(engine, "fact.write", "{'key':'pet','value':'a cat'}");
    answer = test_call(engine, "model.reembed", "{}");
    of_words = test_member_text(answer, "result.generation");
    CHECK_EQ(test_member_int(answer, "result.embedded"), 2);
    test_close(engine);

    engine = open_with(path, "{\"model.embedder\":\"builtin\"}");
    answer = test_call(engine, "model.status", "{}");
    CHECK_EQ(test_member_int(answer, "vectors"), 0);
    CHECK_EQ(test_member_int(answer, "vectors_stale"), 2);
    answer = test_call(engine, "model.reembed", "{}");
    of_meaning = test_member_text(answer, "result.generation");
    CHECK_STATUS(LOCI_ECONFLICT, lc_generation_check(of_words, of_meaning, &err));
    CHECK_OK(lc_generation_check(of_meaning, of_meaning, &err), err);
    CHECK_EQ(test_member_int(answer, "result.embedded"), 2);
    CHECK_EQ(test_member_int(answer, "result.deleted"), 2);
    answer = test_call(engine, "model.status", "{}");
    CHECK_EQ(test_member_int(answer, "vectors"), 2);
    CHECK_EQ(test_member_int(answer, "vectors_stale"), 0);
    CHECK_STR_EQ(test_member_text(answer, "generation"), of_meaning);
    test_close(engine);
    CHECK_EQ(test_store_number(path, "select count(distinct generation) from vectors"), 1);
}

/* ---- The data files -------------------------------------------------------------------------- */

/* A folder with the encoder's file of `bytes` bytes, the last one changed. */
static const char *make_damaged(size_t bytes)
{
    const char *dir = test_tmpdir();
    loci_str whole = test_read_file(test_build_path(ENCODER));
    char *copy = test_bytes(whole.len);

    CHECK_LE(bytes, whole.len);
    memcpy(copy, whole.ptr, whole.len);
    copy[bytes - 1] ^= 1;
    test_write_file(test_path(dir, "use_lite_en.loci"), (loci_str){copy, bytes});
    return dir;
}

TEST(builtin, a_damaged_file_is_told_by_its_digest)
{
    size_t bytes = test_read_file(test_build_path(ENCODER)).len;
    const char *dir = make_damaged(bytes);
    loci_engine *engine = open_with(probe_path(), test_format("{\"data.dir\":\"%s\"}", dir));
    loci_str status = test_call(engine, "model.status", "{}");

    CHECK_STR_EQ(test_member_text(status, "data.2.state"), "present");
    CHECK_STR_EQ(test_member_text(status, "embedder"), "lexical"); /* Nothing wrong is computed. */
    CHECK_CONTAINS(test_member_text(status, "missing"), "digest");
    CHECK_STR_EQ(test_member_text(status, "data.0.state"), "missing");
    CHECK_CONTAINS(test_member_text(status, "data.0.problem"), "o200k_base.loci");
    CHECK_STR_EQ(test_member(status, "tokenizers.0.estimated"), "true");
    status = test_call(engine, "model.status", "{'check_data':true}");
    CHECK_STR_EQ(test_member_text(status, "data.2.state"), "damaged");
    CHECK_CONTAINS(test_member_text(status, "data.2.problem"), "digest");
    test_close(engine);

    engine = open_with(probe_path(), NULL);
    status = test_call(engine, "model.status", "{'check_data':true}");
    for (int i = 0; i < 3; i++)
        CHECK_STR_EQ(test_member_text(status, test_format("data.%d.state", i)), "whole");
    test_close(engine);
}

/* One changed byte in 15 MB: no wrong counts, and no crash. */
TEST(builtin, damaged_tokens_are_estimated)
{
    const char *dir = test_tmpdir();
    loci_str whole = test_read_file(test_build_path("share/loci/o200k_base.loci"));
    char *copy = test_bytes(whole.len);
    loci_engine *engine;

    memcpy(copy, whole.ptr, whole.len);
    test_write_file(test_path(dir, "o200k_base.loci"), (loci_str){copy, whole.len});
    engine = open_with(probe_path(), test_format("{\"data.dir\":\"%s\"}", dir));
    CHECK_STR_EQ(test_member(test_call(engine, "text.count", "{'text':'hello'}"), "estimated"),
                 "false");
    CHECK_EQ(truncate(test_path(dir, "o200k_base.loci"), 100), 0); /* It was copied. */
    CHECK_STR_EQ(test_member(test_call(engine, "text.count", "{'text':'hello you'}"), "estimated"),
                 "false");
    test_close(engine);
    copy[whole.len / 2] ^= 1;
    test_write_file(test_path(dir, "o200k_base.loci"), (loci_str){copy, whole.len});
    engine = open_with(probe_path(), test_format("{\"data.dir\":\"%s\"}", dir));
    CHECK_STR_EQ(test_member(test_call(engine, "text.count", "{'text':'hello'}"), "estimated"),
                 "true");
    test_close(engine);
}

TEST(builtin, without_a_whole_file_words_have_to_do)
{
    const char *dir = make_damaged(5000);
    loci_engine *engine = open_with(probe_path(), test_format("{\"data.dir\":\"%s\"}", dir));
    loci_str status = test_call(engine, "model.status", "{}");
    loci_error err;

    CHECK_STR_EQ(test_member_text(status, "embedder"), "lexical");
    CHECK_CONTAINS(test_member_text(status, "missing"), "cut");
    CHECK_STR_EQ(test_member_text(status, "data.2.state"), "damaged");
    test_call(engine, "model.embed", "{'texts':['a']}");
    test_call(engine, "config.set", "{'name':'model.embedder','value':'builtin'}");
    CHECK_STATUS(LOCI_ECORRUPT,
                 test_try(engine, "model.embed", LC_STR("{\"texts\":[\"a\"]}"), &err));
    test_close(engine);
}

TEST(builtin, reading_all_data_is_for_administrators)
{
    loci_principal principal = {.size = sizeof principal, .tenant = "other"};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_engine *engine = open_with(probe_path(), NULL);
    loci_answer *out;
    loci_error err;

    options.principal = &principal;
    CHECK_STATUS(LOCI_EFORBIDDEN, loci_call(engine, "model.status", LC_STR("{\"check_data\":true}"),
                                            &options, &out, &err));
    CHECK_OK(loci_call(engine, "model.status", LC_STR("{}"), &options, &out, &err), err);
    loci_answer_free(out);
    test_close(engine);
}
