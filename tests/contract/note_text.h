/* note_text.h - exports of a store of notes in memory, to be looked at, spoilt and imported. */
#ifndef TEST_CONTRACT_NOTE_TEXT_H
#define TEST_CONTRACT_NOTE_TEXT_H

#include "contract/note_fixture.h"

#include "store/transfer.h"

typedef struct note_text {
    char *ptr;
    size_t len;
    size_t at; /* For reading. */
} note_text;   /* Its bytes are the caller's to free(). */

/* A lc_export_line whose ctx is a note_text. */
loci_status note_text_add(void *ctx, loci_str line, loci_error *err);
/* `counts` may be NULL, in both. */
note_text note_text_export(notes *n, lc_transfer_counts *counts);
/* The text as a source for lc_import(), which reads `t`. */
lc_import_source note_text_source(note_text *t);
loci_status note_text_import(notes *n, note_text *t, lc_transfer_counts *counts);

/* Stores a setting. */
void notes_set(notes *n, const char *tenant, const char *name, const char *value);

#endif /* TEST_CONTRACT_NOTE_TEXT_H */
