/* pages.h - the pages' content; pages.c serves them. Only server/ includes this. */
#ifndef LC_SERVER_PAGES_H
#define LC_SERVER_PAGES_H

#include "base/buf.h"

void lc_page_home(lc_buf *out);    /* / */
void lc_page_docs(lc_buf *out);    /* /docs */
void lc_page_openapi(lc_buf *out); /* /openapi.json */

#endif /* LC_SERVER_PAGES_H */
