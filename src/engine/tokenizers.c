/* tokenizers.c - Invariant: a tokenizer does not change once its `is_open` is set, so threads use
 * it without the lock. */
#include "engine/tokenizers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/buf.h"
#include "base/data_file.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/internal.h"
#include "model/encoder.h"
#include "store/token.h"
#include "text/token_table.h"

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
    pthread_mutex_t lock; /* For opening. */
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
    (void)pthread_mutex_init(&made->lock, NULL); /* Cannot fail on Linux. */
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

/* ---- Digests --------------------------------------------------------------------------------- */

#define VERIFIED_MAX 8

/* The files whose digest was right, for all engines of the process: comparing takes 3 ms per MB,
 * and a program that opens many engines would do so for each. */
static struct {
    pthread_mutex_t lock;
    size_t count; /* Of all that were added; the oldest is replaced. */
    lc_data_identity files[VERIFIED_MAX];
} verified_files = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_verified(const lc_data_identity *file)
{
    bool found = false;

    (void)pthread_mutex_lock(&verified_files.lock);
    for (size_t i = 0; i < VERIFIED_MAX && i < verified_files.count; i++)
        found = found || lc_data_identity_eq(&verified_files.files[i], file);
    (void)pthread_mutex_unlock(&verified_files.lock);
    return found;
}

loci_status lc_data_file_verify(const lc_data_file *file, loci_error *err)
{
    unsigned char digest[LC_SHA256_BYTES];

    if (is_verified(&file->identity))
        return LOCI_OK;
    lc_sha256(file->body, file->body_bytes, digest);
    if (memcmp(digest, file->header->digest, sizeof file->header->digest) != 0)
        return lc_fail(
            err, LOCI_ECORRUPT,
            "the %.16s file is damaged: its content does not match its digest; remove it "
            "and run script/data",
            file->header->kind);
    (void)pthread_mutex_lock(&verified_files.lock);
    verified_files.files[verified_files.count++ % VERIFIED_MAX] = file->identity;
    (void)pthread_mutex_unlock(&verified_files.lock);
    return LOCI_OK;
}

/* The lock is held. */
static loci_status open_tokenizer(lc_tokenizers *t, lc_encoding encoding, loci_error *err)
{
    loci_error why;
    lc_buf dir;
    loci_status status;

    lc_buf_init(&dir, &t->env->heap, LOCI_MEM_ENGINE, LC_DATA_PATH_BYTES);
    status = lc_settings_text(t->settings, &lc_setting_data_dir, LC_STR_NONE, &dir, err);
    if (status == LOCI_OK) {
        lc_tokenizer *made = &t->tokenizers[encoding];
        loci_status found = lc_tokenizer_open(made, &t->env->heap, encoding, lc_buf_str(&dir),
                                              &why);

        if (found == LOCI_OK) {
            found = lc_data_file_verify(&made->table.file, &why);
            if (found != LOCI_OK) {
                lc_tokenizer_close(made);
                lc_tokenizer_init(made, &t->env->heap, encoding);
            }
        }
        if (found != LOCI_OK)
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

/* ---- All data files -------------------------------------------------------------------------- */

typedef struct known_file {
    const char *name;
    const lc_data_kind *kind;
    const char *use;
} known_file;

static const known_file known[] = {
    {"o200k_base.loci", &lc_token_table_kind, "exact token counts of o200k_base"},
    {"cl100k_base.loci", &lc_token_table_kind, "exact token counts of cl100k_base"},
    {LC_ENCODER_FILE, &lc_encoder_kind, "the built-in embeddings (English)"},
};

/* `reads_all`: also compares the digest, which reads the whole file. */
static loci_status check_file(const known_file *known_as, loci_str dir, bool reads_all,
                              loci_error *err)
{
    char path[LC_DATA_PATH_BYTES];
    lc_data_header header;
    lc_data_file file = {0};
    loci_status status = lc_data_file_find(dir, known_as->name, path, err);

    if (status == LOCI_OK)
        status = reads_all ? lc_data_file_open(known_as->kind, path, &file, err)
                           : lc_data_file_peek(known_as->kind, path, &header, err);
    if (status == LOCI_OK && reads_all)
        status = lc_data_file_verify(&file, err);
    lc_data_file_close(&file);
    return status;
}

loci_status lc_data_files_write(loci_engine *engine, bool reads_all, lc_json_writer *out,
                                loci_error *err)
{
    loci_status status;
    lc_buf dir;

    lc_buf_init(&dir, &engine->env.heap, LOCI_MEM_REQUESTS, LC_DATA_PATH_BYTES);
    status = lc_settings_text(engine->settings, &lc_setting_data_dir, LC_STR_NONE, &dir, err);
    if (status != LOCI_OK)
        goto out;
    lc_jw_array(out);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        loci_error why;
        loci_status found = check_file(&known[i], lc_buf_str(&dir), reads_all, &why);

        lc_jw_object(out);
        lc_jw_member_text(out, "name", known[i].name);
        lc_jw_member_text(out, "use", known[i].use);
        lc_jw_member_text(out, "state",
                          found == LOCI_ENOTFOUND ? "missing"
                          : found != LOCI_OK      ? "damaged"
                          : reads_all             ? "whole"
                                                  : "present");
        lc_jw_member_text(out, "problem", found == LOCI_OK ? NULL : why.message);
        lc_jw_end(out);
    }
    lc_jw_end(out);

out:
    lc_buf_clear(&dir);
    return status;
}
