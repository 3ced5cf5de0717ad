/* tokenizers.c - Invariant: a tokenizer does not change once its `is_open` is set, which is what
 * lets threads use it without the lock. */
#include "engine/tokenizers.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

const lc_setting lc_setting_data_dir = {
    .name = "data.dir",
    .kind = LC_SETTING_TEXT,
    .default_text = "\"\"",
    .max = 4000,
    .help = "Directory of the tokenizer and encoder data; empty: next to the program",
};

struct lc_tokenizers {
    lc_env *env;
    lc_settings *settings;
    pthread_mutex_t lock; /* Of opening. */
    _Atomic bool is_open[LC_ENCODINGS];
    lc_tokenizer tokenizers[LC_ENCODINGS];
};

loci_status lc_tokenizers_new(lc_env *env, lc_settings *settings, lc_tokenizers **out,
                              loci_error *err)
{
    lc_tokenizers *made = lc_heap_zalloc(&env->heap, sizeof *made, LOCI_MEM_ENGINE);

    if (made == NULL)
        return lc_fail_memory(err);
    made->env = env;
    made->settings = settings;
    (void)pthread_mutex_init(&made->lock, NULL); /* Does not fail on Linux. */
    *out = made;
    return LOCI_OK;
}

void lc_tokenizers_free(lc_tokenizers *tokenizers)
{
    if (tokenizers == NULL)
        return;
    for (int i = 0; i < LC_ENCODINGS; i++)
        lc_tokenizer_close(&tokenizers->tokenizers[i]);
    (void)pthread_mutex_destroy(&tokenizers->lock);
    lc_heap_free(&tokenizers->env->heap, tokenizers, sizeof *tokenizers, LOCI_MEM_ENGINE);
}

/* Under the lock. */
static loci_status open_tokenizer(lc_tokenizers *t, lc_encoding encoding, loci_error *err)
{
    loci_error why;
    lc_buf dir;
    loci_status status;

    lc_buf_init(&dir, &t->env->heap, LOCI_MEM_ENGINE, LC_DATA_PATH_BYTES);
    status = lc_settings_text(t->settings, &lc_setting_data_dir, LC_STR_NONE, &dir, err);
    if (status == LOCI_OK) {
        if (lc_tokenizer_open(&t->tokenizers[encoding], &t->env->heap, encoding, lc_buf_str(&dir),
                              &why) != LOCI_OK)
            lc_log_write(&t->env->log, LOCI_LOG_WARN, "tokens.estimated",
                         LC_LOG_TEXT("encoding", lc_encoding_name(encoding)),
                         LC_LOG_TEXT("why", why.message));
        atomic_store_explicit(&t->is_open[encoding], true, memory_order_release);
    }
    lc_buf_clear(&dir);
    return status;
}

loci_status lc_tokenizers_get(lc_tokenizers *tokenizers, lc_encoding encoding,
                              const lc_tokenizer **out, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (!atomic_load_explicit(&tokenizers->is_open[encoding], memory_order_acquire)) {
        (void)pthread_mutex_lock(&tokenizers->lock);
        if (!atomic_load_explicit(&tokenizers->is_open[encoding], memory_order_relaxed))
            status = open_tokenizer(tokenizers, encoding, err);
        (void)pthread_mutex_unlock(&tokenizers->lock);
    }
    *out = &tokenizers->tokenizers[encoding];
    return status;
}
