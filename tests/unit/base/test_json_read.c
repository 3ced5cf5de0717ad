/* test_json_read.c - what is accepted here is stored for good, so everything doubtful is refused.
 */
#include "lib/test.h"

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct fixture {
    lc_heap heap;
    lc_arena arena;
    loci_error err;
} fixture;

static void set_up(fixture *f)
{
    lc_heap_init(&f->heap, test_heap());
    lc_arena_init(&f->arena, &f->heap, LOCI_MEM_REQUESTS);
    f->err = (loci_error){0};
}

static void tear_down(fixture *f)
{
    lc_arena_clear(&f->arena);
}

/* Parses a copy of exactly these bytes, so that a sanitizer sees a read past the end. */
static loci_status parse(fixture *f, loci_str text, unsigned flags, const lc_json **out)
{
    loci_str copy = lc_arena_copy(&f->arena, text);

    *out = NULL;
    return lc_json_parse(&f->arena, copy, flags, out, &f->err);
}

static const lc_json *parse_ok(fixture *f, loci_str text)
{
    const lc_json *value;

    CHECK_OK(parse(f, text, 0, &value), f->err);
    return value;
}

TEST(json_read, valid_documents_are_accepted)
{
    static const char *const texts[] = {
        "0",
        "-1",
        "null",
        "true",
        "false",
        "\"\"",
        "[]",
        "{}",
        " \t\r\n[ ]\n",
        "{ }",
        "[1,2]",
        " [ 1 , 2 ] ",
        "{\"a\":{\"b\":[{}]}}",
        "{\"\":0}",
        "{ \"a\" : 1 , \"b\" : 2 }",
        "[1e5,1E5,1e+5,1e-5,1.5e5,0e0,0.0,-0,-0.0]",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\"",
        "\"\x7F\"",
        "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"",
        "\"\\uFFFF\\uFDD0\"",
        "[[[[[[[[[[]]]]]]]]]]",
        "{\"a\":1,\"A\":2,\"a \":3}",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fixture f;
        const lc_json *value;

        set_up(&f);
        if (parse(&f, loci_str_of(texts[i]), 0, &value) != LOCI_OK)
            test_fail(__FILE__, __LINE__, "%s: %s", texts[i], f.err.message);
        tear_down(&f);
    }
}

/* Among them all that cJSON, json-c and jansson were seen to let through. */
static const struct {
    const char *text;
    const char *message;
} refused[] = {
    {"", "line 1, column 1: the text ends too early"},
    {"  ", "line 1, column 3: the text ends too early"},
    {"[", "line 1, column 2: the text ends too early"},
    {"[1", "line 1, column 3: the text ends too early"},
    {"[1,", "line 1, column 4: the text ends too early"},
    {"[1,]", "line 1, column 4: expected a value"},
    {"[,1]", "line 1, column 2: expected a value"},
    {"[1 2]", "line 1, column 4: expected ',' or ']' after an element"},
    {"[1}", "line 1, column 3: expected ',' or ']' after an element"},
    {"{1:2}", "line 1, column 2: expected a name in quotes"},
    {"{\"a\"}", "line 1, column 5: expected ':' after a name"},
    {"{\"a\":}", "line 1, column 6: expected a value"},
    {"{\"a\":1,}", "line 1, column 8: expected a name in quotes"},
    {"{\n  \"a\": 1,\n  \"b\": 2 \"c\"}", "line 3, column 10: expected ',' or '}' after a member"},
    {"{'a':1}", "line 1, column 2: expected a name in quotes"},
    {"[\"\xC3\xA9\xC3\xA9\" x]", "line 1, column 7: expected ',' or ']' after an element"},
    {"1 2", "line 1, column 3: expected the end of the text"},
    {"[]]", "line 1, column 3: expected the end of the text"},
    {"}", "line 1, column 1: expected a value"},
    {"[01]", "line 1, column 3: expected a digit"},
    {"[-]", "line 1, column 3: expected a digit"},
    {"[-01]", "line 1, column 4: expected a digit"},
    {"[1.]", "line 1, column 4: expected a digit"},
    {"[.5]", "line 1, column 2: expected a value"},
    {"[+1]", "line 1, column 2: expected a value"},
    {"[1e]", "line 1, column 4: expected a digit"},
    {"[1.5e+]", "line 1, column 7: expected a digit"},
    {"[0x1]", "line 1, column 3: expected ',' or ']' after an element"},
    {"[NaN]", "line 1, column 2: expected a value"},
    {"[nul]", "line 1, column 2: expected a value"},
    {"[nulll]", "line 1, column 6: expected ',' or ']' after an element"},
    {"[True]", "line 1, column 2: expected a value"},
    {"[Infinity]", "line 1, column 2: expected a value"},
    {"[1e400]", "line 1, column 2: a number too large for a double"},
    {"[-1e400]", "line 1, column 2: a number too large for a double"},
    {"[18446744073709551616]", "line 1, column 2: an integer outside -2^63 .. 2^63-1"},
    {"\"a", "line 1, column 3: the text ends too early"},
    {"\"a\\", "line 1, column 3: the text ends too early"},
    {"\"\\x\"", "line 1, column 2: expected one of \"\\/bfnrtu after a backslash"},
    {"\"\\u12\"", "line 1, column 2: expected four hexadecimal digits after \\u"},
    {"\"\\u12G4\"", "line 1, column 2: expected four hexadecimal digits after \\u"},
    {"\"\\uD800\"", "line 1, column 2: a high surrogate without a low one after it"},
    {"\"\\uD800x\\uDC00\"", "line 1, column 2: a high surrogate without a low one after it"},
    {"\"\\uD800\\uD800\"", "line 1, column 2: a high surrogate without a low one after it"},
    {"\"\\uDC00\"", "line 1, column 2: a low surrogate without a high one before it"},
    {"\"\t\"", "line 1, column 2: a control character in a string must be escaped"},
    {"\"\n\"", "line 1, column 2: a control character in a string must be escaped"},
    {"\"\x01\"", "line 1, column 2: a control character in a string must be escaped"},
    {"\"\x1F\"", "line 1, column 2: a control character in a string must be escaped"},
    {"\"a\x80\"", "line 1, column 3: this is not UTF-8"},
    {"\"\xC0\xAF\"", "line 1, column 2: this is not UTF-8"},
    {"\"\xED\xA0\x80\"", "line 1, column 2: this is not UTF-8"},
    {"\"\xFF\"", "line 1, column 2: this is not UTF-8"},
    {"\xEF\xBB\xBF[]", "line 1, column 1: expected a value"}, /* A byte order mark. */
    {"[\xC2\xA0]", "line 1, column 2: expected a value"},     /* Space, but not JSON's. */
    {"[1]\v", "line 1, column 4: expected the end of the text"},
    {"/**/[]", "line 1, column 1: expected a value"},
    {"{\"a\":1,\"a\":2}", "line 1, column 9: a name for the second time in one object"},
};

TEST(json_read, other_documents_are_refused_with_the_place)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        fixture f;
        const lc_json *value;

        set_up(&f);
        CHECK_STATUS(LOCI_EINVAL, parse(&f, loci_str_of(refused[i].text), 0, &value));
        CHECK_STR_EQ(f.err.message, refused[i].message);
        CHECK(value == NULL);
        tear_down(&f);
    }
}

/* jansson takes a document that is followed by a NUL; we must not stop at one either. */
TEST(json_read, bytes_of_zero_are_never_an_end)
{
    static const loci_str texts[] = {{"0\0", 2}, {"0\0   ", 5}, {"[1]\0", 4},
                                     {"\0", 1},  {"[\0]", 3},   {"\"a\0b\"", 5}};
    fixture f;
    const lc_json *value;

    set_up(&f);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK_STATUS(LOCI_EINVAL, parse(&f, texts[i], LC_JSON_ALLOW_NUL, &value));
    tear_down(&f);
}

TEST(json_read, escaped_nul_is_refused_unless_allowed)
{
    loci_str text = LC_STR("{\"k\\u0000\":\"a\\u0000b\"}");
    fixture f;
    const lc_json *value;

    set_up(&f);
    CHECK_STATUS(LOCI_EINVAL, parse(&f, text, 0, &value));
    CHECK_STR_EQ(f.err.message, "line 1, column 4: \\u0000 is not allowed in a string");
    CHECK_OK(parse(&f, text, LC_JSON_ALLOW_NUL, &value), f.err);
    CHECK_STR_EQ(lc_json_str(lc_json_first(value)), LC_STR("a\0b"));
    CHECK_STR_EQ(lc_json_name(lc_json_first(value)), LC_STR("k\0"));
    CHECK(lc_json_member(value, LC_STR("k")) == NULL);
    tear_down(&f);
}

/* A digit more than fits 18: where a shortcut turned ids into doubles once. */
TEST(json_read, integers_are_exact_up_to_the_ends_of_int64)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        {"0", 0},
        {"-0", 0},
        {"9007199254740993", INT64_C(9007199254740993)},
        {"99999999999999999", INT64_C(99999999999999999)},
        {"999999999999999999", INT64_C(999999999999999999)},
        {"1000000000000000000", INT64_C(1000000000000000000)},
        {"1000000000000000001", INT64_C(1000000000000000001)},
        {"-999999999999999999", INT64_C(-999999999999999999)},
        {"-1000000000000000000", INT64_C(-1000000000000000000)},
        {"-1000000000000000001", INT64_C(-1000000000000000001)},
        {"9223372036854775806", INT64_MAX - 1},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775807", INT64_MIN + 1},
        {"-9223372036854775808", INT64_MIN},
    };
    static const char *const outside[] = {
        "9223372036854775808",  "-9223372036854775809",  "9999999999999999999",
        "10000000000000000000", "-10000000000000000000", "123456789012345678901234567890",
    };
    fixture f;
    const lc_json *value;

    set_up(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char in_array[64];

        value = parse_ok(&f, loci_str_of(rows[i].text));
        CHECK_EQ(lc_json_kind_of(value), LC_JSON_INT);
        CHECK_EQ(lc_json_int(value), rows[i].value);
        snprintf(in_array, sizeof in_array, "[%s, %s]", rows[i].text, rows[i].text);
        value = lc_json_first(parse_ok(&f, loci_str_of(in_array)));
        CHECK_EQ(lc_json_int(value), rows[i].value);
        CHECK_EQ(lc_json_int(lc_json_next(value)), rows[i].value);
    }
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
        CHECK_STATUS(LOCI_EINVAL, parse(&f, loci_str_of(outside[i]), 0, &value));
    tear_down(&f);
}

TEST(json_read, reals_and_integers_stay_apart)
{
    fixture f;
    const lc_json *value;

    set_up(&f);
    value = parse_ok(&f, LC_STR("1.0"));
    CHECK_EQ(lc_json_kind_of(value), LC_JSON_REAL);
    CHECK(lc_json_real(value) == 1.0);
    value = parse_ok(&f, LC_STR("1e2"));
    CHECK_EQ(lc_json_kind_of(value), LC_JSON_REAL);
    CHECK(lc_json_real(value) == 100.0);
    value = parse_ok(&f, LC_STR("-0.0"));
    CHECK(lc_json_real(value) == 0.0 && !__builtin_signbit(lc_json_real(value)));
    CHECK(lc_json_real(parse_ok(&f, LC_STR("3"))) == 3.0);
    tear_down(&f);
}

TEST(json_read, a_tree_can_be_walked)
{
    loci_str text = LC_STR("{\"a\":[1,[],{\"x\":null},\"s\"],\"b\":true,\"\\u0063\":\"\\u00e9\"}");
    fixture f;
    const lc_json *root, *a, *at;

    set_up(&f);
    root = parse_ok(&f, text);
    CHECK_EQ(lc_json_kind_of(root), LC_JSON_OBJECT);
    CHECK_EQ(lc_json_count(root), 3);
    CHECK(lc_json_next(root) == NULL);

    a = lc_json_member(root, LC_STR("a"));
    CHECK(a == lc_json_first(root));
    CHECK_EQ(lc_json_count(a), 4);
    at = lc_json_first(a);
    CHECK_EQ(lc_json_int(at), 1);
    at = lc_json_next(at);
    CHECK_EQ(lc_json_kind_of(at), LC_JSON_ARRAY);
    CHECK_EQ(lc_json_count(at), 0);
    CHECK(lc_json_first(at) == NULL);
    at = lc_json_next(at);
    CHECK_EQ(lc_json_kind_of(lc_json_member(at, LC_STR("x"))), LC_JSON_NULL);
    CHECK(lc_json_next(lc_json_first(at)) == NULL);
    at = lc_json_next(at);
    CHECK_STR_EQ(lc_json_str(at), "s");
    CHECK(lc_json_next(at) == NULL);

    at = lc_json_next(a);
    CHECK_STR_EQ(lc_json_name(at), "b");
    CHECK(lc_json_bool(at));
    at = lc_json_next(at);
    CHECK_STR_EQ(lc_json_name(at), "c");
    CHECK_STR_EQ(lc_json_str(at), "\xC3\xA9");
    CHECK(lc_json_next(at) == NULL);
    CHECK(lc_json_member(root, LC_STR("d")) == NULL);
    CHECK_STR_EQ(lc_json_kind_name(LC_JSON_REAL), "number");
    tear_down(&f);
}

/* Writes at `at`, which has room for 64 bytes; returns how many it took. */
__attribute__((format(printf, 2, 3))) static size_t put(char *at, const char *format, ...)
{
    va_list list;
    int bytes;

    va_start(list, format);
    bytes = vsnprintf(at, 64, format, list);
    va_end(list);
    CHECK(bytes >= 0 && bytes < 64);
    return (size_t)bytes;
}

/* `depth` arrays and objects in turn; NUL-terminated. */
static char *nested(size_t depth)
{
    char *text = test_bytes(depth * 6 + 64);
    size_t len = 0;

    for (size_t i = 0; i < depth; i++)
        len += put(text + len, "%s", i % 2 == 0 ? "[" : "{\"a\":");
    text[len++] = '1';
    for (size_t i = depth; i-- > 0;)
        text[len++] = i % 2 == 0 ? ']' : '}';
    return text;
}

TEST(json_read, depth_has_a_limit)
{
    fixture f;
    const lc_json *value;

    set_up(&f);
    (void)parse_ok(&f, loci_str_of(nested(LC_JSON_DEPTH_MAX - 1)));
    (void)parse_ok(&f, loci_str_of(nested(LC_JSON_DEPTH_MAX)));
    CHECK_STATUS(LOCI_ELIMIT, parse(&f, loci_str_of(nested(LC_JSON_DEPTH_MAX + 1)), 0, &value));
    CHECK_CONTAINS(f.err.message, "nested too deep");
    CHECK_STATUS(LOCI_ELIMIT, parse(&f, loci_str_of(nested(100000)), 0, &value));
    tear_down(&f);
}

TEST(json_read, size_has_a_limit)
{
    char *text = test_bytes(LC_JSON_BYTES_MAX + 1);
    fixture f;
    const lc_json *value;

    set_up(&f);
    memset(text, 'x', LC_JSON_BYTES_MAX + 1);
    text[0] = '"';
    for (size_t len = LC_JSON_BYTES_MAX - 1; len <= LC_JSON_BYTES_MAX; len++) {
        text[len - 1] = '"';
        CHECK_OK(lc_json_parse(&f.arena, (loci_str){text, len}, 0, &value, &f.err), f.err);
        CHECK_EQ(lc_json_str(value).len, len - 2);
        text[len - 1] = 'x';
    }
    text[LC_JSON_BYTES_MAX] = '"';
    CHECK_STATUS(LOCI_ELIMIT, lc_json_parse(&f.arena, (loci_str){text, LC_JSON_BYTES_MAX + 1}, 0,
                                            &value, &f.err));
    tear_down(&f);
}

/* As many values as bytes: more than a document that is whole could have. */
TEST(json_read, open_levels_alone_are_refused)
{
    fixture f;
    const lc_json *value;
    char text[LC_JSON_DEPTH_MAX];

    set_up(&f);
    memset(text, '[', sizeof text);
    for (size_t len = 1; len <= sizeof text; len++)
        CHECK_STATUS(LOCI_EINVAL, parse(&f, (loci_str){text, len}, 0, &value));
    tear_down(&f);
}

/* A string of commas must not take 24 bytes of memory for each. */
TEST(json_read, memory_is_bounded_by_the_text)
{
    size_t len = 1000000;
    char *text = test_bytes(len);
    fixture f;
    const lc_json *value;

    set_up(&f);
    memset(text, ',', len);
    text[0] = text[len - 1] = '"';
    CHECK_OK(lc_json_parse(&f.arena, (loci_str){text, len}, 0, &value, &f.err), f.err);
    CHECK_LE(test_heap_live_bytes(LOCI_MEM_REQUESTS), 13 * len);
    tear_down(&f);
    set_up(&f);
    memset(text, '[', len); /* As many values as bytes, until the depth ends it. */
    CHECK_STATUS(LOCI_ELIMIT, lc_json_parse(&f.arena, (loci_str){text, len}, 0, &value, &f.err));
    tear_down(&f);
}

/* Writes an object of `count` members; the last is called `last`, or like the others when NULL. */
static char *object_of(size_t count, const char *last)
{
    char *text = test_bytes(count * 24 + 128);
    size_t len = put(text, "{");

    for (size_t i = 0; i + 1 < count || (i < count && last == NULL); i++)
        len += put(text + len, "%s\"name_%zu\":%zu", i > 0 ? "," : "", i, i);
    if (last != NULL)
        len += put(text + len, ",\"%s\":0", last);
    text[len] = '}';
    return text;
}

/* Two readers that disagree about which of two equal names counts can be played against each other.
 */
TEST(json_read, a_name_may_stand_once)
{
    static const size_t counts[] = {2, 3, 15, 16, 17, 18, 100, 5000};
    fixture f;
    const lc_json *value;

    set_up(&f);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        value = parse_ok(&f, loci_str_of(object_of(counts[i], NULL)));
        CHECK_EQ(lc_json_count(value), counts[i]);
        CHECK_STATUS(LOCI_EINVAL,
                     parse(&f, loci_str_of(object_of(counts[i], "name_0")), 0, &value));
        CHECK_CONTAINS(f.err.message, "a name for the second time in one object");
        CHECK_STATUS(LOCI_EINVAL,
                     parse(&f, loci_str_of(object_of(counts[i], "n\\u0061me_0")), 0, &value));
        CHECK_CONTAINS(f.err.message, "a name for the second time in one object");
    }
    CHECK_STATUS(LOCI_EINVAL, parse(&f, LC_STR("{\"\":1,\"\":1}"), 0, &value));
    CHECK_STATUS(LOCI_EINVAL, parse(&f, LC_STR("[{\"a\":{\"b\":1,\"b\":1}}]"), 0, &value));
    (void)parse_ok(&f, LC_STR("[{\"a\":{\"a\":1}},{\"a\":1}]"));
    tear_down(&f);
}

/* Half a million names, all with the same beginning: seconds when compared each with each. */
TEST(json_read, many_names_take_no_quadratic_time)
{
    fixture f;

    test_timeout(20);
    set_up(&f);
    CHECK_EQ(lc_json_count(parse_ok(&f, loci_str_of(object_of(500000, NULL)))), 500000);
    tear_down(&f);
}

static const char sample[] =
    " {\"id\":\"evt_01\",\"seq\":42,\"n\":-1.5e-3,\"t\":[true,false,null],\n"
    "\"text\":\"a \\\"q\\\" \\uD83D\\uDE00 \xE2\x82\xAC\\n, and more than sixteen bytes of it\","
    "\"o\":{\"a\":{},\"b\":[[],[1,2]]}}";

TEST(json_read, every_truncation_fails_cleanly)
{
    fixture f;
    const lc_json *value;

    set_up(&f);
    (void)parse_ok(&f, loci_str_of(sample));
    for (size_t len = 0; len < sizeof sample - 1; len++) {
        char *exact = lc_heap_alloc(&f.heap, len + 1, LOCI_MEM_REQUESTS);

        memcpy(exact + 1, sample, len);
        CHECK_STATUS(LOCI_EINVAL,
                     lc_json_parse(&f.arena, (loci_str){exact + 1, len}, 0, &value, &f.err));
        lc_heap_free(&f.heap, exact, len + 1, LOCI_MEM_REQUESTS);
    }
    tear_down(&f);
}

TEST(json_read, changed_bytes_never_do_harm)
{
    static const char bytes[] = "{}[]\",:\\0123eu\x80\xE2 \n";
    test_rng rng = test_random(5);
    uint64_t runs = test_count(20000, 500000);
    fixture f;

    set_up(&f);
    for (uint64_t run = 0; run < runs; run++) {
        lc_arena_mark mark = lc_arena_get_mark(&f.arena);
        char text[sizeof sample];
        const lc_json *value;

        memcpy(text, sample, sizeof sample);
        for (uint64_t i = 1 + test_rng_below(&rng, 3); i > 0; i--)
            text[test_rng_below(&rng, sizeof sample - 1)] =
                bytes[test_rng_below(&rng, sizeof bytes)];
        (void)parse(&f, (loci_str){text, sizeof sample - 1}, 0, &value); /* Either is fine. */
        lc_arena_rewind(&f.arena, mark);
    }
    tear_down(&f);
}

static loci_status parse_and_clear(void *ctx)
{
    lc_heap heap;
    lc_arena arena;
    const lc_json *value;
    loci_error err;
    loci_status status;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_json_parse(&arena, loci_str_of(ctx), 0, &value, &err);
    lc_arena_clear(&arena);
    return status;
}

TEST(json_read, survives_without_memory)
{
    char *escapes = test_bytes(20000);
    size_t len = put(escapes, "[");

    for (size_t i = 0; i < 200; i++)
        len += put(escapes + len, "\"a long text with an escape at its end\\n\",");
    (void)put(escapes + len, "0]");
    test_oom_sweep(parse_and_clear, escapes);
    test_oom_sweep(parse_and_clear, object_of(300, NULL));
}

TEST(json_read, err_may_be_null)
{
    fixture f;
    const lc_json *value;

    set_up(&f);
    CHECK_STATUS(LOCI_EINVAL, lc_json_parse(&f.arena, LC_STR("["), 0, &value, NULL));
    CHECK_STATUS(LOCI_EINVAL, lc_json_parse(&f.arena, LC_STR_NONE, 0, &value, NULL));
    tear_down(&f);
}
