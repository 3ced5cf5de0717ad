#include "server/address.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/str.h"

/* "127.0.0.1" of "127.0.0.1:7077", "::1" of "[::1]:7077"; what has no port is all host. */
static loci_str host_of(loci_str listen)
{
    const char *colon = listen.len > 0 ? memrchr(listen.ptr, ':', listen.len) : NULL;
    loci_str host = listen;

    if (colon != NULL)
        host.len = (size_t)(colon - listen.ptr);
    if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
        host = (loci_str){host.ptr + 1, host.len - 2};
    return host;
}

bool lc_address_is_local(loci_str listen)
{
    loci_str host = host_of(listen);
    char text[INET6_ADDRSTRLEN];
    struct in_addr v4;
    struct in6_addr v6;

    if (lc_str_starts(listen, LC_STR("unix:")) || lc_str_is(host, "localhost"))
        return true;
    if (host.len == 0 || host.len >= sizeof text)
        return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    if (inet_pton(AF_INET, text, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

void lc_address_format(const char *listen, int port, const char *socket_path,
                       char out[LC_ADDRESS_BYTES])
{
    loci_str host = host_of(loci_str_of(listen));
    bool is_v6 = host.len > 0 && memchr(host.ptr, ':', host.len) != NULL;

    if (listen == NULL)
        (void)snprintf(out, LC_ADDRESS_BYTES, "unix:%s", socket_path != NULL ? socket_path : "");
    else if (lc_str_starts(loci_str_of(listen), LC_STR("unix:")))
        (void)snprintf(out, LC_ADDRESS_BYTES, "%s", listen);
    else
        (void)snprintf(out, LC_ADDRESS_BYTES, "http://%s%.*s%s:%d", is_v6 ? "[" : "",
                       LC_STR_ARG(host), is_v6 ? "]" : "", port);
}
