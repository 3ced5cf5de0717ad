/* When a provider is asked again. */
#include "lib/test.h"

#include "net/client.h"

#define NOW_US INT64_C(1763251200000000) /* Sun, 16 Nov 2025 00:00:00 GMT */

static int64_t retry_after_ms(const char *value)
{
    lc_env env = {0};
    lc_net_client *client = NULL;
    loci_error err;
    int64_t ms;

    lc_heap_init(&env.heap, test_heap());
    CHECK_OK(lc_net_client_open(&env, &client, &err), err);
    ms = lc_net_retry_after_ms(client, value, NOW_US);
    lc_net_client_close(client);
    return ms;
}

TEST(retry, only_what_may_pass_is_tried_again)
{
    static const int pass[] = {429, 500, 502, 503, 504, 529, 599};
    static const int stay[] = {200, 301, 302, 400, 401, 403, 404, 408, 413, 422, 428, 430, 600, 0};

    for (size_t i = 0; i < sizeof pass / sizeof *pass; i++)
        CHECK(lc_net_may_pass(pass[i]));
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        CHECK(!lc_net_may_pass(stay[i]));
}

TEST(retry, pauses_double_and_are_spread)
{
    lc_random random;
    int64_t whole = LC_NET_BACKOFF_MS;

    lc_random_init(&random, 11);
    for (int attempts = 1; attempts < 20; attempts++) {
        int64_t least = INT64_MAX, most = 0;

        for (int i = 0; i < 200; i++) {
            int64_t ms = lc_net_backoff_ms(&random, attempts);

            CHECK_LE(whole / 2, ms);
            CHECK_LE(ms, whole);
            least = ms < least ? ms : least;
            most = ms > most ? ms : most;
        }
        CHECK_LT(least, most);
        whole = whole * 2 < LC_NET_BACKOFF_MS_MAX ? whole * 2 : LC_NET_BACKOFF_MS_MAX;
    }
}

TEST(retry, retry_after_in_seconds)
{
    CHECK_EQ(retry_after_ms("0"), 0);
    CHECK_EQ(retry_after_ms("7"), 7000);
    CHECK_EQ(retry_after_ms(" 60 "), 60000);
    CHECK_EQ(retry_after_ms("61"), LC_NET_RETRY_AFTER_MS_MAX);
    CHECK_EQ(retry_after_ms("99999999999999999999999999"), LC_NET_RETRY_AFTER_MS_MAX);
}

TEST(retry, retry_after_as_a_date)
{
    CHECK_EQ(retry_after_ms("Sun, 16 Nov 2025 00:00:05 GMT"), 5000);
    CHECK_EQ(retry_after_ms("Sunday, 16-Nov-25 00:00:05 GMT"), 5000);
    CHECK_EQ(retry_after_ms("Sat, 15 Nov 2025 23:59:59 GMT"), 0);
    CHECK_EQ(retry_after_ms("Sun, 16 Nov 2031 00:00:00 GMT"), LC_NET_RETRY_AFTER_MS_MAX);
}

TEST(retry, retry_after_that_is_neither)
{
    CHECK_EQ(retry_after_ms(""), -1);
    CHECK_EQ(retry_after_ms("soon"), -1);
    CHECK_EQ(retry_after_ms("-5"), -1);
    CHECK_EQ(retry_after_ms("1.5"), -1);
}
