/* store_room.c - the store's own tables.
 *
 * events and heads are the log. The others are operational: durable, backed up, never compared. The
 * head row is what serialises the writers of one user; `base_seq` is 0 and reserved for archiving
 * (a rebuild will then start from a snapshot at that seq).
 */
#include "store/catalogue.h"
#include "store/job_table.h"
#include "store/setting_table.h"
#include "store/token_table.h"
#include "store/vector.h"

static const lc_column event_columns[] = {
    {"tenant_id", 't', false}, {"user_id", 't', false}, {"seq", 'i', false},
    {"type", 't', false},      {"v", 'i', false},       {"recorded_at", 'i', false},
    {"refs", 't', false},      {"payload", 't', false}, {"is_erased", 'i', false},
    {NULL, 0, false},
};

static const lc_table events_table = {
    .name = "events",
    .table_class = LC_TABLE_LOG,
    .columns = event_columns,
    .key = "tenant_id, user_id, seq",
};

static const lc_column head_columns[] = {
    {"tenant_id", 't', false}, {"user_id", 't', false},
    {"seq", 'i', false},       {"recorded_at", 'i', false},
    {"objects", 'i', false},   {"base_seq", 'i', false},
    {NULL, 0, false},
};

static const lc_table heads_table = {
    .name = "heads",
    .table_class = LC_TABLE_LOG,
    .columns = head_columns,
    .key = "tenant_id, user_id",
};

static const lc_column request_columns[] = {
    {"tenant_id", 't', false}, {"user_id", 't', false}, {"request_id", 't', false},
    {"args_hash", 'b', false}, {"answer", 't', false},  {"recorded_at", 'i', false},
    {NULL, 0, false},
};

static const lc_index request_indexes[] = {
    {"age", "recorded_at", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_table requests_table = {
    .name = "requests",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = request_columns,
    .key = "tenant_id, user_id, request_id",
    .indexes = request_indexes,
};

static const lc_column meta_columns[] = {
    {"name", 't', false},
    {"value", 't', false},
    {NULL, 0, false},
};

static const lc_table meta_table = {
    .name = "meta",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = meta_columns,
    .key = "name",
    .is_store_wide = true,
};

static const lc_column rebuild_columns[] = {
    {"tenant_id", 't', false},
    {"user_id", 't', false},
    {"seq", 'i', false},
    {NULL, 0, false},
};

/* How far a rebuild in progress has replayed each user. */
static const lc_table rebuild_heads_table = {
    .name = "rebuild_heads",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = rebuild_columns,
    .key = "tenant_id, user_id",
};

static const lc_table *const tables[] = {
    &meta_table,        &events_table,    &heads_table,      &requests_table,      &lc_jobs_table,
    &lc_settings_table, &lc_tokens_table, &lc_vectors_table, &rebuild_heads_table, NULL,
};

const lc_room lc_store_room = {.name = "store", .tables = tables};
