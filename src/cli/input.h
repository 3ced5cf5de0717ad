/* input.h - reading a whole file or stream into memory, up to the buffer's ceiling. */
#ifndef LC_CLI_INPUT_H
#define LC_CLI_INPUT_H

#include "base/buf.h"
#include "cli/cli.h"

/* Appends all that `descriptor` gives; `name` is for the message. LOCI_ELIMIT when it is too much.
 */
loci_status lc_input_read(int descriptor, const char *name, lc_buf *out, loci_error *err);
/* The same for a file. LOCI_ENOTFOUND or LOCI_EFORBIDDEN when it cannot be opened. */
loci_status lc_input_read_file(const char *path, lc_buf *out, loci_error *err);

/* ---- Lines ----------------------------------------------------------------------------------- */

/* lines from a descriptor as they arrive, each with a ceiling.
 *
 * Built on read(2): a line is given out as soon as its end was read, never held back to fill a
 * buffer, so that a program can wait for each answer before it writes its next line. */

typedef struct lc_line_reader {
    int descriptor;
    size_t line_bytes_max;
    lc_buf text;      /* Read and not yet given out; the last line given out is before `start`. */
    size_t start;     /* Of what was not given out. */
    size_t looked_at; /* Bytes from `start` known to hold no newline. */
    bool is_at_end;   /* The descriptor has no more. */
} lc_line_reader;

typedef enum lc_line_result {
    LC_LINE_READ,
    LC_LINE_TOO_LONG, /* It was skipped to its end; the next call goes on behind it. */
    LC_LINE_END,
    LC_LINE_INTERRUPTED, /* A signal arrived while waiting. */
    LC_LINE_FAILED       /* The descriptor cannot be read, or no memory. errno says which. */
} lc_line_result;

void lc_line_reader_init(lc_line_reader *reader, lc_heap *heap, int descriptor,
                         size_t line_bytes_max);
void lc_line_reader_clear(lc_line_reader *reader);
/* The next line without its newline, borrowed until the next call. The last one may lack the
 * newline. */
lc_line_result lc_line_reader_next(lc_line_reader *reader, loci_str *out);

/* ---- Standard input as a file ---------------------------------------------------------------- */

/* standard input as a file that can be read more than once. */

/* Copies standard input into a file that its user alone may read; the caller removes it. */
loci_status lc_transfer_spool(lc_cli *cli, char **out_path, loci_error *err);

/* ---- Token files ----------------------------------------------------------------------------- */

/* a token kept in a file that only its owner may read. */

/* Makes a token for administrators and writes it to a new file at `path`. A file that is there is
 * left alone, but its token must be good: LOCI_ECONFLICT otherwise. */
loci_status lc_token_file_make(lc_cli *cli, loci_engine *engine, const char *path, loci_error *err);

/* The token in the file, white space around it cut off; in the arena of the run. */
loci_status lc_token_file_read(lc_cli *cli, const char *path, loci_str *out, loci_error *err);

#endif /* LC_CLI_INPUT_H */
