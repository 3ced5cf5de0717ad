/* tokenizers.h - the engine's tokenizers, one for each encoding, opened when first asked for.
 *
 * Where the data of an encoding is missing or damaged its tokenizer estimates, which is logged
 * once; data that is brought later counts when the engine is opened next. Any thread; a lock is
 * taken at the first use of an encoding only.
 */
#ifndef LC_ENGINE_TOKENIZERS_H
#define LC_ENGINE_TOKENIZERS_H

#include "base/env.h"
#include "engine/settings.h"
#include "text/tokenizer.h"

extern const lc_setting lc_setting_data_dir;

typedef struct lc_tokenizers lc_tokenizers;

/* `env` and `settings` must outlive it. */
loci_status lc_tokenizers_new(lc_env *env, lc_settings *settings, lc_tokenizers **out,
                              loci_error *err);
void lc_tokenizers_free(lc_tokenizers *tokenizers); /* NULL is fine. */

/* The tokenizer of `encoding`, which lives as long as `tokenizers`. Fails only for want of memory,
 * and may then be asked again. */
loci_status lc_tokenizers_get(lc_tokenizers *tokenizers, lc_encoding encoding,
                              const lc_tokenizer **out, loci_error *err);

#endif /* LC_ENGINE_TOKENIZERS_H */
