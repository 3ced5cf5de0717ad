/* tokenizers.h - the data files: the tokenizers that are opened from them, and whether all of them
 * are installed and intact.
 *
 * There is one tokenizer per encoding, opened at its first use. If the data of an encoding is
 * missing or damaged, its tokenizer estimates, which is logged once; data that is installed later
 * is used when the engine is opened again. Any thread; only the first use of an encoding takes a
 * lock.
 */
#ifndef LC_ENGINE_TOKENIZERS_H
#define LC_ENGINE_TOKENIZERS_H

#include "base/env.h"
#include "base/json.h"
#include "engine/settings.h"
#include "text/tokenizer.h"

extern const lc_setting lc_setting_data_dir;

typedef struct lc_tokenizers lc_tokenizers;

/* `env` and `settings` must outlive it. */
loci_status lc_tokenizers_new(lc_env *env, lc_settings *settings, lc_tokenizers **out,
                              loci_error *err);
void lc_tokenizers_free(lc_tokenizers *tokenizers); /* NULL is fine. */

/* The tokenizer of `encoding`, which lives as long as `tokenizers`. Fails only when out of memory,
 * and can then be called again. */
loci_status lc_tokenizers_get(lc_tokenizers *tokenizers, lc_encoding encoding,
                              const lc_tokenizer **out, loci_error *err);

/* Compares the content of a file with its digest, once per process as long as the file is the same;
 * LOCI_ECORRUPT when they differ. */
loci_status lc_data_file_verify(const lc_data_file *file, loci_error *err);

/* Writes an array with one object per data file: name, use, state (missing, damaged, present, or
 * whole if it was read), problem or null. Without `reads_all` only headers are checked: the files
 * have 38 MB. */
loci_status lc_data_files_write(loci_engine *engine, bool reads_all, lc_json_writer *out,
                                loci_error *err);

#endif /* LC_ENGINE_TOKENIZERS_H */
