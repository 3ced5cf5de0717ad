/* Secrets in what users say: replaced, refused or kept, and never in any file when replaced. */
#include "contract/context_fixture.h"

#include <string.h>

#include "base/str.h"
#include "lib/files.h"
#include "lib/postgres.h"
#include "ops/check.h"

#define TOKEN "ghp_q83vASNFZ4mrze8BI0VniavN7wEj00aZ91xY"
#define KEY_ID "AKIAQ3EGRUYZ7KLMW2PX"
#define PASSWORD "hunter2trap"

static void open_here(facts *f)
{
    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
}

TEST(secrets, are_replaced_before_anything_is_written)
{
    facts f;
    loci_str answer;

    open_here(&f);
    answer = facts_call(&f, "session.append",
                        "{'role':'user','text':'Use " TOKEN " please.','request_id':'r1'}");
    CHECK_STR_EQ(test_member_text(answer, "warnings.0.code"), "secret_redacted");
    CHECK_STR_EQ(test_member_text(answer, "warnings.0.parameter"), "text");
    CHECK_STR_EQ(test_member_text(answer, "warnings.0.kind"), "github_token");
    CHECK_EQ(test_member_int(answer, "warnings.0.count"), 1);
    answer = facts_call(&f, "session.messages", "{}");
    CHECK_STR_EQ(test_member_text(answer, "messages.0.text"),
                 "Use [redacted: github_token] please.");
    /* A repeat gets the same answer, warning included. */
    answer = facts_call(&f, "session.append",
                        "{'role':'user','text':'Use " TOKEN " please.','request_id':'r1'}");
    CHECK_STR_EQ(test_member_text(answer, "warnings.0.kind"), "github_token");

    answer = facts_call(&f, "fact.write",
                        "{'key':'access','value':{'login':'ann','db_password':'" PASSWORD "',"
                        "'list':['x','token: " TOKEN "']},'source':'" TOKEN "'}");
    CHECK_CONTAINS(test_member(answer, "warnings"), "\"password\"");
    CHECK_CONTAINS(facts_call(&f, "fact.current", "{'key':'access'}"), "[redacted: password]");
    /* A value is called what its key says. */
    facts_write(&f, "created", "{'key':'wifi_password','value':'" PASSWORD "'}");
    CHECK_STR_EQ(facts_current(&f, "wifi_password", "value"), "[redacted: password]");
    (void)facts_call(&f, "fact.retract", "{'key':'access','reason':'leaked " TOKEN "'}");
    (void)facts_call(&f, "working.set", "{'key':'note','value':'" TOKEN "'}");
    (void)facts_call(&f, "environment.set", "{'key':'vpn','value':{'api_key':'" TOKEN "'}}");
    (void)facts_call(&f, "fact.observe", "{'text':'Actually, the token is " TOKEN ".'}");
    CHECK(!facts_is_stored(&f, TOKEN));
    CHECK(!facts_is_stored(&f, PASSWORD));
    /* Nothing to warn of. */
    answer = facts_call(&f, "session.append", "{'role':'user','text':'Send a password link.'}");
    CHECK_STR_EQ(test_member(answer, "warnings"), "");
    facts_close(&f);
}

/* The call warns that it replaced a secret. */
static loci_str redacted(facts *f, const char *op, const char *args)
{
    loci_str answer = facts_call(f, op, "%s", args);

    if (!lc_str_is(test_member_text(answer, "warnings.0.code"), "secret_redacted"))
        test_fail(__FILE__, __LINE__, "%s %s does not warn", op, args);
    return answer;
}

/* Every operation of the memory room that stores words, in each of its parameters; with a stored
 * answer, and with vectors that are made at once. */
TEST(secrets, are_replaced_in_memories_todos_and_entities)
{
    static const char *const calls[][2] = {
        {"memory.store",
         "{'messages':[{'role':'user','content':'Mine is " TOKEN "'},'Likes tea']}"},
        {"memory.store", "{'text':'Has a pass','metadata':{'db_password':'" PASSWORD "'}}"},
        {"memory.store", "{'text':'Knows them','entity_refs':['person:" TOKEN "']}"},
        {"memory.store", "{'text':'Knows Ann','entity_refs':['person:ann'],"
                         "'entity_label':'Ann " TOKEN "'}"},
        {"memory.store", "{'text':'Is busy','attribute':'" TOKEN "'}"},
        {"memory.store", "{'text':'Is late','subtype':{'entity_type':'" KEY_ID "'}}"},
        {"memory.seed", "{'memories':['Seeded " TOKEN "',{'text':'Again " TOKEN "'}]}"},
        {"memory.import", "{'text':'* Listed " TOKEN "\\n* Likes golf'}"},
        {"memory.import", "{'text':'{\\'text\\':\\'Line " TOKEN "\\',\\'metadata\\':"
                          "{\\'db_password\\':\\'" PASSWORD "\\'}}\\n','format':'jsonl'}"},
        {"entity.alias", "{'entity':'person:ann','alias':'person:" TOKEN "'}"},
    };
    facts f;
    loci_str answer;

    open_here(&f);
    answer = redacted(&f, "memory.store",
                      "{'text':'Uses " TOKEN " for CI','request_id':'r1','wait':true}");
    (void)redacted(&f, "memory.update",
                   test_format("{'id':'%.*s','entity_label':'" TOKEN "','metadata':{'k':'" TOKEN
                               "'}}",
                               LC_STR_ARG(test_member_text(answer, "id"))));
    (void)redacted(&f, "memory.update",
                   test_format("{'id':'%.*s','text':'Now " TOKEN "'}",
                               LC_STR_ARG(test_member_text(answer, "id"))));
    answer = redacted(&f, "todo.add",
                      "{'text':'Rotate " TOKEN "','entity_refs':['person:" TOKEN "']}");
    (void)redacted(&f, "todo.update",
                   test_format("{'id':'%.*s','text':'Rotate " TOKEN " now'}",
                               LC_STR_ARG(test_member_text(answer, "id"))));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        (void)redacted(&f, calls[i][0], calls[i][1]);
    answer = facts_call(&f, "memory.list", "{'status':'any'}");
    CHECK_CONTAINS(answer, "Line [redacted: github_token]");
    CHECK_CONTAINS(answer, "Uses [redacted: github_token] for CI");
    CHECK_CONTAINS(answer, "[redacted: password]");
    CHECK(!facts_is_stored(&f, TOKEN));
    CHECK(!facts_is_stored(&f, "q83vasnfz4mrze8bi0vniavn7wej00az91xy")); /* As a slug. */
    CHECK(!facts_is_stored(&f, PASSWORD));
    CHECK(!facts_is_stored(&f, KEY_ID));
    facts_close(&f);
}

/* The same path and the same words find what was redacted when it was stored. */
TEST(secrets, are_replaced_in_files_and_their_paths)
{
    facts f;
    loci_str answer;

    open_here(&f);
    (void)redacted(&f, "file.create",
                   "{'path':'/memories/" TOKEN "','file_text':'Use " TOKEN ".','request_id':'r'}");
    (void)redacted(&f, "file.insert",
                   "{'path':'/memories/" TOKEN "','insert_line':1,'insert_text':'or " KEY_ID "'}");
    (void)redacted(&f, "file.str_replace",
                   "{'path':'/memories/" TOKEN "','old_str':'Use " TOKEN "','new_str':'Try " TOKEN
                   "'}");
    answer = redacted(&f, "file.get", "{'path':'/memories/" TOKEN "'}");
    CHECK_STR_EQ(test_member_text(answer, "path"), "/memories/[redacted: github_token]");
    CHECK_CONTAINS(answer, "Try [redacted: github_token].");
    (void)redacted(&f, "file.rename",
                   "{'old_path':'/memories/" TOKEN "','new_path':'/memories/b-" TOKEN "'}");
    (void)redacted(&f, "file.view", "{'path':'/memories/b-" TOKEN "'}");
    (void)redacted(&f, "file.delete", "{'path':'/memories/b-" TOKEN "'}");
    CHECK(!facts_is_stored(&f, TOKEN));
    CHECK(!facts_is_stored(&f, KEY_ID));
    facts_close(&f);
}

TEST(secrets, are_refused_or_kept_if_the_setting_says_so)
{
    facts f;

    open_here(&f);
    (void)facts_call(&f, "config.set", "{'name':'secrets.policy','value':'refuse'}");
    facts_fail(&f, LOCI_EINVAL, "github_token", "session.append",
               "{'role':'user','text':'Use " TOKEN " please.'}");
    CHECK(strstr(f.err.message, TOKEN) == NULL);
    CHECK_CONTAINS(f.err.data, "\"kind\":\"github_token\"");
    facts_fail(&f, LOCI_EINVAL, "password", "fact.write",
               "{'key':'wifi_password','value':'" PASSWORD "'}");
    facts_fail(&f, LOCI_EINVAL, "github_token", "memory.store", "{'text':'Uses " TOKEN "'}");
    facts_fail(&f, LOCI_EINVAL, "github_token", "todo.add", "{'text':'Rotate " TOKEN "'}");
    facts_fail(&f, LOCI_EINVAL, "github_token", "file.create",
               "{'path':'/memories/a','file_text':'Use " TOKEN "'}");
    CHECK(!facts_is_stored(&f, TOKEN));
    (void)facts_call(&f, "config.set", "{'name':'secrets.policy','value':'keep'}");
    (void)facts_call(&f, "session.append", "{'role':'user','text':'Use " TOKEN " please.'}");
    CHECK(facts_is_stored(&f, TOKEN));
    facts_close(&f);
}

/* The name of a member cannot be replaced: two of them could become the same. */
TEST(secrets, in_the_name_of_a_member_are_refused)
{
    facts f;

    open_here(&f);
    facts_fail(&f, LOCI_EINVAL, "name of a member", "fact.write",
               "{'key':'access','value':{'" TOKEN "':1}}");
    facts_close(&f);
}

/* In a batch the warning is in the answer of its call. */
TEST(secrets, are_replaced_in_batches)
{
    facts f;
    loci_answer *answer = NULL;
    const loci_request batch[] = {
        {"fact.write", loci_str_of(test_json("{'key':'a','value':'" TOKEN "'}"))},
        {"fact.write", loci_str_of(test_json("{'key':'b','value':'plain'}"))},
    };

    open_here(&f);
    CHECK_OK(loci_call_many(f.engine, batch, 2, NULL, &answer, &f.err), f.err);
    CHECK_CONTAINS(loci_answer_json(answer), "secret_redacted");
    loci_answer_free(answer);
    CHECK(!facts_is_stored(&f, TOKEN));
    facts_close(&f);
}

/* Every operation that is looked through can say so. */
TEST(secrets, every_operation_that_takes_words_can_warn)
{
    size_t count = 0;

    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        lc_result members[LC_RECORD_MEMBERS_MAX];
        size_t member_count = lc_record_members(op->answer, members);
        bool is_screened = false, can_warn = false;

        for (const lc_param *param = op->params; param->name != NULL; param++)
            is_screened |= (param->flags & LC_PARAM_SAID) != 0;
        for (size_t m = 0; m < member_count; m++)
            can_warn |= strcmp(members[m].name, "warnings") == 0;
        count += is_screened;
        if (is_screened && !can_warn)
            test_fail(__FILE__, __LINE__, "%s", op->name);
    }
    CHECK_LE(14, count);
}
