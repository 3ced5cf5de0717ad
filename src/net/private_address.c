/* private_address.c - the tables are those parts of IANA's registries of special-purpose addresses
 * that are not reachable from everywhere, and multicast. */
#include "net/private_address.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

typedef struct block4 {
    uint32_t prefix;
    int bits;
} block4;

static const block4 blocks4[] = {
    {0x00000000, 8},  /* this network */
    {0x0A000000, 8},  /* 10/8 */
    {0x64400000, 10}, /* 100.64/10: behind a carrier's translation */
    {0x7F000000, 8},  /* loopback */
    {0xA9FE0000, 16}, /* 169.254/16: link-local, metadata services */
    {0xAC100000, 12}, /* 172.16/12 */
    {0xC0000000, 24}, /* 192.0.0/24: protocols */
    {0xC0000200, 24}, /* 192.0.2/24: documentation, as the next two of 24 bits */
    {0xC0A80000, 16}, /* 192.168/16 */
    {0xC6120000, 15}, /* 198.18/15: benchmarks */
    {0xC6336400, 24}, /* 198.51.100/24 */
    {0xCB007100, 24}, /* 203.0.113/24 */
    {0xE0000000, 3},  /* multicast, reserved, broadcast */
};

static bool is_private4(uint32_t address)
{
    for (size_t i = 0; i < sizeof blocks4 / sizeof *blocks4; i++) {
        if ((address ^ blocks4[i].prefix) >> (32 - blocks4[i].bits) == 0)
            return true;
    }
    return false;
}

static uint32_t read4(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool is_private6(const uint8_t a[16])
{
    static const uint8_t zeros[12] = {0};
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    static const uint8_t nat64[12] = {0, 0x64, 0xFF, 0x9B};

    if (memcmp(a, mapped, 12) == 0 || memcmp(a, nat64, 12) == 0)
        return is_private4(read4(a + 12));
    if (a[0] == 0x20 && a[1] == 0x02) /* 6to4 */
        return is_private4(read4(a + 2));
    if (memcmp(a, zeros, 12) ==
        0) /* none, loopback, and a form of IPv4 that nobody uses any more */
        return true;
    if (a[0] == 0x20 && a[1] == 0x01)
        return a[2] < 0x02 || (a[2] == 0x0D && a[3] == 0xB8); /* Teredo and others; documentation */
    return a[0] >> 5 != 1;                                    /* Public unicast is 2000::/3. */
}

bool lc_net_is_private(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;

        memcpy(&v4, address, sizeof v4);
        return is_private4(ntohl(v4.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;

        memcpy(&v6, address, sizeof v6);
        return is_private6(v6.sin6_addr.s6_addr);
    }
    return true;
}
