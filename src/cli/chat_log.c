/* chat_log.c - `loci chat-log FILE…`: imports transcripts as sessions.
 *
 * Each file is read twice (chat_file.h): first to check and count all of it, then to store it with
 * session.append, up to 100 messages per call. So a broken file stores nothing. External ids make
 * the calls repeatable: after an interruption, or when a file has grown, the import is run again.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "cli/chat_file.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/link.h"
#include "cli/project.h"

#define FILE_BYTES_MAX (1024u * 1024 * 1024)
#define TOOL_BYTES_MAX 2000u  /* As hook.tool_bytes: the same sessions, read by `loci hook`. */
#define DRAW_EVERY_US 100000  /* On a terminal. */
#define TELL_EVERY_US 3000000 /* In a log, with --verbose. */

typedef struct tally {
    int64_t sessions;
    int64_t messages; /* In the file. */
    int64_t appended;
    int64_t repeated; /* Known already. */
} tally;

typedef struct import {
    lc_cli *cli;
    lc_link link;
    bool is_connected;
    lc_whose whose;
    const char *path;
    const char *format;
    lc_map sessions; /* Ids seen in the file, */
    lc_arena names;  /* which are here. */
    tally count;
    int64_t shown_us;
    bool is_drawn;
} import;

/* ---- Progress -------------------------------------------------------------------------------- */

static void show(import *im)
{
    lc_cli *cli = im->cli;
    bool is_terminal = cli->err_terminal.is_terminal;
    int64_t now_us = lc_clock_monotonic_us();
    long long done = (long long)(im->count.appended + im->count.repeated);

    if (cli->globals.is_quiet || (!is_terminal && !cli->globals.is_verbose) ||
        now_us - im->shown_us < (is_terminal ? DRAW_EVERY_US : TELL_EVERY_US))
        return;
    im->shown_us = now_us;
    if (is_terminal) {
        char line[512];
        int len = snprintf(line, sizeof line, "\r\033[K%.200s  %lld/%lld messages", im->path, done,
                           (long long)im->count.messages);

        (void)lc_cli_write(STDERR_FILENO, (loci_str){line, (size_t)len}); /* Decoration. */
        im->is_drawn = true;
    } else {
        lc_cli_note(cli, "%s: %lld/%lld messages", im->path, done, (long long)im->count.messages);
    }
}

static void end_progress(import *im)
{
    if (im->is_drawn)
        (void)lc_cli_write(STDERR_FILENO, LC_STR("\r\033[K")); /* Decoration. */
    im->is_drawn = false;
}

/* ---- Storing --------------------------------------------------------------------------------- */

static void put_message(lc_json_writer *w, const lc_chat_message *message)
{
    lc_jw_object(w);
    lc_jw_member_text(w, "role", message->role);
    lc_jw_member_str(w, "text", message->text);
    lc_jw_member_str(w, "external_id", message->external_id);
    if (message->speaker.len > 0)
        lc_jw_member_str(w, "speaker", message->speaker);
    if (message->at_us != LC_CHAT_NO_TIME)
        lc_jw_member_time(w, "at", message->at_us);
    lc_jw_end(w);
}

static loci_status put_args(const import *im, const lc_chat_piece *piece, lc_buf *out,
                            loci_error *err)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    if (im->cli->globals.user != NULL)
        lc_jw_member_text(&w, "user_id", im->cli->globals.user);
    if (im->whose.persona_id != NULL)
        lc_jw_member_text(&w, "persona_id", im->whose.persona_id);
    lc_jw_member_str(&w, "session_id", piece->session);
    if (im->link.engine != NULL) /* A daemon has the data for counting in memory. */
        lc_jw_member_bool(&w, "estimate", true);
    lc_jw_name(&w, "messages");
    lc_jw_array(&w);
    for (size_t i = 0; i < piece->count; i++)
        put_message(&w, &piece->messages[i]);
    lc_jw_end(&w);
    lc_jw_end(&w);
    return lc_buf_status(out, err);
}

static loci_status count_answer(import *im, const lc_chat_piece *piece, loci_str answer,
                                loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(im->cli->arena);
    const lc_json *json, *list;
    int64_t repeated = 0;
    loci_status status = lc_json_parse(im->cli->arena, answer, 0, &json, err);

    list = status == LOCI_OK ? lc_json_find(json, "messages", LC_JSON_ARRAY) : NULL;
    for (const lc_json *each = list != NULL ? lc_json_first(list) : NULL; each != NULL;
         each = lc_json_next(each))
        repeated += lc_json_find(each, "repeated", LC_JSON_BOOL) != NULL;
    im->count.repeated += repeated;
    im->count.appended += (int64_t)piece->count - repeated;
    lc_arena_rewind(im->cli->arena, mark);
    return status;
}

static loci_status store_piece(void *ctx, const lc_chat_piece *piece, loci_error *err)
{
    import *im = ctx;
    lc_buf args, answer;
    loci_status status;

    if (lc_interrupt_is_set())
        return lc_fail(err, LOCI_ECANCELLED, "interrupted; run it again to import the rest");
    lc_buf_init(&args, im->cli->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_buf_init(&answer, im->cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    status = put_args(im, piece, &args, err);
    if (status == LOCI_OK)
        status = lc_link_call(&im->link,
                              &(loci_request){"session.append", lc_buf_str(&args), LOCI_AT_CLOCK},
                              &(lc_link_terms){.client = NULL}, &answer, err);
    if (status == LOCI_OK)
        status = count_answer(im, piece, lc_buf_str(&answer), err);
    lc_buf_clear(&args);
    lc_buf_clear(&answer);
    show(im);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static loci_status count_piece(void *ctx, const lc_chat_piece *piece, loci_error *err)
{
    import *im = ctx;
    loci_str session;

    im->format = piece->format;
    im->count.messages += (int64_t)piece->count;
    if (lc_map_find(&im->sessions, piece->session) != NULL)
        return LOCI_OK;
    session = lc_arena_copy(&im->names, piece->session);
    im->count.sessions++;
    return session.ptr != NULL && lc_map_put(&im->sessions, session, im) ? LOCI_OK
                                                                         : lc_fail_memory(err);
}

/* Connects when the first file has turned out to be readable. */
static loci_status connect(import *im, loci_error *err)
{
    lc_cli *cli = im->cli;
    lc_link_options options = {.opening = {.flags = LOCI_OPEN_INLINE,
                                           .is_silent = cli->globals.wants_json,
                                           .is_for_people = true,
                                           .notes_creation = true}};

    if (im->is_connected)
        return LOCI_OK;
    im->link = (lc_link){0};
    im->is_connected = lc_link_open(&im->link, cli, &options, err) == LOCI_OK;
    if (!im->is_connected)
        lc_link_close(&im->link);
    return im->is_connected ? LOCI_OK : err->status;
}

static loci_status import_text(import *im, loci_str text, loci_error *err)
{
    const char *slash = strrchr(im->path, '/');
    lc_chat_file file = {.name = loci_str_of(slash != NULL ? slash + 1 : im->path),
                         .text = text,
                         .tool_bytes_max = TOOL_BYTES_MAX};
    loci_status status;

    lc_map_init(&im->sessions, im->cli->heap, LOCI_MEM_REQUESTS);
    lc_arena_init(&im->names, im->cli->heap, LOCI_MEM_REQUESTS);
    status = lc_chat_file_read(im->cli->arena, &file, count_piece, im, err);
    lc_map_clear(&im->sessions);
    lc_arena_clear(&im->names);
    if (status == LOCI_OK)
        status = connect(im, err);
    if (status == LOCI_OK)
        status = lc_chat_file_read(im->cli->arena, &file, store_piece, im, err);
    end_progress(im);
    return status;
}

static void print_file(import *im, lc_json_writer *w)
{
    const tally *count = &im->count;
    const char *format = im->format != NULL ? im->format : "no messages";

    if (!im->cli->globals.wants_json) {
        lc_cli_print(im->cli,
                     "%s (%s): %lld sessions, %lld messages imported, %lld known already\n",
                     im->path, format, (long long)count->sessions, (long long)count->appended,
                     (long long)count->repeated);
        return;
    }
    lc_jw_object(w);
    lc_jw_member_text(w, "file", im->path);
    lc_jw_member_text(w, "format", format);
    lc_jw_member_int(w, "sessions", count->sessions);
    lc_jw_member_int(w, "messages", count->messages);
    lc_jw_member_int(w, "appended", count->appended);
    lc_jw_member_int(w, "repeated", count->repeated);
    lc_jw_end(w);
}

static loci_status import_file(import *im, const char *path, loci_error *err)
{
    loci_status status;
    lc_buf text;

    im->path = path;
    im->format = NULL;
    im->count = (tally){0};
    lc_buf_init(&text, im->cli->heap, LOCI_MEM_REQUESTS, FILE_BYTES_MAX);
    status = lc_input_read_file(path, &text, err);
    if (status == LOCI_OK)
        status = import_text(im, lc_buf_str(&text), err);
    lc_buf_clear(&text);
    return status;
}

int lc_command_chat_log(lc_cli *cli, const lc_arguments *arguments)
{
import im = {.cli = cli };
    int code = LC_EXIT_OK;
    lc_json_writer w;
    loci_error err;

    if (arguments->word_count == 0)
        return lc_cli_usage(cli, "chat-log needs at least one file: loci chat-log FILE…");
    if (lc_whose_find(cli, NULL, &im.whose, &err) != LOCI_OK)
        return lc_cli_report(cli, &err);
    lc_jw_init(&w, &cli->out);
    if (cli->globals.wants_json)
        lc_jw_array(&w);
    for (size_t i = 0; i < arguments->word_count && !lc_interrupt_is_set(); i++) {
        loci_status status = import_file(&im, arguments->words[i], &err);

        if (status == LOCI_OK)
            print_file(&im, &w);
        else
            code = lc_cli_report(cli, &err); /* The other files are imported all the same. */
    }
    if (cli->globals.wants_json) {
        lc_jw_end(&w);
        lc_buf_append_byte(&cli->out, '\n');
    }
    if (im.is_connected)
        lc_link_close(&im.link);
    return lc_interrupt_is_set() ? LC_EXIT_INTERRUPTED : code;
}
