/* line_reader.h - lines from a descriptor as they arrive, each with a ceiling.
 *
 * Built on read(2): a line is given out as soon as its end was read, never held back to fill a
 * buffer, so that a program can wait for each answer before it writes its next line. */
#ifndef LC_CLI_LINE_READER_H
#define LC_CLI_LINE_READER_H

#include "base/buf.h"

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

#endif /* LC_CLI_LINE_READER_H */
