/* token_file.c - the file is made before the token: a token that nobody can read is of no use, and
 * a file without one is taken away again. */
#include "cli/token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/input.h"
#include "ops/token_auth.h"

#define TOKEN_FILE_BYTES_MAX 4096

static loci_status make_token(lc_cli *cli, loci_engine *engine, loci_str *out, loci_error *err)
{
    loci_str args = LC_STR("{\"name\":\"token-file\",\"scopes\":[\"admin\"]}");
    loci_answer *answer = NULL;
    const lc_json *json;
    const lc_json *token;
    loci_status status = loci_call(engine, "token.create", args, NULL, &answer, err);

    if (status != LOCI_OK)
        return status;
    status = lc_json_parse(cli->arena, loci_answer_json(answer), 0, &json, err);
    if (status == LOCI_OK) {
        token = lc_json_member(json, LC_STR("token"));
        *out = lc_arena_copy(cli->arena, lc_json_str(token));
        status = out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    loci_answer_free(answer);
    return status;
}

/* The file of another store, or of one that was made anew, would only give 401 later. */
static loci_status check_token(lc_cli *cli, loci_engine *engine, const char *path, loci_error *err)
{
    lc_token_identity identity;
    loci_str token;
    loci_status status = lc_token_file_read(cli, path, &token, err);

    if (status == LOCI_OK)
        status = lc_token_authenticate(engine, token, cli->arena, &identity, err);
    if (status == LOCI_EAUTH)
        return lc_fail(err, LOCI_ECONFLICT,
                       "the token in %s is not good for this store; remove the file to have a new "
                       "one made",
                       path);
    return status;
}

loci_status lc_token_file_make(lc_cli *cli, loci_engine *engine, const char *path, loci_error *err)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    loci_str token;
    loci_status status;

    if (descriptor < 0 && errno == EEXIST)
        return check_token(cli, engine, path, err);
    if (descriptor < 0)
        return lc_fail(err, LOCI_EFORBIDDEN, "cannot make the token file %s: %s", path,
                       strerror(errno));
    status = make_token(cli, engine, &token, err);
    if (status == LOCI_OK && (!lc_cli_write(descriptor, token) ||
                              !lc_cli_write(descriptor, LC_STR("\n")) || fsync(descriptor) != 0))
        status = lc_fail(err, LOCI_ERESOURCE, "cannot write the token file %s: %s", path,
                         strerror(errno));
    (void)close(descriptor); /* Synchronised above: nothing is left to fail. */
    if (status != LOCI_OK)
        (void)unlink(path); /* The failure above is the one to tell. */
    return status;
}

loci_status lc_token_file_read(lc_cli *cli, const char *path, loci_str *out, loci_error *err)
{
    loci_status status;
    lc_buf text;

    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, TOKEN_FILE_BYTES_MAX);
    status = lc_input_read_file(path, &text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(cli->arena, lc_str_trim(lc_buf_str(&text)));
        status = out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}
