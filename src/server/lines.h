/* lines.h - operations that give their result as lines, such as store.export, as a streamed answer.
 *
 * If the operation gives a line, the answer is 200 with the lines as application/x-ndjson, chunked.
 * If it gives none, the answer is its object or its error, as that of any other operation.
 */
#ifndef LC_SERVER_LINES_H
#define LC_SERVER_LINES_H

#include "server/parts.h"

/* Answers `request`. `args` and `options` are copied. */
void lc_lines_run(lc_server *server, lc_http_request *request, const lc_op *op, loci_str args,
                  const loci_call_options *options);

#endif /* LC_SERVER_LINES_H */
