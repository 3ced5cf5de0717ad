/* reading.h - texts that were read before, so that they need not be read again.
 *
 * What was said never changes, and a context asks about the same texts each time. Reading a text
 * into terms and clauses is most of the work of judging it and depends on nothing but the text, so
 * what was made of it is kept under the text's hash: terms and clauses, no text. Bounded in bytes:
 * two halves, of which the older one goes when the newer one is full. A text that is not there is
 * read; with or without readings a judgement is the same.
 *
 * One thread at a time. */
#ifndef LC_TALK_READING_H
#define LC_TALK_READING_H

#include "talk/judging.h"

/* Of both halves; one call may go above it by what it reads. */
#define LC_READINGS_BYTES_MAX (1u << 23)
/* Longer texts are read each time. */
#define LC_READING_TEXT_BYTES_MAX 4096

loci_status lc_readings_new(lc_heap *heap, lc_readings **out, loci_error *err);
void lc_readings_free(lc_readings *readings); /* NULL is fine. */
size_t lc_readings_bytes(const lc_readings *readings);

/* To be called between two judgements, never during one: units point to what is kept. */
void lc_readings_trim(lc_readings *readings);

/* As lc_unit_read(). What is found needs memory of the arena for verdicts only. NULL reads. */
loci_status lc_readings_read(lc_readings *readings, const lc_talk *talk, lc_arena *arena,
                             loci_str text, lc_unit *out, loci_error *err);

#endif /* LC_TALK_READING_H */
