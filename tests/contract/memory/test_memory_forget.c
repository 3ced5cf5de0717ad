/* Forgetting memories: what goes along, what stays, who may. Random histories are in test_forget.c.
 */
#include "contract/fact_fixture.h"

#include "base/str.h"
#include "lib/files.h"
#include "lib/postgres.h"

static void open_here(facts *f)
{
    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
}

static const char *text_of(loci_str answer, const char *path)
{
    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, path)));
}

static const char *store(facts *f, const char *args)
{
    return text_of(facts_call(f, "memory.store", "%s", args), "id");
}

static void check_rebuilds(facts *f)
{
    CHECK_EQ(test_member_int(facts_call(f, "store.rebuild", "{}"), "result.differences"), 0);
}

TEST(memory_forget, nothing_superseded_comes_back)
{
    facts f;
    const char *old, *now;
    loci_str answer;

    open_here(&f);
    old = store(&f, "{'text':'Lives in Austin'}");
    now = store(&f, "{'text':'Lives in Canarytown','metadata':{'from':'CANARY'},"
                    "'request_id':'r1'}");
    (void)facts_call(&f, "memory.update", "{'id':'%s','metadata':{'from':'CANARY 2'}}", now);
    (void)facts_call(&f, "memory.recall", "{'query':'Canarytown'}");
    answer = facts_call(&f, "memory.forget", "{'id':'%s','dry_run':true}", now);
    CHECK_EQ(test_member_int(answer, "removed.memory"), 1);
    CHECK_STR_EQ(text_of(answer, "items.0.id"), now);
    CHECK_CONTAINS(facts_call(&f, "memory.recall", "{'query':'lives'}"), "Canarytown");
    answer = facts_call(&f, "memory.forget", "{'id':'%s','wait':true}", now);
    CHECK_EQ(test_member_int(answer, "removed.memory"), 1);
    CHECK_EQ(test_member_int(answer, "removed.event"), 2);
    CHECK_EQ(test_member_int(answer, "removed.answer"), 1);
    CHECK_STR_EQ(test_member(answer, "scrubbed"), "true");
    CHECK(!facts_is_stored(&f, "CANARY"));
    CHECK(!facts_is_stored(&f, "anarytown"));
    answer = facts_call(&f, "memory.get", "{'id':'%s'}", old);
    CHECK_STR_EQ(text_of(answer, "status"), "superseded");
    CHECK_STR_EQ(text_of(answer, "superseded_by"), now);
    CHECK_STR_EQ(test_member(facts_call(&f, "memory.recall", "{'query':'lives'}"), "results"),
                 "[]");
    facts_fail(&f, LOCI_ENOTFOUND, now, "memory.get", test_format("{'id':'%s'}", now));
    facts_fail(&f, LOCI_ENOTFOUND, now, "memory.forget", test_format("{'id':'%s'}", now));
    facts_fail(&f, LOCI_ECONFLICT, "forgotten", "memory.store",
               "{'text':'Lives in Canarytown','metadata':{'from':'CANARY'},'request_id':'r1'}");
    answer = facts_call(&f, "memory.history", "{'id':'%s'}", old);
    CHECK_STR_EQ(text_of(answer, "memories.0.id"), old);
    CHECK_STR_EQ(test_member(answer, "memories.1"), "");
    check_rebuilds(&f);
    facts_close(&f);
}

/* A fold has the words of its sources, and they have its words: whichever is named, all go, and
 * what was stored again by memory.unfold. */
TEST(memory_forget, folds_and_their_sources_go_together)
{
    facts f;
    const char *id, *fold;
    loci_str answer;

    open_here(&f);
    for (int unfolds = 0; unfolds < 2; unfolds++) {
        id = store(&f, "{'text':'Likes canaries in the morning'}");
        (void)store(&f, "{'text':'likes canaries in morning - really!'}");
        (void)store(&f, "{'text':'Likes strong coffee'}");
        CHECK_EQ(test_member_int(facts_call(&f, "memory.curate", "{}"), "result.folded"), 1);
        answer = facts_call(&f, "memory.list", "{'limit':1}");
        fold = text_of(answer, "memories.0.id");
        CHECK_STR_EQ(text_of(answer, "memories.0.source"), "curated_fold");
        if (unfolds)
            (void)facts_call(&f, "memory.unfold", "{'id':'%s'}", fold);
        answer = facts_call(&f, "memory.forget", "{'id':'%s','wait':true}", unfolds ? fold : id);
        CHECK_EQ(test_member_int(answer, "removed.memory"), unfolds ? 5 : 3);
        CHECK(!facts_is_stored(&f, "canaries"));
        answer = facts_call(&f, "memory.list", "{'status':'any'}");
        CHECK_STR_EQ(text_of(answer, "memories.0.text"), "Likes strong coffee");
        CHECK_STR_EQ(test_member(answer, "memories.1"), "");
    }
    check_rebuilds(&f);
    facts_close(&f);
}

/* A claim that was confirmed is stored once more; what a text replaced has other words. */
TEST(memory_forget, the_same_statement_goes_and_other_versions_stay)
{
    facts f;
    const char *claim, *now;
    loci_str answer;

    open_here(&f);
    (void)store(&f, "{'text':'Lives in Austin','pinned':true}");
    claim = store(&f, "{'text':'Lives in Canarytown'}");
    now = text_of(facts_call(&f, "memory.confirm", "{'id':'%s'}", claim), "id");
    CHECK(!lc_str_is(loci_str_of(claim), now));
    (void)facts_call(&f, "memory.update", "{'id':'%s','text':'Lives in Denver'}", now);
    answer = facts_call(&f, "memory.forget", "{'id':'%s','wait':true}", claim);
    CHECK_EQ(test_member_int(answer, "removed.memory"), 2);
    CHECK(!facts_is_stored(&f, "anarytown"));
    answer = facts_call(&f, "memory.list", "{'status':'any'}");
    CHECK_STR_EQ(text_of(answer, "memories.0.text"), "Lives in Denver");
    CHECK_STR_EQ(text_of(answer, "memories.1.text"), "Lives in Austin");
    CHECK_STR_EQ(text_of(answer, "memories.1.status"), "superseded");
    CHECK_STR_EQ(test_member(answer, "memories.2"), "");
    check_rebuilds(&f);
    facts_close(&f);
}

TEST(memory_forget, entities_go_with_their_last_memory)
{
    facts f;
    const char *one, *other;
    loci_str answer;

    open_here(&f);
    one = store(&f, "{'text':'Met at the fair','entity_refs':['person:Canary Jones','org:acme'],"
                    "'entity_label':'CANARY Jones'}");
    other = store(&f, "{'text':'Sells paper','entity_refs':['org:acme']}");
    (void)store(&f, "{'text':'Met him too','entity_refs':['org:acme'],'persona_id':'coach'}");
    (void)facts_call(&f, "entity.alias", "{'entity':'person:Canary Jones','alias':'person:cj'}");
    answer = facts_call(&f, "memory.forget", "{'id':'%s','wait':true}", one);
    CHECK_EQ(test_member_int(answer, "removed.entity"), 2);
    CHECK(!facts_is_stored(&f, "CANARY"));
    CHECK(!facts_is_stored(&f, "canary_jones"));
    facts_fail(&f, LOCI_ENOTFOUND, "no entity", "entity.get", "{'entity':'person:cj'}");
    CHECK_EQ(test_member_int(facts_call(&f, "entity.get", "{'entity':'org:acme'}"), "memories"), 1);
    answer = facts_call(&f, "memory.forget", "{'id':'%s'}", other);
    CHECK_EQ(test_member_int(answer, "removed.entity"), 1);
    facts_fail(&f, LOCI_ENOTFOUND, "no entity", "entity.get", "{'entity':'org:acme'}");
    answer = facts_call(&f, "entity.get", "{'entity':'org:acme','persona_id':'coach'}");
    CHECK_EQ(test_member_int(answer, "memories"), 1);
    /* One that is named again is a new one. */
    (void)store(&f, "{'text':'Sells pens','entity_refs':['org:acme']}");
    CHECK_EQ(test_member_int(facts_call(&f, "entity.get", "{'entity':'org:acme'}"), "memories"), 1);
    check_rebuilds(&f);
    facts_close(&f);
}

TEST(memory_forget, everything_of_an_entity_or_with_metadata)
{
    facts f;
    loci_str answer;

    open_here(&f);
    (void)store(&f, "{'text':'CANARY likes tea','entity_refs':['person:john']}");
    (void)store(&f, "{'text':'CANARY left','entity_refs':['person:johnny'],'attribute':'state'}");
    (void)store(&f, "{'text':'CANARY back','entity_refs':['person:johnny'],'attribute':'state'}");
    (void)facts_call(&f, "entity.merge", "{'entity':'person:johnny','into':'person:john'}");
    (void)store(&f, "{'text':'Likes chess','metadata':{'from':'slack','n':1}}");
    (void)store(&f, "{'text':'Likes golf','metadata':{'from':'slack'}}");
    (void)store(&f, "{'text':'Likes tea'}");
    answer = facts_call(&f, "memory.forget", "{'entity':'person:john','wait':true}");
    CHECK_EQ(test_member_int(answer, "removed.memory"), 3);
    CHECK_EQ(test_member_int(answer, "removed.entity"), 2);
    CHECK(!facts_is_stored(&f, "CANARY"));
    CHECK(!facts_is_stored(&f, "person:john"));
    facts_fail(&f, LOCI_ENOTFOUND, "no entity", "memory.forget", "{'entity':'person:john'}");
    facts_fail(&f, LOCI_EINVAL, "metadata", "memory.forget", "{'metadata':{}}");
    facts_fail(&f, LOCI_EINVAL, "entity", "memory.forget", "{}");
    answer = facts_call(&f, "memory.forget", "{'metadata':{'from':'slack','n':1}}");
    CHECK_EQ(test_member_int(answer, "removed.memory"), 1);
    answer = facts_call(&f, "memory.forget", "{'metadata':{'from':'slack'}}");
    CHECK_EQ(test_member_int(answer, "removed.memory"), 1);
    facts_fail(&f, LOCI_ENOTFOUND, "metadata", "memory.forget", "{'metadata':{'from':'slack'}}");
    answer = facts_call(&f, "memory.list", "{'status':'any'}");
    CHECK_STR_EQ(text_of(answer, "memories.0.text"), "Likes tea");
    CHECK_STR_EQ(test_member(answer, "memories.1"), "");
    check_rebuilds(&f);
    facts_close(&f);
}

TEST(memory_forget, only_what_the_caller_sees_and_may_change)
{
    facts f;
    const char *id, *args;

    open_here(&f);
    id = store(&f, "{'text':'Likes tea','persona_id':'ann'}");
    args = test_format("{'id':'%s','persona_id':'bob'}", id);
    facts_fail(&f, LOCI_ENOTFOUND, id, "memory.forget", args);
    args = test_format("{'id':'%s','persona_id':'ann'}", id);
    f.trust = "model";
    facts_fail(&f, LOCI_EFORBIDDEN, "memory.forget", "memory.forget", args);
    f.trust = NULL;
    (void)facts_call(&f, "memory.forget", "%s", args);
    facts_close(&f);
}

TEST(memory_forget, a_todo_goes_with_its_changes)
{
    facts f;
    const char *id, *args;
    loci_str answer;

    open_here(&f);
    id = text_of(facts_call(&f, "todo.add", "{'text':'CANARY call'}"), "id");
    (void)facts_call(&f, "todo.add", "{'text':'buy milk'}");
    (void)facts_call(&f, "todo.update", "{'id':'%s','text':'CANARY visit'}", id);
    answer = facts_call(&f, "todo.forget", "{'id':'%s','wait':true}", id);
    CHECK_EQ(test_member_int(answer, "removed.todo"), 1);
    CHECK_EQ(test_member_int(answer, "removed.event"), 2);
    CHECK(!facts_is_stored(&f, "CANARY"));
    args = test_format("{'id':'%s'}", id);
    facts_fail(&f, LOCI_ENOTFOUND, id, "todo.forget", args);
    answer = facts_call(&f, "todo.list", "{}");
    CHECK_STR_EQ(text_of(answer, "todos.0.text"), "buy milk");
    check_rebuilds(&f);
    facts_close(&f);
}

/* Another engine drops its index; a vector goes with the last row of its text. */
TEST(memory_forget, indexes_and_vectors_go)
{
    facts f, other;
    const char *id;
    loci_str answer;

    open_here(&f);
    id = store(&f, "{'text':'Likes CANARY tea','vector':[1,2],'model':'own'}");
    facts_open_store(&other, f.store);
    CHECK_CONTAINS(facts_call(&other, "memory.recall", "{'query':'tea'}"), "CANARY");
    answer = facts_call(&f, "memory.forget", "{'id':'%s'}", id);
    CHECK_LE(1, test_member_int(answer, "removed.vector"));
    CHECK_EQ(test_store_number(f.store, "select count(*) from vectors"), 0);
    CHECK_STR_EQ(test_member(facts_call(&other, "memory.recall", "{'query':'tea'}"), "results"),
                 "[]");
    facts_close(&other);
    facts_close(&f);
}
