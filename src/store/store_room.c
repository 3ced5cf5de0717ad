/* store_room.c - the store's own tables.
 *
 * events and heads are the log. The others are operational: durable, backed up, never compared. The
 * head row is what serialises the writers of one user; `base_seq` is 0 and reserved for archiving
 * (a rebuild will then start from a snapshot at that seq).
 */
#include "store/catalogue.h"
#include "store/job.h"
#include "store/setting_table.h"
#include "store/token.h"
#include "store/vector.h"

static const lc_column event_columns[] = {
    LC_COLUMN("tenant_id", 't'), LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),       LC_COLUMN("type", 't'),
    LC_COLUMN("v", 'i'),         LC_COLUMN("recorded_at", 'i'),
    LC_COLUMN("refs", 't'),      LC_COLUMN("payload", 't'),
    LC_COLUMN("is_erased", 'i'), {0},
};

static const lc_table events_table = {
    .name = "events",
    .table_class = LC_TABLE_LOG,
    .columns = event_columns,
    .key = "tenant_id, user_id, seq",
};

static const lc_column head_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),
    LC_COLUMN("recorded_at", 'i'),
    LC_COLUMN("objects", 'i'),
    LC_COLUMN("base_seq", 'i'),
    {0},
};

static const lc_table heads_table = {
    .name = "heads",
    .table_class = LC_TABLE_LOG,
    .columns = head_columns,
    .key = "tenant_id, user_id",
};

static const lc_column request_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("request_id", 't'),
    LC_COLUMN("args_hash", 'b'),
    LC_COLUMN("answer", 't'),
    LC_COLUMN("recorded_at", 'i'),
    {0},
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
    LC_COLUMN("name", 't'),
    LC_COLUMN("value", 't'),
    {0},
};

static const lc_table meta_table = {
    .name = "meta",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = meta_columns,
    .key = "name",
    .is_store_wide = true,
};

static const lc_column rebuild_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),
    {0},
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
