/* socket_path.c - the hash is of the store's real path, so that all ways to it meet. */
#include "cli/socket_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "cli/store_path.h"

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool is_own_directory(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

/* XDG_RUNTIME_DIR, else the directory that systemd makes for a user; NULL when there is neither. */
static const char *find_runtime_directory(lc_cli *cli)
{
    const char *given = variable("XDG_RUNTIME_DIR");
    char made[64];

    if (given != NULL && given[0] == '/')
        return given;
    (void)snprintf(made, sizeof made, "/run/user/%lu", (unsigned long)geteuid());
    return is_own_directory(made) ? lc_arena_copy(cli->arena, loci_str_of(made)).ptr : NULL;
}

/* The path by which everybody knows the store: its directory's real path and its name. A URL is its
 * own. */
static lc_hash128 hash_store(lc_cli *cli, const char *store)
{
    const char *name = strrchr(store, '/');
    char directory[PATH_MAX];
    lc_hash128 hash;

    if (strstr(store, "://") != NULL)
        return lc_hash128_of(loci_str_of(store));
    if (realpath(lc_store_path_directory(cli, store), directory) == NULL)
        directory[0] = '\0'; /* Not there: opening the store will say so. */
    hash = lc_hash128_of(loci_str_of(directory));
    return lc_hash128_chain(hash, loci_str_of(name != NULL ? name + 1 : store));
}

loci_status lc_socket_path_find(lc_cli *cli, const char *store, const char **out, loci_error *err)
{
    const char *path = variable("LOCI_SOCKET");
    const char *runtime = find_runtime_directory(cli);
    char hash[LC_HASH_TEXT_BYTES];
    char made[4096];

    *out = NULL;
    if (path == NULL && runtime == NULL)
        return LOCI_OK;
    if (path == NULL) {
        lc_hash128_format(hash_store(cli, store), hash);
        (void)snprintf(made, sizeof made, "%s/loci/%s.sock", runtime, hash);
        path = made;
    }
    if (strlen(path) >= sizeof((struct sockaddr_un *)NULL)->sun_path)
        return lc_fail(err, LOCI_ELIMIT, "the path of the socket has more than %zu bytes: %s",
                       sizeof((struct sockaddr_un *)NULL)->sun_path - 1, path);
    *out = lc_arena_copy(cli->arena, loci_str_of(path)).ptr;
    return *out != NULL ? LOCI_OK : lc_fail_memory(err);
}

loci_status lc_socket_path_prepare(lc_cli *cli, const char *path, loci_error *err)
{
    const char *directory = lc_store_path_directory(cli, path);
    struct stat info;

    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return lc_fail(err, LOCI_EFORBIDDEN, "cannot make the directory %s: %s", directory,
                       strerror(errno));
    if (stat(directory, &info) != 0 || !S_ISDIR(info.st_mode))
        return lc_fail(err, LOCI_EFORBIDDEN, "%s is not a directory", directory);
    /* Whoever owns it could put another socket there, and would be told our users' secrets. */
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return lc_fail(err, LOCI_EFORBIDDEN, "%s belongs to somebody else", directory);
    return LOCI_OK;
}
