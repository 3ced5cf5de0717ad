#include "base/error.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "lib/test.h"

/* ---- The table ------------------------------------------------------------------------------- */

/* Programs compare these codes: they are a promise. */
TEST(error, names_are_those_that_were_promised)
{
    static const char *const names[] = {
        "ok",
        "invalid_argument",
        "not_found",
        "conflict",
        "forbidden",
        "unauthenticated",
        "limit",
        "budget_too_small",
        "over_budget",
        "nothing_evictable",
        "resource_exhausted",
        "deadline_exceeded",
        "cancelled",
        "fenced",
        "unsupported",
        "unavailable",
        "corrupt",
        "internal",
    };

    CHECK_EQ(sizeof names / sizeof names[0], LOCI_EINTERNAL + 1);
    for (int i = 0; i <= LOCI_EINTERNAL; i++)
        CHECK_STR_EQ(loci_status_name((loci_status)i), names[i]);
}

TEST(error, table_is_complete_and_names_are_unique)
{
    for (int i = 0; i <= LOCI_EINTERNAL; i++) {
        const lc_status_row *row = &lc_status_rows()[i];
        loci_status found = LOCI_OK;

        CHECK_EQ(row->status, i);
        CHECK(row->help != NULL && row->help[0] != '\0');
        CHECK_LE(row->exit_code, 2);
        CHECK_EQ(row->exit_code == 0, i == LOCI_OK);
        CHECK_LE(200, row->http);
        CHECK_LT(row->http, 600);
        CHECK_EQ(row->http == 200, i == LOCI_OK);
        for (const char *at = row->name; *at != '\0'; at++)
            CHECK(islower((unsigned char)*at) || *at == '_');
        /* The first of that name is this one. */
        CHECK(lc_status_find(loci_str_of(row->name), &found));
        CHECK_EQ(found, i);
        CHECK_EQ(loci_status_http((loci_status)i), row->http);
        CHECK_EQ(loci_status_exit_code((loci_status)i), row->exit_code);
    }
}

TEST(error, unknown_status_counts_as_internal)
{
    CHECK_STR_EQ(loci_status_name((loci_status)99), "internal");
    CHECK_STR_EQ(loci_status_name((loci_status)-1), "internal");
    CHECK_EQ(loci_status_http((loci_status)99), 500);
    CHECK_EQ(loci_status_exit_code((loci_status)99), 1);
}

TEST(error, unknown_name_is_not_found)
{
    loci_status status = LOCI_EFENCED;

    CHECK(!lc_status_find(LC_STR("not_foun"), &status));
    CHECK(!lc_status_find(LC_STR("not_found_"), &status));
    CHECK(!lc_status_find(LC_STR_NONE, &status));
    CHECK_EQ(status, LOCI_EFENCED);
}

/* ---- Messages -------------------------------------------------------------------------------- */

TEST(error, failure_fills_everything_and_returns_its_status)
{
    loci_error err;

    memset(&err, 'x', sizeof err);
    CHECK_STATUS(LOCI_ECONFLICT, lc_fail(&err, LOCI_ECONFLICT, "fact %s is at %d", "fact_1", 7));
    CHECK_EQ(err.status, LOCI_ECONFLICT);
    CHECK_STR_EQ(err.message, "fact fact_1 is at 7");
    CHECK_STR_EQ(err.data, "");
    CHECK_STATUS(LOCI_ECONFLICT, lc_fail(NULL, LOCI_ECONFLICT, "nobody listens"));
    CHECK_STATUS(LOCI_ERESOURCE, lc_fail_memory(&err));
    CHECK_STR_EQ(err.message, "out of memory");
    CHECK_STATUS(LOCI_ERESOURCE, lc_fail_memory(NULL));
}

/* A name that holds a line break would otherwise forge a second line in a log. */
TEST(error, message_is_one_line)
{
    loci_error err;

    (void)lc_fail(&err, LOCI_EINVAL,
                  "a\nb\rc\td\x1b[31m\x7f"
                  "e é");
    CHECK_STR_EQ(err.message, "a?b?c?d?[31m?e é");
}

/* Each character at each offset, so that every one is cut in every place. */
TEST(error, long_message_is_cut_at_a_character)
{
    static const char *const characters[] = {"x", "é", "€", "😀"};

    for (size_t c = 0; c < 4; c++) {
        for (size_t offset = 0; offset < 5; offset++) {
            char *text = test_bytes(1200);
            size_t bytes = strlen(characters[c]), len = offset;
            loci_error err;
            loci_str message;

            memset(text, '-', offset);
            for (; len + bytes < 1100; len += bytes)
                memcpy(text + len, characters[c], bytes);
            (void)lc_fail(&err, LOCI_EINVAL, "%s", text);
            message = loci_str_of(err.message);
            CHECK_LT(message.len, LOCI_ERROR_MESSAGE_BYTES);
            CHECK_LE(LOCI_ERROR_MESSAGE_BYTES - 8, message.len);
            CHECK(lc_utf8_is_valid(message));
            CHECK_BYTES(message.ptr, message.len, text, message.len);
        }
    }
}

TEST(error, message_of_just_the_size_is_whole)
{
    char *text = test_bytes(LOCI_ERROR_MESSAGE_BYTES);
    loci_error err;

    memset(text, 'x', LOCI_ERROR_MESSAGE_BYTES);
    memcpy(text + LOCI_ERROR_MESSAGE_BYTES - 3, "é", 3);
    (void)lc_fail(&err, LOCI_EINVAL, "%s", text);
    CHECK_STR_EQ(err.message, text);
}

/* ---- Data ------------------------------------------------------------------------------------ */

TEST(error, data_fits_whole_or_is_dropped)
{
    static const size_t lengths[] = {LOCI_ERROR_DATA_BYTES - 2, LOCI_ERROR_DATA_BYTES - 1,
                                     LOCI_ERROR_DATA_BYTES, LOCI_ERROR_DATA_BYTES + 1};

    for (size_t i = 0; i < 4; i++) {
        char *json = test_bytes(lengths[i]);
        bool fits = lengths[i] < LOCI_ERROR_DATA_BYTES;
        loci_error err;

        memset(json, ' ', lengths[i]);
        json[0] = '{';
        json[lengths[i] - 1] = '}';
        (void)lc_fail(&err, LOCI_ECORRUPT, "x");
        lc_error_set_data(&err, (loci_str){json, lengths[i]});
        CHECK_STR_EQ(err.data, fits ? json : "");
        CHECK_STR_EQ(err.message, "x");
    }
}

TEST(error, data_of_nothing_is_empty)
{
    loci_error err;

    (void)lc_fail(&err, LOCI_EINVAL, "x");
    lc_error_set_data(&err, LC_STR_NONE);
    CHECK_STR_EQ(err.data, "");
    lc_error_set_data(NULL, LC_STR("{}"));
}

/* The next failure has nothing to do with the particulars of the one before. */
TEST(error, new_failure_forgets_old_data)
{
    loci_error err;

    (void)lc_fail(&err, LOCI_ECONFLICT, "x");
    lc_error_set_data(&err, LC_STR("{\"head\":1}"));
    CHECK_STR_EQ(err.data, "{\"head\":1}");
    (void)lc_fail(&err, LOCI_EINVAL, "y");
    CHECK_STR_EQ(err.data, "");
}

TEST(error, time_of_the_next_try_is_found_among_other_data)
{
    loci_error err;

    (void)lc_fail(&err, LOCI_EUNAVAILABLE, "later");
    CHECK_EQ(lc_error_retry_ms(&err), 0);
    lc_error_set_retry(&err, 1500);
    CHECK_STR_EQ(err.data, "{\"retry_after_ms\":1500}");
    CHECK_EQ(lc_error_retry_ms(&err), 1500);
    lc_error_set_data(&err, LC_STR("{\"index\":3,\"retry_after_ms\":20}"));
    CHECK_EQ(lc_error_retry_ms(&err), 20);
    lc_error_set_data(&err, LC_STR("{\"text\":\"\\\"retry_after_ms\\\":7\"}"));
    CHECK_EQ(lc_error_retry_ms(&err), 0);
    lc_error_set_retry(NULL, 1);
}
