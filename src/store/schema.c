/* schema.c - creating, migrating and refusing stores.
 *
 * The usual case, a store of this version, takes one read and no lock. Anything else is decided
 * again inside the write transaction, because another process may have done the work meanwhile.
 */
#include "store/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/db_upkeep.h"
#include "store/vector.h"

#define MIGRATION_MS_MAX 60000 /* Until it begins. */
#define MIGRATION_US_MAX (INT64_C(24) * 3600 * 1000000)

/* Creates a table in its current shape. Before you change the shape of such a table, copy its
 * current DDL into this migration; a test compares a migrated store with a new one. */
static loci_status add_table(lc_tx *tx, const char *name, loci_error *err)
{
    const lc_table *table = lc_catalogue_find_table(tx->db->catalogue, loci_str_of(name));
    lc_ddl ddl = {.dialect = tx->db->driver->dialect, .suffix = ""};
    loci_status status;
    lc_buf script;

    if (table == NULL) /* A catalogue of a test's own. */
        return LOCI_OK;
    lc_buf_init(&script, &tx->db->env->heap, LOCI_MEM_ENGINE, LC_ARGS_BYTES_MAX);
    lc_ddl_table(&script, table, &ddl);
    lc_ddl_indexes(&script, table, &ddl);
    status = lc_buf_terminate(&script) != NULL
                 ? tx->db->driver->upkeep->run_script(tx, script.ptr, err)
                 : lc_buf_status(&script, err);
    lc_buf_clear(&script);
    return status;
}

static loci_status add_tokens(lc_tx *tx, loci_error *err)
{
    return add_table(tx, "tokens", err);
}

static loci_status add_vectors(lc_tx *tx, loci_error *err)
{
    return add_table(tx, "vectors", err);
}

static loci_status add_sessions(lc_tx *tx, loci_error *err)
{
    loci_status status = add_table(tx, "session_activity", err);

    return status == LOCI_OK ? add_table(tx, "working_items", err) : status;
}

/* Tokens get their newer columns; on PostgreSQL, tokens and settings get their policies. On SQLite
 * the schema text of an altered table would differ from that of a new one, so the table is made
 * again; on PostgreSQL that would lose its grants, so it is altered. */
#define TOKEN_COLUMNS_4                                                                            \
    "id, tenant_id, name, secret_hash, scopes, user_id, persona_id, authority_max, trust_max,"     \
    " created_at, expires_at, revoked_at, replaced_by"

/* The policy that lc_ddl_table() gives to new tables. */
#define POLICY(table)                                                                              \
    "alter table " table " enable row level security; drop policy if exists tenant on " table      \
    "; create policy tenant on " table                                                             \
    " using (tenant_id = nullif(current_setting('loci.tenant', true), ''));"

static loci_status add_token_rights(lc_tx *tx, loci_error *err)
{
    const lc_db_upkeep *upkeep = tx->db->driver->upkeep;
    loci_status status;

    if (lc_catalogue_find_table(tx->db->catalogue, LC_STR("tokens")) == NULL)
        return LOCI_OK; /* A catalogue of a test's own. */
    if (tx->db->driver->dialect == LC_DIALECT_POSTGRES)
        return upkeep->run_script(
            tx,
            "alter table tokens add column if not exists permissions text,"
            " add column if not exists parent_id text;"
            " create index if not exists tokens_parent_0 on tokens (parent_id)"
            " where parent_id is not null;" POLICY("tokens") POLICY("settings"),
            err);
    status = upkeep->run_script(
        tx, "create table tokens_4 as select " TOKEN_COLUMNS_4 " from tokens; drop table tokens;",
        err);
    if (status == LOCI_OK)
        status = add_table(tx, "tokens", err);
    if (status == LOCI_OK)
        status = upkeep->run_script(tx,
                                    "insert into tokens (" TOKEN_COLUMNS_4
                                    ") select " TOKEN_COLUMNS_4
                                    " from tokens_4; drop table tokens_4;",
                                    err);
    return status;
}

static loci_status add_request_usage(lc_tx *tx, loci_error *err)
{
    return add_table(tx, "request_usage", err);
}

static loci_status add_kept_contexts(lc_tx *tx, loci_error *err)
{
    loci_status status = add_table(tx, "kept_contexts", err);

    if (status == LOCI_OK)
        status = add_table(tx, "kept_lines", err);
    return status == LOCI_OK ? add_table(tx, "model_usage", err) : status;
}

static loci_status add_growth(lc_tx *tx, loci_error *err)
{
    const lc_db_upkeep *upkeep = tx->db->driver->upkeep;

    return upkeep->add_growth != NULL ? upkeep->add_growth(tx, err) : LOCI_OK;
}

/* Vectors of four bytes per dimension become codes, and the table gets its key of today. On
 * PostgreSQL it is altered, which keeps its grants. */
#define VECTOR_COLUMNS_7 "tenant_id, user_id, content, generation, vector"

static loci_status shorten_vectors(lc_tx *tx, loci_error *err)
{
    const lc_db_upkeep *upkeep = tx->db->driver->upkeep;
    loci_status status;

    if (lc_catalogue_find_table(tx->db->catalogue, LC_STR("vectors")) == NULL)
        return LOCI_OK; /* A catalogue of a test's own. */
    status = lc_vector_shorten(tx, err);
    if (status == LOCI_OK && tx->db->driver->dialect == LC_DIALECT_POSTGRES)
        return upkeep->run_script(tx,
                                  "alter table vectors drop constraint vectors_pkey,"
                                  " add primary key (tenant_id, user_id, generation, content);",
                                  err);
    if (status == LOCI_OK)
        status = upkeep->run_script(tx, "alter table vectors rename to vectors_7;", err);
    if (status == LOCI_OK)
        status = add_table(tx, "vectors", err);
    if (status == LOCI_OK)
        status = upkeep->run_script(tx,
                                    "insert into vectors (" VECTOR_COLUMNS_7
                                    ") select " VECTOR_COLUMNS_7 " from vectors_7"
                                    " order by tenant_id, user_id, generation, content;"
                                    " drop table vectors_7;",
                                    err);
    return status;
}

static loci_status add_nothing(lc_tx *tx, loci_error *err)
{
    (void)tx;
    (void)err;
    return LOCI_OK;
}

static const lc_migration loci_migrations[] = {
    {2, "tokens", add_tokens, true},
    {3, "vectors", add_vectors, true},
    {4, "sessions", add_sessions, true},
    /* An older loci would not enforce them. */
    {5, "token rights", add_token_rights, false},
    {6, "quota of stored answers", add_request_usage, true},
    /* An older loci would leave the ids of forgotten things in them. */
    {7, "kept contexts", add_kept_contexts, false},
    {8, "growth of the log", add_growth, true},
    {9, "vectors of one byte per dimension", shorten_vectors, false},
    /* An older loci would take a compacted log for a damaged one, and forget things in its events
     * only. */
    {10, "snapshots", add_nothing, false},
    {0, NULL, NULL, false},
};

static const lc_sql meta_get_sql = {"select value from meta where name = $1", "t", "t"};
static const lc_sql meta_set_sql = {"insert into meta (name, value) values ($1, $2)"
                                    " on conflict (name) do update set value = excluded.value",
                                    "tt", NULL};

loci_status lc_meta_get_text(lc_tx *tx, const char *name, char *out, size_t bytes, loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &meta_get_sql, (lc_arg[]){LC_T(loci_str_of(name))}, &rows,
                                    &found, err);

    if (status != LOCI_OK)
        return status;
    out[0] = '\0';
    if (found) {
        loci_str value = lc_rows_str(&rows, 0);
        size_t len = value.len < bytes ? value.len : bytes - 1;

        memcpy(out, value.ptr, len);
        out[len] = '\0';
    }
    lc_rows_end(&rows);
    return LOCI_OK;
}

loci_status lc_meta_set_text(lc_tx *tx, const char *name, loci_str value, loci_error *err)
{
    return lc_tx_exec(tx, &meta_set_sql, (lc_arg[]){LC_T(loci_str_of(name)), LC_T(value)}, err);
}

loci_status lc_meta_get_i64(lc_tx *tx, const char *name, int64_t absent, int64_t *out,
                            loci_error *err)
{
    char text[32];
    loci_status status = lc_meta_get_text(tx, name, text, sizeof text, err);

    if (status != LOCI_OK)
        return status;
    *out = absent;
    if (text[0] != '\0' && !lc_str_to_i64(loci_str_of(text), out))
        return lc_fail(err, LOCI_ECORRUPT, "meta.%s is not a number", name);
    return LOCI_OK;
}

loci_status lc_meta_set_i64(lc_tx *tx, const char *name, int64_t value, loci_error *err)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%" PRId64, value); /* At most 20 characters. */
    return lc_meta_set_text(tx, name, loci_str_of(text), err);
}

typedef struct creation {
    lc_tx *tx;
    lc_buf script;
    unsigned class_mask;
    lc_ddl ddl;
} creation;

static loci_status create_table(void *ctx, const lc_table *table, loci_error *err)
{
    creation *c = ctx;
    const char *text;

    if ((c->class_mask & (1u << table->table_class)) == 0)
        return LOCI_OK;
    lc_buf_reset(&c->script);
    lc_ddl_table(&c->script, table, &c->ddl);
    lc_ddl_indexes(&c->script, table, &c->ddl);
    text = lc_buf_terminate(&c->script);
    if (text == NULL)
        return lc_buf_status(&c->script, err);
    return c->tx->db->driver->upkeep->run_script(c->tx, text, err);
}

loci_status lc_schema_create_tables(lc_tx *tx, unsigned class_mask, const lc_ddl *ddl,
                                    loci_error *err)
{
    creation c = {.tx = tx, .class_mask = class_mask, .ddl = *ddl};
    loci_status status;

    c.ddl.dialect = tx->db->driver->dialect;
    lc_buf_init(&c.script, &tx->db->env->heap, LOCI_MEM_ENGINE, LC_ARGS_BYTES_MAX);
    status = lc_catalogue_each(tx->db->catalogue, create_table, &c, err);
    lc_buf_clear(&c.script);
    return status;
}

static loci_status note_table(void *ctx, const lc_table *table, loci_error *err)
{
    lc_buf *names = ctx;

    (void)err;
    if (table->table_class == LC_TABLE_PROJECTION)
        lc_buf_append_format(names, "%s%s", names->len == 0 ? "" : " ", table->name);
    return LOCI_OK;
}

loci_status lc_schema_note_projections(lc_tx *tx, loci_error *err)
{
    lc_buf names;
    loci_status status;

    lc_buf_init(&names, &tx->db->env->heap, LOCI_MEM_ENGINE, LC_PROJECTION_LIST_BYTES - 1);
    (void)lc_catalogue_each(tx->db->catalogue, note_table, &names, err); /* Cannot fail. */
    status = lc_buf_status(&names, err);
    if (status == LOCI_OK)
        status = lc_meta_set_text(tx, "projection_tables",
                                  (loci_str){names.ptr != NULL ? names.ptr : "", names.len}, err);
    lc_buf_clear(&names);
    return status;
}

static loci_status create_store(lc_tx *tx, loci_error *err)
{
    const unsigned all = 1u << LC_TABLE_LOG | 1u << LC_TABLE_PROJECTION |
                         1u << LC_TABLE_OPERATIONAL;
    lc_random *random = &tx->db->env->random;
    /* In two statements: compilers evaluate arguments in different orders, and one seed must give
     * the same ids with all of them. */
    uint64_t low = lc_random_next(random), high = lc_random_next(random);
    char store_id[33];
    loci_status status = lc_schema_create_tables(tx, all, &(lc_ddl){.suffix = ""}, err);

    (void)snprintf(store_id, sizeof store_id, "%016" PRIx64 "%016" PRIx64, high, low);
    if (status == LOCI_OK)
        status = lc_meta_set_text(tx, "store_id", loci_str_of(store_id), err);
    if (status == LOCI_OK)
        status = lc_meta_set_i64(tx, "created_at", tx->now_us, err);
    if (status == LOCI_OK)
        status = lc_meta_set_i64(tx, "feature_level", 1, err);
    if (status == LOCI_OK)
        status = lc_meta_set_i64(tx, "projection_shape",
                                 (int64_t)lc_catalogue_shape(tx->db->catalogue), err);
    if (status == LOCI_OK)
        status = lc_schema_note_projections(tx, err);
    if (status == LOCI_OK && tx->db->driver->upkeep->set_up_store != NULL)
        status = tx->db->driver->upkeep->set_up_store(tx, err);
    return status;
}

typedef struct opening {
    const lc_migration *migrations;
    int64_t version_target;
    lc_schema_state state;
    char store_id[33];
} opening;

/* Reads version and shape of the store; version 0 = it has no tables yet. */
static loci_status look(lc_tx *tx, void *ctx, loci_error *err)
{
    opening *o = ctx;
    bool exists;
    int64_t shape = 0, compatible = 0;
    loci_status status = tx->db->driver->upkeep->has_table(tx, "meta", &exists, err);

    o->state.version = 0;
    if (status != LOCI_OK || !exists)
        return status;
    status = lc_meta_get_i64(tx, "schema_version", 0, &o->state.version, err);
    if (status == LOCI_OK && o->state.version < 1)
        status = lc_fail(err, LOCI_ECORRUPT, "meta.schema_version is missing or below 1");
    if (status == LOCI_OK)
        status = lc_meta_get_i64(tx, "schema_compatible", o->state.version, &compatible, err);
    if (status == LOCI_OK)
        status = lc_meta_get_i64(tx, "projection_shape", 0, &shape, err);
    if (status == LOCI_OK)
        status = lc_meta_get_text(tx, "store_id", o->store_id, sizeof o->store_id, err);
    if (status != LOCI_OK)
        return status;
    o->state.needs_rebuild = shape != (int64_t)lc_catalogue_shape(tx->db->catalogue);
    if (o->state.version > o->version_target &&
        (compatible > o->version_target || o->state.needs_rebuild))
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "the store has schema version %" PRId64 "; this loci knows up to %" PRId64
                       ": use a newer loci",
                       o->state.version, o->version_target);
    return LOCI_OK;
}

/* The lowest schema version whose loci can use a store after these migrations. */
static int64_t oldest_compatible(const lc_migration *migrations)
{
    int64_t version = 1;

    for (const lc_migration *m = migrations; m->version != 0; m++)
        version = m->keeps_older ? version : m->version;
    return version;
}

static loci_status bring_up_to_date(lc_tx *tx, void *ctx, loci_error *err)
{
    opening *o = ctx;
    const lc_db_upkeep *upkeep = tx->db->driver->upkeep;
    loci_status status = look(tx, ctx, err);

    if (status != LOCI_OK)
        return status;
    if (upkeep->extend_write != NULL)
        upkeep->extend_write(tx, MIGRATION_US_MAX);
    o->state.version_before = o->state.version;
    if (o->state.version == 0) {
        status = create_store(tx, err);
        o->state.version = o->version_target; /* The catalogue is always the newest. */
    }
    for (const lc_migration *m = o->migrations; status == LOCI_OK && m->version != 0; m++) {
        if (m->version <= o->state.version)
            continue;
        status = m->run(tx, err);
        o->state.version = m->version;
    }
    if (status == LOCI_OK && o->state.version != o->state.version_before) {
        status = lc_meta_set_i64(tx, "schema_version", o->state.version, err);
        if (status == LOCI_OK)
            status = lc_meta_set_i64(tx, "schema_compatible", oldest_compatible(o->migrations),
                                     err);
    }
    if (status == LOCI_OK)
        status = look(tx, ctx, err);
    return status;
}

loci_status lc_schema_open(lc_db *db, const lc_migration *migrations, lc_schema_state *out,
                           loci_error *err)
{
    opening o = {.migrations = migrations != NULL ? migrations : loci_migrations,
                 .version_target = LC_SCHEMA_VERSION};
    loci_status status;

    for (const lc_migration *m = o.migrations; m->version != 0; m++)
        o.version_target = m->version;

    status = lc_db_read(db, INT64_MAX, look, &o, err);
    o.state.version_before = o.state.version;
    if (status == LOCI_OK && o.state.version < o.version_target)
        status = lc_db_write_one(db, MIGRATION_MS_MAX, bring_up_to_date, &o, err);
    if (status != LOCI_OK)
        return status;
    memcpy(db->store_id, o.store_id, sizeof db->store_id);
    *out = o.state;
    return LOCI_OK;
}
