/* sweep.c - A seeded store is made once a test and copied for every operation. Examples name files
 * without a directory, so the test works in a directory of its own. */
#include "sweep.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/calls.h"
#include "ops/op.h"

#define RUNS_MAX 4000000
#define STORE "store.db"
#define SEEDED "seeded.db"
#define TIMEOUT_MS 300 /* A job whose end cannot be written down is waited for so long. */

static loci_engine *open_store(const sweep *s, const char *store)
{
    loci_open_options options = test_open_options(store);
    lc_engine_parts parts = {.driver = s->driver};
    loci_engine *engine = NULL;
    loci_error err;

    CHECK_OK(lc_engine_open(&options, &parts, &engine, &err), err);
    return engine;
}

static void remove_store(const char *store)
{
    remove(store);
    remove(test_format("%s-wal", store));
    remove(test_format("%s-shm", store));
}

/* A user with a message, a later one, and what was derived from that. */
static void seed_rewind(loci_engine *engine)
{
    static const struct {
        const char *operation, *args;
    } derived[] = {
        {"fact.write", "{'user_id':'rewinder','key':'city','value':'Rome'"},
        {"fact.write", "{'user_id':'rewinder','key':'moved','value':1,'supersedes':'budget'"},
        {"fact.write", "{'user_id':'rewinder','key':'city','value':'Lima','trust':'tool'"},
        {"memory.store", "{'user_id':'rewinder','text':'Lives in Rome'"},
        {"memory.store", "{'user_id':'rewinder','text':'John likes tea'"},
        {"todo.add", "{'user_id':'rewinder','text':'Call John'"},
    };
    loci_str answer;

    test_call(engine, "fact.write", "{'user_id':'rewinder','key':'city','value':'Oslo'}");
    test_call(engine, "fact.write", "{'user_id':'rewinder','key':'budget','value':1}");
    test_call(engine, "fact.write",
              "{'user_id':'rewinder','key':'plan','value':1,'depends_on':['city']}");
    test_call(engine, "memory.store", "{'user_id':'rewinder','text':'Lives in Oslo'}");
    test_call(engine, "session.append", "{'user_id':'rewinder','role':'user','text':'One'}");
    answer = test_call(engine, "session.append",
                       "{'user_id':'rewinder','role':'user','text':'Two','external_id':'two'}");
    answer = test_member_text(answer, "message_id");
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
        test_call(
            engine, derived[i].operation, "%s",
            test_json(test_format("%s,'message_id':'%.*s'}", derived[i].args, LC_STR_ARG(answer))));
}

/* A few facts of two users, memories, a file, an answered request, a backup for restore, an export
 * for import. */
static void seed_frame(loci_engine *engine)
{
    loci_str answer = test_call(engine, "frame.push", "{'user_id':'framer','goal':'g'}");

    test_call(engine, "frame.tool_begin",
              "{'user_id':'framer','frame_id':'%s','call_id':'c','name':'n'}",
              test_member_text(answer, "id").ptr);
    test_call(engine, "frame.handle_add",
              "{'user_id':'framer','frame_id':'%s','text':'It is   so. Is it?'}",
              test_member_text(answer, "id").ptr);
    test_call(engine, "frame.handle_add", "{'user_id':'framer','frame_id':'%s','ref':'mem_1'}",
              test_member_text(answer, "id").ptr);
}

static void seed_store(void)
{
    loci_engine *engine;

    CHECK_EQ(chdir(test_tmpdir()), 0);
    engine = test_open(SEEDED);
    for (int i = 0; i < 12; i++)
        test_call(engine, "fact.write", "{'user_id':'%s','key':'k%d','value':%d}",
                  i % 3 == 0 ? "ann" : "default", i % 4, i);
    test_call(engine, "fact.write", "{'key':'city','value':'Oslo','request_id':'r1'}");
    test_call(engine, "session.append", "{'session_id':'chat','role':'user','text':'Hello.'}");
    test_call(engine, "memory.seed",
              "{'memories':['Lives in Oslo','Makesh likes tea','Mukesh likes tea',"
              "'I like jazz','I really like jazz'],'metadata':{'a':1}}");
    test_call(engine, "memory.store",
              "{'text':'John handles backend','entity_refs':'person:John Doe','importance':2}");
    test_call(engine, "todo.add", "{'text':'Call Anna','due_at':'2030-01-01T00:00:00Z'}");
    test_call(engine, "file.create", "%s",
              "{\"path\":\"/memories/notes.md\",\"file_text\":\"alpha\\nbeta\\n\"}");
    test_call(engine, "window.open", "{'context_max':1000}");
    test_call(engine, "resource.discover", "{'name':'rules','text':'Deploy on Tuesdays.'}");
    test_call(engine, "resource.discover", "{'name':'plan','text':'Ship it.'}");
    test_call(engine, "resource.page_in", "{'id':'text:rules'}");
    seed_rewind(engine);
    seed_frame(engine);
    test_call(engine, "config.set", "{'name':'job.keep_hours','value':7}");
    /* Data files are compared with their digests once per process: not within TIMEOUT_MS. */
    (void)test_call(engine, "model.status", "{'check_data':true}");
    test_close(engine);
}

/* Out of the directory, before it is removed. */
static void leave(void)
{
    CHECK_EQ(chdir("/"), 0);
}

static void copy_seeded(void)
{
    remove_store(STORE);
    test_write_file(STORE, test_read_file(SEEDED));
}

#define SANITIZED_DENSE_UNTIL 3

/* One after the other at first; then in steps that grow, far more slowly under LOCI_TEST_FULL=1.
 * Sanitizers, which are slow, look at fewer: the plain build has looked at all. */
static uint64_t next_nth(const sweep *s, uint64_t nth)
{
    uint64_t dense_until = s->dense_until * test_count(1, 120);

    if (test_is_sanitized() && test_count(0, 1) == 0 && nth >= SANITIZED_DENSE_UNTIL)
        return nth + 1 + 2 * nth;

    if (s->dense_until == 0 || nth < dense_until)
        return nth + 1;
    return nth + 1 + nth / test_count(3, 128);
}

/* What a call may have done. */
typedef struct outcome {
    loci_status status;
    loci_error err;
} outcome;

typedef loci_status sweep_body(loci_engine *engine, void *ctx, loci_error *err);

typedef struct target {
    const char *what;
    sweep_body *body;
    void *ctx;
    /* Upkeep works in slices, each a commit, and goes on where it was: what must not change when it
     * fails is what the store says, not how far the work is. NULL = nothing at all. */
    const char *may_change;
    bool is_once; /* What it did cannot be done again: it begins anew after every success. */
} target;

static outcome run(loci_engine *engine, const target *t)
{
    outcome o = {.err = {.status = LOCI_OK}};

    o.status = t->body(engine, t->ctx, &o.err);
    return o;
}

static void check_outcome(const sweep *s, const char *what, uint64_t nth, const outcome *o,
                          loci_status usual)
{
    if (o->status == usual)
        return;
    if (!s->is_fair(o->status))
        test_fail(__FILE__, __LINE__, "%s, %s %llu: answered %s (%s), usually %s", what, s->what,
                  (unsigned long long)nth, loci_status_name(o->status), o->err.message,
                  loci_status_name(usual));
    if (o->err.status != o->status || o->err.message[0] == '\0')
        test_fail(__FILE__, __LINE__, "%s, %s %llu: answered %s, but the error says %s \"%s\"",
                  what, s->what, (unsigned long long)nth, loci_status_name(o->status),
                  loci_status_name(o->err.status), o->err.message);
}

static void check_store(const sweep *s, const char *what, uint64_t nth, loci_engine *engine)
{
    loci_error err;
    loci_status status = test_verify(engine, &err);

    if (status != LOCI_OK)
        test_fail(__FILE__, __LINE__, "%s, %s %llu: store.verify answers %s: %s %s", what, s->what,
                  (unsigned long long)nth, loci_status_name(status), err.message, err.data);
}

#define LATE_MAX 2

/* Fails the call at `nth`. One that is late for no reason of its own is repeated: on a busy machine
 * it succeeds then, but one that hangs does not. */
static outcome fail_at(const sweep *s, loci_engine *engine, const target *t, uint64_t nth,
                       bool *was_injected)
{
    outcome o;
    int late = 0;

    do {
        s->arm(nth);
        o = run(engine, t);
        *was_injected = s->disarm();
    } while (o.status == LOCI_EDEADLINE && !s->is_fair(o.status) && late++ < LATE_MAX);
    return o;
}

/* One target, failing everywhere in turn. */
static void sweep_one(const sweep *s, const target *t)
{
    size_t live_before = test_heap_live_blocks();
    loci_engine *engine;
    loci_status usual, last;
    bool was_injected = true;

    copy_seeded();
    engine = open_store(s, STORE);
    usual = run(engine, t).status;
    if (usual == LOCI_EDEADLINE) /* The first call loads data files: long on a busy machine. */
        usual = run(engine, t).status;
    last = usual;
    for (uint64_t nth = 1; was_injected; nth = next_nth(s, nth)) {
        uint64_t hash;
        outcome o;

        if (nth > RUNS_MAX)
            test_fail(__FILE__, __LINE__, "%s, %s: does not end; is a call retried for ever?",
                      t->what, s->what);
        /* A job that failed before has fewer attempts left. */
        if (t->may_change != NULL || (t->is_once && last == LOCI_OK)) {
            loci_close(engine);
            copy_seeded();
            engine = open_store(s, STORE);
        }
        hash = test_store_hash(STORE, t->may_change);
        o = fail_at(s, engine, t, nth, &was_injected);
        last = o.status;
        check_outcome(s, t->what, nth, &o, usual);
        if (o.status != LOCI_OK && test_store_hash(STORE, t->may_change) != hash)
            test_fail(__FILE__, __LINE__, "%s, %s %llu: failed and changed something", t->what,
                      s->what, (unsigned long long)nth);
        check_store(s, t->what, nth, engine);
    }
    loci_close(engine);
    if (test_heap_live_blocks() != live_before)
        test_fail(__FILE__, __LINE__, "%s, %s: %zu blocks leaked", t->what, s->what,
                  test_heap_live_blocks() - live_before);
}

/* ---- Operations ----------------------------------------------------------------------------- */

typedef struct named_call {
    const char *operation;
    const char *args;
} named_call;

static loci_status call_named(loci_engine *engine, void *ctx, loci_error *err)
{
    const named_call *call = ctx;
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_status status;

    options.timeout_ms = TIMEOUT_MS;
    status = loci_call(engine, call->operation, loci_str_of(test_json(call->args)), &options,
                       &answer, err);
    loci_answer_free(answer);
    return status;
}

/* Their examples are dry runs. */
static const named_call forgettings[] = {
    {"fact.forget", "{'key':'city'}"},
    {"session.forget", "{'session_id':'chat'}"},
    {"file.forget", "{'path':'/memories'}"},
    {"user.forget", "{}"},
};

/* To the first message of the user of seed_rewind(). */
static loci_status call_rewind(loci_engine *engine, void *ctx, loci_error *err)
{
    named_call messages = {"session.messages", "{'user_id':'rewinder','limit':1}"}, rewind;
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_status status = loci_call(engine, messages.operation,
                                   loci_str_of(test_json(messages.args)), &options, &answer, err);

    (void)ctx;
    if (status != LOCI_OK)
        return status;
    rewind = (named_call){
        "session.rewind",
        test_format("{'user_id':'rewinder','message_id':%.*s}",
                    LC_STR_ARG(test_member(loci_answer_json(answer), "messages.0.id")))};
    loci_answer_free(answer);
    return call_named(engine, &rewind, err);
}

/* On the frame of seed_store(). */
typedef struct frame_call {
    const char *operation;
    const char *id_name; /* Argument with the id of the frame. */
    const char *args;    /* The others. */
} frame_call;

static const frame_call frame_calls[] = {
    {"frame.get", "id", ""},
    {"frame.push", "parent_id", ",'goal':'child','budget':10"},
    {"frame.update", "id", ",'goal':'another'"},
    {"frame.reserve", "frame_id", ",'tokens':5"},
    {"frame.handle_add", "frame_id", ",'text':'a text of a handle'"},
    {"frame.pack", "frame_id", ""},
    {"frame.compact", "frame_id", ",'budget':0"},
    {"frame.tool_end", "frame_id", ",'call_id':'c','output':'another text'"},
    {"frame.pop", "id", ",'cascade':true,'result':'found','status':'failed','error':'e'"},
    {"frame.forget", "id", ""},
};

static loci_status call_frame(loci_engine *engine, void *ctx, loci_error *err)
{
    const frame_call *call = ctx;
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    named_call on_frame = {call->operation, NULL};
    loci_status status = loci_call(engine, "frame.list",
                                   loci_str_of(test_json("{'user_id':'framer'}")), &options,
                                   &answer, err);

    if (status != LOCI_OK)
        return status;
    on_frame.args = test_format(
        "{'user_id':'framer','%s':'%.*s'%s}", call->id_name,
        LC_STR_ARG(test_member_text(loci_answer_json(answer), "frames.0.id")), call->args);
    loci_answer_free(answer);
    return call_named(engine, &on_frame, err);
}

/* The life of an agent's pipeline and component, from nothing to nothing. */
static loci_status call_agent(loci_engine *engine, void *ctx, loci_error *err)
{
    static const named_call calls[] = {
        {"pipeline.end", "{'name':'p','unregister':true}"}, /* Left by a run that failed. */
        {"pipeline.register", "{'name':'p'}"},
        {"pipeline.begin", "{'name':'p','bytes':1000}"},
        {"guard.report", "{'name':'c','bytes':1000}"},
        {"guard.release", "{'name':'c'}"},
        {"pipeline.end", "{'name':'p','unregister':true}"},
    };
    loci_status status = LOCI_OK;

    (void)ctx;
    for (size_t i = 0; i < sizeof calls / sizeof *calls && status == LOCI_OK; i++) {
        status = call_named(engine, (void *)&calls[i], err);
        if (i == 0 && status == LOCI_ENOTFOUND)
            status = LOCI_OK;
    }
    return status;
}

void sweep_operations(const sweep *s)
{
    test_timeout(1200);
    seed_store();
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        bool is_upkeep = (op->flags & LC_OP_ALONE) != 0 && (op->flags & LC_OP_MUTATES) != 0;
        bool is_once = (op->flags & (LC_OP_MUTATES | LC_OP_IDEMPOTENT)) == LC_OP_MUTATES;
        bool is_backup = strcmp(op->name, "store.backup") == 0;
        named_call example = {op->name, op->example};

        sweep_one(s, &(target){.what = op->name,
                               .body = call_named,
                               .ctx = &example,
                               .may_change = is_upkeep   ? "jobs heads meta rebuild_heads vectors"
                                             : is_backup ? "meta" /* Time of the backup. */
                                                         : NULL,
                               .is_once = is_once});
    }
    for (size_t i = 0; i < sizeof forgettings / sizeof *forgettings; i++)
        sweep_one(s, &(target){.what = forgettings[i].operation,
                               .body = call_named,
                               .ctx = (void *)&forgettings[i],
                               .is_once = true});
    for (size_t i = 0; i < sizeof frame_calls / sizeof *frame_calls; i++)
        sweep_one(s, &(target){.what = frame_calls[i].operation,
                               .body = call_frame,
                               .ctx = (void *)&frame_calls[i],
                               .is_once = true});
    sweep_one(s, &(target){.what = "session.rewind", .body = call_rewind, .is_once = true});
    sweep_one(s, &(target){.what = "pipelines of agents", .body = call_agent});
    leave();
}

/* ---- Batches -------------------------------------------------------------------------------- */

static loci_status call_batch(loci_engine *engine, void *ctx, loci_error *err)
{
    static const loci_request requests[] = {
        {"fact.write", {"{\"key\":\"a\",\"value\":1}", 21}, LOCI_AT_CLOCK},
        {"fact.write", {"{\"key\":\"b\",\"value\":\"$0.id\"}", 27}, LOCI_AT_CLOCK},
        {"fact.current", {"{\"key\":\"city\"}", 14}, LOCI_AT_CLOCK},
    };
    loci_answer *answer = NULL;
    loci_status status = loci_call_many(engine, requests, 3, NULL, &answer, err);

    (void)ctx;
    loci_answer_free(answer);
    return status;
}

/* Writes something new every time, so that both facts are there or neither. */
static loci_status call_new_batch(loci_engine *engine, void *ctx, loci_error *err)
{
    int *number = ctx;
    loci_str args = loci_str_of(test_format("{\"key\":\"n\",\"value\":%d}", ++*number));
    loci_request requests[] = {
        {"fact.write", args, LOCI_AT_CLOCK},
        {"fact.write", loci_str_of("{\"key\":\"m\",\"value\":\"$0.id\"}"), LOCI_AT_CLOCK}};
    loci_answer *answer = NULL;
    loci_status status = loci_call_many(engine, requests, 2, NULL, &answer, err);

    loci_answer_free(answer);
    return status;
}

static loci_status call_write(loci_engine *engine, void *ctx, loci_error *err)
{
    int *number = ctx;

    ++*number;
    return test_try(engine, "fact.write",
                    loci_str_of(test_format("{\"key\":\"n\",\"value\":%d,\"request_id\":\"s%d\"}",
                                            *number, *number)),
                    err);
}

void sweep_batches(const sweep *s)
{
    int number = 0;

    test_timeout(600);
    seed_store();
    sweep_one(s, &(target){.what = "a repeated batch", .body = call_batch});
    sweep_one(s, &(target){.what = "a batch", .body = call_new_batch, .ctx = &number});
    sweep_one(s,
              &(target){.what = "a write with a request_id", .body = call_write, .ctx = &number});
    leave();
}

/* ---- Opening -------------------------------------------------------------------------------- */

static void sweep_open(const sweep *s, const char *what, bool is_new)
{
    bool was_injected = true;

    for (uint64_t nth = 1; was_injected; nth = next_nth(s, nth)) {
        loci_open_options options = test_open_options(STORE);
        lc_engine_parts parts = {.driver = s->driver};
        size_t live_before = test_heap_live_blocks();
        loci_engine *engine = NULL;
        outcome o = {.err = {.status = LOCI_OK}};

        if (is_new)
            remove_store(STORE);
        else
            copy_seeded();
        s->arm(nth);
        o.status = lc_engine_open(&options, &parts, &engine, &o.err);
        loci_close(o.status == LOCI_OK ? engine : NULL); /* Closing, too, meets the fault. */
        was_injected = s->disarm();
        check_outcome(s, what, nth, &o, LOCI_OK);
        if (test_heap_live_blocks() != live_before)
            test_fail(__FILE__, __LINE__, "%s, %s %llu: %zu blocks leaked", what, s->what,
                      (unsigned long long)nth, test_heap_live_blocks() - live_before);
        engine = open_store(s, STORE);
        check_store(s, what, nth, engine);
        if (!is_new)
            CHECK_STR_EQ(test_member(test_call(engine, "fact.current", "{'key':'city'}"), "value"),
                         "\"Oslo\"");
        loci_close(engine);
    }
}

void sweep_opening(const sweep *s)
{
    test_timeout(600);
    seed_store();
    sweep_open(s, "opening a store", false);
    sweep_open(s, "making a store", true);
    leave();
}
