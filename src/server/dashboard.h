/* dashboard.h - the files of the dashboard, which the build makes of web/ (tools/build_dashboard).
 *
 * The build writes the C file with the table; it is empty if Node.js or the packages are missing.
 */
#ifndef LC_SERVER_DASHBOARD_H
#define LC_SERVER_DASHBOARD_H

#include <stddef.h>

typedef struct lc_dashboard_file {
    const char *path;          /* "/dashboard/app.js" */
    const char *content_type;  /* "text/javascript; charset=utf-8" */
    const char *etag;          /* With its quotes. */
    const unsigned char *gzip; /* The file, compressed: */
    size_t gzip_bytes;         /* its size, */
    size_t bytes;              /* and its size when it is not. */
} lc_dashboard_file;

extern const lc_dashboard_file lc_dashboard_files[];
extern const size_t lc_dashboard_file_count;
/* Why there are none, or "". */
extern const char lc_dashboard_missing[];

#endif /* LC_SERVER_DASHBOARD_H */
