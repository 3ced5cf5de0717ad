#include "cli/opening.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/setting_sources.h"
#include "cli/store_path.h"

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

/* One record as a line; 0 when it does not fit. */
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

/* Any thread: a line is written or put at once, so that those of two threads do not mix. */
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

/* The call that met the bug answers `internal`; this says where, for the report. */
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
        (void)lc_log_queue_flush(ctx, FAULT_FLUSH_MS); /* It ends either way. */
    abort(); /* With a core; what was answered is durable. */
}

/* Nothing here changes the environment, so that any thread may ask. */
static const char *find_variable(void *ctx, const char *name)
{
    (void)ctx;
    return getenv(name);
}

static loci_status check_store(const lc_store_path *path, unsigned flags, loci_error *err)
{
    if ((flags & LOCI_OPEN_EXISTING) == 0)
        return lc_store_path_prepare(path, err);
    if (lc_store_path_exists(path))
        return LOCI_OK;
    return lc_fail(err, LOCI_ENOTFOUND, "there is no store at %s; `loci init` makes one",
                   path->label);
}

loci_status lc_opening_run(lc_cli *cli, const lc_opening *opening, loci_engine **out,
                           loci_error *err)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    lc_cli_settings settings;
    lc_store_path path;
    loci_status status;

    status = lc_store_path_find(cli, &path, err);
    if (status == LOCI_OK)
        status = lc_cli_settings_find(cli, &settings, err);
    if (status == LOCI_OK)
        status = check_store(&path, opening->flags, err);
    if (status != LOCI_OK)
        return status;

    options.flags = opening->flags;
    options.store = path.text;
    options.tenant = cli->globals.tenant;
    options.config_file = cli->globals.config_file;
    options.environment = settings.environment;
    options.settings = settings.flags;
    options.seed = opening->seed;
    options.clock = opening->clock;
    options.clock_ctx = opening->clock_ctx;
    options.variable = find_variable;
    options.log_ctx = opening->log_queue;
    options.log = opening->is_silent ? NULL : lc_opening_log_warnings;
    if (settings.has_log_level || opening->logs_all)
        options.log = lc_opening_log;
    options.fault_ctx = opening->log_queue;
    options.on_fault = opening->ends_on_fault ? end_on_fault : on_fault;
    return loci_open(&options, out, err);
}
