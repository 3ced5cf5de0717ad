/* html.h - writing HTML. Text and attributes are escaped; what is ours is added as it is. */
#ifndef LC_SERVER_HTML_H
#define LC_SERVER_HTML_H

#include "base/buf.h"

/* As it is. */
void lc_html_raw(lc_buf *out, const char *html);
/* Escaped, for text and for attributes in double quotes. */
void lc_html_text(lc_buf *out, const char *text);
void lc_html_str(lc_buf *out, loci_str text);
/* Text in which `words` are code. */
void lc_html_prose(lc_buf *out, const char *text);
/* Begins the head, with the style that all pages share; more of it may follow, then <body>. */
void lc_html_begin(lc_buf *out, const char *title);
void lc_html_end(lc_buf *out);

#endif /* LC_SERVER_HTML_H */
