#include "lib/test.h"

#include "base/base64.h"
#include "base/str.h"

TEST(base64, the_examples_of_the_rfc_both_ways)
{
    static const char *const rows[][2] = {{"", ""},
                                          {"f", "Zg=="},
                                          {"fo", "Zm8="},
                                          {"foo", "Zm9v"},
                                          {"foob", "Zm9vYg=="},
                                          {"fooba", "Zm9vYmE="},
                                          {"foobar", "Zm9vYmFy"}};
    lc_heap heap;
    lc_buf text;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&text, &heap, LOCI_MEM_REQUESTS, 100);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char bytes[16] = "";

        lc_buf_reset(&text);
        lc_base64_append(&text, rows[i][0], strlen(rows[i][0]));
        CHECK_STR_EQ(lc_buf_str(&text), rows[i][1]);
        CHECK(lc_base64_read(loci_str_of(rows[i][1]), bytes, strlen(rows[i][0])));
        CHECK_STR_EQ(bytes, rows[i][0]);
    }
    lc_buf_clear(&text);
}

TEST(base64, anything_but_the_one_spelling_is_refused)
{
    static const struct {
        const char *text;
        size_t bytes;
    } rows[] = {
        {"Zg=", 1},  {"Zg", 1},    {"Zh==", 1}, {"Zg==", 2},     {"Zm9=", 2}, {"Zm9v", 2},
        {"Zm9v", 4}, {"Zm9\n", 3}, {"Z m9", 3}, {"Zm-_", 3},     {"====", 3}, {"Zm9vZg==", 3},
        {"=m9v", 3}, {"Zg=A", 1},  {"", 1},     {"Zm9v\xC3", 3},
    };
    char bytes[16];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (lc_base64_read(loci_str_of(rows[i].text), bytes, rows[i].bytes))
            test_fail(__FILE__, __LINE__, "\"%s\" is read", rows[i].text);
    }
}

TEST(base64, random_bytes_come_back)
{
    test_rng rng = test_random(5);
    lc_heap heap;
    lc_buf text;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&text, &heap, LOCI_MEM_REQUESTS, 1000);
    for (int i = 0; i < 1000; i++) {
        unsigned char bytes[100], back[100];
        size_t len = test_rng_below(&rng, sizeof bytes);

        test_rng_fill(&rng, bytes, len);
        lc_buf_reset(&text);
        lc_base64_append(&text, bytes, len);
        CHECK(lc_base64_read(lc_buf_str(&text), back, len));
        CHECK_BYTES(bytes, len, back, len);
    }
    lc_buf_clear(&text);
}
