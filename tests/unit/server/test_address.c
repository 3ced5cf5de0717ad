/* An address taken for local by mistake would open a store to the whole network. */
#include "lib/test.h"

#include "base/str.h"
#include "server/http.h"

TEST(address, only_what_is_surely_local_counts_as_local)
{
    static const char *const local[] = {"127.0.0.1:7077", "127.3.2.1:0", "localhost:80",
                                        "[::1]:7077",     "unix:/tmp/x", "unix:x"};
    static const char *const public[] = {"0.0.0.0:7077",       "[::]:7077", "192.168.1.5:80",
                                         "example.com:80",     ":7077",     "",
                                         "127.0.0.1.evil:80",  "[::2]:1",   "*:80",
                                         "localhost.evil:80",  "7077",      "1.127.0.0:1",
                                         "[::ffff:10.0.0.1]:1"};

    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        CHECK(lc_http_address_is_local(loci_str_of(local[i])));
    for (size_t i = 0; i < sizeof public / sizeof public[0]; i++)
        CHECK(!lc_http_address_is_local(loci_str_of(public[i])));
}

TEST(address, is_written_with_the_port_it_got)
{
    char text[LC_HTTP_ADDRESS_BYTES];

    lc_http_address_format("127.0.0.1:0", 4711, NULL, text);
    CHECK_STR_EQ(text, "http://127.0.0.1:4711");
    lc_http_address_format("[::1]:0", 4711, NULL, text);
    CHECK_STR_EQ(text, "http://[::1]:4711");
    lc_http_address_format(NULL, 0, "/run/a.sock", text);
    CHECK_STR_EQ(text, "unix:/run/a.sock");
    lc_http_address_format("unix:/run/b.sock", 0, NULL, text);
    CHECK_STR_EQ(text, "unix:/run/b.sock");
}
