/* Addresses that a provider may not have unless the operator allows it. */
#include "lib/test.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include "net/client.h"

static bool is_private(const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return lc_net_is_private((struct sockaddr *)&v4);
    CHECK_EQ(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return lc_net_is_private((struct sockaddr *)&v6);
}

TEST(private_address, inside_is_private)
{
    static const char *const inside[] = {
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.169.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.168.0.1",
        "192.168.255.255",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "2002:a00:1::",
        "2002:7f00:1::1",
        "2001::1",
        "2001:db8::1",
        "fc00::1",
        "fdff::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "100::1",
        "4000::1",
    };

    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        if (!is_private(inside[i]))
            test_fail(__FILE__, __LINE__, "%s counts as public", inside[i]);
    }
}

TEST(private_address, outside_is_not)
{
    static const char *const outside[] = {
        "1.1.1.1",         "9.255.255.255",    "11.0.0.0",        "100.63.255.255",
        "100.128.0.0",     "126.255.255.255",  "128.0.0.0",       "169.253.255.255",
        "172.15.255.255",  "172.32.0.0",       "192.0.1.0",       "192.167.255.255",
        "192.169.0.0",     "198.17.255.255",   "198.20.0.0",      "223.255.255.255",
        "::ffff:8.8.8.8",  "64:ff9b::808:808", "2002:808:808::1", "2001:4860:4860::8888",
        "2606:4700::1111", "2a00:1450::1",     "3fff:ffff::1",
    };

    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        if (is_private(outside[i]))
            test_fail(__FILE__, __LINE__, "%s counts as private", outside[i]);
    }
}

TEST(private_address, other_families_are_private)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};

    CHECK(lc_net_is_private((struct sockaddr *)&local));
}
