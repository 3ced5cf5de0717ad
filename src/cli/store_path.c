/* store_path.c - directories are made only above the default path: a mistyped --store should be an
 * error, not a new tree. */
#include "cli/store_path.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/url.h"

#define LABEL_BYTES 4096

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

static loci_status find_default(lc_cli *cli, const char **out, loci_error *err)
{
    const char *data = variable("XDG_DATA_HOME");
    const char *home = variable("HOME");
    lc_buf text;
    loci_status status = LOCI_OK;

    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, 64u * 1024);
    if (data != NULL && data[0] == '/')
        lc_buf_append_format(&text, "%s/loci/loci.db", data);
    else if (home != NULL)
        lc_buf_append_format(&text, "%s/.local/share/loci/loci.db", home);
    else
        status = lc_fail(err, LOCI_EINVAL,
                         "no store: give --store FILE, or set LOCI_STORE (HOME is not set either)");
    if (status == LOCI_OK) {
        *out = lc_arena_copy(cli->arena, lc_buf_str(&text)).ptr;
        status = *out != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

loci_status lc_store_path_find(lc_cli *cli, lc_store_path *out, loci_error *err)
{
    lc_store_path path = {.text = cli->globals.store, .origin = "--store"};
    loci_status status = LOCI_OK;
    char label[LABEL_BYTES];

    if (path.text != NULL && path.text[0] == '\0')
        return lc_fail(err, LOCI_EINVAL, "--store is empty");
    if (path.text == NULL) {
        path.text = variable("LOCI_STORE");
        path.origin = "LOCI_STORE";
    }
    if (path.text == NULL) {
        status = find_default(cli, &path.text, err);
        path.origin = "default";
        path.is_default = true;
    }
    if (status != LOCI_OK)
        return status;
    path.is_file = !lc_url_is(path.text);
    lc_url_write_label(path.text, label, sizeof label);
    path.label = lc_arena_copy(cli->arena, loci_str_of(label)).ptr;
    if (path.label == NULL)
        return lc_fail_memory(err);
    *out = path;
    return LOCI_OK;
}

bool lc_store_path_exists(const lc_store_path *path)
{
    struct stat info;

    return !path->is_file || stat(path->text, &info) == 0;
}

loci_status lc_store_path_prepare(const lc_store_path *path, loci_error *err)
{
    char partial[4096];
    size_t len = strlen(path->text);

    if (!path->is_default)
        return LOCI_OK;
    if (len >= sizeof partial)
        return lc_fail(err, LOCI_ELIMIT, "the path of the store is longer than %zu bytes",
                       sizeof partial - 1);
    for (size_t i = 1; i < len; i++) {
        if (path->text[i] != '/')
            continue;
        memcpy(partial, path->text, i);
        partial[i] = '\0';
        if (mkdir(partial, 0700) != 0 && errno != EEXIST)
            return lc_fail(err, LOCI_EFORBIDDEN, "cannot make the directory %s: %s", partial,
                           strerror(errno));
    }
    return LOCI_OK;
}

const char *lc_store_path_directory(lc_cli *cli, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *copy;

    if (slash == NULL)
        return ".";
    if (slash == file)
        return "/";
    copy = lc_arena_copy(cli->arena, (loci_str){file, (size_t)(slash - file)}).ptr;
    return copy != NULL ? copy : ".";
}
