/* private_address.h - which addresses lie inside: of this machine, of its network, of nobody.
 *
 * A provider's address comes from a setting, but what its name resolves to comes from whoever runs
 * the name's server. Without this check a name could lead a request, and the key with it, to a
 * neighbour that trusts everybody inside (a cloud's metadata service, a router).
 */
#ifndef LC_NET_PRIVATE_ADDRESS_H
#define LC_NET_PRIVATE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Whether `address` is anything but a public unicast address of the internet. IPv6 forms that carry
 * an IPv4 address (mapped, NAT64, 6to4) are judged by it. Families other than IP are private. */
bool lc_net_is_private(const struct sockaddr *address);

#endif /* LC_NET_PRIVATE_ADDRESS_H */
