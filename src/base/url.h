/* url.h - URLs that may contain a password: checks them and makes labels without it. */
#ifndef LC_BASE_URL_H
#define LC_BASE_URL_H

#include "loci.h"

#include <stdbool.h>

/* "name://…", rather than a path. */
bool lc_url_is(const char *text);

/* Refuses store names that look like the address of a server but are not one that loci supports:
 * another scheme, or a connection string such as "host=h password=secret". As names of files they
 * would be shown, password included. The message does not repeat them. */
loci_status lc_url_check_store(const char *text, loci_error *err);

/* Copies `url` without its password, in whatever way that is spelled ("user:secret@",
 * "password=secret", "p%61ssword=secret"), and cut to `bytes` - 1: shown are the user, hosts,
 * ports, the database and parameters known to be harmless. A path is copied as it is. */
void lc_url_write_label(const char *url, char *out, size_t bytes);

#endif /* LC_BASE_URL_H */
