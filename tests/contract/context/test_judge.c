/* The shadow judge: what messages leave behind, and what they must not.
 *
 * tests/judge/states.jsonl has messages in which people say something about themselves, with what
 * is to be learned; tests/judge/ordinary.jsonl has ordinary talk that must give nothing. A wrong
 * memory is worse than a missing one, so the bars are a precision of 0.9 and memories from at most
 * 2 % of ordinary messages; the floor of recall is that of the rules as they are.
 */
#include "contract/context_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define SAID_AT "2026-03-11T10:00:00Z" /* A Wednesday. */
#define PRECISION_MIN 0.9
#define RECALL_MIN 0.95
#define ORDINARY_MAX 0.02

/* ---- The evaluation set ---------------------------------------------------------------------- */

typedef struct tally {
    int messages, made, right, wanted, found, touched;
} tally;

/* Whether all words stand in the text, whatever their case. */
static bool has_words(loci_str text, loci_str words)
{
    while (words.len > 0) {
        loci_str word = lc_str_split(words, ' ', &words);

        if (strcasestr(test_format("%.*s", LC_STR_ARG(text)),
                       test_format("%.*s", LC_STR_ARG(word))) == NULL)
            return false;
    }
    return true;
}

/* What the message of `user` left: "memory", "todo" or "proposal" number `i`, or none. */
static loci_str made_at(loci_str list, const char *name, int i, const char *member)
{
    return test_member_text(list, test_format("%s.%d.%s", name, i, member));
}

/* Whether one of the list's rows is as expected. */
static bool is_made(loci_str list, const char *name, loci_str wanted)
{
    loci_str words = test_member_text(wanted, "words"), due = test_member_text(wanted, "due");
    const char *text = strcmp(name, "items") == 0 ? "proposed" : "text";

    for (int i = 0; made_at(list, name, i, "id").len > 0; i++)
        if (has_words(made_at(list, name, i, text), words) &&
            lc_str_starts(made_at(list, name, i, "due_at"), due))
            return true;
    return false;
}

static int count_rows(loci_str list, const char *name)
{
    int count = 0;

    while (made_at(list, name, count, "id").len > 0)
        count++;
    return count;
}

static void play(facts *f, loci_str line, tally *t)
{
    const char *user = test_format("u%d", t->messages++);
    loci_str memories, todos, proposals;
    int made, right = 0, wanted = 0;

    facts_call(f, "session.append",
               "{\"user_id\":\"%s\",\"role\":\"user\",\"at\":\"" SAID_AT "\",\"text\":%.*s}", user,
               LC_STR_ARG(test_member(line, "text")));
    memories = facts_call(f, "memory.list", "{'user_id':'%s'}", user);
    todos = facts_call(f, "todo.list", "{'user_id':'%s'}", user);
    proposals = facts_call(f, "review.list", "{'user_id':'%s','kind':'proposal'}", user);
    for (int i = 0;; i++) {
        loci_str each = test_member(line, test_format("learn.%d", i)), kind;
        bool is_right;

        if (each.len == 0)
            break;
        kind = test_member_text(each, "kind");
        is_right = lc_str_is(kind, "todo")      ? is_made(todos, "todos", each)
                   : lc_str_is(kind, "propose") ? is_made(proposals, "items", each)
                                                : is_made(memories, "memories", each);
        if (!is_right)
            fprintf(stderr, "    missed %.*s: %.*s\n", LC_STR_ARG(each),
                    LC_STR_ARG(test_member(line, "text")));
        wanted += !lc_str_is(kind, "propose");
        right += is_right && !lc_str_is(kind, "propose");
    }
    made = count_rows(memories, "memories") + count_rows(todos, "todos");
    if (made > right)
        fprintf(stderr, "    %d more than expected: %.*s\n", made - right,
                LC_STR_ARG(test_member(line, "text")));
    t->made += made;
    t->right += right;
    t->wanted += wanted;
    t->found += right;
    t->touched += made > 0;
}

static tally play_file(const char *path)
{
    loci_str rest = test_read_file(test_source_path(path));
    tally t = {0};
    facts f;

    facts_open(&f);
    while (rest.len > 0) {
        loci_str line = lc_str_split(rest, '\n', &rest);

        if (line.len > 0)
            play(&f, line, &t);
    }
    facts_close(&f);
    return t;
}

TEST(judge, statements_are_learned_and_rightly)
{
    tally t = play_file("tests/judge/states.jsonl");

    fprintf(stderr, "    %d messages: precision %.3f, recall %.3f\n", t.messages,
            (double)t.right / t.made, (double)t.found / t.wanted);
    CHECK(t.messages >= 150);
    CHECK(t.right >= PRECISION_MIN * t.made);
    CHECK(t.found >= RECALL_MIN * t.wanted);
}

TEST(judge, ordinary_talk_gives_nothing)
{
    tally t = play_file("tests/judge/ordinary.jsonl");

    fprintf(stderr, "    %d messages, %d with something learned\n", t.messages, t.touched);
    CHECK(t.messages >= 150);
    CHECK(t.touched <= ORDINARY_MAX * t.messages);
}

/* ---- What is stored -------------------------------------------------------------------------- */

static loci_str say(facts *f, const char *text)
{
    return facts_call(f, "session.append",
                      "{\"role\":\"user\",\"text\":\"%s\",\"at\":\"" SAID_AT "\"}", text);
}

TEST(judge, a_memory_knows_its_sentence_and_its_message)
{
    facts f;
    loci_str answer, memory, event;

    facts_open(&f);
    answer = say(&f, "I live in Austin, Texas. Any good bakeries?");
    CHECK_STR_EQ(test_member_text(answer, "learned.0.kind"), "memory");
    CHECK_STR_EQ(test_member_text(answer, "learned.0.outcome"), "created");
    CHECK_STR_EQ(test_member_text(answer, "learned.0.quote"), "I live in Austin, Texas");
    memory = test_member(facts_call(&f, "memory.list", "{}"), "memories.0");
    CHECK_STR_EQ(test_member_text(memory, "text"), "Lives in Austin, Texas");
    CHECK_STR_EQ(test_member_text(memory, "source"), "shadow_extraction");
    CHECK_STR_EQ(test_member_text(memory, "attribute"), "home");
    CHECK_STR_EQ(test_member_text(memory, "metadata.said.quote"), "I live in Austin, Texas");
    CHECK_STR_EQ(test_member_text(memory, "metadata.message_id"),
                 test_member_text(answer, "message_id"));
    event = test_member(facts_call(&f, "event.list", "{}"), "events.1");
    CHECK_STR_EQ(test_member_text(event, "type"), "memory.stored");
    CHECK_STR_EQ(test_member_text(event, "refs.message_id"),
                 test_member_text(answer, "message_id"));
    /* Another home takes its place; the same one is only mentioned. */
    answer = say(&f, "I live in Denver now.");
    CHECK_STR_EQ(test_member_text(answer, "learned.0.outcome"), "superseded");
    answer = say(&f, "I live in Denver.");
    CHECK_STR_EQ(test_member_text(answer, "learned.0.outcome"), "mentioned");
    /* Nothing learned, nothing said about it. */
    CHECK_STR_EQ(test_member(say(&f, "Thanks, that worked!"), "learned"), "");
    facts_close(&f);
}

/* Every event that a message led to names it, those of entities too: a rewind withdraws by that. */
TEST(judge, every_derived_event_names_the_message)
{
    facts f;
    loci_str answer, events;
    int derived = 0;

    facts_open(&f);
    answer = say(&f, "John is my cofounder. Remind me to call Mom on Sunday. i live in leeds.");
    events = facts_call(&f, "event.list", "{}");
    for (int i = 0;; i++) {
        loci_str event = test_member(events, test_format("events.%d", i)), type;

        if (event.len == 0)
            break;
        type = test_member_text(event, "type");
        if (lc_str_starts(type, LC_STR("session.")))
            continue;
        derived++;
        CHECK_STR_EQ(test_member_text(event, "refs.message_id"),
                     test_member_text(answer, "message_id"));
    }
    CHECK_EQ(derived, 4); /* An entity, its memory, a todo, a proposal. */
    facts_close(&f);
}

TEST(judge, dates_are_resolved_and_kept_in_words)
{
    facts f;
    loci_str todo, memory;

    facts_open(&f);
    say(&f, "I have to call the bank tomorrow at 5.");
    todo = test_member(facts_call(&f, "todo.list", "{}"), "todos.0");
    CHECK_STR_EQ(test_member_text(todo, "text"), "Call the bank tomorrow at 5");
    CHECK_STR_EQ(test_member_text(todo, "due_at"), "2026-03-12T17:00:00Z");
    CHECK_STR_EQ(test_member_text(todo, "quote"), "I have to call the bank tomorrow at 5");
    /* In the time zone of the environment, if it is known. */
    facts_call(&f, "environment.set", "{'key':'timezone','value':'+02:00'}");
    say(&f, "I have to call the dentist tomorrow at 5.");
    todo = test_member(facts_call(&f, "todo.list", "{}"), "todos.0");
    CHECK_STR_EQ(test_member_text(todo, "due_at"), "2026-03-12T15:00:00Z");
    say(&f, "We're launching the beta next Friday.");
    memory = test_member(facts_call(&f, "memory.list", "{}"), "memories.0");
    CHECK_STR_EQ(test_member_text(memory, "metadata.said.when"), "next Friday");
    CHECK_STR_EQ(test_member_text(memory, "metadata.said.date"), "2026-03-20");
    /* The same todo is not added twice. */
    CHECK_STR_EQ(test_member(say(&f, "I have to call the dentist tomorrow at 5."), "learned"), "");
    facts_close(&f);
}

/* ---- Whose words count ----------------------------------------------------------------------- */

TEST(judge, only_the_users_own_words_are_learned)
{
    facts f;

    facts_open(&f);
    facts_call(&f, "session.append", "{'role':'assistant','text':'I live in Oslo.'}");
    facts_call(&f, "session.append", "{'role':'tool','text':'I live in Oslo.'}");
    facts_call(&f, "session.append",
               "{'role':'user','speaker':'Owen','text':'I live in Bristol.'}");
    CHECK_STR_EQ(test_member(facts_call(&f, "memory.list", "{}"), "memories"), "[]");
    facts_call(&f, "identity.set", "{'user_name':'Lena','authority':'manager'}");
    facts_call(&f, "session.append", "{'role':'user','speaker':'Lena','text':'I live in Leeds.'}");
    CHECK_STR_EQ(test_member_text(facts_call(&f, "memory.list", "{}"), "memories.0.text"),
                 "Lives in Leeds");
    facts_close(&f);
}

TEST(judge, a_capped_caller_only_proposes)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    f.trust = "tool";
    answer = say(&f, "I'm allergic to nuts. Remind me to wipe the disk.");
    CHECK_STR_EQ(test_member_text(answer, "learned.0.kind"), "proposal");
    CHECK_STR_EQ(test_member_text(answer, "learned.1.kind"), "proposal");
    f.trust = NULL;
    CHECK_STR_EQ(test_member(facts_call(&f, "memory.list", "{}"), "memories"), "[]");
    CHECK_STR_EQ(test_member(facts_call(&f, "todo.list", "{}"), "todos"), "[]");
    facts_close(&f);
}

TEST(judge, a_setting_turns_it_off)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    facts_call(&f, "config.set", "{'name':'judge.enabled','value':false}");
    CHECK_STR_EQ(test_member(say(&f, "I live in Austin. The city is now Bergen."), "learned"), "");
    CHECK_STR_EQ(facts_current(&f, "city", "value"), "Oslo");
    facts_call(&f, "config.set", "{'name':'judge.enabled','value':true}");
    CHECK_STR_EQ(test_member_text(say(&f, "The city is now Bergen."), "learned.0.kind"), "fact");
    CHECK_STR_EQ(facts_current(&f, "city", "value"), "Bergen");
    facts_close(&f);
}

/* fact.observe: a sentence that made a fact makes no memory. */
TEST(judge, a_statement_has_one_home)
{
    facts f;
    loci_str answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    answer = facts_call(&f, "fact.observe",
                        "{'text':'My favorite color is green. I hate crowds.'}");
    CHECK_STR_EQ(test_member_text(answer, "outcomes.0.key"), "favorite_color");
    CHECK_STR_EQ(test_member_text(answer, "learned.0.quote"), "I hate crowds");
    CHECK_STR_EQ(test_member(answer, "learned.1"), "");
    answer = facts_call(&f, "memory.list", "{}");
    CHECK_STR_EQ(test_member_text(answer, "memories.0.text"), "Hates crowds");
    CHECK_STR_EQ(test_member(answer, "memories.1"), "");
    /* Secrets are gone before anything is read. */
    say(&f, "My password is hunter2hunter2 and my email is jo@example.org.");
    CHECK(!facts_is_stored(&f, "hunter2hunter2"));
    facts_close(&f);
}

/* ---- Contexts and forgetting ----------------------------------------------------------------- */

TEST(judge, a_memory_beside_its_message_is_a_duplicate)
{
    facts f;
    loci_str answer;
    const char *id;

    facts_open(&f);
    answer = say(&f, "I'm allergic to peanuts.");
    id = test_format("%.*s", LC_STR_ARG(test_member_text(answer, "learned.0.id")));
    answer = context_build(&f, "{'query':'Is the user allergic to peanuts?','budget':2000}");
    CHECK(context_shows(answer, "I'm allergic to peanuts."));
    CHECK(!context_shows(answer, "Is allergic to peanuts"));
    CHECK_STR_EQ(context_reason(answer, id), "duplicate");
    /* Without the messages the memory is shown. */
    answer = context_build(&f, "{'query':'Is the user allergic to peanuts?','budget':2000,"
                               "'sections':['memories']}");
    CHECK(context_shows(answer, "Is allergic to peanuts"));
    facts_close(&f);
}

/* Without a query memories come from a walk over rows, which are gone after it. */
TEST(judge, memories_beside_their_messages_are_duplicates_without_a_query)
{
    facts f;
    loci_str answer;
    const char *first, *second;

    facts_open(&f);
    answer = say(&f, "I'm allergic to peanuts.");
    first = test_format("%.*s", LC_STR_ARG(test_member_text(answer, "learned.0.id")));
    answer = say(&f, "I live in a small village near Bergen.");
    second = test_format("%.*s", LC_STR_ARG(test_member_text(answer, "learned.0.id")));
    answer = context_build(&f, "{'query':'','budget':2000}");
    CHECK_STR_EQ(context_reason(answer, first), "duplicate");
    CHECK_STR_EQ(context_reason(answer, second), "duplicate");
    facts_close(&f);
}

TEST(judge, what_was_read_in_a_message_is_forgotten_with_it)
{
    facts f;
    loci_str answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    answer = say(&f, "I live in Canaryville. Remind me to feed canarybird on Sunday. "
                     "i work at canarycorp. My sister Canaria lives in Rome.");
    CHECK_STR_EQ(test_member_text(answer, "learned.3.kind"), "memory");
    say(&f, "I hate crowds.");
    CHECK(facts_is_stored(&f, "anary"));
    answer = facts_call(&f, "session.forget", "{'message_id':'%.*s','wait':true}",
                        LC_STR_ARG(test_member_text(answer, "message_id")));
    CHECK_EQ(test_member_int(answer, "removed.memory"), 2);
    CHECK_EQ(test_member_int(answer, "removed.todo"), 1);
    CHECK_EQ(test_member_int(answer, "removed.proposal"), 1);
    CHECK(!facts_is_stored(&f, "anary"));
    CHECK(!facts_is_stored(&f, "person:canaria"));
    answer = facts_call(&f, "memory.list", "{}");
    CHECK_STR_EQ(test_member_text(answer, "memories.0.text"), "Hates crowds");
    /* A whole session takes along what was read in it. */
    facts_call(&f, "session.append",
               "{'session_id':'chat','role':'user','text':'I live in Canaryville.'}");
    answer = facts_call(&f, "session.forget", "{'session_id':'chat','wait':true}");
    CHECK_EQ(test_member_int(answer, "removed.memory"), 1);
    CHECK(!facts_is_stored(&f, "anary"));
    facts_close(&f);
}
