/* Jobs through loci.h: job.list, job.get and job.cancel, and the purge that an engine adds by
 * itself. */
#include "contract/job_fixture.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/internal.h"
#include "lib/calls.h"
#include "lib/postgres.h"
#include "session/session.h"
#include "store/transfer.h"

#define HOUR_US (INT64_C(3600) * 1000000)

typedef struct adding {
    lc_job_new job;
    lc_id id;
} adding;

static loci_status add_body(lc_tx *tx, void *ctx, loci_error *err)
{
    adding *a = ctx;

    return lc_job_enqueue(tx, &a->job, &a->id, err);
}

/* No operation adds a plain job yet. This one waits for an hour; 0 runs it with the next call. */
static lc_id add(loci_engine *engine, const char *user, int64_t delay_ms)
{
    adding a = {.job = {.kind = LC_STR("test.none"), .delay_ms = delay_ms}};
    lc_write write = {
        .tenant_id = loci_str_of(user[0] != '\0' ? "default" : ""),
        .user_id = loci_str_of(user),
        .now_us = lc_env_now_us(lc_engine_env(engine)),
        .deadline_us = lc_clock_monotonic_us() + 10000000,
        .body = add_body,
        .ctx = &a,
    };

    CHECK_OK(lc_engine_write(engine, &write), write.error);
    return a.id;
}

/* Two jobs of one unique name cannot both run, so the second call must not be told that it did. */
TEST(job_ops, a_unique_job_with_other_arguments_is_a_conflict)
{
    loci_engine *engine = test_open(fixture_path());
    adding a = {.job = {.kind = LC_STR("store.partition"),
                        .unique = LC_STR("partition"),
                        .delay_ms = 3600000,
                        .args = LC_STR("{\"partitions\":2}")}};
    lc_write write = {.tenant_id = LC_STR(""),
                      .user_id = LC_STR(""),
                      .now_us = lc_env_now_us(lc_engine_env(engine)),
                      .deadline_us = lc_clock_monotonic_us() + 10000000,
                      .body = add_body,
                      .ctx = &a};
    loci_str answer;
    loci_error err;

    CHECK_OK(lc_engine_write(engine, &write), write.error);
    CHECK_STATUS(LOCI_ECONFLICT,
                 test_try(engine, "store.partition", LC_STR("{\"partitions\":1}"), &err));
    CHECK_CONTAINS(err.message, a.id.text);
    test_call(engine, "job.cancel", "{'id':'%s','scope':'store'}", a.id.text);
    answer = test_call(engine, "store.partition", "{'partitions':1}");
    CHECK_STR_EQ(test_member_text(answer, "status"), "done");
    loci_close(engine);
}

TEST(job_ops, a_user_sees_its_own_jobs_only)
{
    loci_engine *engine = test_open(fixture_path());
    lc_id mine = add(engine, "default", 3600000);
    lc_id others = add(engine, "anna", 3600000);
    lc_id stores = add(engine, "", 3600000);
    loci_str answer = test_call(engine, "job.list", "{}");
    loci_error err;

    CHECK_STR_EQ(test_member_text(answer, "jobs.0.id"), mine.text);
    CHECK_STR_EQ(test_member(answer, "jobs.1"), "");
    CHECK_STR_EQ(test_member(answer, "next_cursor"), "null");
    answer = test_call(engine, "job.list", "{'user_id':'anna'}");
    CHECK_STR_EQ(test_member_text(answer, "jobs.0.id"), others.text);
    answer = test_call(engine, "job.list", "{'scope':'store'}");
    CHECK_STR_EQ(test_member_text(answer, "jobs.0.id"), stores.text);
    CHECK_STR_EQ(test_member(answer, "jobs.1"), "");
    answer = test_call(engine, "job.get", "{'id':'%s'}", mine.text);
    CHECK_STR_EQ(test_member_text(answer, "status"), "queued");
    CHECK_STATUS(LOCI_ENOTFOUND,
                 test_try(engine, "job.get",
                          loci_str_of(test_format("{\"id\":\"%s\"}", others.text)), &err));
    CHECK_CONTAINS(err.message, others.text);
    CHECK_STATUS(LOCI_ENOTFOUND,
                 test_try(engine, "job.cancel",
                          loci_str_of(test_format("{\"id\":\"%s\"}", stores.text)), &err));
    loci_close(engine);
}

TEST(job_ops, the_stores_own_jobs_need_an_admin)
{
    static const char *const operations[] = {"job.list", "job.get", "job.cancel"};
    loci_engine *engine = test_open(fixture_path());
    lc_id id = add(engine, "", 3600000);
    loci_principal principal = {.size = sizeof principal};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;

    options.principal = &principal;
    for (size_t i = 0; i < 3; i++) {
        const char *args = i == 0 ? "{\"scope\":\"store\"}"
                                  : test_format("{\"scope\":\"store\",\"id\":\"%s\"}", id.text);
        loci_answer *answer = NULL;
        loci_error err;

        CHECK_STATUS(LOCI_EFORBIDDEN,
                     loci_call(engine, operations[i], loci_str_of(args), &options, &answer, &err));
    }
    CHECK_STR_EQ(
        test_member_text(test_call(engine, "job.cancel", "{'scope':'store','id':'%s'}", id.text),
                         "status"),
        "cancelled");
    loci_close(engine);
}

TEST(job_ops, pages_lead_from_one_to_the_next)
{
    loci_engine *engine = test_open(fixture_path());
    lc_id ids[5];
    const char *cursor = "null";
    loci_error err;

    for (int i = 0; i < 5; i++)
        ids[i] = add(engine, "default", 3600000);
    for (int newest = 4; newest >= 0; newest -= 2) {
        loci_str answer = test_call(engine, "job.list", "{'limit':2,'cursor':%s}", cursor);

        CHECK_STR_EQ(test_member_text(answer, "jobs.0.id"), ids[newest].text);
        if (newest == 0) {
            CHECK_STR_EQ(test_member(answer, "next_cursor"), "null");
            break;
        }
        CHECK_STR_EQ(test_member_text(answer, "jobs.1.id"), ids[newest - 1].text);
        cursor = test_member(answer, "next_cursor").ptr;
    }
    CHECK_STATUS(LOCI_EINVAL,
                 test_try(engine, "job.list", loci_str_of("{\"cursor\":\"nothing\"}"), &err));
    CHECK_STATUS(LOCI_EINVAL,
                 test_try(engine, "job.list", loci_str_of("{\"status\":\"lost\"}"), &err));
    CHECK_STATUS(LOCI_EINVAL, test_try(engine, "job.list", loci_str_of("{\"limit\":0}"), &err));
    loci_close(engine);
}

TEST(job_ops, cancelling_says_what_became_of_the_job)
{
    loci_engine *engine = test_open(fixture_path());
    lc_id id = add(engine, "default", 3600000);
    loci_str args = loci_str_of(test_format("{\"id\":\"%s\",\"request_id\":\"r\"}", id.text));
    loci_error err;

    CHECK_OK(test_try(engine, "job.cancel", args, &err), err);
    CHECK_OK(test_try(engine, "job.cancel", args, &err), err); /* The stored answer. */
    args = loci_str_of(test_format("{\"id\":\"%s\"}", id.text));
    CHECK_STATUS(LOCI_ECONFLICT, test_try(engine, "job.cancel", args, &err));
    CHECK_STR_EQ(
        test_member_text(test_call(engine, "job.list", "{'status':'cancelled'}"), "jobs.0.id"),
        id.text);
    loci_close(engine);
}

/* ---- Operations that are a job ----------------------------------------------------------------
 */

static loci_status delete_body(lc_tx *tx, void *ctx, loci_error *err)
{
    int64_t deleted;

    (void)ctx;
    return lc_job_purge_ended(tx, INT64_MAX, 100, &deleted, err);
}

static void delete_jobs(loci_engine *engine)
{
    lc_write write = {
        .tenant_id = LC_STR("default"),
        .user_id = LC_STR("default"),
        .now_us = lc_env_now_us(lc_engine_env(engine)),
        .deadline_us = lc_clock_monotonic_us() + 10000000,
        .body = delete_body,
    };

    CHECK_OK(lc_engine_write(engine, &write), write.error);
}

static int count_jobs(loci_engine *engine, const char *scope, const char *kind)
{
    loci_str list = test_call(engine, "job.list", "{'scope':'%s','kind':'%s'}", scope, kind);
    int count = 0;

    while (test_member(list, test_format("jobs.%d", count)).len > 0)
        count++;
    return count;
}

/* A client that lost the answer sends the call again, perhaps when the job has long ended: the work
 * must not be done twice. */
TEST(job_ops, a_repeated_request_starts_no_second_job)
{
    static const struct {
        const char *operation, *scope;
    } cases[] = {{"memory.curate", "user"}, {"model.reembed", "user"}, {"store.rebuild", "store"}};
    loci_engine *engine = test_open(fixture_path());
    loci_error err;

    test_call(engine, "memory.store", "{'text':'Prefers tea'}");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *name = cases[i].operation;
        int before = count_jobs(engine, cases[i].scope, name);
        loci_str first = test_call(engine, name, "{'request_id':'r%zu'}", i);
        loci_str again = test_call(engine, name, "{'request_id':'r%zu'}", i);
        loci_str other = loci_str_of(test_format("{\"wait\":false,\"request_id\":\"r%zu\"}", i));

        CHECK_STR_EQ(test_member_text(first, "status"), "done");
        CHECK_STR_EQ(test_member(first, "replayed"), "");
        CHECK_STR_EQ(test_member(again, "job_id"), test_member(first, "job_id"));
        CHECK_STR_EQ(test_member(again, "result"), test_member(first, "result"));
        CHECK_STR_EQ(test_member(again, "replayed"), "true");
        CHECK_EQ(count_jobs(engine, cases[i].scope, name), before + 1);
        CHECK_STATUS(LOCI_ECONFLICT, test_try(engine, name, other, &err));
        CHECK_CONTAINS(err.message, "was used for another call");
        test_call(engine, name, "{'request_id':'new%zu'}", i);
        CHECK_EQ(count_jobs(engine, cases[i].scope, name), before + 2);
    }
    loci_close(engine);
}

/* A call whose job was cancelled answered with an error, and changed nothing: its repeat works. */
TEST(job_ops, a_request_whose_job_was_cancelled_may_be_repeated)
{
    loci_engine *engine = test_open(fixture_path());
    loci_str first = test_call(engine, "memory.curate", "{'wait':false,'request_id':'r'}");
    loci_str second;

    test_call(engine, "job.cancel", "{'id':%s}", test_member(first, "job_id").ptr);
    second = test_call(engine, "memory.curate", "{'wait':false,'request_id':'r'}");
    CHECK_STR_EQ(test_member(second, "replayed"), "");
    CHECK(!lc_str_eq(test_member(second, "job_id"), test_member(first, "job_id")));
    loci_close(engine);
}

TEST(job_ops, a_request_whose_job_was_deleted_is_not_run_again)
{
    loci_engine *engine = test_open(fixture_path());
    loci_error err;

    test_call(engine, "memory.curate", "{'request_id':'r'}");
    delete_jobs(engine);
    CHECK_STATUS(LOCI_ECONFLICT,
                 test_try(engine, "memory.curate", LC_STR("{\"request_id\":\"r\"}"), &err));
    CHECK_CONTAINS(err.message, "use a new one");
    loci_close(engine);
}

TEST(job_ops, a_job_obeys_expected_seq)
{
    loci_engine *engine = test_open(fixture_path());
    loci_error err;

    test_call(engine, "fact.write", "{'key':'k','value':1}");
    CHECK_STATUS(LOCI_ECONFLICT,
                 test_try(engine, "memory.curate", LC_STR("{\"expected_seq\":0}"), &err));
    CHECK_EQ(count_jobs(engine, "user", "memory.curate"), 0);
    test_call(engine, "memory.curate", "{'expected_seq':1}");
    loci_close(engine);
}

/* ---- The purge ------------------------------------------------------------------------------ */

static int64_t moved_clock(void *ctx)
{
    return *(int64_t *)ctx;
}

static loci_engine *open_at(const char *path, uint32_t flags, int64_t *now_us)
{
    loci_open_options options = test_open_options(path);
    loci_engine *engine = NULL;
    loci_error err;

    options.flags = flags;
    options.clock = moved_clock;
    options.clock_ctx = now_us;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

/* An answer and an ended job a week and a day ago; an inline engine leaves them and adds no job. */
static void make_old_rows(const char *path, int64_t *now_us)
{
    loci_engine *engine = open_at(path, LOCI_OPEN_INLINE, now_us);
    lc_id id = add(engine, "default", 3600000);

    (void)test_call(engine, "job.cancel", "{'id':'%s','request_id':'r'}", id.text);
    CHECK_STR_EQ(test_member(test_call(engine, "job.list", "{'scope':'store'}"), "jobs"), "[]");
    loci_close(engine);
}

TEST(job_ops, an_engine_with_workers_purges_and_adds_the_next_purge)
{
    const char *path = fixture_path();
    int64_t until_us = lc_clock_monotonic_us() + 60000000;
    int64_t now_us = INT64_C(1600000000000000);
    loci_engine *engine;
    loci_str jobs;

    make_old_rows(path, &now_us);
    now_us += 8 * 24 * HOUR_US;
    engine = open_at(path, 0, &now_us);
    do {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(5000);
        jobs = test_call(engine, "job.list", "{'scope':'store'}");
    } while (test_member(jobs, "jobs.1").len == 0);
    CHECK_STR_EQ(test_member_text(jobs, "jobs.0.status"), "queued");
    CHECK_STR_EQ(test_member_text(jobs, "jobs.1.status"), "done");
    CHECK_STR_EQ(
        test_member(jobs, "jobs.1.result"),
        "{\"requests\":1,\"jobs\":1,\"sessions\":0,\"evictions\":0,\"frames\":0,\"contexts\":0}");
    CHECK_STR_EQ(test_member(test_call(engine, "job.list", "{}"), "jobs"), "[]");
    loci_close(engine);

    engine = open_at(path, 0, &now_us); /* The one that waits is enough. */
    jobs = test_call(engine, "job.list", "{'scope':'store','status':'queued'}");
    CHECK_STR_EQ(test_member(jobs, "jobs.1"), "");
    loci_close(engine);
}

/* The result of the first upkeep of an engine with workers; it is left open. */
static loci_str first_upkeep(loci_engine *engine)
{
    int64_t until_us = lc_clock_monotonic_us() + 60000000;
    loci_str jobs;

    do {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(5000);
        jobs = test_call(engine, "job.list", "{'scope':'store','status':'done'}");
    } while (test_member(jobs, "jobs.0").len == 0);
    return test_member(jobs, "jobs.0.result");
}

/* Ann never comes back; Bob was there a minute ago. */
TEST(job_ops, upkeep_ends_sessions_that_nobody_came_back_to)
{
    const char *path = fixture_path();
    int64_t now_us = INT64_C(1600000000000000); /* 2020-09-13T12:26:40Z */
    loci_engine *engine = open_at(path, LOCI_OPEN_INLINE, &now_us);
    loci_str session;

    (void)test_call(engine, "session.open", "{'user_id':'ann','session_id':'chat'}");
    (void)test_call(engine, "working.set",
                    "{'user_id':'ann','session_id':'chat','key':'k','value':1}");
    (void)test_call(engine, "fact.write", "{'user_id':'ann','key':'k','value':1}");
    now_us += HOUR_US;
    (void)test_call(engine, "fact.write", "{'user_id':'bob','key':'k','value':1}");
    now_us += HOUR_US / 60;
    loci_close(engine);

    engine = open_at(path, 0, &now_us);
    CHECK_STR_EQ(
        first_upkeep(engine),
        "{\"requests\":0,\"jobs\":0,\"sessions\":1,\"evictions\":0,\"frames\":0,\"contexts\":0}");
    session = test_call(engine, "session.list", "{'user_id':'ann'}");
    CHECK_STR_EQ(test_member_text(session, "sessions.0.state"), "ended");
    CHECK_STR_EQ(test_member_text(session, "sessions.0.end_reason"), "idle");
    CHECK_STR_EQ(test_member_text(session, "sessions.0.ended_at"), "2020-09-13T12:56:40Z");
    CHECK_CONTAINS(test_call(engine, "event.list", "{'user_id':'ann'}"), "session.ended");
    session = test_call(engine, "session.list", "{'user_id':'bob'}");
    CHECK_STR_EQ(test_member_text(session, "sessions.0.state"), "active");
    CHECK(strstr(
              test_format("%.*s", LC_STR_ARG(test_call(engine, "event.list", "{'user_id':'bob'}"))),
              "session.ended") == NULL);
    test_close(engine);
}

static loci_status sweep_sessions(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_session_sweep.run(tx, 30, ctx, err);
}

/* Thousands of sessions may be due at once. Other writes wait for each transaction, so one ends
 * some of them; and users share transactions, because each takes a sync. */
TEST(job_ops, upkeep_ends_many_sessions_in_groups)
{
    enum { USERS = 100, SESSIONS = 150 };
    const char *path = fixture_path();
    int64_t now_us = INT64_C(1600000000000000), ended = 0;
    loci_engine *engine = open_at(path, LOCI_OPEN_INLINE, &now_us);
    lc_write write = {.tenant_id = LC_STR("default"),
                      .user_id = LC_STR("many"),
                      .deadline_us = INT64_MAX,
                      .body = sweep_sessions,
                      .ctx = &ended};

    for (int i = 0; i < USERS; i++)
        (void)test_call(engine, "session.open", "{'user_id':'u%d','session_id':'chat'}", i);
    for (int i = 0; i < 2 * LC_SWEEP_ITEMS + SESSIONS; i++)
        (void)test_call(engine, "session.open", "{'user_id':'many','session_id':'chat%d'}", i);
    now_us += HOUR_US;
    write.now_us = now_us;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(lc_engine_write(engine, &write), write.error);
        CHECK_EQ(ended, LC_SWEEP_ITEMS);
    }
    loci_close(engine);

    engine = open_at(path, 0, &now_us);
    CHECK_EQ(test_member_int(first_upkeep(engine), "sessions"), USERS + SESSIONS);
    CHECK_LT(test_member_int(test_call(engine, "store.status", "{}"), "counters.commits"),
             USERS / 2 + 20);
    test_close(engine);
}

/* ---- The purge and an import ---------------------------------------------------------------- */

/* Ann has a session that is idle for long, and there is more than one batch to import. */
static const char *export_with_session(int64_t *now_us)
{
    const char *path = test_path(test_tmpdir(), "export.ndjson");
    loci_engine *engine = open_at(fixture_path(), LOCI_OPEN_INLINE, now_us);
    loci_request requests[100];
    loci_error err;

    (void)test_call(engine, "session.open", "{'user_id':'ann','session_id':'chat'}");
    for (int i = 0; i < LC_UPKEEP_EVENTS; i += 100) {
        loci_answer *answer = NULL;

        for (int k = 0; k < 100; k++)
            requests[k] = (loci_request){
                "fact.write",
                loci_str_of(
                    test_format("{\"user_id\":\"bob\",\"key\":\"k%d\",\"value\":1}", i + k)),
                LOCI_AT_CLOCK};
        CHECK_OK(loci_call_many(engine, requests, 100, NULL, &answer, &err), err);
        loci_answer_free(answer);
    }
    (void)test_call(engine, "store.export", "{'path':'%s'}", path);
    loci_close(engine);
    return path;
}

static loci_status stop_after_a_batch(void *ctx, const char *what, int64_t done, int64_t total,
                                      loci_error *err)
{
    (void)ctx;
    (void)done;
    (void)total;
    return strcmp(what, "events imported") == 0
               ? lc_fail(err, LOCI_ECANCELLED, "stopped by the test")
               : LOCI_OK;
}

static loci_status import_a_batch(lc_db *db, void *ctx, loci_error *err)
{
    lc_upkeep upkeep = {.db = db, .progress = stop_after_a_batch};
    lc_transfer_counts counts;

    return lc_import_file(&upkeep, ctx, &counts, err);
}

/* Waits for the upkeep to end the session of Ann. */
static void await_end_of_session(loci_engine *engine)
{
    int64_t until_us = lc_clock_monotonic_us() + 60000000;
    loci_str answer;

    do {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(5000);
        answer = test_call(engine, "event.list", "{'user_id':'ann'}");
    } while (!lc_str_is(test_member_text(answer, "events.1.type"), "session.ended"));
}

/* An import that was given up must not keep sessions open for ever. */
TEST(job_ops, upkeep_goes_on_a_week_after_an_interrupted_import)
{
    int64_t now_us = INT64_C(1600000000000000);
    const char *export = export_with_session(&now_us);
    const char *path = fixture_path();
    loci_engine *engine;
    loci_error err;

    now_us += 2 * HOUR_US;
    engine = open_at(path, LOCI_OPEN_INLINE, &now_us);
    CHECK_STATUS(LOCI_ECANCELLED, lc_engine_with_connection(engine, import_a_batch,
                                                            (void *)(uintptr_t) export, &err));
    loci_close(engine);
    now_us += 7 * 24 * HOUR_US;
    engine = open_at(path, 0, &now_us);
    await_end_of_session(engine);
    test_close(engine);
}

/* Ending Ann's session would add an event to her log that the export does not have: the import
 * could then be neither finished nor repeated. */
TEST(job_ops, upkeep_appends_nothing_until_an_import_is_finished)
{
    int64_t now_us = INT64_C(1600000000000000);
    const char *export = export_with_session(&now_us);
    const char *path = fixture_path();
    loci_engine *engine;
    loci_str answer;
    loci_error err;

    now_us += 2 * HOUR_US;
    engine = open_at(path, LOCI_OPEN_INLINE, &now_us);
    CHECK_STATUS(LOCI_ECANCELLED, lc_engine_with_connection(engine, import_a_batch,
                                                            (void *)(uintptr_t) export, &err));
    loci_close(engine);

    engine = open_at(path, 0, &now_us);
    CHECK_STR_EQ(
        first_upkeep(engine),
        "{\"requests\":0,\"jobs\":0,\"sessions\":0,\"evictions\":0,\"frames\":0,\"contexts\":0}");
    answer = test_call(engine, "store.import", "{'path':'%s'}", export);
    CHECK_LT(0, test_member_int(answer, "skipped"));
    answer = test_call(engine, "job.list", "{'scope':'store','status':'queued'}");
    (void)test_call(engine, "job.cancel", "{'scope':'store','id':'%.*s'}",
                    LC_STR_ARG(test_member_text(answer, "jobs.0.id")));
    loci_close(engine);

    now_us += HOUR_US; /* Until then a migration may still compare the stores. */
    engine = open_at(path, 0, &now_us);
    await_end_of_session(engine);
    test_close(engine);
}

/* ---- Upkeep over HTTP ------------------------------------------------------------------------ */

static loci_engine *open_with_workers(const char *path)
{
    loci_open_options options = test_open_options(path);
    loci_engine *engine = NULL;
    loci_error err;

    options.flags = 0;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

/* As a caller over HTTP, who may wait for so long. */
static loci_status call_remote(loci_engine *engine, const char *name, const char *args,
                               int64_t timeout_ms, const char **out, loci_error *err)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_status status;

    options.flags = LOCI_CALL_REMOTE;
    options.timeout_ms = timeout_ms;
    status = loci_call(engine, name, loci_str_of(args), &options, &answer, err);
    *out = status == LOCI_OK ? test_format("%s", loci_answer_json(answer).ptr) : "";
    loci_answer_free(answer);
    return status;
}

static loci_status verify_remote(loci_engine *engine, int64_t timeout_ms, const char **out,
                                 loci_error *err)
{
    return call_remote(engine, "store.verify", "{}", timeout_ms, out, err);
}

TEST(job_ops, verify_of_a_remote_caller_is_a_job)
{
    const char *path = fixture_path(), *out;
    loci_engine *engine = open_with_workers(path);
    loci_str jobs;
    loci_error err;

    (void)test_call(engine, "fact.write", "{'key':'k','value':1}");
    CHECK_OK(verify_remote(engine, 60000, &out, &err), err);
    CHECK_STR_EQ(out, "{\"sound\":true,\"users\":1,\"events\":1}");
    jobs = test_call(engine, "job.list", "{'scope':'store','kind':'store.verify'}");
    CHECK_STR_EQ(test_member_text(jobs, "jobs.0.status"), "done");
    test_store_run(path, "delete from fact_current");
    CHECK_STATUS(LOCI_ECORRUPT, verify_remote(engine, 60000, &out, &err));
    CHECK_CONTAINS(err.message, "row is missing");
    CHECK_CONTAINS(err.data, "\"problems\":[\"user default/default: fact_current");
    loci_close(engine);
}

/* HTTP ends a request after 30 s, and whatever is answered then comes too late. */
TEST(job_ops, a_verify_that_takes_longer_than_its_call_goes_on)
{
    const char *path = fixture_path(), *id, *out;
    loci_engine *engine = open_with_workers(path);
    int64_t began_us = lc_clock_monotonic_us();
    loci_error err;

    lc_workers_pause(engine->workers);
    (void)test_call(engine, "fact.write", "{'key':'k','value':1}");
    CHECK_STATUS(LOCI_EDEADLINE, verify_remote(engine, 4000, &out, &err));
    CHECK_LT(lc_clock_monotonic_us() - began_us, INT64_C(4000000));
    id = test_format("%.*s", LC_STR_ARG(test_member_text(loci_str_of(err.data), "job_id")));
    CHECK_CONTAINS(err.message, id);
    /* A repeat joins it. */
    CHECK_STATUS(LOCI_EDEADLINE, verify_remote(engine, 100, &out, &err));
    CHECK_CONTAINS(err.message, id);
    loci_close(engine);

    engine = open_with_workers(path);
    CHECK_OK(verify_remote(engine, 60000, &out, &err), err);
    CHECK_STR_EQ(
        test_member_text(test_call(engine, "job.get", "{'scope':'store','id':'%s'}", id), "status"),
        "done");
    test_close(engine);
}

static loci_engine *open_with_folder(const char *path, const char *folder)
{
    loci_open_options options = test_open_options(path);
    loci_engine *engine = NULL;
    loci_error err;

    options.flags = 0;
    options.settings = test_format("{\"store.transfer_dir\":\"%s\"}", folder);
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

TEST(job_ops, files_of_a_remote_caller_are_jobs)
{
    const char *folder = test_tmpdir(), *out;
    loci_engine *engine = open_with_folder(fixture_path(), folder);
    loci_error err;

    (void)test_call(engine, "fact.write", "{'key':'k','value':1}");
    CHECK_OK(call_remote(engine, "store.export", "{\"path\":\"e\"}", 60000, &out, &err), err);
    CHECK_STR_EQ(out, "{\"path\":\"e\",\"users\":1,\"events\":1,\"settings\":0}");
    CHECK_OK(call_remote(engine, "store.import", "{\"path\":\"e\"}", 60000, &out, &err), err);
    CHECK_STR_EQ(out, "{\"path\":\"e\",\"users\":1,\"events\":1,\"settings\":0,\"skipped\":1}");
    CHECK_EQ(count_jobs(engine, "store", "store.export"), 1);
    CHECK_EQ(count_jobs(engine, "store", "store.import"), 1);
    /* The error is that of the call, at once: it would be the same in every attempt. */
    CHECK_STATUS(LOCI_ECONFLICT,
                 call_remote(engine, "store.export", "{\"path\":\"e\"}", 60000, &out, &err));
    CHECK_CONTAINS(err.message, "exists");
    CHECK(strstr(err.message, "job_") == NULL);
    CHECK_STATUS(LOCI_ENOTFOUND,
                 call_remote(engine, "store.import", "{\"path\":\"f\"}", 60000, &out, &err));
    test_close(engine);
}

TEST(job_ops, a_backup_that_takes_longer_than_its_call_goes_on)
{
    const char *path = fixture_path(), *folder = test_tmpdir(), *id, *out;
    loci_engine *engine;
    loci_error err;
    loci_str job;

    if (test_is_postgres())
        return; /* Its backups are made with pg_dump. */
    engine = open_with_folder(path, folder);
    (void)test_call(engine, "fact.write", "{'key':'k','value':1}");
    lc_workers_pause(engine->workers);
    CHECK_STATUS(LOCI_EDEADLINE,
                 call_remote(engine, "store.backup", "{\"path\":\"b\"}", 2000, &out, &err));
    id = test_format("%.*s", LC_STR_ARG(test_member_text(loci_str_of(err.data), "job_id")));
    CHECK_CONTAINS(err.message, id);
    CHECK_STR_EQ(test_member(test_call(engine, "store.status", "{}"), "backup_at"), "null");
    loci_close(engine);

    engine = open_with_folder(path, folder);
    do {
        lc_clock_sleep_us(5000);
        job = test_call(engine, "job.get", "{'scope':'store','id':'%s'}", id);
        CHECK(!lc_str_is(test_member_text(job, "status"), "failed"));
    } while (!lc_str_is(test_member_text(job, "status"), "done"));
    CHECK_STR_EQ(test_member_text(job, "result.path"), "b");
    CHECK(test_member_text(test_call(engine, "store.status", "{}"), "backup_at").len > 0);
    test_close(engine);
    engine = test_open(test_format("%s/b", folder));
    CHECK_EQ(test_member_int(test_call(engine, "fact.current", "{'key':'k'}"), "value"), 1);
    test_close(engine);
}

/* A backup has the row of the job that made it, as running. */
TEST(job_ops, a_backup_can_follow_a_restore_at_once)
{
    const char *folder = test_tmpdir(), *out;
    loci_engine *engine;
    loci_error err;

    if (test_is_postgres())
        return; /* Its backups are made with pg_dump. */
    engine = open_with_folder(fixture_path(), folder);
    (void)test_call(engine, "fact.write", "{'key':'k','value':1}");
    CHECK_OK(call_remote(engine, "store.backup", "{\"path\":\"b\"}", 60000, &out, &err), err);
    CHECK_OK(call_remote(engine, "store.restore", "{\"path\":\"b\"}", 60000, &out, &err), err);
    CHECK_EQ(count_jobs(engine, "store", "store.backup"), 0);
    CHECK_OK(call_remote(engine, "store.backup", "{\"path\":\"c\"}", 60000, &out, &err), err);
    test_close(engine);
}
