/* catalogue.c - looks things up in the catalogue, checks it, and generates DDL from it.
 *
 * lc_catalogue_fault() looks for errors that a compiler cannot see and that would show late: a name
 * that only one of the two databases accepts, a key without its tenant, a column called like a
 * projection (lc_sql_rewrite() would take it for the table), an event version without its upcast.
 */
#include "store/catalogue.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/str.h"

#define OWNER_COLUMNS "tenant_id, user_id"
#define NAME_BYTES_MAX 40 /* PostgreSQL cuts names at 63; suffix, index and generation follow. */

loci_status lc_catalogue_each(const lc_catalogue *catalogue, lc_table_visit *visit, void *ctx,
                              loci_error *err)
{
    for (const lc_room *const *room = catalogue->rooms; *room != NULL; room++) {
        for (const lc_table *const *table = (*room)->tables; *table != NULL; table++) {
            loci_status status = visit(ctx, *table, err);

            if (status != LOCI_OK)
                return status;
        }
    }
    return LOCI_OK;
}

const lc_table *lc_catalogue_find_table(const lc_catalogue *catalogue, loci_str name)
{
    for (const lc_room *const *room = catalogue->rooms; *room != NULL; room++) {
        for (const lc_table *const *table = (*room)->tables; *table != NULL; table++) {
            if (lc_str_is(name, (*table)->name))
                return *table;
        }
    }
    return NULL;
}

const lc_event_type *lc_catalogue_find_event(const lc_catalogue *catalogue, loci_str name)
{
    for (const lc_room *const *room = catalogue->rooms; *room != NULL; room++) {
        if ((*room)->events == NULL)
            continue;
        for (const lc_event_type *const *type = (*room)->events; *type != NULL; type++) {
            if (lc_str_is(name, (*type)->name))
                return *type;
        }
    }
    return NULL;
}

/* ---- Shape ---------------------------------------------------------------------------------- */

static lc_hash128 add_text(lc_hash128 hash, const char *text)
{
    return lc_hash128_chain(hash, loci_str_of(text));
}

static lc_hash128 add_table(lc_hash128 hash, const lc_table *table)
{
    hash = add_text(hash, table->name);
    hash = add_text(hash, table->key);
    for (const lc_column *column = table->columns; column->kind != 0; column++) {
        char kind[2] = {column->kind, column->nullable ? '?' : '!'};

        hash = add_text(hash, column->name);
        hash = lc_hash128_chain(hash, (loci_str){kind, sizeof kind});
    }
    for (const lc_index *index = table->indexes; index != NULL && index->name != NULL; index++) {
        hash = add_text(hash, index->is_unique ? "unique" : "index");
        hash = add_text(hash, index->name);
        hash = add_text(hash, index->columns);
        hash = add_text(hash, index->where);
    }
    return hash;
}

uint64_t lc_catalogue_shape(const lc_catalogue *catalogue)
{
    lc_hash128 hash = {0};

    for (const lc_room *const *room = catalogue->rooms; *room != NULL; room++) {
        int64_t version = (*room)->apply_version;

        hash = lc_hash128_chain(hash, (loci_str){(const char *)&version, sizeof version});
        for (const lc_table *const *table = (*room)->tables; *table != NULL; table++) {
            if ((*table)->table_class == LC_TABLE_PROJECTION)
                hash = add_table(hash, *table);
        }
    }
    return hash.low;
}

/* ---- Faults --------------------------------------------------------------------------------- */

/* Words that one of the databases refuses as the name of a table or a column, sorted. */
static const char *const reserved_words[] = {
    "all",           "alter",       "analyse",   "analyze", "and",
    "any",           "array",       "as",        "asc",     "asymmetric",
    "authorization", "between",     "binary",    "both",    "case",
    "cast",          "check",       "collate",   "column",  "commit",
    "constraint",    "create",      "cross",     "current", "default",
    "delete",        "desc",        "distinct",  "do",      "drop",
    "else",          "end",         "escape",    "except",  "exists",
    "false",         "fetch",       "for",       "foreign", "freeze",
    "from",          "full",        "glob",      "grant",   "group",
    "having",        "ilike",       "in",        "index",   "initially",
    "inner",         "insert",      "intersect", "into",    "is",
    "isnull",        "join",        "lateral",   "leading", "left",
    "like",          "limit",       "localtime", "match",   "natural",
    "not",           "notnull",     "null",      "offset",  "on",
    "only",          "or",          "order",     "outer",   "over",
    "overlaps",      "placing",     "primary",   "raise",   "references",
    "regexp",        "replace",     "returning", "right",   "row",
    "rowid",         "rows",        "select",    "set",     "similar",
    "some",          "symmetric",   "table",     "then",    "to",
    "trailing",      "transaction", "true",      "union",   "unique",
    "update",        "user",        "using",     "values",  "variadic",
    "verbose",       "when",        "where",     "window",  "with",
};

static bool is_reserved(loci_str name)
{
    for (size_t i = 0; i < sizeof reserved_words / sizeof *reserved_words; i++) {
        if (lc_str_is(name, reserved_words[i]))
            return true;
    }
    return false;
}

static bool is_plain(loci_str name)
{
    if (name.len == 0 || name.len > NAME_BYTES_MAX || name.ptr[0] < 'a' || name.ptr[0] > 'z')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return true;
}

static const char *name_fault(const char *name)
{
    loci_str text = loci_str_of(name);

    if (!is_plain(text))
        return "a name is not lower case letters, digits and '_', or too long";
    if (is_reserved(text))
        return "a table or column is called like a reserved word";
    return NULL;
}

static const lc_column *find_column(const lc_table *table, loci_str name)
{
    for (const lc_column *column = table->columns; column->kind != 0; column++) {
        if (lc_str_is(name, column->name))
            return column;
    }
    return NULL;
}

/* Of "a, b desc": every part begins with a column of the table. */
static const char *column_list_fault(const lc_table *table, const char *columns, bool is_key)
{
    loci_str rest = loci_str_of(columns);

    while (rest.ptr != NULL) {
        loci_str direction;
        loci_str part = lc_str_trim(lc_str_split(rest, ',', &rest));
        loci_str name = lc_str_split(part, ' ', &direction);
        const lc_column *column = find_column(table, name);

        if (column == NULL)
            return "a key or an index names a column that its table does not have";
        if (is_key && (column->nullable || direction.ptr != NULL))
            return "a key has a column that may be null or names a direction";
        if (direction.ptr != NULL && !lc_str_is(direction, "desc") && !lc_str_is(direction, "asc"))
            return "an index column is followed by something other than asc or desc";
    }
    return NULL;
}

static bool is_table_name(const lc_catalogue *catalogue, const char *name, lc_table_class of_class)
{
    const lc_table *table = lc_catalogue_find_table(catalogue, loci_str_of(name));

    return table != NULL && table->table_class == of_class;
}

static const char *columns_fault(const lc_catalogue *catalogue, const lc_table *table)
{
    const lc_column *column = table->columns;

    for (; column->kind != 0; column++) {
        const char *fault = name_fault(column->name);

        if (fault != NULL)
            return fault;
        if (strchr("iftb", column->kind) == NULL)
            return "a column has a kind other than i f t b";
        if (find_column(table, loci_str_of(column->name)) != column)
            return "a table has two columns of one name";
        if (is_table_name(catalogue, column->name, LC_TABLE_PROJECTION))
            return "a column is called like a projection: a shadow could not tell them apart";
    }
    for (; column->name != NULL; column++) {
        if (column->kind != 0 || column->type == LC_TYPE_NONE)
            return "a stored column follows a computed one, or a column has no kind";
    }
    return NULL;
}

static const char *owner_fault(const lc_table *table)
{
    const lc_column *tenant = find_column(table, LC_STR("tenant_id"));
    const lc_column *user = find_column(table, LC_STR("user_id"));
    loci_str after = LC_STR_NONE;
    loci_str key = loci_str_of(table->key);

    if (table->is_store_wide) {
        return table->table_class == LC_TABLE_OPERATIONAL && !table->is_large
                   ? NULL
                   : "a table without a user is not operational, or is large";
    }
    if (tenant == NULL || user == NULL || tenant->kind != 't' || user->kind != 't')
        return "a table has no tenant_id and user_id of kind t";
    if (!lc_str_is(lc_str_split(key, ',', &after), "tenant_id") ||
        !lc_str_is(lc_str_trim(lc_str_split(after, ',', &after)), "user_id"))
        return "a key does not begin with tenant_id, user_id";
    return NULL;
}

static const char *indexes_fault(const lc_table *table)
{
    for (const lc_index *index = table->indexes; index != NULL && index->name != NULL; index++) {
        const char *fault = column_list_fault(table, index->columns, false);

        if (fault != NULL)
            return fault;
        if (table->is_large && index->is_unique &&
            strncmp(index->columns, OWNER_COLUMNS, strlen(OWNER_COLUMNS)) != 0)
            return "a unique index of a large table does not begin with tenant_id, user_id";
        if (!is_plain(loci_str_of(index->name)) ||
            strlen(index->name) + strlen(table->name) > NAME_BYTES_MAX)
            return "the name of an index is not plain, or too long";
        for (const lc_index *other = table->indexes; other != index; other++) {
            if (strcmp(other->name, index->name) == 0)
                return "a table has two indexes of one name";
        }
    }
    return NULL;
}

static const char *table_fault(const lc_catalogue *catalogue, const lc_table *table)
{
    const char *fault = name_fault(table->name);

    if (fault == NULL && lc_catalogue_find_table(catalogue, loci_str_of(table->name)) != table)
        fault = "two tables have one name";
    if (fault == NULL && strstr(table->name, "__") != NULL)
        fault = "the name of a table has '__', which is kept for shadows";
    if (fault == NULL)
        fault = columns_fault(catalogue, table);
    if (fault == NULL && (table->key == NULL || *table->key == '\0'))
        fault = "a table has no key";
    if (fault == NULL)
        fault = owner_fault(table);
    if (fault == NULL)
        fault = column_list_fault(table, table->key, true);
    if (fault == NULL)
        fault = indexes_fault(table);
    /* The record of a forgetting outlives the forgotten rows. */
    if (fault == NULL && table->table_class == LC_TABLE_PROJECTION && table->forget == NULL &&
        strcmp(table->name, "forgettings") != 0)
        fault = "a projection has no statement `forget`";
    return fault;
}

static const char *event_fault(const lc_catalogue *catalogue, const lc_event_type *type)
{
    if (lc_catalogue_find_event(catalogue, loci_str_of(type->name)) != type)
        return "two types of event have one name";
    if (strchr(type->name, '.') == NULL)
        return "a type of event is not called room.what";
    if ((type->apply == NULL) == (type->insert == NULL))
        return "a type of event has neither apply nor insert, or both";
    if (type->version < 1 || (type->version > 1 && type->upcasts == NULL))
        return "a type of event has a version below 1 or no upcasts to it";
    for (int v = 1; v < type->version; v++) {
        if (type->upcasts[v - 1] == NULL)
            return "the upcasts of a type of event have a gap";
    }
    return NULL;
}

const char *lc_catalogue_fault(const lc_catalogue *catalogue)
{
    for (const lc_room *const *room = catalogue->rooms; *room != NULL; room++) {
        const lc_event_type *const *type = (*room)->events;

        if (room - catalogue->rooms >= LC_ROOMS_MAX)
            return "there are more than LC_ROOMS_MAX rooms";
        for (const lc_table *const *table = (*room)->tables; *table != NULL; table++) {
            const char *fault = table_fault(catalogue, *table);

            if (fault != NULL)
                return fault;
        }
        for (; type != NULL && *type != NULL; type++) {
            const char *fault = event_fault(catalogue, *type);

            if (fault != NULL)
                return fault;
        }
    }
    return NULL;
}

/* ---- Statements that create tables ----------------------------------------------------------- */

/* SQLite: STRICT, so that a value of the wrong kind is refused as PostgreSQL does; rowid tables
 * (but lc_table.is_clustered), because rows of some hundred bytes cost twice the pages without.
 * PostgreSQL: text compares by bytes there too, because of `collate "C"`. */

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

/* A second protection for roles that do not own the tables: they see the rows of the tenant that
 * their session names, and no rows if it names no tenant (docs/postgresql.md). A setting that was
 * reset is empty rather than NULL, and "" is the tenant of the rows that concern the whole
 * store. */
void lc_ddl_policy(lc_buf *out, const lc_table *table, const char *suffix)
{
    lc_buf_append_format(out,
                         "alter table %s%s enable row level security;\n"
                         "create policy tenant on %s%s using"
                         " (tenant_id = nullif(current_setting('loci.tenant', true), ''));\n",
                         table->name, suffix, table->name, suffix);
}

/* A query of the parent obeys the parent's policy. In a partition itself no other role than the
 * owner sees rows, whatever it was granted: it has no policy. */
void lc_ddl_partitions(lc_buf *out, const char *parent, const char *name, int64_t partitions)
{
    for (int64_t i = 0; i < partitions; i++)
        lc_buf_append_format(out,
                             "create table %s_%lld partition of %s"
                             " for values with (modulus %lld, remainder %lld);\n"
                             "alter table %s_%lld enable row level security;\n",
                             name, (long long)i, parent, (long long)partitions, (long long)i, name,
                             (long long)i);
}

static void add_partitions(lc_buf *out, const lc_table *table, const lc_ddl *ddl)
{
    char parent[NAME_BYTES_MAX + 16], name[NAME_BYTES_MAX + 32];

    (void)snprintf(parent, sizeof parent, "%s%s", table->name, ddl->suffix);
    (void)snprintf(name, sizeof name, "%s__%lld", table->name, (long long)ddl->generation);
    lc_ddl_partitions(out, parent, name, ddl->partitions);
}

void lc_ddl_table(lc_buf *out, const lc_table *table, const lc_ddl *ddl)
{
    bool is_sqlite = ddl->dialect == LC_DIALECT_SQLITE;
    bool is_divided = !is_sqlite && table->is_large && ddl->partitions > 1;

    lc_buf_append_format(out, "create table %s%s (\n", table->name, ddl->suffix);
    for (const lc_column *column = table->columns; column->kind != 0; column++)
        lc_buf_append_format(out, "    %s %s%s,\n", column->name,
                             type_of(column->kind, ddl->dialect),
                             column->nullable ? "" : " not null");
    lc_buf_append_format(out, "    primary key (%s)\n)%s;\n", table->key,
                         is_divided            ? " partition by hash (tenant_id, user_id)"
                         : !is_sqlite          ? ""
                         : table->is_clustered ? " strict, without rowid"
                                               : " strict");
    if (!is_sqlite && find_column(table, LC_STR("tenant_id")) != NULL)
        lc_ddl_policy(out, table, ddl->suffix);
    if (is_divided)
        add_partitions(out, table, ddl);
}

/* Roles that an administrator granted access to the table keep it. */
void lc_ddl_keep_grants(lc_buf *out, const lc_table *table, const lc_ddl *replacement)
{
    if (replacement->dialect != LC_DIALECT_POSTGRES)
        return;
    lc_buf_append_format(out,
                         "do $$ declare g record; begin for g in"
                         " select a.privilege_type as what, case when a.grantee = 0 then 'public'"
                         " else quote_ident(pg_get_userbyid(a.grantee)) end as who"
                         " from pg_catalog.pg_class c, aclexplode(c.relacl) a"
                         " where c.oid = to_regclass('%s') and a.grantee <> c.relowner loop"
                         " execute format('grant %%s on %s%s to %%s', g.what, g.who);"
                         " end loop; end $$;\n",
                         table->name, table->name, replacement->suffix);
}

void lc_ddl_indexes(lc_buf *out, const lc_table *table, const lc_ddl *ddl)
{
    for (const lc_index *index = table->indexes; index != NULL && index->name != NULL; index++) {
        lc_buf_append_format(out, "create %sindex %s_%s_%lld on %s%s (%s)",
                             index->is_unique ? "unique " : "", table->name, index->name,
                             (long long)ddl->generation, table->name, ddl->suffix, index->columns);
        if (index->where != NULL)
            lc_buf_append_format(out, " where %s", index->where);
        lc_buf_append(out, LC_STR(";\n"));
    }
}
