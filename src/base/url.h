/* url.h - URLs that may hold a password, as they may be shown. */
#ifndef LC_BASE_URL_H
#define LC_BASE_URL_H

#include "loci.h"

#include <stdbool.h>

/* "name://…", rather than a path. */
bool lc_url_is(const char *text);

/* Copies `url` without its password, be it before the host ("user:secret@") or a parameter
 * ("password=secret"), and cut to `bytes` - 1. A text that is no URL is copied as it is. */
void lc_url_write_label(const char *url, char *out, size_t bytes);

#endif /* LC_BASE_URL_H */
