/* http_stream.c - a stream is pulled when the client has taken all that was said before, and sleeps
 * when there was nothing. The watch for its waking is set under the lock, after it was suspended,
 * and fires at once for what came in between: no wake-up is lost. */
#include "server/http_private.h"

#include <string.h>

static bool is_stream_to_end(const lc_http *http)
{
    return atomic_load(&http->is_stopping) || atomic_load(&http->are_streams_ended);
}

/* False when there is no time for it. */
static bool sleep_until_woken(lc_http_request *request)
{
    lc_http *http = request->http;
    bool is_asleep;

    lc_buf_clear(&request->said);
    lc_http_set_phase(request->connection, LC_HTTP_STREAM, LC_HTTP_NEVER_MS);
    pthread_mutex_lock(&http->lock);
    is_asleep = !request->is_gone && !is_stream_to_end(http);
    if (is_asleep) {
        lc_http_suspend(request);
        request->heartbeat_us = request->stream.heartbeat_ms > 0
                                    ? lc_clock_monotonic_us() + request->stream.heartbeat_ms * 1000
                                    : INT64_MAX;
        lc_http_keeper_watch(http, request);
    }
    pthread_mutex_unlock(&http->lock);
    return is_asleep;
}

static ssize_t pull_stream(lc_http_request *request)
{
    bool is_heartbeat, is_gone;

    pthread_mutex_lock(&request->http->lock);
    is_heartbeat = request->is_heartbeat;
    request->is_heartbeat = false;
    is_gone = request->is_gone;
    pthread_mutex_unlock(&request->http->lock);
    if (is_gone)
        return LC_HTTP_STREAM_BROKEN;
    if (request->is_last || is_stream_to_end(request->http))
        return LC_HTTP_STREAM_END;
    lc_buf_reset(&request->said);
    request->said_sent = 0;
    request->is_last = !request->stream.pull(request->stream.ctx, &request->said, is_heartbeat);
    if (lc_buf_status(&request->said, NULL) != LOCI_OK) {
        lc_http_count(&request->http->cut);
        return LC_HTTP_STREAM_BROKEN;
    }
    if (request->said.len > 0)
        return (ssize_t)request->said.len;
    if (request->is_last)
        return LC_HTTP_STREAM_END;
    return sleep_until_woken(request) ? 0 : LC_HTTP_STREAM_END;
}

/* Called when everything that was given before is with the kernel: so between two calls that give
 * something, the clock runs for the reader. */
ssize_t lc_http_stream_read(lc_http_request *request, char *out, size_t bytes_max)
{
    size_t bytes;

    if (request->said_sent == request->said.len) {
        ssize_t pulled = pull_stream(request);

        if (pulled <= 0)
            return pulled;
    }
    bytes = request->said.len - request->said_sent;
    if (bytes > bytes_max)
        bytes = bytes_max;
    memcpy(out, request->said.ptr + request->said_sent, bytes);
    request->said_sent += bytes;
    lc_http_set_phase(request->connection, LC_HTTP_STREAM,
                      lc_http_now_ms() + request->http->limits.idle_timeout_ms);
    lc_http_add(&request->http->bytes_out, (int64_t)bytes);
    return (ssize_t)bytes;
}

void lc_http_stream_end(lc_http_request *request)
{
    lc_http *http = request->http;
    lc_http_stream stream = request->stream;

    pthread_mutex_lock(&http->lock);
    request->is_over = true;
    lc_http_keeper_forget(http, request);
    request->next_grave = http->graves;
    http->graves = request;
    pthread_mutex_unlock(&http->lock);
    lc_http_add(&http->streams, -1);
    stream.close(stream.ctx); /* The request may be freed by now. */
}
