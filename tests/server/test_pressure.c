/* A daemon that is short of memory, over HTTP. */
#include "server/daemon.h"

#include <string.h>

TEST(pressure, refusals_say_when_to_try_again)
{
    /* The daemon needs more than this for itself. */
    static const char *const settings[] = {"guard.limit_bytes=1000000", NULL};
    test_daemon daemon = test_daemon_start(settings);
    test_answer answer = test_ask(&daemon, "POST /v1/call/session.open", daemon.token, "{}");

    CHECK_EQ(answer.status, 503);
    CHECK(strstr(answer.head.ptr, "Retry-After: ") != NULL);
    CHECK(strstr(answer.body.ptr, "\"retry_after_ms\":") != NULL);
    CHECK(strstr(answer.body.ptr, "memory is scarce") != NULL);
    answer = test_ask(&daemon, "POST /v1/call/store.rebuild", daemon.token, "{}");
    CHECK_EQ(answer.status, 503);

    /* Calls that are short or free memory go on. */
    answer = test_ask(&daemon, "POST /v1/call/fact.write", daemon.token,
                      "{\"key\":\"city\",\"value\":\"Rome\"}");
    CHECK_EQ(answer.status, 200);
    answer = test_ask(&daemon, "POST /v1/call/fact.forget", daemon.token, "{\"key\":\"city\"}");
    CHECK_EQ(answer.status, 200);
    CHECK_EQ(test_ask(&daemon, "GET /readyz", NULL, NULL).status, 200);
    test_daemon_stop(&daemon);
}

TEST(pressure, quota_of_calls_is_429)
{
    static const char *const settings[] = {"quota.requests_per_second=1", NULL};
    test_daemon daemon = test_daemon_start(settings);
    test_answer answer = {.status = 200};

    for (int i = 0; i < 100 && answer.status == 200; i++)
        answer = test_ask(&daemon, "POST /v1/call/fact.list", daemon.token, "{}");
    CHECK_EQ(answer.status, 429);
    CHECK(strstr(answer.head.ptr, "Retry-After: 1\r\n") != NULL);
    CHECK(strstr(answer.body.ptr, "\"code\":\"limit\"") != NULL);
    CHECK(strstr(answer.body.ptr, "\"retry_after_ms\":") != NULL);
    test_daemon_stop(&daemon);
}
