/* bare_store.c - Mirrors src/store/event.c, src/store/request.c, src/session/ and src/fact/: keep
 * it so. */
#include "bare_store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ID_FORMAT "fact_01KA4T2B8Q%016d"
#define SESSION "ses_01KA4T2B8Q0000000000000000"

enum {
    FIND_REQUEST,
    FIND_SESSION,
    FIND_SLOT,
    FIND_LAST,
    FIND_HEAD,
    APPEND,
    PUT,
    REPLACE,
    PUT_PAST,
    KEEP_REQUEST,
    PUT_HEAD,
    PUT_MESSAGE,
    COUNT_TURN,
    COUNT_MESSAGE,
    STATEMENTS
};

#define IN_SLOT                                                                                    \
    " where tenant_id = ?1 and user_id = ?2 and scope = ?3 and scope_id = ?4 and key = ?5"         \
    " and persona_id = ?6"
/* ?3 id, ?4 seq, ?5 key, ?6 value, ?7 source, ?8 and ?9 times, ?10 supersedes. */
#define NEW_COLUMNS                                                                                \
    "id, seq, key, value, source, authority, authority_rank, trust, memory_type, scope, scope_id," \
    " persona_id, observed_at, recorded_at, is_constraint, is_multi, needs_review, has_derived,"   \
    " supersedes"
#define NEW_VALUES                                                                                 \
    "?3, ?4, ?5, ?6, ?7, 'manager', 4, 'user', 'user', 'global', '', '', ?8, ?9, 0, 0, 0, 0, ?10"

static const char *const texts[STATEMENTS] = {
    [FIND_REQUEST] = "select args_hash, answer, recorded_at from requests"
                     " where tenant_id = ?1 and user_id = ?2 and request_id = ?3",
    [FIND_SESSION] =
        "select s.id, s.external_id, s.persona_id, s.seq, s.opened_at, a.last_at, s.state,"
        " s.ended_at, s.end_reason, s.user_name, s.authority, s.department, s.organization,"
        " s.permissions from sessions s left join session_activity a on a.tenant_id = s.tenant_id"
        " and a.user_id = s.user_id and a.session_id = s.id where s.tenant_id = ?1"
        " and s.user_id = ?2 and s.persona_id = ?3 and s.state = 'active'"
        " order by s.seq desc limit 16",
    [FIND_SLOT] = "select * from fact_current" IN_SLOT " order by place",
    [FIND_LAST] = "select * from fact_past" IN_SLOT
                  " and standing in ('superseded', 'retracted') and standing <> 'claim'"
                  " order by seq desc limit 1",
    [FIND_HEAD] =
        "select seq, recorded_at, objects from heads where tenant_id = ?1 and user_id = ?2",
    [APPEND] = "insert into events (tenant_id, user_id, seq, type, v, recorded_at, refs, payload,"
               " is_erased) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0)",
    [PUT] = "insert into fact_current (tenant_id, user_id, " NEW_COLUMNS ", place)"
            " values (?1, ?2, " NEW_VALUES ", 0)",
    [REPLACE] = "update fact_current set id = ?3, seq = ?4, value = ?6, source = ?7,"
                " authority = 'manager', authority_rank = 4, trust = 'user', memory_type = 'user',"
                " observed_at = ?8, recorded_at = ?9, valid_until = null, is_constraint = 0,"
                " constraint_type = null, min_read = null, min_read_rank = null, min_write = null,"
                " min_write_rank = null, required_permission = null, is_multi = 0,"
                " supersedes = ?10, depends_on = null, needs_review = 0, has_derived = 0"
                " where tenant_id = ?1 and user_id = ?2 and scope = 'global' and scope_id = ''"
                " and key = ?5 and persona_id = '' and place = 0",
    [PUT_PAST] = "insert into fact_past (tenant_id, user_id, " NEW_COLUMNS
                 ", standing, superseded_by, ended_at, ended_seq)"
                 " values (?1, ?2, " NEW_VALUES ", 'superseded', ?11, ?12, ?13)",
    [KEEP_REQUEST] = "insert into requests (tenant_id, user_id, request_id, args_hash, answer,"
                     " recorded_at) values (?1, ?2, ?3, ?4, ?5, ?6)"
                     " on conflict (tenant_id, user_id, request_id) do update set"
                     " args_hash = excluded.args_hash, answer = excluded.answer,"
                     " recorded_at = excluded.recorded_at",
    [PUT_HEAD] = "insert into heads (tenant_id, user_id, seq, recorded_at, objects, base_seq)"
                 " values (?1, ?2, ?3, ?4, ?5, 0) on conflict (tenant_id, user_id)"
                 " do update set seq = excluded.seq, recorded_at = excluded.recorded_at,"
                 " objects = excluded.objects",
    [PUT_MESSAGE] = "insert into messages (tenant_id, user_id, id, seq, session_id, role, speaker,"
                    " body, persona_id, external_id, metadata, tokens, is_estimated, observed_at,"
                    " recorded_at) values (?1, ?2, ?3, ?4, '" SESSION "', 'user', null, ?5, '',"
                    " null, null, 40, 0, ?6, ?6)",
    [COUNT_TURN] = "update sessions set turn_count = turn_count + 1 where tenant_id = ?1"
                   " and user_id = ?2 and id = '" SESSION "'",
    [COUNT_MESSAGE] = "insert into message_counts (tenant_id, user_id, persona_id, message_count,"
                      " last_seq) values (?1, ?2, '', 1, ?3)"
                      " on conflict (tenant_id, user_id, persona_id) do update set"
                      " message_count = message_counts.message_count + 1,"
                      " last_seq = excluded.last_seq",
};

typedef struct values { /* One write, ready to bind. */
    char key[16];
    char id[40];
    char superseded[40]; /* "" = none. */
    char supersedes[48]; /* The same as a list. */
    char value[256];
    char refs[128];
    char payload[512];
    char request_id[16];
    char answer[160];
} values;

typedef struct bare {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
} bare;

static _Atomic int64_t sync_count;

/* SQLite's library finds these before the C library's: the linker exports what a library refers to.
 */
__attribute__((visibility("default"))) int fsync(int fd)
{
    atomic_fetch_add(&sync_count, 1);
    return (int)syscall(SYS_fsync, fd);
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
    atomic_fetch_add(&sync_count, 1);
    return (int)syscall(SYS_fdatasync, fd);
}

int64_t bare_store_syncs(void)
{
    return atomic_load(&sync_count);
}

static void die(const bare *b)
{
    fprintf(stderr, "bare_store: %s\n", sqlite3_errmsg(b->db));
    exit(1);
}

static void run(const bare *b, const char *sql)
{
    if (sqlite3_exec(b->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(b);
}

static void text(const bare *b, int statement, int place, const char *value)
{
    if (value == NULL)
        sqlite3_bind_null(b->statements[statement], place);
    else
        sqlite3_bind_text(b->statements[statement], place, value, -1, SQLITE_STATIC);
}

static void number(const bare *b, int statement, int place, int64_t value)
{
    sqlite3_bind_int64(b->statements[statement], place, value);
}

static void begin(const bare *b, int statement)
{
    text(b, statement, 1, "default");
    text(b, statement, 2, "default");
}

/* Runs the statement; whether it answered a row. */
static bool step(const bare *b, int statement)
{
    int code = sqlite3_step(b->statements[statement]);

    if (code != SQLITE_DONE && code != SQLITE_ROW)
        die(b);
    sqlite3_reset(b->statements[statement]);
    return code == SQLITE_ROW;
}

static void bind_slot(const bare *b, int statement, const values *v)
{
    begin(b, statement);
    text(b, statement, 3, "global");
    text(b, statement, 4, "");
    text(b, statement, 5, v->key);
    text(b, statement, 6, "");
}

/* Head and session are read once a transaction. */
static void read_once(const bare *b)
{
    begin(b, FIND_HEAD);
    step(b, FIND_HEAD);
    begin(b, FIND_SESSION);
    text(b, FIND_SESSION, 3, "");
    step(b, FIND_SESSION);
}

static void read_before(const bare *b, const bare_plan *plan, const values *v)
{
    if (plan->with_request) {
        begin(b, FIND_REQUEST);
        text(b, FIND_REQUEST, 3, v->request_id);
        step(b, FIND_REQUEST);
    }
    bind_slot(b, FIND_SLOT, v);
    if (step(b, FIND_SLOT))
        return;
    bind_slot(b, FIND_LAST, v);
    step(b, FIND_LAST);
}

static void bind_fact(const bare *b, int statement, const values *v, int64_t seq)
{
    int64_t now_us = INT64_C(1700000000000000) + seq * 1000;

    begin(b, statement);
    text(b, statement, 3, v->id);
    number(b, statement, 4, seq);
    text(b, statement, 5, v->key);
    text(b, statement, 6, v->value);
    text(b, statement, 7, "user");
    number(b, statement, 8, now_us);
    number(b, statement, 9, now_us);
    text(b, statement, 10, v->supersedes[0] != '\0' ? v->supersedes : NULL);
}

/* The row of a version that ended with the event `seq`, which wrote `by`. */
static void put_past(const bare *b, const values *v, int64_t own_seq, const char *by, int64_t seq)
{
    bind_fact(b, PUT_PAST, v, own_seq);
    text(b, PUT_PAST, 11, by);
    number(b, PUT_PAST, 12, INT64_C(1700000000000000) + seq * 1000);
    number(b, PUT_PAST, 13, seq);
    step(b, PUT_PAST);
}

static void write_message(const bare *b, const bare_plan *plan, const values *v, int64_t seq)
{
    int64_t now_us = INT64_C(1700000000000000) + seq * 1000;

    begin(b, APPEND);
    number(b, APPEND, 3, seq);
    text(b, APPEND, 4, "session.message");
    number(b, APPEND, 5, 1);
    number(b, APPEND, 6, now_us);
    text(b, APPEND, 7, v->refs);
    text(b, APPEND, 8, v->payload);
    step(b, APPEND);
    begin(b, PUT_MESSAGE);
    text(b, PUT_MESSAGE, 3, v->id);
    number(b, PUT_MESSAGE, 4, seq);
    text(b, PUT_MESSAGE, 5, v->value);
    number(b, PUT_MESSAGE, 6, now_us);
    step(b, PUT_MESSAGE);
    if (plan->rows_only)
        return;
    begin(b, COUNT_TURN);
    step(b, COUNT_TURN);
    begin(b, COUNT_MESSAGE);
    number(b, COUNT_MESSAGE, 3, seq);
    step(b, COUNT_MESSAGE);
}

static void write_rows(const bare *b, const bare_plan *plan, const values *v, int64_t seq)
{
    bool supersedes = v->supersedes[0] != '\0';
    int64_t now_us = INT64_C(1700000000000000) + seq * 1000;

    begin(b, APPEND);
    number(b, APPEND, 3, seq);
    text(b, APPEND, 4, "fact.written");
    number(b, APPEND, 5, 2);
    number(b, APPEND, 6, now_us);
    text(b, APPEND, 7, v->refs);
    text(b, APPEND, 8, v->payload);
    step(b, APPEND);
    if (plan->rows_only) {
        put_past(b, v, seq, v->id, seq);
    } else {
        if (supersedes)
            put_past(b, v - BENCH_SLOTS, seq - BENCH_SLOTS, v->id, seq);
        bind_fact(b, supersedes ? REPLACE : PUT, v, seq);
        step(b, supersedes ? REPLACE : PUT);
    }
    if (plan->with_request) {
        begin(b, KEEP_REQUEST);
        text(b, KEEP_REQUEST, 3, v->request_id);
        sqlite3_bind_blob(b->statements[KEEP_REQUEST], 4, "0123456789abcdef", 16, SQLITE_STATIC);
        text(b, KEEP_REQUEST, 5, v->answer);
        number(b, KEEP_REQUEST, 6, now_us);
        step(b, KEEP_REQUEST);
    }
}

static void put_head(const bare *b, int64_t seq)
{
    begin(b, PUT_HEAD);
    number(b, PUT_HEAD, 3, seq);
    number(b, PUT_HEAD, 4, INT64_C(1700000000000000) + seq * 1000);
    number(b, PUT_HEAD, 5, 0);
    step(b, PUT_HEAD);
}

static values *make_values(int count)
{
    values *all = calloc((size_t)count, sizeof *all);

    if (all == NULL)
        exit(1);
    for (int n = 0; n < count; n++) {
        values *v = &all[n];

        snprintf(v->key, sizeof v->key, BENCH_KEY_FORMAT, n % BENCH_SLOTS);
        snprintf(v->id, sizeof v->id, ID_FORMAT, n);
        if (n >= BENCH_SLOTS) {
            snprintf(v->superseded, sizeof v->superseded, ID_FORMAT, n - BENCH_SLOTS);
            snprintf(v->supersedes, sizeof v->supersedes, "[\"" ID_FORMAT "\"]", n - BENCH_SLOTS);
        }
        snprintf(v->value, sizeof v->value, BENCH_VALUE_FORMAT, n);
        snprintf(v->refs, sizeof v->refs, "{\"id\":\"%s\",\"replaces\":\"%s\"}", v->id,
                 v->superseded);
        snprintf(v->payload, sizeof v->payload,
                 "{\"key\":\"%s\",\"value\":%s,\"source\":\"user\",\"authority\":[\"manager\",4],"
                 "\"memory_type\":\"user\",\"observed_at\":\"2023-11-14T22:13:20.001Z\"}",
                 v->key, v->value);
        snprintf(v->request_id, sizeof v->request_id, "request-%06d", n % 1000000);
        snprintf(v->answer, sizeof v->answer,
                 "{\"id\":\"%s\",\"outcome\":\"superseded\",\"superseded\":\"%s\",\"seq\":%d}",
                 v->id, v->superseded, n + 1);
    }
    return all;
}

static void open_store(bare *b, const char *store)
{
    if (sqlite3_open_v2(store, &b->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        die(b);
    run(b,
        "pragma temp_store = memory; pragma foreign_keys = on; pragma secure_delete = on;"
        "pragma synchronous = full; pragma wal_autocheckpoint = 1000; pragma cache_size = -8192;");
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(b->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &b->statements[i],
                               NULL) != SQLITE_OK)
            die(b);
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double bare_store_run(const bare_plan *plan)
{
    bare b = {0};
    values *all = make_values(plan->writes);
    double due = 0; /* Writes after which the running transaction commits. */
    bool is_open = false;
    double start_s;

    open_store(&b, plan->store);
    if (plan->is_append)
        run(&b, "insert into sessions (tenant_id, user_id, id, seq, persona_id, state, opened_at,"
                " turn_count) values ('default', 'default', '" SESSION "', 0, '', 'active', 1, 0)");
    start_s = now_s();
    for (int n = 0; n < plan->writes; n++) {
        bool is_first = !is_open;

        if (is_first) {
            run(&b, "begin immediate");
            due += plan->writes_per_commit;
            is_open = true;
        }
        if (!plan->rows_only && is_first)
            read_once(&b);
        if (!plan->rows_only && !plan->is_append)
            read_before(&b, plan, &all[n]);
        if (plan->is_append)
            write_message(&b, plan, &all[n], n + 1);
        else
            write_rows(&b, plan, &all[n], n + 1);
        if (n + 1 + 0.5 >= due || n + 1 == plan->writes) {
            put_head(&b, n + 1);
            run(&b, "commit");
            is_open = false;
        }
    }
    start_s = now_s() - start_s;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(b.statements[i]);
    sqlite3_close(b.db);
    free(all);
    return start_s;
}
