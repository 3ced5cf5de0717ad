#include "cli/opening.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "base/time.h"
#include "base/url.h"
#include "ops/check.h"
#include "ops/surface.h"

/* ---- Which store ----------------------------------------------------------------------------- */

#define LABEL_BYTES 4096

static loci_status find_default(lc_cli *cli, const char **out, loci_error *err)
{
    const char *data = lc_cli_variable("XDG_DATA_HOME");
    const char *home = lc_cli_variable("HOME");
    lc_buf text;
    loci_status status = LOCI_OK;

    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, 64u * 1024);
    if (data != NULL && data[0] == '/')
        lc_buf_append_format(&text, "%s/loci/loci.db", data);
    else if (home != NULL)
        lc_buf_append_format(&text, "%s/.local/share/loci/loci.db", home);
    else
        status = lc_fail(err, LOCI_EINVAL,
                         "HOME is not set, so there is no default store: use --store FILE or set "
                         "LOCI_STORE");
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
        path.text = lc_cli_variable("LOCI_STORE");
        path.origin = "LOCI_STORE";
    }
    if (path.text == NULL) {
        status = find_default(cli, &path.text, err);
        path.origin = "default";
        path.is_default = true;
    }
    if (status == LOCI_OK)
        status = lc_url_check_store(path.text, err);
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

/* Creates the directories of the default path, with mode 0700. */
static loci_status prepare_directory(const lc_store_path *path, loci_error *err)
{
    char partial[4096];
    size_t len = strlen(path->text);

    /* Only for the default path: a mistyped --store must be an error, not a new directory tree. */
    if (!path->is_default)
        return LOCI_OK;
    if (len >= sizeof partial)
        return lc_fail(err, LOCI_ELIMIT,
                       "the path of the store is longer than the maximum of %zu bytes",
                       sizeof partial - 1);
    for (size_t i = 1; i < len; i++) {
        if (path->text[i] != '/')
            continue;
        memcpy(partial, path->text, i);
        partial[i] = '\0';
        if (mkdir(partial, 0700) != 0 && errno != EEXIST)
            return lc_fail(err, LOCI_EFORBIDDEN, "cannot create the directory %s: %s", partial,
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

/* ---- The Unix socket of its daemon ----------------------------------------------------------- */

/* XDG_RUNTIME_DIR, else the directory that systemd creates for the user, else NULL. */
static const char *find_runtime_directory(lc_cli *cli)
{
    const char *given = lc_cli_variable("XDG_RUNTIME_DIR");
    struct stat info;
    char made[64];

    if (given != NULL && given[0] == '/')
        return given;
    (void)snprintf(made, sizeof made, "/run/user/%lu", (unsigned long)geteuid());
    if (stat(made, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
        return NULL;
    return lc_arena_copy(cli->arena, loci_str_of(made)).ptr;
}

/* Of the real path, so that all paths to one store give one socket; or of the URL. */
static lc_hash128 hash_store(lc_cli *cli, const char *store)
{
    const char *name = strrchr(store, '/');
    char directory[PATH_MAX];
    lc_hash128 hash;

    if (strstr(store, "://") != NULL)
        return lc_hash128_of(loci_str_of(store));
    if (realpath(lc_store_path_directory(cli, store), directory) == NULL)
        directory[0] = '\0'; /* Missing: opening the store reports it. */
    hash = lc_hash128_of(loci_str_of(directory));
    return lc_hash128_chain(hash, loci_str_of(name != NULL ? name + 1 : store));
}

loci_status lc_socket_path_find(lc_cli *cli, const char *store, const char **out, loci_error *err)
{
    const char *path = lc_cli_variable("LOCI_SOCKET");
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
        return lc_fail(err, LOCI_ELIMIT,
                       "the path of the socket is longer than the maximum of %zu bytes: %s",
                       sizeof((struct sockaddr_un *)NULL)->sun_path - 1, path);
    *out = lc_arena_copy(cli->arena, loci_str_of(path)).ptr;
    return *out != NULL ? LOCI_OK : lc_fail_memory(err);
}

loci_status lc_socket_path_prepare(lc_cli *cli, const char *path, loci_error *err)
{
    const char *directory = lc_store_path_directory(cli, path);
    struct stat info;

    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return lc_fail(err, LOCI_EFORBIDDEN, "cannot create the directory %s: %s", directory,
                       strerror(errno));
    if (stat(directory, &info) != 0 || !S_ISDIR(info.st_mode))
        return lc_fail(err, LOCI_EFORBIDDEN, "%s is not a directory", directory);
    /* Its owner could replace the socket and would receive our users' secrets. */
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return lc_fail(err, LOCI_EFORBIDDEN, "%s belongs to another user", directory);
    return LOCI_OK;
}

/* ---- Settings from outside the store --------------------------------------------------------- */

void lc_setting_variable(const char *setting, char out[LC_SETTING_VARIABLE_BYTES])
{
    size_t len = 5;

    memcpy(out, "LOCI_", 5);
    for (; *setting != '\0' && len + 1 < LC_SETTING_VARIABLE_BYTES; setting++)
        out[len++] = *setting == '.' ? '_' : (char)toupper((unsigned char)*setting);
    out[len] = '\0';
}

/* A value is JSON if it can be parsed (5000, true) and text otherwise. */
static void write_setting(lc_cli *cli, lc_json_writer *w, loci_str name, loci_str value)
{
    lc_arena_mark mark = lc_arena_get_mark(cli->arena);
    const lc_json *json;
    bool is_text = false;

    for (size_t i = 0; i < lc_setting_view_count(); i++) {
        lc_setting_view view = lc_setting_view_at(i);

        if (lc_str_is(name, view.name))
            is_text = view.is_text;
    }
    lc_jw_name_str(w, name);
    if (!is_text && lc_json_parse(cli->arena, value, 0, &json, NULL) == LOCI_OK)
        lc_jw_value(w, json);
    else
        lc_jw_str(w, value);
    lc_arena_rewind(cli->arena, mark);
}

/* The library never reads the environment itself. */
static void write_environment(lc_cli *cli, lc_json_writer *w, bool *out_has_level)
{
    char variable[LC_SETTING_VARIABLE_BYTES];

    for (size_t i = 0; i < lc_setting_view_count(); i++) {
        loci_str name = loci_str_of(lc_setting_view_at(i).name);
        const char *value;

        lc_setting_variable(name.ptr, variable);
        value = getenv(variable);
        if (value == NULL || value[0] == '\0')
            continue;
        write_setting(cli, w, name, loci_str_of(value));
        *out_has_level = *out_has_level || lc_str_is(name, "log.level");
    }
}

/* Whether a later --set has the same name: the last one wins, and an object has no duplicate keys.
 */
static bool is_set_again(const lc_globals *globals, size_t index, loci_str name)
{
    for (size_t i = index + 1; i < globals->set_count; i++) {
        loci_str rest;

        if (lc_str_eq(lc_str_split(loci_str_of(globals->sets[i]), '=', &rest), name))
            return true;
    }
    return false;
}

/* `logs` = --verbose sets the level of the log. */
static loci_status write_flags(lc_cli *cli, lc_json_writer *w, bool logs, bool *out_has_level,
                               loci_error *err)
{
    const lc_globals *globals = &cli->globals;
    bool has_level = false;

    for (size_t i = 0; i < globals->set_count; i++) {
        loci_str value;
        loci_str name = lc_str_split(loci_str_of(globals->sets[i]), '=', &value);

        if (value.ptr == NULL || name.len == 0)
            return lc_fail(err, LOCI_EINVAL, "--set needs NAME=VALUE, not %s", globals->sets[i]);
        if (is_set_again(globals, i, name))
            continue;
        write_setting(cli, w, name, value);
        has_level = has_level || lc_str_is(name, "log.level");
    }
    if (logs && !has_level && !*out_has_level)
        lc_jw_member_text(w, "log.level", "info");
    *out_has_level = *out_has_level || has_level || logs;
    return LOCI_OK;
}

typedef struct setting_sources {
    const char *environment; /* JSON objects for loci_open(), in cli->arena. */
    const char *flags;
    bool has_log_level; /* log.level is set, or --verbose: log all records. */
} setting_sources;

/* LOCI_EINVAL for a --set without '='. Names and values are checked by loci_open(). */
static loci_status find_settings(lc_cli *cli, const lc_opening *opening, setting_sources *out,
                                 loci_error *err)
{
    bool logs = cli->globals.is_verbose && !opening->is_for_people;
    setting_sources found = {0};
    lc_json_writer w;
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    write_environment(cli, &w, &found.has_log_level);
    lc_jw_end(&w);
    found.environment = lc_arena_copy(cli->arena, lc_buf_str(&text)).ptr;
    status = lc_buf_status(&text, err);
    if (status != LOCI_OK)
        goto out;

    lc_buf_reset(&text);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    status = write_flags(cli, &w, logs, &found.has_log_level, err);
    if (status != LOCI_OK)
        goto out;
    lc_jw_end(&w);
    found.flags = lc_arena_copy(cli->arena, lc_buf_str(&text)).ptr;
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK && (found.environment == NULL || found.flags == NULL))
        status = lc_fail_memory(err);
    if (status == LOCI_OK)
        *out = found;

out:
    lc_buf_clear(&text);
    return status;
}

/* ---- Opening --------------------------------------------------------------------------------- */

#define LOG_LINE_BYTES 4096
#define FAULT_FLUSH_MS 1000

static const char *level_name(loci_log_level level)
{
    switch (level) {
    case LOCI_LOG_DEBUG:
        return "debug";
    case LOCI_LOG_INFO:
        return "info";
    case LOCI_LOG_WARN:
        return "warn";
    case LOCI_LOG_ERROR:
        break;
    }
    return "error";
}

/* Formats a record as one line; 0 if it does not fit. */
static size_t format_line(char out[LOG_LINE_BYTES], loci_log_level level, const char *event,
                          loci_str fields)
{
    char time[LC_TIME_BYTES_MAX];
    const loci_str parts[] = {
        LC_STR("{\"time\":\""),
        {time, lc_time_format(lc_clock_system_us(NULL), time)},
        LC_STR("\",\"level\":\""),
        loci_str_of(level_name(level)),
        LC_STR("\",\"event\":\""),
        loci_str_of(event),
        LC_STR("\",\"fields\":"),
        fields.len == 0 ? LC_STR("{}") : fields,
        LC_STR("}\n"),
    };
    size_t len = 0;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].len > LOG_LINE_BYTES - len)
            return 0;
        memcpy(out + len, parts[i].ptr, parts[i].len);
        len += parts[i].len;
    }
    return len;
}

/* Any thread: a line is written in one call, so that lines of two threads do not mix. */
void lc_opening_log(void *ctx, loci_log_level level, const char *event, loci_str fields)
{
    lc_log_queue *queue = ctx;
    char line[LOG_LINE_BYTES];
    loci_str text = {line, format_line(line, level, event, fields)};

    if (queue != NULL)
        lc_log_queue_put(queue, text);
    else
        (void)lc_cli_write(STDERR_FILENO, text); /* Best effort. */
}

size_t lc_opening_lost_line(int64_t count, char *out, size_t bytes_max)
{
    char line[LOG_LINE_BYTES], fields[64];
    int fields_len = snprintf(fields, sizeof fields, "{\"count\":%lld}", (long long)count);
    size_t len = format_line(line, LOCI_LOG_WARN, "log.lost",
                             (loci_str){fields, (size_t)fields_len});

    if (len > bytes_max)
        return 0;
    memcpy(out, line, len);
    return len;
}

void lc_opening_log_warnings(void *ctx, loci_log_level level, const char *event, loci_str fields)
{
    if (level >= LOCI_LOG_WARN)
        lc_opening_log(ctx, level, event, fields);
}

/* {"code":"unavailable","count":2} as "code unavailable, count 2": the quotes and braces of JSON
 * are left out, escapes stay as they are. Returns the length. */
static size_t write_fields(loci_str fields, char *out, size_t bytes_max)
{
    bool in_text = false, is_name = true;
    size_t len = 0;

    for (size_t i = 0; i < fields.len && len + 2 < bytes_max; i++) {
        char byte = fields.ptr[i];

        if (byte == '"' && (i == 0 || fields.ptr[i - 1] != '\\')) {
            in_text = !in_text;
        } else if (in_text) {
            out[len++] = byte;
        } else if (byte == ':' && is_name) {
            out[len++] = ' ';
            is_name = false;
        } else if (byte == ',') {
            out[len++] = ',';
            out[len++] = ' ';
            is_name = true;
        } else if (strchr("{}[]", byte) == NULL) {
            out[len++] = byte;
        }
    }
    return len;
}

/* A warning as a line for people: "loci: warning: model.failed: code unavailable". */
static void say_warning(void *ctx, loci_log_level level, const char *event, loci_str fields)
{
    char line[LOG_LINE_BYTES], words[LOG_LINE_BYTES / 2];
    size_t words_len = write_fields(fields, words, sizeof words);
    int len;

    (void)ctx;
    if (level < LOCI_LOG_WARN)
        return;
    len = snprintf(line, sizeof line, "loci: warning: %s%s%.*s\n", event, words_len > 0 ? ": " : "",
                   (int)words_len, words);
    if (len > 0)
        (void)lc_cli_write(STDERR_FILENO, (loci_str){line, (size_t)len}); /* Best effort. */
}

/* The failing call answers `internal`; this record has the location, for the bug report. */
static void on_fault(void *ctx, const char *what, const char *file, int line)
{
    char fields[512];
    int len = snprintf(fields, sizeof fields, "{\"what\":\"%s\",\"file\":\"%s\",\"line\":%d}", what,
                       file, line);

    if (strchr(what, '"') != NULL || strchr(what, '\\') != NULL || len < 0 ||
        (size_t)len >= sizeof fields)
        len = snprintf(fields, sizeof fields, "{\"file\":\"%s\",\"line\":%d}", file, line);
    lc_opening_log(ctx, LOCI_LOG_ERROR, "fault", (loci_str){fields, len > 0 ? (size_t)len : 0});
}

static void end_on_fault(void *ctx, const char *what, const char *file, int line)
{
    on_fault(ctx, what, file, line);
    if (ctx != NULL)
        (void)lc_log_queue_flush(ctx, FAULT_FLUSH_MS); /* The process ends in any case. */
    abort(); /* Leaves a core dump; all answered writes are durable. */
}

/* LOCI_NOW. */
static int64_t read_fixed_clock(void *ctx)
{
    return *(const int64_t *)ctx;
}

/* Any thread: the program never changes its environment. */
static const char *find_variable(void *ctx, const char *name)
{
    (void)ctx;
    return getenv(name);
}

/* ---- Missing stores -------------------------------------------------------------------------- */

/* Whether the store may be created if it is missing: see opening.h. */
static bool may_create(const lc_cli *cli, const lc_opening *opening, const lc_store_path *path)
{
    if ((opening->flags & LOCI_OPEN_EXISTING) != 0)
        return false;
    return path->is_default || opening->creates_named || cli->globals.creates ||
           !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO);
}

static bool is_of_sqlite(const char *name)
{
    static const char *const ends[] = {"-wal", "-shm", "-journal"};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (strlen(name) > strlen(ends[i]) &&
            strcmp(name + strlen(name) - strlen(ends[i]), ends[i]) == 0)
            return true;
    }
    return false;
}

/* The file in the same directory whose name looks most like the missing one; NULL = none. */
static const char *find_similar(lc_cli *cli, const char *path)
{
    const char *slash = strrchr(path, '/');
    lc_nearest nearest = lc_nearest_to(loci_str_of(slash != NULL ? slash + 1 : path));
    DIR *directory = opendir(lc_store_path_directory(cli, path));
    const struct dirent *entry;

    if (directory == NULL)
        return NULL;
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.' && !is_of_sqlite(entry->d_name))
            lc_nearest_offer(&nearest, lc_arena_copy(cli->arena, loci_str_of(entry->d_name)));
    }
    (void)closedir(directory); /* Only read. */
    return nearest.best.ptr;
}

static loci_status fail_missing(lc_cli *cli, const lc_opening *opening, const lc_store_path *path,
                                loci_error *err)
{
    const char *similar = path->is_default ? NULL : find_similar(cli, path->text);
    const char *slash = strrchr(path->label, '/');
    int folder = slash != NULL ? (int)(slash + 1 - path->label) : 0;
    const char *how = (opening->flags & LOCI_OPEN_EXISTING) != 0 ? "create one with `loci init`"
                                                                 : "pass --create to create it";

    if (similar == NULL)
        return lc_fail(err, LOCI_ENOTFOUND, "there is no store at %s; %s", path->label, how);
    return lc_fail(err, LOCI_ENOTFOUND, "there is no store at %s; did you mean %.*s%s? Else %s",
                   path->label, folder, path->label, similar, how);
}

/* For people a line; for programs, which may take any text on stderr for an error, a log record
 * where these are written: by `serve`, and with --verbose. */
static void note_creation(lc_cli *cli, const lc_opening *opening, const lc_store_path *path,
                          bool writes_log)
{
    lc_json_writer w;
    lc_buf text;

    if (opening->log_queue == NULL && !cli->has_json_errors) {
        lc_cli_note(cli, "Created the store %s", path->label);
        return;
    }
    if (!writes_log)
        return;
    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, LABEL_BYTES + 64);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "store", path->label);
    lc_jw_end(&w);
    lc_opening_log(opening->log_queue, LOCI_LOG_INFO, "store.created", lc_buf_str(&text));
    lc_buf_clear(&text);
}

/* ---- All of it ------------------------------------------------------------------------------- */

loci_status lc_opening_run(lc_cli *cli, const lc_opening *opening, loci_engine **out,
                           loci_error *err)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    setting_sources settings;
    lc_store_path path;
    loci_status status;
    bool creates, existed;

    status = lc_store_path_find(cli, &path, err);
    if (status == LOCI_OK)
        status = find_settings(cli, opening, &settings, err);
    if (status != LOCI_OK)
        return status;
    creates = may_create(cli, opening, &path);
    existed = lc_store_path_exists(&path); /* On a database server: known only after opening. */
    if (!existed && !creates)
        return fail_missing(cli, opening, &path, err);
    if (!existed)
        status = prepare_directory(&path, err);
    if (status != LOCI_OK)
        return status;

    options.flags = creates ? opening->flags : opening->flags | LOCI_OPEN_EXISTING;
    options.store = path.text;
    options.tenant = cli->globals.tenant;
    options.config_file = cli->globals.config_file;
    options.environment = settings.environment;
    options.settings = settings.flags;
    options.seed = opening->seed;
    options.clock = opening->clock;
    options.clock_ctx = opening->clock_ctx;
    if (opening->clock == NULL && !opening->lives_long && cli->fixed_now_us != LC_CLI_CLOCK) {
        options.clock = read_fixed_clock;
        options.clock_ctx = &cli->fixed_now_us;
    }
    options.variable = find_variable;
    options.log_ctx = opening->log_queue;
    options.log = opening->is_silent       ? NULL
                  : opening->is_for_people ? say_warning
                                           : lc_opening_log_warnings;
    if (settings.has_log_level || opening->logs_all)
        options.log = lc_opening_log;
    options.fault_ctx = opening->log_queue;
    options.on_fault = opening->ends_on_fault ? end_on_fault : on_fault;
    status = loci_open(&options, out, err);
    if (status != LOCI_OK || existed)
        return status;
    /* People see what was created; programs read stderr for errors. */
    if (path.is_default && opening->is_for_people && cli->err_terminal.is_terminal &&
        !cli->globals.wants_json)
        lc_cli_note(cli, "Created the store %s", path.label);
    else if (!path.is_default && opening->notes_creation)
        note_creation(cli, opening, &path, settings.has_log_level || opening->logs_all);
    return status;
}
