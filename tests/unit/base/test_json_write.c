/* test_json_write.c - text that is written can be parsed again, by loci and by other parsers. */
#include "lib/test.h"

#include "base/assert.h"
#include "base/json.h"
#include "base/str.h"

#include <stdio.h>

typedef struct fixture {
    lc_heap heap;
    lc_arena arena;
    lc_buf buf;
    lc_json_writer w;
    loci_error err;
} fixture;

static void set_up(fixture *f)
{
    lc_heap_init(&f->heap, test_heap());
    lc_arena_init(&f->arena, &f->heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&f->buf, &f->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_init(&f->w, &f->buf);
}

static void tear_down(fixture *f)
{
    lc_buf_clear(&f->buf);
    lc_arena_clear(&f->arena);
}

TEST(json_write, commas_and_colons_come_by_themselves)
{
    fixture f;

    set_up(&f);
    CHECK(!lc_jw_is_done(&f.w));
    lc_jw_object(&f.w);
    lc_jw_member_str(&f.w, "str", LC_STR("a"));
    lc_jw_member_text(&f.w, "text", "b");
    lc_jw_member_text(&f.w, "none", NULL);
    lc_jw_member_int(&f.w, "int", INT64_MIN);
    lc_jw_member_real(&f.w, "real", 3);
    lc_jw_member_bool(&f.w, "bool", true);
    lc_jw_member_null(&f.w, "null");
    lc_jw_member_time(&f.w, "time", 0);
    lc_jw_member_raw(&f.w, "raw", LC_STR("[1]"));
    lc_jw_name_str(&f.w, LC_STR("array"));
    lc_jw_array(&f.w);
    lc_jw_object(&f.w);
    lc_jw_end(&f.w);
    lc_jw_array(&f.w);
    lc_jw_end(&f.w);
    lc_jw_bool(&f.w, false);
    lc_jw_str(&f.w, LC_STR_NONE);
    lc_jw_end(&f.w);
    CHECK(!lc_jw_is_done(&f.w));
    lc_jw_end(&f.w);
    CHECK(lc_jw_is_done(&f.w));
    CHECK_STR_EQ(lc_buf_str(&f.buf),
                 "{\"str\":\"a\",\"text\":\"b\",\"none\":null,\"int\":-9223372036854775808,"
                 "\"real\":3.0,\"bool\":true,\"null\":null,\"time\":\"1970-01-01T00:00:00Z\","
                 "\"raw\":[1],\"array\":[{},[],false,\"\"]}");
    tear_down(&f);
}

TEST(json_write, a_scalar_is_a_document)
{
    fixture f;

    set_up(&f);
    lc_jw_int(&f.w, 7);
    CHECK(lc_jw_is_done(&f.w));
    CHECK_STR_EQ(lc_buf_str(&f.buf), "7");
    tear_down(&f);
}

TEST(json_write, only_what_must_be_is_escaped)
{
    static const struct {
        loci_str text;
        const char *json;
    } rows[] = {
        {{"", 0}, "\"\""},
        {{"plain /", 7}, "\"plain /\""},
        {{"\"\\", 2}, "\"\\\"\\\\\""},
        {{"\b\f\n\r\t", 5}, "\"\\b\\f\\n\\r\\t\""},
        {{"a\0b", 3}, "\"a\\u0000b\""},
        {{"\x01\x1F\x7F", 3}, "\"\\u0001\\u001f\x7F\""},
        {{"\xC3\xA9\xF0\x9F\x98\x80", 6}, "\"\xC3\xA9\xF0\x9F\x98\x80\""},
        {{"0123456789abcdef\n0123456789abcdef", 33}, "\"0123456789abcdef\\n0123456789abcdef\""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;

        set_up(&f);
        lc_jw_str(&f.w, rows[i].text);
        CHECK_STR_EQ(lc_buf_str(&f.buf), rows[i].json);
        tear_down(&f);
    }
}

/* A bit that fell over on disk must not make an answer that no client can read. */
TEST(json_write, broken_text_becomes_replacement_characters)
{
    fixture f;

    set_up(&f);
    lc_jw_str(&f.w, LC_STR("a\xFF\xC3"
                           "b\xED\xA0\x80"));
    CHECK_STR_EQ(lc_buf_str(&f.buf), "\"a\xEF\xBF\xBD\xEF\xBF\xBD"
                                     "b\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    tear_down(&f);
}

TEST(json_write, a_full_buffer_stays_full)
{
    for (size_t room = 0; room < 20; room++) {
        fixture f;

        set_up(&f);
        f.buf.bytes_max = room;
        lc_jw_object(&f.w);
        lc_jw_member_text(&f.w, "key", "va\nlue");
        lc_jw_end(&f.w);
        CHECK_STATUS(room < 17 ? LOCI_ELIMIT : LOCI_OK, lc_buf_status(&f.buf, &f.err));
        tear_down(&f);
    }
}

typedef void misuse_fn(lc_json_writer *w);

static void put_value_without_name(lc_json_writer *w)
{
    lc_jw_object(w);
    lc_jw_int(w, 1);
}

static void put_name_twice(lc_json_writer *w)
{
    lc_jw_object(w);
    lc_jw_name(w, "a");
    lc_jw_name(w, "b");
}

static void put_name_in_array(lc_json_writer *w)
{
    lc_jw_array(w);
    lc_jw_name(w, "a");
}

static void put_second_document(lc_json_writer *w)
{
    lc_jw_null(w);
    lc_jw_null(w);
}

static void end_too_often(lc_json_writer *w)
{
    lc_jw_array(w);
    lc_jw_end(w);
    lc_jw_end(w);
}

static void end_after_name(lc_json_writer *w)
{
    lc_jw_object(w);
    lc_jw_name(w, "a");
    lc_jw_end(w);
}

static void put_infinity(lc_json_writer *w)
{
    lc_jw_real(w, __builtin_inf());
}

static void put_nan(lc_json_writer *w)
{
    lc_jw_real(w, __builtin_nan(""));
}

static void nest_too_deep(lc_json_writer *w)
{
    for (int i = 0; i <= LC_JSON_WRITE_DEPTH_MAX; i++)
        lc_jw_array(w);
}

static bool faults(misuse_fn *misuse, lc_json_writer *w)
{
    volatile bool has_faulted = false;
    lc_fault_frame frame = {0};

    if (LC_FAULT_ENTER(&frame))
        misuse(w);
    else
        has_faulted = true;
    lc_fault_leave(&frame);
    return has_faulted;
}

TEST(json_write, misuse_is_a_fault)
{
    static misuse_fn *const misuses[] = {
        put_value_without_name, put_name_twice, put_name_in_array,
        put_second_document,    end_too_often,  end_after_name,
        put_infinity,           put_nan,        nest_too_deep,
    };

    for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
        fixture f;

        set_up(&f);
        CHECK(faults(misuses[i], &f.w));
        tear_down(&f);
    }
}

/* A value that was read at the depth limit can be wrapped in an answer. */
TEST(json_write, depth_has_a_limit)
{
    fixture f;

    set_up(&f);
    for (int i = 0; i < LC_JSON_WRITE_DEPTH_MAX; i++)
        lc_jw_array(&f.w);
    for (int i = 0; i < LC_JSON_WRITE_DEPTH_MAX; i++)
        lc_jw_end(&f.w);
    CHECK(lc_jw_is_done(&f.w));
    CHECK_EQ(f.buf.len, 2 * LC_JSON_WRITE_DEPTH_MAX);
    tear_down(&f);
}

TEST(json_write, a_part_of_a_document_can_be_copied)
{
    loci_str text = LC_STR("{\"a\":{\"x\":[1,{\"y\":[]}],\"z\":2.5},\"b\":\"\\u00e9\"}");
    fixture f;
    const lc_json *value;

    set_up(&f);
    CHECK_OK(lc_json_parse(&f.arena, text, 0, &value, &f.err), f.err);
    lc_jw_array(&f.w);
    lc_jw_value(&f.w, lc_json_member(value, LC_STR("a")));
    lc_jw_value(&f.w, lc_json_member(value, LC_STR("b")));
    lc_jw_object(&f.w);
    lc_jw_member_value(&f.w, "copy", value);
    lc_jw_end(&f.w);
    lc_jw_end(&f.w);
    CHECK_STR_EQ(lc_buf_str(&f.buf),
                 "[{\"x\":[1,{\"y\":[]}],\"z\":2.5},\"\xC3\xA9\",{\"copy\":{\"a\":{\"x\":[1,"
                 "{\"y\":[]}],\"z\":2.5},\"b\":\"\xC3\xA9\"}}]");
    tear_down(&f);
}

static void write_random_text(lc_json_writer *w, test_rng *rng)
{
    static const char *const pieces[] = {"a",        "plain text ",      "\n",   "\"",  "\\",
                                         "\xC3\xA9", "\xF0\x9F\x98\x80", "\x01", ",[{", "/"};
    char text[256];
    size_t len = 0, count = test_rng_below(rng, 12);

    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[test_rng_below(rng, sizeof pieces / sizeof pieces[0])];

        memcpy(text + len, piece, strlen(piece));
        len += strlen(piece);
    }
    lc_jw_str(w, (loci_str){text, len});
}

static void write_random_scalar(lc_json_writer *w, test_rng *rng)
{
    switch (test_rng_below(rng, 5)) {
    case 0:
        lc_jw_null(w);
        break;
    case 1:
        lc_jw_bool(w, test_rng_chance(rng, 50));
        break;
    case 2:
        lc_jw_int(w, (int64_t)(test_rng_next(rng) >> test_rng_below(rng, 64)));
        break;
    case 3:
        lc_jw_real(w, (double)(int64_t)test_rng_next(rng) / 1e9);
        break;
    default:
        write_random_text(w, rng);
        break;
    }
}

static void write_random_tree(lc_json_writer *w, test_rng *rng)
{
    unsigned depth = 0;
    bool is_object[LC_JSON_DEPTH_MAX];
    int names = 0;

    do {
        char name[16];

        if (depth > 0 && test_rng_chance(rng, 25)) {
            lc_jw_end(w);
            depth--;
            continue;
        }
        if (depth > 0 && is_object[depth - 1]) {
            snprintf(name, sizeof name, "%d\t", names++);
            lc_jw_name(w, name);
        }
        if (depth < LC_JSON_DEPTH_MAX && (depth == 0 || test_rng_chance(rng, 30))) {
            is_object[depth] = test_rng_chance(rng, 50);
            is_object[depth++] ? lc_jw_object(w) : lc_jw_array(w);
        } else {
            write_random_scalar(w, rng);
        }
    } while (depth > 0);
}

TEST(json_write, random_documents_survive_reading_and_writing)
{
    test_rng rng = test_random(21);
    uint64_t runs = test_count(3000, 200000);

    for (uint64_t run = 0; run < runs; run++) {
        fixture f;
        const lc_json *value;
        loci_str first;

        set_up(&f);
        write_random_tree(&f.w, &rng);
        first = lc_arena_copy(&f.arena, lc_buf_str(&f.buf));
        CHECK_OK(lc_json_parse(&f.arena, first, 0, &value, &f.err), f.err);
        lc_buf_reset(&f.buf);
        lc_jw_init(&f.w, &f.buf);
        lc_jw_value(&f.w, value);
        CHECK(lc_jw_is_done(&f.w));
        CHECK_STR_EQ(lc_buf_str(&f.buf), first);
        tear_down(&f);
    }
}

static loci_status write_and_clear(void *ctx)
{
    fixture f;
    loci_status status;

    (void)ctx;
    set_up(&f);
    lc_jw_array(&f.w);
    for (int i = 0; i < 500; i++)
        lc_jw_text(&f.w, i % 2 == 0 ? "some plain text" : "some text\nwith an escape");
    lc_jw_end(&f.w);
    status = lc_buf_status(&f.buf, &f.err);
    tear_down(&f);
    return status;
}

TEST(json_write, survives_without_memory)
{
    test_oom_sweep(write_and_clear, NULL);
}
