#include "engine/data_files.h"

#include <string.h>

#include "base/buf.h"
#include "base/data_file.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/internal.h"
#include "model/encoder.h"
#include "store/digest.h"
#include "text/token_table.h"

typedef struct known_file {
    const char *name;
    const char *kind;
    uint32_t version;
    const char *use;
} known_file;

static const known_file known[] = {
    {"o200k_base.loci", "tokens", LC_TOKEN_TABLE_VERSION, "exact token counts of o200k_base"},
    {"cl100k_base.loci", "tokens", LC_TOKEN_TABLE_VERSION, "exact token counts of cl100k_base"},
    {LC_ENCODER_FILE, "encoder", LC_ENCODER_VERSION, "the built-in embeddings (English)"},
};

static bool has_its_digest(const lc_data_file *file)
{
    unsigned char digest[LC_SHA256_BYTES];

    lc_sha256(file->body, file->body_bytes, digest);
    return memcmp(digest, file->header->digest, sizeof file->header->digest) == 0;
}

static loci_status look(const known_file *known_as, loci_str dir, bool reads_through,
                        loci_error *err)
{
    char path[LC_DATA_PATH_BYTES];
    lc_data_file file = {0};
    loci_status status = lc_data_file_find(dir, known_as->name, path, err);

    if (status == LOCI_OK)
        status = lc_data_file_open(path, known_as->kind, known_as->version, &file, err);
    if (status == LOCI_OK && reads_through && !has_its_digest(&file))
        status = lc_fail(err, LOCI_ECORRUPT,
                         "%s is damaged: its digest is not that of its content; remove it and run "
                         "script/data",
                         known_as->name);
    lc_data_file_close(&file);
    return status;
}

loci_status lc_data_files_write(loci_engine *engine, bool reads_through, lc_json_writer *out,
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
        loci_status found = look(&known[i], lc_buf_str(&dir), reads_through, &why);

        lc_jw_object(out);
        lc_jw_member_text(out, "name", known[i].name);
        lc_jw_member_text(out, "use", known[i].use);
        lc_jw_member_text(out, "state",
                          found == LOCI_ENOTFOUND ? "missing"
                          : found != LOCI_OK      ? "damaged"
                          : reads_through         ? "whole"
                                                  : "present");
        lc_jw_member_text(out, "problem", found == LOCI_OK ? NULL : why.message);
        lc_jw_end(out);
    }
    lc_jw_end(out);

out:
    lc_buf_clear(&dir);
    return status;
}
