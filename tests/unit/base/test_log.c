#include "base/log.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "lib/test.h"

typedef struct records {
    int count;
    loci_log_level level;
    char event[64];
    char fields[4096];
    size_t len;
} records;

static void keep(void *ctx, loci_log_level level, const char *event, loci_str fields)
{
    records *log = ctx;

    CHECK_LT(fields.len, sizeof log->fields);
    CHECK_LT(strlen(event), sizeof log->event);
    log->count++;
    log->level = level;
    memcpy(log->event, event, strlen(event) + 1);
    memcpy(log->fields, fields.ptr, fields.len);
    log->fields[fields.len] = '\0';
    log->len = fields.len;
}

/* Whatever happens, a record is one JSON object. */
static void check_json(const records *log)
{
    const lc_json *json = NULL;
    lc_arena arena;
    lc_heap heap;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_json_parse(&arena, (loci_str){log->fields, log->len}, 0, &json, &err), err);
    CHECK_EQ(lc_json_kind_of(json), LC_JSON_OBJECT);
    lc_arena_clear(&arena);
}

TEST(log, record_has_level_event_and_typed_fields)
{
    records seen = {0};
    lc_log log = {.write = keep, .ctx = &seen};

    lc_log_write(&log, LOCI_LOG_INFO, "store.opened", LC_LOG_TEXT("path", "/a \"b\"\\\n\x7f é"),
                 LC_LOG_INT("ms", INT64_MIN), LC_LOG_STR("part", ((loci_str){"abcdef", 3})),
                 LC_LOG_TEXT("none", NULL));
    CHECK_EQ(seen.level, LOCI_LOG_INFO);
    CHECK_STR_EQ(seen.event, "store.opened");
    CHECK_STR_EQ(seen.fields, "{\"path\":\"/a \\\"b\\\"\\\\\\u000a\\u007f é\","
                              "\"ms\":-9223372036854775808,\"part\":\"abc\",\"none\":\"\"}");
    check_json(&seen);
}

TEST(log, record_without_fields_is_an_empty_object)
{
    records seen = {0};
    lc_log log = {.write = keep, .ctx = &seen};

    lc_log_fields(&log, LOCI_LOG_ERROR, "guard.tick", 0, NULL);
    CHECK_STR_EQ(seen.fields, "{}");
}

TEST(log, levels_below_the_least_are_silent)
{
    for (int least = LOCI_LOG_DEBUG; least <= LOCI_LOG_ERROR; least++) {
        records seen = {0};
        lc_log log = {.write = keep, .ctx = &seen, .level_min = (loci_log_level)least};

        for (int level = LOCI_LOG_DEBUG; level <= LOCI_LOG_ERROR; level++)
            lc_log_write(&log, (loci_log_level)level, "x", LC_LOG_INT("n", 1));
        CHECK_EQ(seen.count, LOCI_LOG_ERROR - least + 1);
    }
}

TEST(log, without_a_writer_nothing_happens)
{
    lc_log silent = {.write = NULL};

    lc_log_write(&silent, LOCI_LOG_ERROR, "x", LC_LOG_INT("n", 1));
    lc_log_write(NULL, LOCI_LOG_ERROR, "x", LC_LOG_INT("n", 1));
}

/* A log is kept longer and seen by more people than the store. */
TEST(log, secrets_and_words_of_users_never_appear_at_any_level)
{
    for (int level = LOCI_LOG_DEBUG; level <= LOCI_LOG_ERROR; level++) {
        records seen = {0};
        lc_log log = {.write = keep, .ctx = &seen};

        lc_log_write(&log, (loci_log_level)level, "x", LC_LOG_SECRET("token", LC_STR("hunter2")),
                     LC_LOG_SECRET("empty", LC_STR_NONE),
                     LC_LOG_USER_TEXT("said", LC_STR("I live in Oslo")));
        CHECK_STR_EQ(seen.fields, "{\"token\":\"***\",\"empty\":\"***\",\"said\":\"[14 bytes]\"}");
        CHECK(strstr(seen.fields, "hunter2") == NULL);
        CHECK(strstr(seen.fields, "Oslo") == NULL);
    }
}

TEST(log, text_that_is_not_utf8_is_left_out)
{
    records seen = {0};
    lc_log log = {.write = keep, .ctx = &seen};

    lc_log_write(&log, LOCI_LOG_INFO, "x", LC_LOG_TEXT("path", "/tmp/\xff\xfe"),
                 LC_LOG_INT("n", 1));
    CHECK_STR_EQ(seen.fields, "{\"path\":\"\",\"n\":1}");
}

TEST(log, long_text_is_cut_at_a_character)
{
    records seen = {0};
    lc_log log = {.write = keep, .ctx = &seen};
    char *text = test_bytes(2000);

    text[0] = 'x';
    for (int i = 1; i + 1 < 2000; i += 2)
        memcpy(text + i, "é", 2);
    text[1999] = '\0';
    lc_log_write(&log, LOCI_LOG_INFO, "x", LC_LOG_TEXT("long", text));
    check_json(&seen);
    CHECK_LE(seen.len, 512 + strlen("{\"long\":\"\"}"));
    CHECK_LE(500, seen.len);
}

/* Of control characters each becomes six bytes: the worst case for a fixed buffer. */
TEST(log, field_that_does_not_fit_is_left_out_and_the_others_stay)
{
    records seen = {0};
    lc_log log = {.write = keep, .ctx = &seen};
    char *text = test_bytes(600);

    memset(text, '\x01', 600);
    lc_log_write(&log, LOCI_LOG_INFO, "x", LC_LOG_TEXT("huge", text), LC_LOG_INT("first", 1),
                 LC_LOG_TEXT("again", text), LC_LOG_INT("second", 2));
    CHECK_STR_EQ(seen.fields, "{\"first\":1,\"second\":2}");
}

TEST(log, any_fields_make_one_json_object)
{
    static const size_t lengths[] = {0, 1, 60, 400, 500, 511, 512, 513, 700};
    test_rng rng = test_random(11);

    for (int round = 0; round < 500; round++) {
        records seen = {0};
        lc_log log = {.write = keep, .ctx = &seen};
        size_t count = test_rng_below(&rng, 9);
        lc_field fields[8] = {{0}};
        static char text[700];

        memset(text, test_rng_chance(&rng, 30) ? '\n' : 'x', sizeof text);
        for (size_t i = 0; i < count; i++)
            fields[i] = (lc_field){.name = test_format("f%zu", i),
                                   .kind = (lc_field_kind)test_rng_below(&rng, 4),
                                   .text = {text, lengths[test_rng_below(&rng, 9)]},
                                   .number = (int64_t)test_rng_next(&rng)};
        lc_log_fields(&log, LOCI_LOG_INFO, "x", count, fields);
        check_json(&seen);
    }
}
