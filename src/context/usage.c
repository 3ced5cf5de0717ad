/* usage.c - see usage.h. Invariant: 0 <= cached_tokens <= input_tokens, used <= reports. */
#include "context/usage.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

#define DECAY 0.98 /* Of the two sums, per report. */

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_STRING_COLUMN(lc_model_usage, model, "model", LC_COL_REQUIRED,
                     .help = "Name of the model, as reported"),
    LC_STRING_COLUMN(lc_model_usage, encoding, "encoding", LC_COL_REQUIRED,
                     .help = "Encoding of loci's own counts; estimated if they were estimates"),
    LC_INTEGER_COLUMN(lc_model_usage, reports, "reports", LC_COL_REQUIRED,
                      .help = "Number of reports"),
    LC_INTEGER_COLUMN(lc_model_usage, used, "used", 0),
    LC_INTEGER_COLUMN(lc_model_usage, input_tokens, "input_tokens", LC_COL_REQUIRED,
                      .help = "Number of input tokens in all reports"),
    LC_INTEGER_COLUMN(lc_model_usage, cached_tokens, "cached_tokens", LC_COL_REQUIRED,
                      .help = "Number of those that came from the provider's cache"),
    LC_NUMBER_COLUMN(lc_model_usage, counted, "counted", 0),
    LC_NUMBER_COLUMN(lc_model_usage, reported, "reported", 0),
    LC_TIME_COLUMN(lc_model_usage, updated_at, "updated_at", LC_COL_REQUIRED,
                   .help = "Time of the last report"),
    {0},
};

const lc_row_type lc_model_usage_row = {columns, 0, sizeof(lc_model_usage)};

#define OF_USER " where tenant_id = $1 and user_id = $2"

static const lc_sql forget_sql = {"delete from model_usage" OF_USER, "tt", NULL};

const lc_table lc_model_usage_table = {
    .name = "model_usage",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = columns,
    .key = "tenant_id, user_id, model, encoding",
    .forget = &forget_sql,
};

static const lc_sql set_sql = {
    "insert into model_usage (tenant_id, user_id, {row}) values ($1, $2, {values})"
    " on conflict (tenant_id, user_id, model, encoding) do update set {excluded}",
    "tt", NULL, &lc_model_usage_row};
static const lc_sql find_sql = {"select {row} from model_usage" OF_USER
                                " and model = $3 and encoding = $4",
                                "tttt", "", &lc_model_usage_row};
static const lc_sql each_sql = {"select {row} from model_usage" OF_USER " order by model, encoding",
                                "tt", "", &lc_model_usage_row};
static const lc_sql count_sql = {"select count(*) from model_usage" OF_USER, "tt", "i"};
static const lc_sql oldest_sql = {"select {row} from model_usage" OF_USER
                                  " order by updated_at, model, encoding limit 1",
                                  "tt", "", &lc_model_usage_row};
static const lc_sql delete_sql = {
    "delete from model_usage" OF_USER " and model = $3 and encoding = $4", "tttt", NULL};

loci_status lc_usage_find(lc_tx *tx, loci_str model, loci_str encoding, lc_arena *arena,
                          lc_model_usage *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(model), LC_T(encoding)};
    bool found = false;
    loci_status status = lc_row_find(tx, &(lc_query){&find_sql, args}, arena, out, &found, err);

    if (status == LOCI_OK && !found)
        *out = (lc_model_usage){.model = model, .encoding = encoding};
    return status;
}

/* Room for the first report of a model. */
static loci_status make_room(lc_tx *tx, lc_arena *arena, loci_error *err)
{
    lc_arg args[4] = {LC_T(tx->tenant_id), LC_T(tx->user_id)};
    int64_t count = 0;
    lc_model_usage oldest;
    bool found = false;
    loci_status status = lc_tx_find_numbers(tx, &count_sql, args, &count, err);

    if (status != LOCI_OK || count < LC_USAGE_MODELS_MAX)
        return status;
    status = lc_row_find(tx, &(lc_query){&oldest_sql, args}, arena, &oldest, &found, err);
    if (status != LOCI_OK || !found)
        return status;
    args[2] = LC_T(oldest.model);
    args[3] = LC_T(oldest.encoding);
    return lc_tx_exec(tx, &delete_sql, args, err);
}

/* Whether the rest of the input can be the counted text: else something was left out of
 * other_tokens, or the text was not sent. */
static bool is_plausible(const lc_usage_report *report)
{
    double ratio;

    if (report->counted_tokens <= 0)
        return false;
    ratio = (double)(report->input_tokens - report->other_tokens) / (double)report->counted_tokens;
    return ratio >= LC_USAGE_RATIO_MIN && ratio <= LC_USAGE_RATIO_MAX;
}

loci_status lc_usage_add(lc_tx *tx, const lc_usage_report *report, lc_arena *arena,
                         lc_model_usage *out, bool *is_used, loci_error *err)
{
    lc_arg args[2 + LC_ROW_COLUMNS_MAX] = {LC_T(tx->tenant_id), LC_T(tx->user_id)};
    loci_status status = lc_usage_find(tx, report->model, report->encoding, arena, out, err);

    LC_ASSERT(report->cached_tokens >= 0 && report->cached_tokens <= report->input_tokens);
    LC_ASSERT(report->other_tokens >= 0 && report->other_tokens <= report->input_tokens);
    if (status == LOCI_OK && out->reports == 0)
        status = make_room(tx, arena, err);
    if (status != LOCI_OK)
        return status;
    *is_used = is_plausible(report);
    out->reports++;
    out->input_tokens += report->input_tokens;
    out->cached_tokens += report->cached_tokens;
    out->updated_at = tx->now_us;
    if (*is_used) {
        out->used++;
        out->counted = out->counted * DECAY + (double)report->counted_tokens;
        out->reported = out->reported * DECAY +
                        (double)(report->input_tokens - report->other_tokens);
    }
    lc_row_bind(&lc_model_usage_row, out, args + 2);
    return lc_tx_exec(tx, &set_sql, args, err);
}

loci_status lc_usage_each(lc_tx *tx, lc_usage_visit *visit, void *ctx, loci_error *err)
{
    lc_rows rows;
    lc_model_usage usage;
    loci_status status = lc_tx_query(
        tx, &each_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id)}, &rows, err);

    while (lc_row_next(&rows, &usage, &status, err))
        status = visit(ctx, &usage, err);
    lc_rows_end(&rows);
    return status;
}

double lc_usage_ratio(const lc_model_usage *usage)
{
    return usage->used >= LC_USAGE_REPORTS_MIN ? usage->reported / usage->counted : 0;
}

double lc_usage_hit_rate(const lc_model_usage *usage)
{
    return usage->input_tokens > 0 ? (double)usage->cached_tokens / (double)usage->input_tokens : 0;
}
