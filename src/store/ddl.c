/* ddl.c - the catalogue as `create` statements of both databases.
 *
 * SQLite: STRICT, so that a value of the wrong kind is refused as PostgreSQL does; rowid tables,
 * because rows of some hundred bytes cost twice the pages without. PostgreSQL: text compares by
 * bytes there too, which is what `collate "C"` says.
 */
#include "store/catalogue.h"

#include "base/assert.h"
#include "base/str.h"

static const char *type_of(char kind, lc_dialect dialect)
{
    bool is_sqlite = dialect == LC_DIALECT_SQLITE;

    switch (kind) {
    case 'i':
        return is_sqlite ? "integer" : "bigint";
    case 'f':
        return is_sqlite ? "real" : "double precision";
    case 't':
        return is_sqlite ? "text" : "text collate \"C\"";
    case 'b':
        return is_sqlite ? "blob" : "bytea";
    default:
        LC_UNREACHABLE();
    }
}

/* A second wall for roles that do not own the tables: they see the rows of the tenant that their
 * session names, and none when it names none (docs/postgresql.md). */
static void add_policy(lc_buf *out, const lc_table *table, const char *suffix)
{
    lc_buf_append_format(out,
                         "alter table %s%s enable row level security;\n"
                         "create policy tenant on %s%s using"
                         " (tenant_id = current_setting('loci.tenant', true));\n",
                         table->name, suffix, table->name, suffix);
}

void lc_ddl_table(lc_buf *out, const lc_table *table, lc_dialect dialect, const char *suffix)
{
    lc_buf_append_format(out, "create table %s%s (\n", table->name, suffix);
    for (const lc_column *column = table->columns; column->kind != 0; column++)
        lc_buf_append_format(out, "    %s %s%s,\n", column->name, type_of(column->kind, dialect),
                             column->nullable ? "" : " not null");
    lc_buf_append_format(out, "    primary key (%s)\n)%s;\n", table->key,
                         dialect == LC_DIALECT_SQLITE ? " strict" : "");
    if (dialect == LC_DIALECT_POSTGRES && !table->is_store_wide)
        add_policy(out, table, suffix);
}

/* Who was let in by somebody at the server stays in. */
void lc_ddl_keep_grants(lc_buf *out, const lc_table *table, lc_dialect dialect)
{
    if (dialect != LC_DIALECT_POSTGRES)
        return;
    lc_buf_append_format(out,
                         "do $$ declare g record; begin for g in"
                         " select a.privilege_type as what, case when a.grantee = 0 then 'public'"
                         " else quote_ident(pg_get_userbyid(a.grantee)) end as who"
                         " from pg_catalog.pg_class c, aclexplode(c.relacl) a"
                         " where c.oid = to_regclass('%s') and a.grantee <> c.relowner loop"
                         " execute format('grant %%s on %s__new to %%s', g.what, g.who);"
                         " end loop; end $$;\n",
                         table->name, table->name);
}

void lc_ddl_indexes(lc_buf *out, const lc_table *table, const char *suffix, int64_t generation)
{
    for (const lc_index *index = table->indexes; index != NULL && index->name != NULL; index++) {
        lc_buf_append_format(out, "create %sindex %s_%s_%lld on %s%s (%s)",
                             index->is_unique ? "unique " : "", table->name, index->name,
                             (long long)generation, table->name, suffix, index->columns);
        if (index->where != NULL)
            lc_buf_append_format(out, " where %s", index->where);
        lc_buf_append(out, LC_STR(";\n"));
    }
}
