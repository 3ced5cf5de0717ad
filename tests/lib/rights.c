/* rights.c - see rights.h. */
#include "lib/rights.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "ops/surface.h"

#define ALL (LC_SCOPE_READ | LC_SCOPE_WRITE)
#define ADMIN (ALL | LC_SCOPE_ADMIN)

/* ada has the personas p1 and p2, bob is another user, other another tenant. Data that needs the
 * rank of a manager belongs to the owner "manager", data that needs the permission hr to the owner
 * "permission". */
const rights_kind rights_kinds[] = {
    {.name = "foreign tenant",
     .tenant = "other",
     .args = "{'name':'t','scopes':['admin']}",
     .scopes = ADMIN,
     .foreign = {"CANARY-ada", "CANARY-bob", "CANARY-p2", "CANARY-manager", "CANARY-permission"}},
    {.name = "narrowed to a user",
     .args = "{'name':'t','user_id':'ada'}",
     .user = "ada",
     .scopes = ALL,
     .foreign = {"CANARY-bob", "CANARY-other", "CANARY-permission", "CANARY-token"}},
    {.name = "narrowed to a persona",
     .args = "{'name':'t','user_id':'ada','persona_id':'p1'}",
     .user = "ada",
     .persona = "p1",
     .scopes = ALL,
     .foreign = {"CANARY-bob", "CANARY-other", "CANARY-p2", "CANARY-permission", "CANARY-token"}},
    {.name = "capped authority",
     .args = "{'name':'t','authority':'guest'}",
     .scopes = ALL,
     .is_capped = true,
     .foreign = {"CANARY-other", "CANARY-manager", "CANARY-permission", "CANARY-token"}},
    {.name = "capped trust",
     .args = "{'name':'t','trust':'web'}",
     .scopes = ALL,
     .is_capped = true,
     .foreign = {"CANARY-other", "CANARY-permission", "CANARY-token"}},
    {.name = "read-only",
     .args = "{'name':'t','scopes':['read']}",
     .scopes = LC_SCOPE_READ,
     .foreign = {"CANARY-other", "CANARY-permission", "CANARY-token"}},
    {.name = "administrator of a user",
     .args = "{'name':'t','user_id':'ada','scopes':['admin']}",
     .user = "ada",
     .scopes = ADMIN,
     .is_capped = true, /* config.set is for those that nothing narrows. */
     .foreign = {"CANARY-bob", "CANARY-other", "CANARY-permission", "CANARY-token"}},
    {.name = "expired",
     .args = "{'name':'expired','scopes':['admin'],'ttl_s':1000}",
     .is_dead = true,
     .foreign = {"CANARY"}},
    {.name = "revoked",
     .args = "{'name':'t','scopes':['admin']}",
     .is_dead = true,
     .foreign = {"CANARY"}},
    {.name = "own",
     .args = "{'name':'t'}",
     .scopes = ALL,
     .foreign = {"CANARY-other", "CANARY-permission", "CANARY-token"}},
    {.name = "own administrator",
     .args = "{'name':'t','scopes':['admin']}",
     .scopes = ADMIN,
     .is_store_admin = true,
     .foreign = {"CANARY-other", "CANARY-permission"}},
};
const size_t rights_kind_count = sizeof rights_kinds / sizeof rights_kinds[0];

/* ---- The world ------------------------------------------------------------------------------- */

typedef struct filler {
    rights_world *world;
    loci_engine *engine;
    const char *tenant;
    const char *owner; /* CANARY-… */
    const char *user;
    const char *more; /* Members of every call. */
} filler;

static loci_str run(const filler *f, const char *operation, const char *args)
{
    loci_principal principal = {.size = sizeof principal,
                                .tenant = f->tenant,
                                .flags = LOCI_PRINCIPAL_ADMIN | LOCI_PRINCIPAL_TENANT_ADMIN};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_error err;
    loci_str text;

    options.principal = &principal;
    CHECK_OK(loci_call(f->engine, operation, loci_str_of(test_json(args)), &options, &answer, &err),
             err);
    text = loci_str_of(test_format("%s", loci_answer_json(answer).ptr));
    loci_answer_free(answer);
    return text;
}

static void note_id(const filler *f, const char *id)
{
    rights_world *world = f->world;

    CHECK_LT(world->id_count, RIGHTS_IDS_MAX);
    world->ids[world->id_count++] = (rights_id){f->owner, f->user, id};
}

/* `format` has the owner as its last member's value and is left open. */
static void add(const filler *f, const char *operation, const char *args)
{
    loci_str made = run(f, operation,
                        test_format("%s%s','user_id':'%s'%s}", args, f->owner, f->user, f->more));
    loci_str id = test_member_text(made, "id");

    if (id.len == 0)
        id = test_member_text(made, "file.id");
    if (id.len > 0)
        note_id(f, test_format("%.*s", (int)id.len, id.ptr));
}

/* Under the names that the examples of the operations use, and under others, which they leave. */
static void fill_owner(const filler *f, bool has_session)
{
    add(f, "fact.write", "{'key':'city','value':'");
    add(f, "fact.write", test_format("{'key':'city-%s','value':'", f->owner));
    if (!has_session)
        return;
    add(f, "session.append", "{'session_id':'chat-42','role':'user','text':'the harbour of ");
    add(f, "session.append", "{'role':'user','text':'we meet at the harbour of ");
    add(f, "working.set", "{'key':'draft','value':'");
    add(f, "environment.set", "{'key':'location','value':'");
    if (f->more[0] == '\0') /* A persona sees the file of all. */
        add(f, "file.create", "{'path':'/memories/notes.md','file_text':'");
    add(f, "file.create", test_format("{'path':'/memories/%s.md','file_text':'", f->owner));
    add(f, "frame.push", "{'session_id':'chat-42','goal':'the harbour of ");
    add(f, "identity.set",
        test_format("{'authority':'manager','session_id':'%s','user_name':'", f->owner));
}

static void fill_all(rights_world *world, loci_engine *engine)
{
    filler f = {world, engine, NULL, "CANARY-bob", "bob", ""};

    fill_owner(&f, true);
    f.owner = "CANARY-ada";
    f.user = "ada";
    fill_owner(&f, true);
    f.owner = "CANARY-p2";
    f.more = ",'persona_id':'p2'";
    fill_owner(&f, true);
    f.owner = "CANARY-manager";
    f.more = ",'min_read_authority':'manager'";
    fill_owner(&f, false);
    f.owner = "CANARY-permission";
    f.more = ",'required_permission':'hr','scope':'draft','scope_id':'d'";
    fill_owner(&f, false);
    f = (filler){world, engine, "other", "CANARY-other", "ada", ""};
    fill_owner(&f, true);
    f.user = "bob";
    fill_owner(&f, false);
    (void)run(&f, "token.create", "{'name':'CANARY-other'}");
    f = (filler){world, engine, NULL, "CANARY-token", "ada", ""};
    note_id(
        &f,
        test_format(
            "%s", test_member_text(run(&f, "token.create", "{'name':'CANARY-token'}"), "id").ptr));
}

void rights_fill(rights_world *world, const char *store)
{
    loci_engine *engine = test_open(store);

    *world = (rights_world){.id_count = 0};
    fill_all(world, engine);
    for (size_t i = 0; i < rights_kind_count; i++) {
        filler f = {world, engine, rights_kinds[i].tenant, "", "", ""};
        loci_str made = run(&f, "token.create", rights_kinds[i].args);

        world->tokens[i] = test_format("%s", test_member_text(made, "token").ptr);
        if (strcmp(rights_kinds[i].name, "revoked") == 0)
            (void)run(&f, "token.revoke",
                      test_format("{'id':'%s'}", test_member_text(made, "id").ptr));
    }
    test_close(engine);
    test_store_run(store, "update tokens set expires_at = created_at + 1 where name = 'expired'");
}

/* ---- Expectations ---------------------------------------------------------------------------- */

static bool is_other(const char *own, const char *given)
{
    return own != NULL && given != NULL && strcmp(own, given) != 0;
}

loci_status rights_expected(const rights_kind *kind, const lc_op *op, const char *user,
                            const char *persona)
{
    bool is_admin = (kind->scopes & LC_SCOPE_ADMIN) != 0;

    if (kind->is_dead)
        return LOCI_EAUTH;
    if ((lc_op_scopes(op) & ~kind->scopes) != 0 ||
        ((op->flags & LC_OP_ADMIN) != 0 && !kind->is_store_admin) ||
        ((op->flags & LC_OP_TENANT_ADMIN) != 0 && !is_admin) ||
        ((op->flags & LC_OP_WHOLE_USER) != 0 && kind->persona != NULL))
        return LOCI_EFORBIDDEN;
    if ((op->flags & LC_OP_USER) != 0 &&
        (is_other(kind->user, user) || is_other(kind->persona, persona)))
        return LOCI_ENOTFOUND;
    return LOCI_OK;
}

void rights_check_text(const rights_kind *kind, const char *what, const char *text)
{
    for (size_t i = 0; i < sizeof kind->foreign / sizeof kind->foreign[0]; i++) {
        if (kind->foreign[i] != NULL && strstr(text, kind->foreign[i]) != NULL)
            test_fail(__FILE__, __LINE__, "%s: %s shows %s: %s", kind->name, what, kind->foreign[i],
                      text);
    }
}

/* ---- The walk -------------------------------------------------------------------------------- */

typedef struct walk {
    const rights_world *world;
    rights_ask *ask;
    void *ctx;
    int asked, let_through, shown; /* Calls, those answered, and those with a canary. */
    int forbidden_to_all;
} walk;

/* `args` with one more member, or another value of it. */
static const char *with(const char *args, const char *name, const char *value)
{
    const char *member = test_format("\"%s\":\"", name), *at = strstr(args, member), *end;

    if (value == NULL)
        return args;
    if (at == NULL)
        return test_format("{%s%s\"%s%s", member, value, args[1] == '}' ? "" : ",", args + 1);
    end = strchr(at + strlen(member), '"');
    return test_format("%.*s%s%s%s", (int)(at - args), args, member, value, end);
}

/* `args` with another id; NULL when it has none. */
static const char *with_id(const char *args, const char *id)
{
    if (strstr(args, "\"id\":\"") != NULL)
        return with(args, "id", id);
    return strstr(args, "\"frame_id\":\"") != NULL ? with(args, "frame_id", id) : NULL;
}

/* Examples name objects that no store has; each becomes a new object of the user and persona, so
 * that a call which is allowed finds it, in whatever state the calls before have left the others.
 */
static const struct {
    const char *id, *operation, *args; /* The owner's canary is the value of its last member. */
    const char *member;                /* Of the answer. */
} makers[] = {
    {"fact_00000000000000000000000000", "fact.write", "{'key':'object','value':'", "id"},
    {"mem_00000000000000000000000000", "memory.store", "{'text':'", "id"},
    {"todo_00000000000000000000000000", "todo.add", "{'text':'", "id"},
    {"frm_00000000000000000000000000", "frame.push", "{'goal':'", "id"},
    {"hdl_00000000000000000000000000", "frame.handle_add",
     "{'frame_id':'frm_00000000000000000000000000','text':'", "id"},
    {"rsv_00000000000000000000000000", "frame.reserve",
     "{'frame_id':'frm_00000000000000000000000000','tokens':500,'purpose':'", "id"},
    {"frt_00000000000000000000000000000000", "frame.suspend",
     "{'id':'frm_00000000000000000000000000','reason':'", "token"},
};

/* The first member of that name in an answer, which may follow the head of an HTTP message. */
static const char *member_in(const char *text, const char *name)
{
    const char *member = test_format("\"%s\":\"", name), *at = strstr(text, member);

    CHECK(at != NULL);
    at += strlen(member);
    return test_format("%.*s", (int)strcspn(at, "\""), at);
}

/* Without a user: `args` as they are. */
static const char *with_objects(walk *w, const char *args, const char *user, const char *persona)
{
    const char *owner = persona != NULL ? persona : user;
    const rights_kind *admin = &rights_kinds[rights_kind_count - 1];

    for (size_t i = sizeof makers / sizeof *makers; user != NULL && i-- > 0;) {
        const char *at = strstr(args, makers[i].id), *text = "";
        rights_call make = {.kind = admin, .token = w->world->tokens[rights_kind_count - 1]};

        if (at == NULL)
            continue;
        make.op = lc_op_find(loci_str_of(makers[i].operation));
        make.args = test_json(test_format("%sCANARY-%s'}", makers[i].args, owner));
        make.args = with(with(make.args, "user_id", user), "persona_id", persona);
        make.args = with_objects(w, make.args, user, persona); /* The frame of a handle. */
        CHECK_STATUS(LOCI_OK, w->ask(w->ctx, &make, &text));
        args = test_format("%.*s%s%s", (int)(at - args), args, member_in(text, makers[i].member),
                           at + strlen(makers[i].id));
    }
    return args;
}

static loci_status try(walk *w, const rights_call *call)
{
    const char *text = "";
    loci_status status = w->ask(w->ctx, call, &text);

    w->asked++;
    w->let_through += status == LOCI_OK;
    w->shown += strstr(text, "CANARY") != NULL;
    rights_check_text(call->kind, test_format("%s %s", call->op->name, call->args), text);
    return status;
}

/* Whether the call is forbidden to the administrator of the store, too: then not for want of
 * rights, but because an identity, say, can be set only once. */
static bool is_forbidden_to_all(walk *w, rights_call call)
{
    call.kind = &rights_kinds[rights_kind_count - 1];
    call.token = w->world->tokens[rights_kind_count - 1];
    call.request_id = NULL;
    w->forbidden_to_all++;
    return try(w, &call) == LOCI_EFORBIDDEN;
}

static void expect(walk *w, const rights_call *call, loci_status expected, loci_status status)
{
    bool is_right = status == expected;

    /* An allowed call may still fail for other reasons. */
    if (expected == LOCI_OK)
        is_right = status != LOCI_EAUTH && (status != LOCI_EFORBIDDEN || call->kind->is_capped ||
                                            is_forbidden_to_all(w, *call));
    if (!is_right)
        test_fail(__FILE__, __LINE__, "%s: %s %s%s: expected %s, was %s", call->kind->name,
                  call->op->name, call->args, call->beside != NULL ? " in a batch" : "",
                  loci_status_name(expected), loci_status_name(status));
}

/* Each change runs in a new session, so that one does not affect the next. */
static const char *in_new_session(const walk *w, const lc_op *op, const char *args)
{
    bool is_needed = (op->flags & LC_OP_SESSION) != 0 && (op->flags & LC_OP_MUTATES) != 0;

    return is_needed && strstr(args, "\"session_id\"") == NULL
               ? with(args, "session_id", test_format("s%d", w->asked))
               : args;
}

/* Alone, and in a batch with a read of the same user. */
static void try_for(walk *w, rights_call call, const char *user, const char *persona)
{
    const lc_op *list = lc_op_find(LC_STR("fact.list"));
    loci_status expected = rights_expected(call.kind, call.op, user, persona);
    const char *args = call.args;
    const char *own = call.kind->user != NULL ? call.kind->user : "default";
    const char *of = user != NULL ? user : own;
    const char *of_persona = persona != NULL ? persona : call.kind->persona;
    loci_status status;

    if (expected != LOCI_OK && expected != LOCI_ENOTFOUND)
        of = NULL; /* Refused before it is looked for. */
    if ((call.op->flags & LC_OP_USER) != 0)
        args = with(with(args, "user_id", user), "persona_id", persona);
    call.args = with_objects(w, in_new_session(w, call.op, args), of, of_persona);
    expect(w, &call, expected, try(w, &call));
    call.args = with_objects(w, in_new_session(w, call.op, args), of, of_persona);
    call.beside = with(with("{}", "user_id", user), "persona_id", persona);
    status = try(w, &call);
    if (status == LOCI_EINVAL && (call.op->flags & (LC_OP_ALONE | LC_OP_SECRET)) != 0)
        return; /* They cannot be in a batch. */
    if (expected == LOCI_OK)
        expected = rights_expected(call.kind, list, user, persona);
    /* Scopes of all calls are checked before users. */
    if (expected == LOCI_ENOTFOUND && (lc_op_scopes(list) & ~call.kind->scopes) != 0)
        expected = LOCI_EFORBIDDEN;
    expect(w, &call, expected, status);
}

/* Ids of others are as good as none. */
static void try_ids(walk *w, rights_call call)
{
    const char *example = call.args;

    for (size_t i = 0; i < w->world->id_count; i++) {
        const rights_id *foreign = &w->world->ids[i];
        bool is_foreign = false;

        for (size_t k = 0; k < sizeof call.kind->foreign / sizeof call.kind->foreign[0]; k++)
            is_foreign |= call.kind->foreign[k] != NULL &&
                          strstr(foreign->owner, call.kind->foreign[k]) != NULL;
        if (!is_foreign || call.kind->is_dead)
            continue;
        call.args = with_id(example, foreign->id);
        if (call.args == NULL)
            return;
        CHECK(try(w, &call) != LOCI_OK);
        if ((call.op->flags & LC_OP_USER) == 0)
            continue;
        call.args = with(call.args, "user_id", foreign->user);
        CHECK(try(w, &call) != LOCI_OK);
    }
}

/* The administrator's answer is stored under an id that every other kind of token then uses. */
static void try_replay(walk *w, const lc_op *op, const char *user)
{
    const char *args = (op->flags & LC_OP_USER) != 0 ? with(op->example, "user_id", user)
                                                     : op->example;
    rights_call call = {.op = op,
                        .args = in_new_session(w, op, args),
                        .beside = with("{}", "user_id", user),
                        .request_id = test_format("replay-%s-%s", op->name, user)};

    if ((op->flags & LC_OP_MUTATES) == 0 || (op->flags & (LC_OP_ALONE | LC_OP_SECRET)) != 0)
        return;
    call.args = with_objects(w, call.args, user, NULL);
    for (size_t i = rights_kind_count; i-- > 0;) {
        const rights_kind *kind = &rights_kinds[i];
        loci_status expected = rights_expected(kind, op, user, NULL);

        call.kind = kind;
        call.token = w->world->tokens[i];
        if (expected == LOCI_OK)
            expected = rights_expected(kind, lc_op_find(LC_STR("fact.list")), user, NULL);
        expect(w, &call, expected, try(w, &call));
    }
}

void rights_walk(const rights_world *world, rights_ask *ask, void *ctx)
{
    walk w = {.world = world, .ask = ask, .ctx = ctx};

    for (size_t i = 0; i < lc_op_count(); i++) {
        try_replay(&w, lc_op_at(i), "ada");
        try_replay(&w, lc_op_at(i), "bob");
    }
    for (size_t k = 0; k < rights_kind_count; k++) {
        for (size_t i = 0; i < lc_op_count(); i++) {
            rights_call call = {.kind = &rights_kinds[k],
                                .token = world->tokens[k],
                                .op = lc_op_at(i),
                                .args = lc_op_at(i)->example};

            try_for(&w, call, NULL, NULL);
            if ((call.op->flags & LC_OP_USER) != 0) {
                try_for(&w, call, "ada", NULL);
                try_for(&w, call, "bob", NULL);
                try_for(&w, call, "ada", "p2");
            }
            try_ids(&w, call);
        }
    }
    printf("    rights: %d calls, %d let through, %d showed canaries of their own\n", w.asked,
           w.let_through, w.shown);
    CHECK_LT(w.asked / 5, w.let_through); /* Else the walk would prove nothing. */
    CHECK_LT(2000, w.shown);
    CHECK_LT(w.forbidden_to_all, w.asked / 50);
}
