/* catalogue.h - every table and every kind of event, as data.
 *
 * The domain folders ("rooms") own their tables, their events and the code that applies an event to
 * the tables. They declare them here, once, and everything that all tables have in common is
 * generated from it: the DDL of both databases, the canonical dump, rebuild, verify, export and the
 * check that a tenant leads every key. Adding a table is adding a row of data.
 *
 * Three classes: LOG is the truth and only grows; PROJECTION is written by `apply` alone and can be
 * made again from the log at any time, so its shape may change without a migration; OPERATIONAL is
 * durable, backed up and outside the log.
 */
#ifndef LC_STORE_CATALOGUE_H
#define LC_STORE_CATALOGUE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/setting.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct lc_sql lc_sql;
typedef struct lc_tx lc_tx;
typedef struct lc_event lc_event;
typedef struct lc_problems lc_problems;
typedef struct lc_recall_source lc_recall_source;

typedef enum lc_table_class {
    LC_TABLE_LOG,
    LC_TABLE_PROJECTION,
    LC_TABLE_OPERATIONAL
} lc_table_class;

/* The type of a struct member, in C and in JSON. */
typedef enum lc_type {
    LC_TYPE_NONE,    /* No member: the statement supplies the value (tenant_id, user_id). */
    LC_TYPE_STRING,  /* loci_str */
    LC_TYPE_INTEGER, /* int64_t */
    LC_TYPE_NUMBER,  /* double */
    LC_TYPE_BOOLEAN, /* bool; 0 or 1 in the table. */
    LC_TYPE_TIME,    /* int64_t, microseconds; RFC 3339 text in JSON. */
    LC_TYPE_RANK,    /* int; see LC_COL_RANKED. */
    LC_TYPE_ENUM,    /* A C enum; the table has the word of `choices` at its number. */
    LC_TYPE_CHARS,   /* char[], terminated; a string in JSON. */
    LC_TYPE_BYTES,   /* unsigned char[] of a fixed size; never in JSON. */
    LC_TYPE_STRINGS, /* loci_str with a JSON array of strings. */
    LC_TYPE_OBJECT,  /* loci_str with a JSON object. */
    LC_TYPE_ANY      /* loci_str with any JSON value. */
} lc_type;

/* lc_column.flags. A default is the column's `absent` or "", its `none`, or false. */
#define LC_COL_NULL 1u       /* May be NULL in the table, and is when it has its default. */
#define LC_COL_REFS 2u       /* A member of the event's refs, left out when it has its default. */
#define LC_COL_PAYLOAD 4u    /* A member of the event's payload, left out likewise. */
#define LC_COL_CODED 8u      /* In the event even with its default; refs without it are corrupt. */
#define LC_COL_EVENT 16u     /* The event's own seq (integer) or recorded_at (time), not in JSON. */
#define LC_COL_SINCE 32u     /* A time that is the event's recorded_at when the payload has none. */
#define LC_COL_RANKED 64u    /* A string, in the payload ["word", n]: n is the next column. */
#define LC_COL_SHOWN 128u    /* In answers, left out when it has its default. */
#define LC_COL_REQUIRED 256u /* In every answer. */
#define LC_COL_OR_NULL 512u  /* In every answer: null when it has its default. */
#define LC_COL_LAST 1024u    /* In events and answers behind all members without this flag. */
#define LC_COL_PART 2048u    /* Only in some tables of the record: see lc_row_type.without. */

/* A column of a table; also a member of a struct and of JSON (store/row.h), so that everything
 * about it is declared here once. Made with LC_COLUMN() and the macros below. */
typedef struct lc_column {
    const char *name;
    char kind;     /* i int64, f double, t text, b bytes; 0 = not stored, only in answers. */
    bool nullable; /* Columns are NOT NULL unless set. */
    lc_type type;
    size_t offset; /* Of the member in its struct. */
    size_t bytes;  /* Size of the member. */
    unsigned flags;
    int64_t none;       /* The integer or time that means none. */
    const char *absent; /* The text that an event leaves out; NULL = none. */
    const char *json;   /* Name in events and answers; NULL = `name`. */
    const char *shown;  /* Name in answers; NULL = as in events. */
    /* Answers show neighbouring columns with the same `group` as one object of that name. If the
     * first of them may be NULL and is, the object is left out, or null with LC_COL_OR_NULL. */
    const char *group;
    const char *choices; /* "a|b|c", or NULL = any value. */
    const char *help;    /* Description for people who read the answer. */
} lc_column;

/* A column without a member. */
#define LC_COLUMN(column, letter)                                                                  \
    {                                                                                              \
        .name = (column), .kind = (letter)                                                         \
    }
#define LC_COLUMN_OR_NULL(column, letter)                                                          \
    {                                                                                              \
        .name = (column), .kind = (letter), .nullable = true                                       \
    }
/* A column with a member of `record`. Behind the flags: any further members of lc_column. */
#define LC_MEMBER(letter, of_type, record, member, column, with, ...)                              \
    {                                                                                              \
        .name = (column), .kind = (letter), .nullable = ((with)&LC_COL_NULL) != 0,                 \
        .type = (of_type), .offset = offsetof(record, member),                                     \
        .bytes = sizeof(((record *)0)->member), .flags = (with), __VA_ARGS__                       \
    }
#define LC_STRING_COLUMN(...) LC_MEMBER('t', LC_TYPE_STRING, __VA_ARGS__)
#define LC_INTEGER_COLUMN(...) LC_MEMBER('i', LC_TYPE_INTEGER, __VA_ARGS__)
#define LC_NUMBER_COLUMN(...) LC_MEMBER('f', LC_TYPE_NUMBER, __VA_ARGS__)
#define LC_BOOLEAN_COLUMN(...) LC_MEMBER('i', LC_TYPE_BOOLEAN, __VA_ARGS__)
#define LC_TIME_COLUMN(...) LC_MEMBER('i', LC_TYPE_TIME, __VA_ARGS__)
#define LC_RANK_COLUMN(...) LC_MEMBER('i', LC_TYPE_RANK, __VA_ARGS__)
#define LC_ENUM_COLUMN(...) LC_MEMBER('t', LC_TYPE_ENUM, __VA_ARGS__)
#define LC_CHARS_COLUMN(...) LC_MEMBER('t', LC_TYPE_CHARS, __VA_ARGS__)
#define LC_BYTES_COLUMN(...) LC_MEMBER('b', LC_TYPE_BYTES, __VA_ARGS__)
#define LC_STRINGS_COLUMN(...) LC_MEMBER('t', LC_TYPE_STRINGS, __VA_ARGS__)
#define LC_OBJECT_COLUMN(...) LC_MEMBER('t', LC_TYPE_OBJECT, __VA_ARGS__)
#define LC_ANY_COLUMN(...) LC_MEMBER('t', LC_TYPE_ANY, __VA_ARGS__)
/* A member that is computed for answers. In the array of a table these come after all stored
 * columns, so that `kind != 0` ends a walk over the columns of a table. */
#define LC_COMPUTED(of_type, ...) LC_MEMBER(0, of_type, __VA_ARGS__)

typedef struct lc_index {
    const char *name;    /* Without the table's: "slot" becomes facts_slot. */
    const char *columns; /* "tenant_id, user_id, key" */
    const char *where;   /* A partial index, or NULL. */
    bool is_unique;
} lc_index;

typedef struct lc_table {
    const char *name;
    lc_table_class table_class;
    const lc_column *columns; /* Ends with {0}; computed members come last. */
    const char *key;          /* Primary key; begins "tenant_id, user_id" unless is_store_wide. */
    const lc_index *indexes;  /* Ends with a NULL name; NULL = none. */
    bool is_clustered;        /* On SQLite: rows are stored in the order of the key. For small rows
                                 that are read as a range; others cost twice the pages so. */
    bool is_store_wide;       /* Belongs to no user: meta, settings. Only operational tables. */
    bool is_large;            /* On PostgreSQL: may be divided by user (store/partition.h). */
    /* Deletes the rows of user ($1, $2) when that user is forgotten. NULL = the rows stay, because
     * they contain nothing that the user said. Every projection but forgettings has it. */
    const lc_sql *forget;
    /* Operational tables: deletes the rows of user ($1, $2) that name the forgotten thing $3. NULL
     * = its rows name none. */
    const lc_sql *forget_id;
} lc_table;

/* Makes the payload of version v+1 from that of version v. Pure. */
typedef loci_status lc_upcast(loci_str payload, lc_buf *out, loci_error *err);

typedef struct lc_event_type {
    const char *name; /* "fact.written"; never reused, never removed. */
    int version;      /* Of payloads written now, from 1. */
    lc_upcast *const
        *upcasts; /* [v - 1] leads from v to v + 1; version - 1 of them. NULL if none. */
    /* Writes the event's outcome into the projections. Decides nothing, reads no clock, and writes
     * to no other class of table. A payload it cannot read is LOCI_ECORRUPT. */
    loci_status (*apply)(lc_tx *tx, const lc_event *event, loci_error *err);
    /* True if reading the payload needs more permission than reading the log: the log then hides it
     * from all readers, and a caller with the permission reads the object itself. NULL = never. */
    bool (*is_restricted)(const lc_event *event);
    /* Instead of `apply`, for an event that adds one row: see lc_row_insert(). An erased event adds
     * no row. */
    const lc_sql *insert;
    /* How many bytes of the payload, before its closing brace, are shown to no reader of the log.
     * NULL = none. */
    size_t (*hidden_bytes)(const lc_event *event);
    /* The event records that something was forgotten, and its `apply` removes the rows. The state
     * that rooms keep in memory for the user is then built again. */
    bool forgets;
    /* Rows refer by seq to text that only its payload has: it stays in the log when a snapshot
     * replaces the events around it (store/snapshot.h). */
    bool is_kept;
    /* Its `apply` takes rows away or brings rows back that ended before: states in memory of the
     * kinds whose name begins so ("fact" for fact.corpus) are then made again. NULL = none. */
    const char *revives;
    /* The text that the vector of its row is made from, in the arena: forgetting finds the vector
     * by it when a rewind took the row away. NULL = its row has no vector. */
    loci_status (*embedded)(const lc_event *event, lc_arena *arena, loci_str *out, loci_error *err);
} lc_event_type;

#define LC_SWEEP_ITEMS 64

/* Regular work of a room for each of its users, done by the hourly job store.purge. */
typedef struct lc_sweep {
    const char *name;          /* Of the count in the job's result: "sessions". */
    const lc_sql *users;       /* Users to check, for lc_user_walk_next(). */
    const lc_setting *setting; /* `limit` is its value for the user's tenant. */
    /* Whether the user of a read transaction has something to do. */
    loci_status (*is_due)(lc_tx *tx, int64_t limit, bool *out, loci_error *err);
    /* Does the work in a write of that user and returns how much. Must be idempotent. Other writers
     * wait meanwhile: it stops after LC_SWEEP_ITEMS, and is then called again. */
    loci_status (*run)(lc_tx *tx, int64_t limit, int64_t *out_count, loci_error *err);
} lc_sweep;

typedef struct lc_room {
    const char *name;
    const lc_setting *const *settings;  /* Those that it reads. Ends with NULL; NULL = none. */
    const lc_table *const *tables;      /* Ends with NULL. */
    const lc_event_type *const *events; /* Ends with NULL; NULL = none. */
    /* Raised when some `apply` would write other rows for the same event: the projections are then
     * rebuilt, as they are when their shape changes. */
    int apply_version;
    /* Called for every event of any room before its `apply`, to apply changes that events carry in
     * their refs (lc_tx_carry). The rules of `apply` apply here, too. May be NULL. */
    loci_status (*follow)(lc_tx *tx, const lc_event *event, loci_error *err);
    /* Looks for dangling references of one user and adds each as a problem. May be NULL. */
    loci_status (*check)(lc_tx *tx, loci_str tenant_id, loci_str user_id, lc_problems *problems,
                         loci_error *err);
    const lc_sweep *sweep; /* NULL = none. */
    /* The room's texts that need vectors (recall/recall.h). NULL = none. */
    const lc_recall_source *texts;
} lc_room;

#define LC_ROOMS_MAX 16

/* All rooms of a store; the first is the store's own. Constant after open. */
typedef struct lc_catalogue {
    const lc_room *const *rooms; /* Ends with NULL; at most LC_ROOMS_MAX. */
} lc_catalogue;

typedef enum lc_dialect { LC_DIALECT_SQLITE, LC_DIALECT_POSTGRES } lc_dialect;

/* The store's own tables: events, heads, requests, jobs, settings, tokens, meta. */
extern const lc_room lc_store_room;

/* Calls `table` for every table, in order of rooms, until one returns non-OK. */
typedef loci_status lc_table_visit(void *ctx, const lc_table *table, loci_error *err);
loci_status lc_catalogue_each(const lc_catalogue *catalogue, lc_table_visit *visit, void *ctx,
                              loci_error *err);
const lc_table *lc_catalogue_find_table(const lc_catalogue *catalogue, loci_str name);
const lc_event_type *lc_catalogue_find_event(const lc_catalogue *catalogue, loci_str name);
/* The first error in the catalogue itself (a bug in loci), or NULL: keys without tenant, reserved
 * words, duplicate names, gaps in upcasts. Checked by a test. */
const char *lc_catalogue_fault(const lc_catalogue *catalogue);

typedef struct lc_ddl {
    lc_dialect dialect;
    const char *suffix; /* Follows the names of tables: "" or "__new". */
    int64_t generation; /* Ends the names of indexes and partitions, because they keep their names
                           when a rebuilt table takes the old one's place. */
    int64_t partitions; /* Of large tables, on PostgreSQL; below 2 = they are not divided. */
} lc_ddl;

/* Appends the policy that hides rows of other tenants, for PostgreSQL. */
void lc_ddl_policy(lc_buf *out, const lc_table *table, const char *suffix);
/* Appends `create table` for `table`, with its partitions. */
void lc_ddl_table(lc_buf *out, const lc_table *table, const lc_ddl *ddl);
/* Appends the partitions of `parent`: `name`_0, `name`_1 and so on. */
void lc_ddl_partitions(lc_buf *out, const char *parent, const char *name, int64_t partitions);
/* Appends the statements that copy the privileges on `table` to the table that will replace it. */
void lc_ddl_keep_grants(lc_buf *out, const lc_table *table, const lc_ddl *replacement);
/* Appends `create index` for all its indexes. */
void lc_ddl_indexes(lc_buf *out, const lc_table *table, const lc_ddl *ddl);
/* A hash of the shape of all projections: when it changes they are rebuilt. */
uint64_t lc_catalogue_shape(const lc_catalogue *catalogue);

#endif /* LC_STORE_CATALOGUE_H */
