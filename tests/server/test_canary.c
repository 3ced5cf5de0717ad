/* test_canary.c - two tenants with the same users, keys and request ids, told apart by canaries
 * only: whatever operation one of them tries with the ids of the other, over HTTP, no byte of the
 * other comes back, and an id that is foreign answers as one that does not exist. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ops/op.h"
#include "server/daemon.h"

#define IDS_MAX 12
#define PROBE_ID "probe-of-canaries" /* As X-Request-Id, so that answers can be compared. */

typedef struct tenant {
    const char *name;
    char admin[TEST_TOKEN_BYTES];  /* Of all its users, */
    char narrow[TEST_TOKEN_BYTES]; /* and of ada alone. */
    char ids[IDS_MAX][64];         /* Facts, tokens, jobs. */
    size_t id_count;
} tenant;

/* ---- Filling --------------------------------------------------------------------------------- */

static loci_str run(loci_engine *engine, const char *operation, const char *args)
{
    loci_answer *answer = NULL;
    loci_error err;
    loci_str copy;

    CHECK_OK(loci_call(engine, operation, loci_str_of(args), NULL, &answer, &err), err);
    copy = loci_str_of(
        test_format("%.*s", (int)loci_answer_json(answer).len, loci_answer_json(answer).ptr));
    loci_answer_free(answer);
    return copy;
}

/* Text member `name` of a flat answer. */
static void take_member(loci_str json, const char *name, char *out, size_t bytes)
{
    const char *at = strstr(json.ptr, test_format("\"%s\":\"", name));
    size_t len;

    CHECK(at != NULL);
    at += strlen(name) + 4;
    len = strcspn(at, "\"");
    CHECK_LT(len, bytes);
    memcpy(out, at, len);
    out[len] = '\0';
}

static void note_id(tenant *t, loci_str json)
{
    CHECK_LT(t->id_count, IDS_MAX);
    take_member(json, "id", t->ids[t->id_count++], sizeof t->ids[0]);
}

static void make_tokens(tenant *t, loci_engine *engine)
{
    loci_str made = run(
        engine, "token.create",
        test_format("{\"name\":\"CANARY-%s-admin\",\"scopes\":[\"admin\"]}", t->name));

    take_member(made, "token", t->admin, sizeof t->admin);
    note_id(t, made);
    made = run(engine, "token.create",
               test_format("{\"name\":\"CANARY-%s-narrow\",\"user_id\":\"ada\"}", t->name));
    take_member(made, "token", t->narrow, sizeof t->narrow);
    note_id(t, made);
}

static void fill(tenant *t, const char *store)
{
    static const char *const users[] = {"ada", "bob"};
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine = NULL;
    loci_error err;

    options.store = store;
    options.tenant = t->name;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    for (size_t u = 0; u < 2; u++) {
        for (int version = 1; version <= 2; version++)
            note_id(t, run(engine, "fact.write",
                           test_format(
                               "{\"key\":\"city\",\"value\":\"CANARY-%s-%s-%d\",\"user_id\":"
                               "\"%s\",\"source\":\"CANARY-%s-%s-source\",\"request_id\":"
                               "\"same-%d\"}",
                               t->name, users[u], version, users[u], t->name, users[u], version)));
        (void)run(engine, "fact.write",
                  test_format("{\"key\":\"CANARY-%s-%s-key\",\"value\":1,\"user_id\":\"%s\"}",
                              t->name, users[u], users[u]));
    }
    make_tokens(t, engine);
    loci_close(engine);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

typedef struct probe {
    const char *user;       /* NULL = not said. */
    const char *id;         /* For `id` and for `probed`. */
    const lc_param *probed; /* A text that is not needed, and gets the id all the same; or NULL. */
} probe;

static const char *text_for(const lc_param *param, const probe *p)
{
    if (strcmp(param->name, "id") == 0 || param == p->probed)
        return p->id;
    if (strcmp(param->name, "key") == 0)
        return "city";
    if (strcmp(param->name, "name") == 0)
        return "call.timeout_ms";
    if (param->choices != NULL)
        return test_format("%.*s", (int)strcspn(param->choices, "|"), param->choices);
    return "probe";
}

/* JSON for one parameter. */
static const char *value_for(const lc_param *param, const probe *p)
{
    switch (param->kind) {
    case LC_PARAM_STRING:
        return test_format("\"%s\"", text_for(param, p));
    case LC_PARAM_INT:
        return test_format("%lld", (long long)(param->min > 0 ? param->min : 1));
    case LC_PARAM_REAL:
        return "1.5";
    case LC_PARAM_BOOL:
        return "false";
    case LC_PARAM_TIME:
        return "\"2026-01-31T09:00:00Z\"";
    case LC_PARAM_STRINGS:
        return "[\"read\"]";
    case LC_PARAM_OBJECT:
        return "{}";
    case LC_PARAM_ANY:
    case LC_PARAM_JSON:
        return "\"probe\"";
    }
    return "null";
}

static bool is_given(const lc_param *param, const probe *p)
{
    return (param->flags & LC_PARAM_REQUIRED) != 0 || param == p->probed ||
           (p->user != NULL && strcmp(param->name, "user_id") == 0);
}

static const char *arguments_for(const lc_op *op, const probe *p)
{
    const char *all = "";
    const lc_param *param;

    for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++) {
        bool is_user = p->user != NULL && strcmp(param->name, "user_id") == 0;

        if (is_given(param, p))
            all = test_format("%s%s\"%s\":%s", all, all[0] == '\0' ? "" : ",", param->name,
                              is_user ? test_format("\"%s\"", p->user) : value_for(param, p));
    }
    return test_format("{%s}", all);
}

/* The route of `op` with the same arguments, as far as they are texts: "GET /v1/facts/fact_…". */
static const char *line_for(const lc_op *op, const probe *p, bool *out_has_body)
{
    const char *line = "", *at = op->http;
    bool is_get = strncmp(op->http, "GET", 3) == 0;
    char mark = '?';

    while (*at != '\0') {
        const lc_param *param = NULL;
        size_t len = strcspn(at, "{");

        line = test_format("%s%.*s", line, (int)len, at);
        at += len;
        if (*at == '\0')
            break;
        len = strcspn(at, "}");
        for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++)
            if (strlen(param->name) == len - 1 && memcmp(param->name, at + 1, len - 1) == 0)
                break;
        CHECK(param != NULL);
        line = test_format("%s%s", line, text_for(param, p));
        at += len + 1;
    }
    if (is_get && p->user != NULL && (op->flags & LC_OP_USER) != 0) {
        line = test_format("%s%cuser_id=%s", line, mark, p->user);
        mark = '&';
    }
    if (is_get && p->probed != NULL)
        line = test_format("%s%c%s=%s", line, mark, p->probed->name, p->id);
    *out_has_body = !is_get;
    return line;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

typedef struct asking {
    const test_daemon *daemon;
    const char *token;
    const char *unwanted[2]; /* No answer may hold these. */
    int64_t asked, seen;     /* Answers, and those with a canary: our own. */
} asking;

/* The whole answer without its Date, ids that were sent and how long anything took. */
static const char *ask(asking *a, const char *line, const char *body, const char *id)
{
    /* The rest of the request line becomes a header of its own. */
    const char *start = test_format("%s HTTP/1.1\r\nX-Request-Id: " PROBE_ID "\r\nX-Rest:", line);
    test_answer answer = test_ask(a->daemon, start, a->token, body);
    char *text = test_format("%.*s%.*s", (int)answer.head.len, answer.head.ptr,
                             (int)answer.body.len, answer.body.ptr);
    char *date = strstr(text, "Date: ");
    char *at;

    a->asked++;
    a->seen += strstr(text, "CANARY") != NULL;
    for (size_t i = 0; i < 2; i++)
        if (a->unwanted[i] != NULL && strstr(text, a->unwanted[i]) != NULL)
            test_fail(__FILE__, __LINE__, "%s %s shows %s:\n%s", line, body, a->unwanted[i], text);
    if (date != NULL)
        memset(date, '-', strcspn(date, "\r"));
    while (id != NULL && (at = strstr(text, id)) != NULL)
        memset(at, '#', strlen(id));
    return text;
}

/* An id like this one that nothing has: the first digits are the time, the last a hash. */
static const char *missing_like(const char *id)
{
    char *other = test_format("%s", id);
    size_t len = strlen(other);

    for (size_t i = len > 12 ? len - 12 : 0; i < len; i++)
        other[i] = other[i] == 'Z' ? 'Y' : 'Z';
    return other;
}

#define TRIES 3

typedef struct question {
    const char *line, *body, *id;
} question;

/* Asks both. Jobs go on in between, so answers that differ are asked for again. */
static void ask_both(asking *a, const question both[2], bool is_same)
{
    const char *answers[2];
    int tries = 0;

    do {
        for (int i = 0; i < 2; i++)
            answers[i] = ask(a, both[i].line, both[i].body, both[i].id);
    } while (is_same && strcmp(answers[0], answers[1]) != 0 && ++tries < TRIES);
    if (is_same)
        CHECK_STR_EQ(answers[0], answers[1]);
}

static void try_one(asking *a, const lc_op *op, const probe *foreign)
{
    probe missing = *foreign;
    const char *line = test_format("POST /v1/call/%s", op->name), *lines[2];
    bool has_body;

    /* A write without an id in its path writes the caller's own data, so its answers may differ. */
    bool is_same = (op->flags & LC_OP_MUTATES) == 0 ||
                   strstr(op->http == NULL ? "" : op->http, "{id}") != NULL;

    missing.id = missing_like(foreign->id);
    ask_both(a,
             (question[]){{line, arguments_for(op, foreign), foreign->id},
                          {line, arguments_for(op, &missing), missing.id}},
             is_same);
    if (op->http == NULL)
        return;
    lines[0] = line_for(op, foreign, &has_body);
    lines[1] = line_for(op, &missing, &has_body);
    ask_both(a,
             (question[]){{lines[0], has_body ? "{}" : NULL, foreign->id},
                          {lines[1], has_body ? "{}" : NULL, missing.id}},
             is_same);
}

/* Whether two answers of `op` differ for any caller: it returns the time of day, increments a
 * counter, makes a job each time, or finds more once a job has made vectors. */
static bool is_changing(const lc_op *op)
{
    static const char *const names[] = {"store.status", "environment.list", "context.build",
                                        "model.reembed", "session.search"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op->name, names[i]) == 0)
            return true;
    return false;
}

static void try_operation(asking *a, const lc_op *op, const tenant *other)
{
    static const char *const users[] = {NULL, "ada", "bob"};
    const lc_param *param;

    if (is_changing(op)) {
        (void)ask(a, test_format("POST /v1/call/%s", op->name), "{}", NULL);
        return;
    }
    for (size_t i = 0; i < other->id_count; i++) {
        for (size_t u = 0; u < 3; u++)
            if (u == 0 || (op->flags & LC_OP_USER) != 0)
                try_one(a, op, &(probe){.user = users[u], .id = other->ids[i]});
    }
    for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++) {
        bool is_open = param->kind == LC_PARAM_STRING && param->choices == NULL &&
                       (param->flags & LC_PARAM_REQUIRED) == 0;

        /* A request_id makes a write a repeat of another; the rest are cursors and filters. */
        if (is_open && (op->flags & LC_OP_MUTATES) == 0)
            try_one(a, op, &(probe){.user = "ada", .id = other->ids[0], .probed = param});
    }
}

static void try_all(asking *a, const tenant *other)
{
    for (size_t i = 0; i < lc_op_count(); i++)
        try_operation(a, lc_op_at(i), other);
}

/* Everything that a tenant can see of its own, before and after. */
static const char *picture(const test_daemon *daemon, const tenant *t)
{
    static const char *const lines[] = {
        "GET /v1/facts/history/city?user_id=ada", "GET /v1/facts/history/city?user_id=bob",
        "GET /v1/facts?user_id=ada", "GET /v1/events?user_id=bob", "GET /v1/config"};
    asking a = {.daemon = daemon, .token = t->admin};
    const char *all = "";

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        all = test_format("%s%s", all, ask(&a, lines[i], NULL, NULL));
    CHECK_CONTAINS(all, test_format("CANARY-%s-bob-1", t->name));
    return all;
}

static void check_log(const test_daemon *daemon, const tenant *t)
{
    CHECK(strstr(daemon->process.err.ptr, "CANARY") == NULL);
    CHECK(strstr(daemon->process.err.ptr, t->admin) == NULL);
    /* The secret, which may contain underscores, begins after the underscore behind the id. */
    CHECK(strstr(daemon->process.err.ptr, strchr(t->admin + strlen("loci_"), '_') + 1) == NULL);
}

/* An agency keeps two of its customers in one daemon. */
TEST(canary, no_operation_shows_anything_of_another_tenant)
{
    const char *store = test_path(test_tmpdir(), "store.db");
    tenant left = {.name = "left"}, right = {.name = "right"};
    test_daemon daemon;
    const char *before;
    asking a;

    test_timeout(300);
    fill(&left, store);
    fill(&right, store);
    daemon = test_daemon_start_on(store, NULL);
    before = picture(&daemon, &left);
    a = (asking){&daemon, right.admin, {"CANARY-left", NULL}, 0, 0};
    try_all(&a, &left);
    a.token = right.narrow;
    a.unwanted[1] = "CANARY-right-bob";
    try_all(&a, &left);
    (void)ask(&a, "GET /metrics", NULL, NULL);
    a.token = right.admin;
    a.unwanted[1] = NULL;
    (void)ask(&a, "GET /metrics", NULL, NULL);
    printf("    canary: %lld requests, %lld showed our own\n", (long long)a.asked,
           (long long)a.seen);
    CHECK_LT(100, a.seen); /* Else the test would prove nothing. */
    /* Nor did any of them change anything; the tokens that were to be revoked are good. */
    CHECK_STR_EQ(picture(&daemon, &left), before);
    test_daemon_stop(&daemon);
    check_log(&daemon, &left);
    check_log(&daemon, &right);
}

/* The same inside one tenant: a token of ada's tries what is bob's. */
TEST(canary, a_token_of_one_user_sees_nothing_of_another)
{
    const char *store = test_path(test_tmpdir(), "store.db");
    tenant left = {.name = "left"};
    test_daemon daemon;
    asking a;

    test_timeout(300);
    fill(&left, store);
    daemon = test_daemon_start_on(store, NULL);
    a = (asking){&daemon, left.narrow, {"CANARY-left-bob", "CANARY-left-admin"}, 0, 0};
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);

        for (size_t k = 2; k < left.id_count; k++) { /* From bob's facts on. */
            probe p = {.user = "bob", .id = left.ids[k]};
            bool has_body;

            (void)ask(&a, test_format("POST /v1/call/%s", op->name), arguments_for(op, &p), NULL);
            p.user = NULL;
            (void)ask(&a, test_format("POST /v1/call/%s", op->name), arguments_for(op, &p), NULL);
            if (op->http != NULL)
                (void)ask(&a, line_for(op, &p, &has_body), NULL, NULL);
        }
    }
    test_daemon_stop(&daemon);
    check_log(&daemon, &left);
}

/* ---- Streams --------------------------------------------------------------------------------- */

static int open_stream(const test_daemon *daemon, const char *target, const char *token)
{
    int fd = test_connect(daemon);

    CHECK(test_send(fd, loci_str_of(test_format(
                            "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
                            "Authorization: Bearer %s\r\n\r\n",
                            target, token))));
    return fd;
}

static void write_city(const test_daemon *daemon, const char *token, const char *value)
{
    static const char *const users[] = {"ada", "bob"};

    for (size_t i = 0; i < 2; i++)
        CHECK_EQ(test_ask(daemon, "POST /v1/facts", token,
                          test_format("{\"key\":\"city\",\"value\":\"%s-%s\",\"user_id\":\"%s\"}",
                                      value, users[i], users[i]))
                     .status,
                 200);
}

TEST(canary, streams_are_of_their_own_tenant_and_user)
{
    const char *store = test_path(test_tmpdir(), "store.db");
    tenant left = {.name = "left"}, right = {.name = "right"};
    loci_str all, narrow, replay;
    test_daemon daemon;
    int sockets[3];

    fill(&left, store);
    fill(&right, store);
    daemon = test_daemon_start_on(store, NULL);
    sockets[0] = open_stream(&daemon, "/v1/events", right.admin);
    sockets[1] = open_stream(&daemon, "/v1/events?after_seq=0", right.narrow);
    sockets[2] = open_stream(&daemon, "/v1/events?user_id=bob&after_seq=0", right.admin);
    test_sleep_ms(300);
    write_city(&daemon, left.admin, "CANARY-left-live");
    write_city(&daemon, right.admin, "CANARY-right-live");
    test_sleep_ms(500);
    test_daemon_stop(&daemon); /* Which ends the streams. */
    all = test_receive_all(sockets[0]);
    narrow = test_receive_all(sockets[1]);
    replay = test_receive_all(sockets[2]);
    for (size_t i = 0; i < 3; i++)
        close(sockets[i]);
    CHECK_CONTAINS(all, "CANARY-right-live-ada");
    CHECK_CONTAINS(all, "CANARY-right-live-bob");
    CHECK_CONTAINS(narrow, "CANARY-right-ada-1");
    CHECK_CONTAINS(narrow, "CANARY-right-live-ada");
    CHECK_CONTAINS(replay, "CANARY-right-live-bob");
    CHECK(memmem(all.ptr, all.len, "CANARY-left", 11) == NULL);
    CHECK(memmem(narrow.ptr, narrow.len, "CANARY-left", 11) == NULL);
    CHECK(memmem(replay.ptr, replay.len, "CANARY-left", 11) == NULL);
    CHECK(memmem(narrow.ptr, narrow.len, "-bob", 4) == NULL);
    CHECK(memmem(replay.ptr, replay.len, "-ada", 4) == NULL);
    check_log(&daemon, &right);
}
