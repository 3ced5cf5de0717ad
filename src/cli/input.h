/* input.h - reading a whole file or stream into memory, up to the buffer's ceiling. */
#ifndef LC_CLI_INPUT_H
#define LC_CLI_INPUT_H

#include "base/buf.h"

/* Appends all that `descriptor` gives; `name` is for the message. LOCI_ELIMIT when it is too much.
 */
loci_status lc_input_read(int descriptor, const char *name, lc_buf *out, loci_error *err);
/* The same for a file. LOCI_ENOTFOUND or LOCI_EFORBIDDEN when it cannot be opened. */
loci_status lc_input_read_file(const char *path, lc_buf *out, loci_error *err);

#endif /* LC_CLI_INPUT_H */
