#include "unit/server/http_fixture.h"

TEST(http_stream, streams_what_is_said)
{
    enum { CLIENTS = 200 };
    fixture fix;
    client clients[CLIENTS];

    fixture_start(&fix, FIXTURE_USUAL);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = client_open(&fix);
        client_send(&clients[i], GET("/stream"));
    }
    fixture_await(&fix.handled, CLIENTS);
    fixture_say(&fix, "one");
    for (int i = 0; i < CLIENTS; i++)
        CHECK(client_hears(&clients[i], "<one>"));
    CHECK_EQ(lc_http_get_counters(fix.http).streams, CLIENTS);
    for (int word = 0; word < 20; word++)
        fixture_say(&fix, test_format("%d", word));
    for (int i = 0; i < CLIENTS; i++)
        CHECK(client_hears(&clients[i], "<19>"));
    fixture_say(&fix, "end");
    for (int i = 0; i < CLIENTS; i++)
        CHECK(client_hears(&clients[i], "\r\n0\r\n\r\n"));
    fixture_await(&fix.closed, CLIENTS);
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    fixture_stop(&fix);
}

TEST(http_stream, beats_when_a_stream_is_silent)
{
    fixture fix;
    client c;

    fixture_start(&fix, (lc_http_options){.limits = {.idle_timeout_ms = 100}});
    c = client_open(&fix);
    client_send(&c, GET("/beat"));
    for (int i = 0; i < 5; i++) {
        CHECK(client_hears(&c, ":beat\n"));
        c.len = 0;
    }
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http_stream, notices_the_end_of_a_silent_streams_reader)
{
    fixture fix;
    client c;

    fixture_start(&fix, FIXTURE_USUAL);
    c = client_open(&fix);
    client_send(&c, GET("/stream"));
    CHECK(client_hears(&c, "\r\n\r\n"));
    fixture_await(&fix.handled, 1);
    client_close(&c);
    fixture_await(&fix.closed, 1);
    fixture_stop(&fix);
}

TEST(http_stream, stops_with_open_streams)
{
    enum { CLIENTS = 20 };
    fixture fix;
    client clients[CLIENTS];

    fixture_start(&fix, FIXTURE_USUAL);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = client_open(&fix);
        client_send(&clients[i], i % 3 == 0 ? GET("/flood") : GET("/stream"));
    }
    fixture_await(&fix.handled, CLIENTS);
    fixture_stop(&fix);
    CHECK_EQ(atomic_load(&fix.closed), CLIENTS);
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
}
