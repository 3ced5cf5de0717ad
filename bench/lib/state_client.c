/* state_client.c - one engine without threads on a file that is thrown away. */
#include "lib/state_client.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/str.h"
#include "lib/state_input.h"

/* ---- The store -------------------------------------------------------------------------------
 */

static char store_dir[256]; /* Also removed when a broken timeline ends the process. */

static void remove_store(void)
{
    char path[sizeof store_dir + 257];
    DIR *dir = opendir(store_dir);

    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", store_dir, entry->d_name);
        (void)unlink(path); /* "." and ".." stay. */
    }
    if (dir != NULL)
        closedir(dir);
    (void)rmdir(store_dir);
}

static int64_t read_clock(void *ctx)
{
    return ((const state_client *)ctx)->now_us;
}

void state_client_open(state_client *client, lc_heap *heap)
{
    const char *base = getenv("TMPDIR");
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    char path[300];
    loci_error err;

    *client = (state_client){.heap = heap};
    lc_buf_init(&client->refusals, heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    snprintf(store_dir, sizeof store_dir, "%s/loci-state-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(store_dir) == NULL || atexit(remove_store) != 0)
        state_die("no directory can be made in %s", base != NULL ? base : "/tmp");
    snprintf(path, sizeof path, "%s/store.db", store_dir);
    options.store = path;
    options.flags = LOCI_OPEN_INLINE | LOCI_OPEN_SEEDED;
    options.settings = "{\"store.durability\":\"relaxed\"}"; /* It is thrown away. */
    options.clock = read_clock;
    options.clock_ctx = client;
    if (loci_open(&options, &client->engine, &err) != LOCI_OK)
        state_die("%s", err.message);
}

void state_client_turn_to(state_client *client, lc_arena *arena, int number)
{
    client->arena = arena;
    lc_buf_reset(&client->refusals);
    snprintf(client->user_id, sizeof client->user_id, "timeline-%d", number);
}

void state_client_close(state_client *client)
{
    loci_close(client->engine);
    lc_buf_clear(&client->refusals);
}

/* ---- Calls -----------------------------------------------------------------------------------
 */

void state_call_begin(state_call *c, const state_client *client)
{
    lc_buf_init(&c->buf, client->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&c->args, &c->buf);
    lc_jw_object(&c->args);
    lc_jw_member_text(&c->args, "user_id", client->user_id);
}

void state_call_text(state_call *c, const char *name, loci_str text)
{
    if (text.len > 0)
        lc_jw_member_str(&c->args, name, text);
}

static void refuse(state_client *client, const char *operation, loci_str args,
                   const loci_error *err)
{
    if (err->status == LOCI_EINTERNAL || err->status == LOCI_ECORRUPT ||
        err->status == LOCI_ERESOURCE || err->status == LOCI_EUNAVAILABLE)
        state_die("%s %.*s: %s: %s", operation, LC_STR_ARG(args), loci_status_name(err->status),
                  err->message);
    client->refused++;
    lc_buf_append_format(&client->refusals, "%s %.*s: %s: %s\n", operation, LC_STR_ARG(args),
                         loci_status_name(err->status), err->message);
}

const lc_json *state_call_end(state_call *c, state_client *client, const char *operation)
{
    loci_answer *answer;
    loci_error err;
    const lc_json *value = NULL;

    lc_jw_end(&c->args);
    if (lc_buf_status(&c->buf, &err) != LOCI_OK)
        state_die("%s: %s", operation, err.message);
    client->calls++;
    if (loci_call(client->engine, operation, lc_buf_str(&c->buf), NULL, &answer, &err) == LOCI_OK) {
        value = state_parse(client->arena, state_copy(client->arena, loci_answer_json(answer)));
        loci_answer_free(answer);
        if (value == NULL)
            state_die("%s: the answer is no JSON object", operation);
    } else {
        refuse(client, operation, lc_buf_str(&c->buf), &err);
    }
    lc_buf_clear(&c->buf);
    return value;
}
