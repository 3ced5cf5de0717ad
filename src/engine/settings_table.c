/* settings_table.c - the settings themselves, and finding one by its name.
 *
 * Rows are in the order of lc_setting_id, which is that of the names; a test asks
 * lc_setting_list_fault().
 */
#include "engine/settings.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/setting_value.h"
#include "model/embedder.h"

#define HOUR_PER_YEAR 8760
#define MS_PER_DAY 86400000
#define MS_PER_HOUR 3600000

static const lc_setting table[LC_SETTING_COUNT] = {
    [LC_SETTING_AUTHORITY_TITLES] =
        {
            .name = "authority.titles",
            .kind = LC_SETTING_TEXT,
            .default_text = "\"\"",
            .max = 4000,
            .help = "Ranks of job titles beside the built-in ones: title=rank, title=rank",
            .is_live = true,
            .is_per_tenant = true,
        },
    [LC_SETTING_CACHE_USER_BYTES_MAX] =
        {
            .name = "cache.user_bytes_max",
            .kind = LC_SETTING_INT,
            .default_text = "268435456",
            .min = 0,
            .max = INT64_C(1) << 40,
            .help = "Maximum size of all per-user caches together, in bytes; raise it if "
                    "loci_user_cache_evictions_total keeps growing",
            .is_live = true,
        },
    [LC_SETTING_CALL_TIMEOUT_MS] =
        {
            .name = "call.timeout_ms",
            .kind = LC_SETTING_INT,
            .default_text = "30000",
            .min = 1,
            .max = MS_PER_DAY,
            .help = "How long a call may take that does not say so itself",
            .is_live = true,
            .is_per_tenant = true,
        },
    [LC_SETTING_DATA_DIR] =
        {
            .name = "data.dir",
            .kind = LC_SETTING_TEXT,
            .default_text = "\"\"",
            .max = 4000,
            .help = "Where the tables of tokenizers and encoders lie; empty: beside the program",
        },
    [LC_SETTING_JOB_KEEP_HOURS] =
        {
            .name = "job.keep_hours",
            .kind = LC_SETTING_INT,
            .default_text = "168",
            .min = 1,
            .max = 10 * HOUR_PER_YEAR,
            .help = "How long a job that ended stays visible",
            .is_live = true,
        },
    [LC_SETTING_JOB_LEASE_MS] =
        {
            .name = "job.lease_ms",
            .kind = LC_SETTING_INT,
            .default_text = "30000",
            .min = 1000,
            .max = 3600000,
            .help = "After how long without a sign of life a job is given to another worker",
            .is_live = true,
        },
    [LC_SETTING_JOB_WORKERS] =
        {
            .name = "job.workers",
            .kind = LC_SETTING_INT,
            .default_text = "2",
            .min = 1,
            .max = 64,
            .help = "Threads that run jobs",
        },
    [LC_SETTING_LOG_LEVEL] =
        {
            .name = "log.level",
            .kind = LC_SETTING_CHOICE,
            .default_text = "\"info\"",
            .choices = "debug|info|warn|error", /* In the order of loci_log_level. */
            .help = "The least important records that are logged",
        },
    [LC_SETTING_MODEL_ALLOW_PRIVATE] =
        {
            .name = "model.allow_private",
            .kind = LC_SETTING_BOOL,
            .default_text = "false",
            .help = "Whether a provider may be on this machine or in its network",
            .is_live = true,
        },
    [LC_SETTING_MODEL_CHAT_KEY] =
        {
            .name = "model.chat_key",
            .kind = LC_SETTING_TEXT,
            .default_text = "null",
            .help = "What the provider of chats knows us by",
            .is_live = true,
            .is_secret = true,
        },
    [LC_SETTING_MODEL_CHAT_MODEL] =
        {
            .name = "model.chat_model",
            .kind = LC_SETTING_TEXT,
            .default_text = "\"\"",
            .max = LC_MODEL_NAME_BYTES_MAX,
            .help = "The provider's name of the model for chats",
            .is_live = true,
        },
    [LC_SETTING_MODEL_CHAT_PROMPT_BYTES_MAX] =
        {
            .name = "model.chat_prompt_bytes_max",
            .kind = LC_SETTING_INT,
            .default_text = "262144",
            .min = 1024,
            .max = 4194304,
            .help = "Bytes that one prompt may have; a token is at least one",
            .is_live = true,
        },
    [LC_SETTING_MODEL_CHAT_TOKENS_MAX] =
        {
            .name = "model.chat_tokens_max",
            .kind = LC_SETTING_INT,
            .default_text = "2048",
            .min = 16,
            .max = 131072,
            .help = "Tokens that one answer of a chat may have",
            .is_live = true,
        },
    [LC_SETTING_MODEL_CHAT_URL] =
        {
            .name = "model.chat_url",
            .kind = LC_SETTING_TEXT,
            .default_text = "\"\"",
            .max = 2000,
            .help = "What /chat/completions follows, such as https://api.example.com/v1; "
                    "empty: none",
            .is_live = true,
        },
    [LC_SETTING_MODEL_EMBED_DIMENSIONS] =
        {
            .name = "model.embed_dimensions",
            .kind = LC_SETTING_INT,
            .default_text = "0",
            .min = 0,
            .max = LC_EMBED_DIMENSIONS_MAX,
            .help = "How many numbers the vectors of the provider's model have",
            .is_live = true,
        },
    [LC_SETTING_MODEL_EMBED_ENCODING] =
        {
            .name = "model.embed_encoding",
            .kind = LC_SETTING_CHOICE,
            .default_text = "\"float\"",
            .choices = "float|base64",
            .help = "How the provider is asked to write vectors; base64 is shorter, and not "
                    "known to all",
            .is_live = true,
        },
    [LC_SETTING_MODEL_EMBED_KEY] =
        {
            .name = "model.embed_key",
            .kind = LC_SETTING_TEXT,
            .default_text = "null",
            .help = "What the provider of embeddings knows us by",
            .is_live = true,
            .is_secret = true,
        },
    [LC_SETTING_MODEL_EMBED_MODEL] =
        {
            .name = "model.embed_model",
            .kind = LC_SETTING_TEXT,
            .default_text = "\"\"",
            .max = LC_MODEL_NAME_BYTES_MAX,
            .help = "The provider's name of the model for embeddings",
            .is_live = true,
        },
    [LC_SETTING_MODEL_EMBED_URL] =
        {
            .name = "model.embed_url",
            .kind = LC_SETTING_TEXT,
            .default_text = "\"\"",
            .max = 2000,
            .help = "What /embeddings follows, such as https://api.example.com/v1; empty: "
                    "none",
            .is_live = true,
        },
    [LC_SETTING_MODEL_EMBEDDER] =
        {
            .name = "model.embedder",
            .kind = LC_SETTING_CHOICE,
            .default_text = "\"auto\"",
            .choices = "auto|builtin|lexical|provider",
            .help = "What makes vectors; auto: the provider if model.embed_url is set, else the "
                    "built-in encoder if its data is there, else words alone",
            .is_live = true,
        },
    [LC_SETTING_MODEL_TIMEOUT_MS] =
        {
            .name = "model.timeout_ms",
            .kind = LC_SETTING_INT,
            .default_text = "30000",
            .min = 100,
            .max = 600000,
            .help = "How long one request to a provider may take",
            .is_live = true,
        },
    [LC_SETTING_REQUEST_KEEP_HOURS] =
        {
            .name = "request.keep_hours",
            .kind = LC_SETTING_INT,
            .default_text = "24",
            .min = 1,
            .max = HOUR_PER_YEAR,
            .help = "How long the answer of a request_id is kept for a repeat",
            .is_live = true,
        },
    [LC_SETTING_SERVER_BODY_BYTES_MAX] =
        {
            .name = "server.body_bytes_max",
            .kind = LC_SETTING_INT,
            .default_text = "4194304",
            .min = 1024,
            .max = LC_JSON_BYTES_MAX,
            .help = "Bytes that the body of a request may have",
        },
    [LC_SETTING_SERVER_BODY_TIMEOUT_MS] =
        {
            .name = "server.body_timeout_ms",
            .kind = LC_SETTING_INT,
            .default_text = "30000",
            .min = 100,
            .max = MS_PER_HOUR,
            .help = "How long a client may take to send the body of a request",
        },
    [LC_SETTING_SERVER_CONNECTIONS_MAX] =
        {
            .name = "server.connections_max",
            .kind = LC_SETTING_INT,
            .default_text = "4096",
            .min = 1,
            .max = 65536,
            .help = "Connections that the daemon holds open at the same time",
        },
    [LC_SETTING_SERVER_DRAIN_MS] =
        {
            .name = "server.drain_ms",
            .kind = LC_SETTING_INT,
            .default_text = "15000",
            .min = 0,
            .max = MS_PER_HOUR,
            .help = "How long accepted requests may take after the daemon was told to end",
        },
    [LC_SETTING_SERVER_HEADER_TIMEOUT_MS] =
        {
            .name = "server.header_timeout_ms",
            .kind = LC_SETTING_INT,
            .default_text = "10000",
            .min = 100,
            .max = MS_PER_HOUR,
            .help = "How long a client may take to send the headers of a request",
        },
    [LC_SETTING_SERVER_IDLE_TIMEOUT_MS] =
        {
            .name = "server.idle_timeout_ms",
            .kind = LC_SETTING_INT,
            .default_text = "60000",
            .min = 100,
            .max = MS_PER_DAY,
            .help = "How long a connection may be silent between requests, or not be read from",
        },
    [LC_SETTING_SESSION_IDLE_MINUTES] =
        {
            .name = "session.idle_minutes",
            .kind = LC_SETTING_INT,
            .default_text = "30",
            .min = 1,
            .max = 525600,
            .help = "After how long without a write a session has ended",
            .is_live = true,
            .is_per_tenant = true,
        },
    [LC_SETTING_STORE_DURABILITY] =
        {
            .name = "store.durability",
            .kind = LC_SETTING_CHOICE,
            .default_text = "\"full\"",
            .choices = "full|relaxed",
            .help = "full: an answer outlives a power cut; relaxed: a power cut may lose the last "
                    "answers, a crash of the process none",
        },
    [LC_SETTING_STORE_READERS] =
        {
            .name = "store.readers",
            .kind = LC_SETTING_INT,
            .default_text = "4",
            .min = 1,
            .max = 64,
            .help = "Connections for reads: how many calls can read at the same time",
        },
    [LC_SETTING_WATCH_INTERVAL_MS] =
        {
            .name = "watch.interval_ms",
            .kind = LC_SETTING_INT,
            .default_text = "100",
            .min = 10,
            .max = 60000,
            .help = "How often the writes of other processes are looked for",
            .is_live = true,
        },
};

const lc_setting *lc_setting_table(void)
{
    return table;
}

lc_setting_list lc_setting_list_own(void)
{
    return (lc_setting_list){.rows = table, .count = LC_SETTING_COUNT};
}

static const lc_setting *find(lc_setting_list list, loci_str name)
{
    for (size_t i = 0; i < list.count; i++) {
        if (lc_str_is(name, list.rows[i].name))
            return &list.rows[i];
    }
    return NULL;
}

/* A third of the letters may be wrong: more is another word. */
static const lc_setting *find_nearest(lc_setting_list list, loci_str name)
{
    size_t best = name.len / 3 + 1;
    const lc_setting *nearest = NULL;

    for (size_t i = 0; i < list.count; i++) {
        size_t distance = lc_str_distance(name, loci_str_of(list.rows[i].name), best);

        if (distance < best) {
            best = distance;
            nearest = &list.rows[i];
        }
    }
    return nearest;
}

static loci_status fail_unknown(lc_setting_list list, const char *source, loci_str name,
                                loci_status status, loci_error *err)
{
    const lc_setting *nearest = find_nearest(list, name);
    const char *colon = source != NULL ? ": " : "";

    if (source == NULL)
        source = "";
    if (nearest != NULL)
        return lc_fail(err, status, "%s%sunknown setting \"%.*s\"; did you mean \"%s\"?", source,
                       colon, LC_STR_ARG(name), nearest->name);
    return lc_fail(err, status, "%s%sunknown setting \"%.*s\"; config.list names all of them",
                   source, colon, LC_STR_ARG(name));
}

const lc_setting *lc_setting_find(loci_str name)
{
    return find(lc_setting_list_own(), name);
}

loci_status lc_setting_load(loci_str name, const lc_setting **out, loci_error *err)
{
    const lc_setting *setting = lc_setting_find(name);

    if (setting == NULL)
        return fail_unknown(lc_setting_list_own(), NULL, name, LOCI_ENOTFOUND, err);
    *out = setting;
    return LOCI_OK;
}

loci_status lc_setting_list_load(lc_setting_list list, const char *source, loci_str name,
                                 const lc_setting **out, loci_error *err)
{
    const lc_setting *setting = find(list, name);

    if (setting == NULL)
        return fail_unknown(list, source, name, LOCI_EINVAL, err);
    *out = setting;
    return LOCI_OK;
}

static const char *find_row_fault(const lc_setting *row)
{
    bool is_ranged = row->kind == LC_SETTING_INT || row->kind == LC_SETTING_TEXT;

    if (row->name == NULL || row->help == NULL || row->default_text == NULL)
        return "a setting has a name, a help and a default";
    if (row->is_per_tenant && !row->is_live)
        return "a per-tenant setting is live";
    if (row->is_secret &&
        (row->kind != LC_SETTING_TEXT || !lc_str_is(LC_STR("null"), row->default_text)))
        return "a secret is a text and has no default";
    if ((row->kind == LC_SETTING_CHOICE) != (row->choices != NULL))
        return "choices belong to a choice";
    if (is_ranged && !row->is_secret && row->min >= row->max)
        return "a range is from less to more";
    if (row->kind == LC_SETTING_TEXT && row->min < 0)
        return "a text has no negative length";
    return NULL;
}

const char *lc_setting_list_fault(lc_setting_list list)
{
    for (size_t i = 0; i < list.count; i++) {
        const char *fault = find_row_fault(&list.rows[i]);

        if (fault != NULL)
            return fault;
        if (i > 0 &&
            lc_str_compare(loci_str_of(list.rows[i - 1].name), loci_str_of(list.rows[i].name)) >= 0)
            return "settings are sorted by name, none twice";
    }
    return NULL;
}
