#include "net/retry.h"

#include <curl/curl.h>

#include "base/str.h"

bool lc_net_may_pass(int http_status)
{
    return http_status == 429 || (http_status >= 500 && http_status <= 599);
}

int64_t lc_net_backoff_ms(lc_random *random, int attempts)
{
    int64_t whole = LC_NET_BACKOFF_MS;

    for (int i = 1; i < attempts && whole < LC_NET_BACKOFF_MS_MAX; i++)
        whole *= 2;
    if (whole > LC_NET_BACKOFF_MS_MAX)
        whole = LC_NET_BACKOFF_MS_MAX;
    return lc_random_between(random, whole / 2, whole);
}

/* Digits only: a sign or a fraction is no number of seconds. */
static bool read_seconds(loci_str text, int64_t *out)
{
    int64_t seconds = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        seconds = seconds * 10 + (text.ptr[i] - '0');
        if (seconds > LC_NET_RETRY_AFTER_MS_MAX)
            seconds = LC_NET_RETRY_AFTER_MS_MAX; /* Far above the ceiling already. */
    }
    *out = seconds;
    return true;
}

int64_t lc_net_retry_after_ms(const char *value, int64_t now_us)
{
    loci_str text = lc_str_trim(loci_str_of(value));
    int64_t seconds, wait_ms;
    time_t at;

    if (read_seconds(text, &seconds)) {
        wait_ms = seconds * 1000;
    } else {
        at = curl_getdate(value, NULL);
        if (at < 0)
            return -1;
        wait_ms = ((int64_t)at * 1000000 - now_us) / 1000;
    }
    if (wait_ms < 0)
        return 0;
    return wait_ms < LC_NET_RETRY_AFTER_MS_MAX ? wait_ms : LC_NET_RETRY_AFTER_MS_MAX;
}
