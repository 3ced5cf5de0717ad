/* input.h - reads files, stdin, lines and token files. */
#ifndef LC_CLI_INPUT_H
#define LC_CLI_INPUT_H

#include "base/buf.h"
#include "cli/cli.h"

/* Appends everything up to the end of the stream; `name` is for messages. LOCI_ELIMIT if it exceeds
 * the maximum of `out`. */
loci_status lc_input_read(int descriptor, const char *name, lc_buf *out, loci_error *err);
/* The same for a file. LOCI_ENOTFOUND or LOCI_EFORBIDDEN if it cannot be opened. */
loci_status lc_input_read_file(const char *path, lc_buf *out, loci_error *err);

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Lines from a descriptor, each with a maximum length. Built on read(2): a line is returned as soon
 * as its newline was read, so that a program can wait for each answer before it writes its next
 * line. */

typedef struct lc_line_reader {
    int descriptor;
    size_t line_bytes_max;
    lc_buf text;      /* Read and not yet returned, from `start` on. */
    size_t start;     /* The last line returned is before it. */
    size_t looked_at; /* Bytes from `start` known to contain no newline. */
    bool is_at_end;   /* End of file. */
} lc_line_reader;

typedef enum lc_line_result {
    LC_LINE_READ,
    LC_LINE_TOO_LONG, /* It was skipped; the next call returns the next line. */
    LC_LINE_END,
    LC_LINE_INTERRUPTED, /* A signal arrived while waiting. */
    LC_LINE_FAILED       /* Read error or out of memory; see errno. */
} lc_line_result;

void lc_line_reader_init(lc_line_reader *reader, lc_heap *heap, int descriptor,
                         size_t line_bytes_max);
void lc_line_reader_clear(lc_line_reader *reader);
/* The next line without its newline, borrowed until the next call. */
lc_line_result lc_line_reader_next(lc_line_reader *reader, loci_str *out);

/* ---- Temporary files ------------------------------------------------------------------------- */

#define LC_TEMPORARY_BYTES 4096

/* Creates "loci-NAME-XXXXXX" with mode 0600 in TMPDIR or /tmp and writes its path to `out`. The
 * caller closes the descriptor and removes the file. */
loci_status lc_temporary_open(const char *name, char out[LC_TEMPORARY_BYTES], int *out_descriptor,
                              loci_error *err);
/* The same for a directory, with mode 0700. */
loci_status lc_temporary_directory(const char *name, char out[LC_TEMPORARY_BYTES], loci_error *err);
/* Copies stdin to a temporary file, which can be read more than once; the path is in cli->arena.
 * The caller removes the file. */
loci_status lc_input_spool(lc_cli *cli, char **out_path, loci_error *err);

/* ---- Token files ----------------------------------------------------------------------------- */

/* Creates an administrator token and writes it to a new file with mode 0600. An existing file is
 * left unchanged, but its token must be valid: LOCI_ECONFLICT otherwise. */
loci_status lc_token_file_make(lc_cli *cli, loci_engine *engine, const char *path, loci_error *err);

/* Reads a token from a file, without surrounding white space; in cli->arena. */
loci_status lc_token_file_read(lc_cli *cli, const char *path, loci_str *out, loci_error *err);

#endif /* LC_CLI_INPUT_H */
