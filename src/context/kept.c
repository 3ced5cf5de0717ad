/* kept.c - see kept.h. Two tables: a context, and its lines in the order of choosing. */
#include "context/kept.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/usage.h"
#include "store/event.h"
#include "store/row.h"

#define HOUR_US INT64_C(3600000000)

const lc_setting lc_setting_context_keep_hours = {
    .name = "context.keep_hours",
    .kind = LC_SETTING_INT,
    .default_text = "24",
    .min = 1,
    .max = 8760,
    .help = "Hours after which a kept context is deleted",
    .is_live = true,
    .is_per_tenant = true,
};

/* ---- Tables ---------------------------------------------------------------------------------- */

static const lc_column context_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_STRING_COLUMN(lc_kept_context, id, "id", LC_COL_REQUIRED, .shown = "context_id",
                     .help = "Id of the context (ctx_...)"),
    LC_STRING_COLUMN(lc_kept_context, persona_id, "persona_id", 0),
    LC_STRING_COLUMN(lc_kept_context, session_id, "session_id", LC_COL_NULL),
    LC_INTEGER_COLUMN(lc_kept_context, seq, "seq", LC_COL_REQUIRED,
                      .help = "Number of the last event that it was built from"),
    LC_INTEGER_COLUMN(lc_kept_context, budget, "budget", LC_COL_REQUIRED,
                      .help = "Budget of the call"),
    LC_INTEGER_COLUMN(lc_kept_context, tokens, "tokens", LC_COL_REQUIRED,
                      .help = "Number of tokens of the text"),
    LC_STRING_COLUMN(lc_kept_context, model, "model", LC_COL_NULL | LC_COL_SHOWN,
                     .help = "Model that it was built for"),
    LC_STRING_COLUMN(lc_kept_context, encoding, "encoding", 0),
    LC_INTEGER_COLUMN(lc_kept_context, request_tokens, "request_tokens", 0),
    LC_INTEGER_COLUMN(lc_kept_context, line_count, "line_count", 0),
    LC_TIME_COLUMN(lc_kept_context, created_at, "created_at", LC_COL_REQUIRED,
                   .help = "Time at which it was built"),
    LC_TIME_COLUMN(lc_kept_context, expires_at, "expires_at", LC_COL_REQUIRED,
                   .help = "Time at which it is deleted"),
    {0},
};

const lc_row_type lc_kept_context_row = {context_columns, 0, sizeof(lc_kept_context)};

static const lc_column line_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("context_id", 't'),
    LC_INTEGER_COLUMN(lc_kept_line, position, "position", 0),
    LC_STRING_COLUMN(lc_kept_line, id, "item_id", LC_COL_REQUIRED, .shown = "id",
                     .help = "Id of the fact, message, item or signal"),
    LC_STRING_COLUMN(lc_kept_line, section, "section", LC_COL_REQUIRED, .help = "Section"),
    LC_STRING_COLUMN(lc_kept_line, why, "why", LC_COL_NULL | LC_COL_SHOWN,
                     .choices = LC_CONTEXT_WHYS, .help = "Reason for being in the text"),
    LC_STRING_COLUMN(lc_kept_line, reason, "reason", LC_COL_NULL | LC_COL_SHOWN,
                     .help = "Reason for leaving it out"),
    LC_INTEGER_COLUMN(lc_kept_line, tokens, "tokens", LC_COL_REQUIRED, .help = "Number of tokens"),
    LC_NUMBER_COLUMN(lc_kept_line, score, "score", LC_COL_NULL | LC_COL_SHOWN,
                     .help = "Score in its section, if it was searched for"),
    LC_NUMBER_COLUMN(lc_kept_line, words, "words", LC_COL_NULL | LC_COL_SHOWN,
                     .help = "Part of the score for words that it shares with the query"),
    LC_NUMBER_COLUMN(lc_kept_line, meaning, "meaning", LC_COL_NULL | LC_COL_SHOWN,
                     .help = "Part of the score for nearness of meaning"),
    {0},
};

const lc_row_type lc_kept_line_row = {line_columns, 0, sizeof(lc_kept_line)};

#define OF_USER " where tenant_id = $1 and user_id = $2"

static const lc_sql forget_contexts_sql = {"delete from kept_contexts" OF_USER, "tt", NULL};
static const lc_sql forget_lines_sql = {"delete from kept_lines" OF_USER, "tt", NULL};
static const lc_sql forget_line_sql = {"delete from kept_lines" OF_USER " and item_id = $3", "ttt",
                                       NULL};

static const lc_table contexts_table = {
    .name = "kept_contexts",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = context_columns,
    .key = "tenant_id, user_id, id",
    .indexes = (const lc_index[]){{"age", "tenant_id, user_id, expires_at, id", NULL, false},
                                  {NULL, NULL, NULL, false}},
    .forget = &forget_contexts_sql,
};

static const lc_table lines_table = {
    .name = "kept_lines",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = line_columns,
    .key = "tenant_id, user_id, context_id, position",
    .indexes = (const lc_index[]){{"item", "tenant_id, user_id, item_id", NULL, false},
                                  {NULL, NULL, NULL, false}},
    .forget = &forget_lines_sql,
    .forget_id = &forget_line_sql,
};

/* ---- Deleting -------------------------------------------------------------------------------- */

static const lc_sql first_sql = {"select id, expires_at from kept_contexts" OF_USER
                                 " order by expires_at, id limit 1",
                                 "tt", "ti"};
static const lc_sql count_sql = {"select count(*) from kept_contexts" OF_USER, "tt", "i"};
static const lc_sql delete_context_sql = {"delete from kept_contexts" OF_USER " and id = $3", "ttt",
                                          NULL};
static const lc_sql delete_lines_sql = {"delete from kept_lines" OF_USER " and context_id = $3",
                                        "ttt", NULL};

/* Deletes the context that expires first if it has expired, or whatever its age. */
static loci_status delete_first(lc_tx *tx, bool is_forced, bool *out, loci_error *err)
{
    char id[LC_ID_TEXT_BYTES];
    lc_arg args[3] = {LC_T(tx->tenant_id), LC_T(tx->user_id)};
    lc_rows rows;
    loci_str first;
    bool found = false;
    loci_status status = lc_tx_find(tx, &first_sql, args, &rows, &found, err);

    *out = false;
    if (status != LOCI_OK || !found)
        return status;
    *out = is_forced || lc_rows_i64(&rows, 1) <= tx->now_us;
    first = lc_rows_str(&rows, 0);
    if (first.len >= sizeof id)
        status = lc_fail(err, LOCI_ECORRUPT, "the id of a kept context is too long");
    else
        memcpy(id, first.ptr, first.len);
    args[2] = LC_T(((loci_str){id, first.len}));
    lc_rows_end(&rows);
    if (status != LOCI_OK || !*out)
        return status;
    status = lc_tx_exec(tx, &delete_lines_sql, args, err);
    return status == LOCI_OK ? lc_tx_exec(tx, &delete_context_sql, args, err) : status;
}

static loci_status delete_expired(lc_tx *tx, int64_t *out_count, loci_error *err)
{
    bool is_deleted = true;
    loci_status status = LOCI_OK;

    *out_count = 0;
    while (status == LOCI_OK && is_deleted) {
        status = delete_first(tx, false, &is_deleted, err);
        *out_count += is_deleted;
    }
    return status;
}

/* Room for one more. */
static loci_status make_room(lc_tx *tx, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id)};
    int64_t count = 0;
    bool is_deleted = true;
    loci_status status = delete_expired(tx, &count, err);

    if (status == LOCI_OK)
        status = lc_tx_find_numbers(tx, &count_sql, args, &count, err);
    for (; status == LOCI_OK && count >= LC_KEPT_MAX && is_deleted; count--)
        status = delete_first(tx, true, &is_deleted, err);
    return status;
}

static const lc_sql users_sql = {
    "select tenant_id, user_id from kept_contexts where (tenant_id, user_id) > ($1, $2)"
    " order by tenant_id, user_id limit 1",
    "tt", "tt"};
static const lc_sql expired_sql = {
    "select count(*) from kept_contexts" OF_USER " and expires_at <= $3", "tti", "i"};

static loci_status has_expired(lc_tx *tx, int64_t limit, bool *out, loci_error *err)
{
    int64_t count = 0;
    loci_status status = lc_tx_find_numbers(
        tx, &expired_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(tx->now_us)},
        &count, err);

    (void)limit; /* It was added to the time at which each was kept. */
    *out = count > 0;
    return status;
}

static loci_status sweep(lc_tx *tx, int64_t limit, int64_t *out_count, loci_error *err)
{
    (void)limit;
    return delete_expired(tx, out_count, err);
}

static const lc_sweep kept_sweep = {
    .name = "contexts",
    .users = &users_sql,
    .setting = &lc_setting_context_keep_hours,
    .is_due = has_expired,
    .run = sweep,
};

const lc_room lc_context_room = {
    .name = "context",
    .settings = (const lc_setting *const[]){&lc_setting_context_keep_hours, NULL},
    .tables = (const lc_table *const[]){&contexts_table, &lines_table, &lc_model_usage_table, NULL},
    .sweep = &kept_sweep,
};

/* ---- Adding ---------------------------------------------------------------------------------- */

static const lc_sql add_context_sql = {
    "insert into kept_contexts (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &lc_kept_context_row};
static const lc_sql add_line_sql = {
    "insert into kept_lines (tenant_id, user_id, context_id, {row}) values ($1, $2, $3, {values})",
    "ttt", NULL, &lc_kept_line_row};

/* Enough digits to compare two lines. */
static double rounded(double score)
{
    return round(score * 10000) / 10000;
}

static loci_str text_or_none(const char *text)
{
    return text != NULL ? loci_str_of(text) : LC_STR_NONE;
}

static loci_status add_line(lc_tx *tx, loci_str context_id, int64_t position,
                            const lc_context_line *line, loci_error *err)
{
    lc_kept_line row = {.position = position,
                        .id = line->id,
                        .section = loci_str_of(line->section),
                        .why = text_or_none(line->why),
                        .reason = text_or_none(line->reason),
                        .tokens = line->tokens,
                        .score = rounded(line->score),
                        .words = rounded(line->words),
                        .meaning = rounded(line->meaning)};
    lc_arg args[3 + LC_ROW_COLUMNS_MAX] = {LC_T(tx->tenant_id), LC_T(tx->user_id),
                                           LC_T(context_id)};

    lc_row_bind(&lc_kept_line_row, &row, args + 3);
    return lc_tx_exec(tx, &add_line_sql, args, err);
}

loci_status lc_kept_add(lc_tx *tx, lc_kept_context *context, const lc_context_lines *lines,
                        int64_t keep_hours, lc_id *out_id, loci_error *err)
{
    lc_arg args[2 + LC_ROW_COLUMNS_MAX] = {LC_T(tx->tenant_id), LC_T(tx->user_id)};
    loci_status status = make_room(tx, err);

    if (status == LOCI_OK)
        status = lc_tx_make_object_id(tx, "ctx", out_id, err);
    if (status != LOCI_OK)
        return status;
    context->id = lc_id_str(out_id);
    context->line_count = (int64_t)lines->count;
    context->created_at = tx->now_us;
    context->expires_at = tx->now_us + keep_hours * HOUR_US;
    lc_row_bind(&lc_kept_context_row, context, args + 2);
    status = lc_tx_exec(tx, &add_context_sql, args, err);
    for (size_t i = 0; i < lines->count && status == LOCI_OK; i++)
        status = add_line(tx, context->id, (int64_t)i, &lines->items[i], err);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static const lc_sql find_sql = {"select {row} from kept_contexts" OF_USER
                                " and id = $3 and persona_id in ('', $4) and expires_at > $5",
                                "tttti", "", &lc_kept_context_row};
static const lc_sql lines_sql = {"select {row} from kept_lines" OF_USER
                                 " and context_id = $3 order by position",
                                 "ttt", "", &lc_kept_line_row};

loci_status lc_kept_find(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                         lc_kept_context *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(id),
                           LC_T_OR_EMPTY(persona_id), LC_I(tx->now_us)};
    bool found = false;
    loci_status status = lc_row_find(tx, &(lc_query){&find_sql, args}, arena, out, &found, err);

    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND,
                         "there is no kept context \"%.*s\": build one with keep, and use it "
                         "before it expires",
                         LC_STR_ARG(id));
    return status;
}

loci_status lc_kept_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena, lc_kept *out,
                         loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(id)};
    lc_kept_context *context = &out->context;
    lc_rows rows;
    lc_kept_line line;
    loci_status status = lc_kept_find(tx, persona_id, id, arena, context, err);

    if (status != LOCI_OK)
        return status;
    out->count = 0;
    out->lines = lc_arena_zalloc_array(arena, (size_t)context->line_count + 1, sizeof line);
    if (out->lines == NULL)
        return lc_fail_memory(err);
    status = lc_tx_query(tx, &lines_sql, args, &rows, err);
    while ((int64_t)out->count < context->line_count && lc_row_next(&rows, &line, &status, err)) {
        out->lines[out->count] = line;
        if (!lc_row_keep(&lc_kept_line_row, arena, &out->lines[out->count++]))
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    return status;
}
