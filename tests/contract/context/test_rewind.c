/* session.rewind: a history that is rewound equals the history in which the later messages were
 * never said. */
#include "contract/fact_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lib/random.h"

#define STEPS_MAX 40
#define SECOND_US INT64_C(1000000)

/* Tables that say how the state came about, not what it is. */
#define NOT_STATE                                                                                  \
    "events heads requests request_usage jobs meta settings tokens vectors forgettings "           \
    "withdrawals session_activity rebuild_heads memories"

typedef enum kind {
    SAY,       /* A message of the session that is rewound. */
    OBSERVE,   /* The same, read for facts. */
    ANSWER,    /* The same, of the assistant. */
    WRITE,     /* Derived from the last message: a fact, */
    CLAIM,     /* one that may only claim, */
    REMEMBER,  /* a memory, */
    MENTION,   /* a memory that is known already, */
    PLAN,      /* a todo, */
    FINISH,    /* a todo that is done. */
    ELSEWHERE, /* Derived from nothing: a message of another session, */
    STATE,     /* a fact, */
    NOTE,      /* a memory, */
    KINDS
} kind;
#define DERIVED_KINDS ELSEWHERE /* Those before it come from a message of the session. */

typedef struct step {
    kind kind;
    unsigned pick;
    int message; /* The last message of the session when it is made, itself included. */
} step;

typedef struct history {
    step steps[STEPS_MAX];
    int count;
    int messages;
} history;

typedef struct player {
    facts f;
    char ids[STEPS_MAX + 1][40]; /* Of the messages, from 1. */
    char todo[40];
} player;

/* ---- Playing --------------------------------------------------------------------------------- */

static void keep_text(char out[40], loci_str text)
{
    (void)snprintf(out, 40, "%.*s", LC_STR_ARG(text));
}

/* What is known before anything is said. */
static void begin(player *p)
{
    facts *f = &p->f;

    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
    facts_call(f, "fact.write", "{'key':'city','value':'Oslo'}");
    facts_call(f, "fact.write", "{'key':'budget','value':100}");
    facts_call(f, "fact.write", "{'key':'plan','value':'go','depends_on':['city']}");
    facts_call(f, "memory.store", "{'text':'Lives in Austin'}");
    facts_call(f, "memory.store", "{'text':'John handles the backend'}");
    keep_text(p->todo,
              test_member_text(facts_call(f, "todo.add", "{'text':'Call the bank'}"), "id"));
    facts_call(f, "session.append", "{'role':'user','text':'Good morning','session_id':'t'}");
    facts_call(f, "session.append", "{'role':'user','text':'Good morning','session_id':'s'}");
}

static const char *const cities[] = {"Bergen", "Rome", "Lima", "Paris", "Delhi"};
static const char *const people[] = {"Mia", "Ana", "Makesh", "Tom", "John"};

static void play(player *p, const step *s, int index)
{
    facts *f = &p->f;
    const char *source = p->ids[s->message];
    const char *city = cities[s->pick % 5], *person = people[s->pick / 5 % 5];
    loci_str answer = {0};

    f->now_us += SECOND_US;
    switch (s->kind) {
    case SAY:
        answer = facts_call(f, "session.append",
                            "{'role':'user','text':'I say %d','session_id':'s',"
                            "'external_id':'x%d','metadata':{'n':%d}}",
                            index, index, index);
        break;
    case OBSERVE:
        answer = facts_call(f, "fact.observe",
                            s->pick % 2 == 0 ? "{'text':'My city is %s now.','session_id':'s'}"
                                             : "{'text':'The budget is now $%s.','session_id':'s'}",
                            s->pick % 2 == 0 ? city : test_format("%u", 100 + s->pick % 50));
        break;
    case ANSWER:
        answer = facts_call(f, "session.append",
                            "{'role':'assistant','text':'Answer %d','session_id':'s'}", index);
        break;
    case WRITE:
        (void)facts_try(
            f, "fact.write", &answer, /* A key that was taken over is refused. */
            test_format(s->pick % 3 == 0   ? "{'key':'moved','value':'%s %d','supersedes':'budget',"
                                             "'message_id':'%s'}"
                        : s->pick % 3 == 1 ? "{'key':'city','value':'%s %d','message_id':'%s'}"
                                           : "{'key':'extra','value':'%s %d','message_id':'%s'}",
                        city, index, source));
        break;
    case CLAIM:
        facts_call(f, "fact.write",
                   "{'key':'city','value':'%s %d','trust':'tool','message_id':'%s'}", city, index,
                   source);
        break;
    case REMEMBER:
        facts_call(f, "memory.store",
                   s->pick % 2 == 0 ? "{'text':'Lives in %s','message_id':'%s'}"
                                    : "{'text':'%s likes tea','message_id':'%s'}",
                   s->pick % 2 == 0 ? city : person, source);
        break;
    case MENTION:
        facts_call(f, "memory.store",
                   "{'text':'John handles the backend','message_id':'%s','session_id':'%s'}",
                   source, s->pick % 2 == 0 ? "s" : "t");
        break;
    case PLAN:
        facts_call(f, "todo.add", "{'text':'Do %d','message_id':'%s'}", index, source);
        break;
    case FINISH:
        facts_call(f, "todo.update", "{'id':'%s','status':'%s','message_id':'%s'}", p->todo,
                   s->pick % 2 == 0 ? "done" : "open", source);
        break;
    case ELSEWHERE:
        facts_call(f, "session.append", "{'role':'user','text':'Else %d','session_id':'t'}", index);
        break;
    case STATE:
        facts_call(f, "fact.write", "{'key':'%s','value':'stated %d'}",
                   s->pick % 2 == 0 ? "city" : "other", index);
        break;
    case NOTE:
        facts_call(f, "memory.store",
                   s->pick % 2 == 0 ? "{'text':'Lives in Town%c'}" : "{'text':'%c is a friend'}",
                   'A' + index % 26);
        break;
    case KINDS:
        break;
    }
    if (s->kind <= ANSWER)
        keep_text(p->ids[s->message], test_member_text(answer, "message_id"));
}

static bool is_left_out(const step *s, int kept)
{
    return s->kind < DERIVED_KINDS && s->message > kept;
}

static void make_history(history *h, test_rng *random, bool has_others)
{
    *h = (history){.count = 12 + (int)(test_rng_next(random) % (STEPS_MAX - 12))};
    for (int i = 0; i < h->count; i++) {
        step *s = &h->steps[i];

        s->kind = (kind)(test_rng_next(random) % (has_others ? KINDS : DERIVED_KINDS));
        if (h->messages == 0 || (s->kind < DERIVED_KINDS && test_rng_next(random) % 3 == 0))
            s->kind = (kind)(test_rng_next(random) % WRITE);
        s->pick = (unsigned)test_rng_next(random) % 1000;
        h->messages += s->kind <= ANSWER;
        s->message = h->messages;
    }
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* All that callers see, with ids numbered in the order of appearance. */
static char *describe(facts *f)
{
    static const char *const calls[][2] = {
        {"fact.list", "{\"limit\":1000}"},
        {"fact.history", "{\"key\":\"city\"}"},
        {"fact.history", "{\"key\":\"budget\"}"},
        {"fact.history", "{\"key\":\"moved\"}"},
        {"fact.claims", "{\"limit\":1000}"},
        {"memory.list", "{\"limit\":1000}"},
        {"memory.list", "{\"limit\":1000,\"status\":\"superseded\"}"},
        {"todo.list", "{\"limit\":1000}"},
        {"todo.list", "{\"limit\":1000,\"status\":\"done\"}"},
        {"entity.list", "{\"limit\":1000}"},
        {"session.messages", "{\"session_id\":\"s\",\"limit\":1000}"},
        {"session.messages", "{\"session_id\":\"t\",\"limit\":1000}"},
    };
    char *out = calloc(1, 1 << 20), seen[400][27];
    size_t len = 0, seen_count = 0;
    loci_str answer;

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (facts_try(f, calls[i][0], &answer, calls[i][1]) != LOCI_OK)
            answer = LC_STR("-");
        len += (size_t)snprintf(out + len, (1 << 20) - len, "%s %s\n%.*s\n", calls[i][0],
                                calls[i][1], (int)answer.len, answer.ptr);
    }
    answer = facts_call(f, "session.get", "{'session_id':'s'}");
    (void)snprintf(out + len, (1 << 20) - len, "%.*s %.*s\n",
                   LC_STR_ARG(test_member(answer, "turn_count")),
                   LC_STR_ARG(test_member(answer, "session_state")));
    /* Ids have 26 digits behind a prefix; seqs are members of this name. */
    for (char *at = out; (at = strchr(at, '_')) != NULL; at++) {
        size_t k = 0;

        if (strspn(at + 1, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") != 26)
            continue;
        while (k < seen_count && memcmp(seen[k], at + 1, 26) != 0)
            k++;
        if (k == seen_count && seen_count < 400)
            memcpy(seen[seen_count++], at + 1, 26);
        (void)memset(at + 1, '#', 26);
        at[1] = (char)('0' + k / 100), at[2] = (char)('0' + k / 10 % 10),
        at[3] = (char)('0' + k % 10);
    }
    for (char *at = out; (at = strstr(at, "\"seq\":")) != NULL; at++)
        for (char *digit = at + 6; *digit >= '0' && *digit <= '9'; digit++)
            *digit = '#';
    for (char *from = out, *to = out;; from++) { /* Seqs of another length are the same. */
        if (*from == '#' && from > out && from[-1] == '#')
            continue;
        *to++ = *from;
        if (*from == '\0')
            break;
    }
    return out;
}

static void check_same(const char *actual, const char *expected)
{
    const char *line = actual, *other = expected;

    while (*line != '\0' && *line == *other)
        line++, other++;
    if (*line != *other)
        fprintf(stderr, "    left:  …%.300s\n    right: …%.300s\n",
                line - actual > 60 ? line - 60 : actual,
                other - expected > 60 ? other - 60 : expected);
    CHECK(strcmp(actual, expected) == 0);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Every later event of the log is taken back, so the tables must be what they were. */
TEST(rewind, each_point_of_a_conversation_is_reached_again)
{
    test_rng random = test_random(16);
    int64_t withdrawn = 0, restored = 0;

    for (int run = 0; run < (int)test_count(10, 60); run++) {
        history h;
        player p = {0};
        uint64_t hashes[STEPS_MAX + 1] = {0};
        char *states[STEPS_MAX + 1] = {0};
        int last;

        make_history(&h, &random, false);
        begin(&p);
        for (int i = 0, point = -1; i <= h.count; i++) {
            if (i == h.count || (h.steps[i].kind <= ANSWER && h.steps[i].message != point)) {
                int done = i == h.count ? h.messages : h.steps[i].message - 1;

                hashes[done] = test_store_hash(p.f.store, NOT_STATE);
                states[done] = describe(&p.f);
                point = done + 1;
            }
            if (i < h.count)
                play(&p, &h.steps[i], i);
        }
        /* One message at a time, then some at once; the first is always there. */
        for (int to = h.messages - 1; to >= 1; to = last) {
            loci_str answer;

            last = run % 2 == 0 ? to - 1 : to / 2;
            p.f.now_us += SECOND_US;
            answer = facts_call(&p.f, "session.rewind", "{'message_id':'%s','session_id':'s'}",
                                p.ids[to]);
            for (int i = 0; i < 5; i++) {
                static const char *const kinds[] = {"fact", "memory", "entity", "todo", "message"};

                withdrawn += strtol(test_member(answer, test_format("withdrawn.%s", kinds[i])).ptr,
                                    NULL, 10);
                restored += strtol(test_member(answer, test_format("restored.%s", kinds[i])).ptr,
                                   NULL, 10);
            }
            char *state = describe(&p.f);

            check_same(state, states[to]);
            free(state);
            CHECK_EQ(test_store_hash(p.f.store, NOT_STATE), hashes[to]);
        }
        for (int i = 0; i <= STEPS_MAX; i++)
            free(states[i]);
        facts_call(&p.f, "store.rebuild", "{}");
        facts_close(&p.f); /* Verifies. */
    }
    CHECK(withdrawn > 100);
    CHECK(restored > 5);
}

/* With calls in between that have nothing to do with the session: the same calls without the
 * messages, and what was derived from them, give the same answers. */
TEST(rewind, equals_the_history_in_which_nobody_said_it)
{
    test_rng random = test_random(17);

    for (int run = 0; run < (int)test_count(12, 60); run++) {
        player rewound = {0}, unsaid = {0};
        char *left, *right;
        history h;
        int kept;

        make_history(&h, &random, true);
        kept = 1 + (int)(test_rng_next(&random) % (unsigned)h.messages);
        begin(&rewound);
        begin(&unsaid);
        for (int i = 0; i < h.count; i++) {
            play(&rewound, &h.steps[i], i);
            if (is_left_out(&h.steps[i], kept))
                unsaid.f.now_us += SECOND_US;
            else
                play(&unsaid, &h.steps[i], i);
        }
        facts_call(&rewound.f, "session.rewind", "{'message_id':'%s'}", rewound.ids[kept]);
        left = describe(&rewound.f);
        right = describe(&unsaid.f);
        check_same(left, right);
        free(left);
        free(right);
        facts_close(&rewound.f);
        facts_close(&unsaid.f);
    }
}

static const char *message_id(loci_str answer)
{
    return test_format("%.*s", LC_STR_ARG(test_member_text(answer, "message_id")));
}

static const char *say(facts *f, const char *text)
{
    return message_id(
        facts_call(f, "session.append", "{'role':'user','text':'%s','session_id':'s'}", text));
}

/* Somebody edits a question: the old one, its answer and what came of it are nowhere, and the new
 * one may have the same id of the caller's. */
TEST(rewind, an_edited_message_takes_the_place_of_the_old_one)
{
    facts f;
    const char *first, *second;
    loci_str answer;

    facts_open(&f);
    facts_call(&f, "fact.write", "{'key':'city','value':'Oslo'}");
    first = message_id(
        facts_call(&f, "session.append", "{'role':'user','text':'Good morning','session_id':'s'}"));
    second = message_id(facts_call(&f, "session.append",
                                   "{'role':'user','text':'Tell me about the xylophone',"
                                   "'session_id':'s','external_id':'q'}"));
    facts_call(&f, "fact.write", "{'key':'city','value':'Xanadu','message_id':'%s'}", second);
    answer = facts_call(&f, "session.search", "{'query':'xylophone'}");
    CHECK_STR_EQ(test_member_text(answer, "results.0.message_id"), second);
    /* A dry run tells, and changes nothing. */
    answer = facts_call(&f, "session.rewind", "{'message_id':'%s','dry_run':true}", first);
    CHECK_EQ(test_member_int(answer, "withdrawn.message"), 1);
    CHECK_EQ(test_member_int(answer, "withdrawn.fact"), 1);
    CHECK_EQ(test_member_int(answer, "restored.fact"), 1);
    CHECK_STR_EQ(test_member_text(answer, "items.0.text"), "Tell me about the xylophone");
    CHECK_STR_EQ(test_member(answer, "seq"), "");
    CHECK_STR_EQ(facts_value(&f, "{\"key\":\"city\"}"), "\"Xanadu\"");
    answer = facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    CHECK_STR_EQ(test_member(answer, "items.0.text"), "");
    CHECK_STR_EQ(facts_value(&f, "{\"key\":\"city\"}"), "\"Oslo\"");
    answer = facts_call(&f, "session.search", "{'query':'xylophone'}");
    CHECK(strstr(answer.ptr, "xylophone") == NULL);
    answer = facts_call(&f, "context.build", "{'query':'xylophone in the city','budget':500}");
    CHECK(strstr(test_member(answer, "text").ptr, "Tell me about") == NULL);
    CHECK_CONTAINS(test_member(answer, "text").ptr, "Oslo");
    facts_fail(&f, LOCI_ENOTFOUND, "no message", "session.rewind",
               test_format("{'message_id':'%s'}", second));
    facts_fail(&f, LOCI_ENOTFOUND, "no message", "fact.write",
               test_format("{'key':'city','value':1,'message_id':'%s'}", second));
    answer = facts_call(&f, "session.append",
                        "{'role':'user','text':'Tell me about the zither','session_id':'s',"
                        "'external_id':'q'}");
    CHECK_STR_EQ(test_member(answer, "repeated"), "");
    /* Nothing to take back: nothing is written. */
    answer = facts_call(&f, "session.rewind", "{'message_id':'%s'}", message_id(answer));
    CHECK_STR_EQ(test_member(answer, "seq"), "");
    facts_fail(&f, LOCI_ENOTFOUND, "in session t", "session.rewind",
               test_format("{'message_id':'%s','session_id':'t'}", first));
    facts_call(&f, "store.rebuild", "{}");
    facts_close(&f);
}

/* The log still has what was taken back, so forgetting must find it there. */
TEST(rewind, what_was_taken_back_can_be_forgotten)
{
    facts f;
    const char *first, *second;
    loci_str answer;

    facts_open(&f);
    first = message_id(
        facts_call(&f, "session.append", "{'role':'user','text':'One','session_id':'s'}"));
    second = message_id(facts_call(&f, "session.append",
                                   "{'role':'user','text':'Xylophone','session_id':'s',"
                                   "'external_id':'x'}"));
    facts_call(&f, "fact.write", "{'key':'city','value':'Xylophoneville','message_id':'%s'}",
               second);
    facts_call(&f, "memory.store", "{'text':'Plays the xylophone','message_id':'%s'}", second);
    facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    CHECK_EQ(
        test_store_number(f.store, "select count(*) from events where payload like '%ylophone%'"),
        3);
    facts_call(&f, "session.append",
               "{'role':'user','text':'Two','session_id':'s','external_id':'x'}");
    answer = facts_call(&f, "session.forget", "{'session_id':'s'}");
    CHECK_EQ(test_member_int(answer, "removed.message"), 3);
    CHECK_EQ(
        test_store_number(f.store, "select count(*) from events where payload like '%ylophone%'"),
        0);
    facts_call(&f, "store.rebuild", "{}");
    facts_close(&f);
}

/* Vectors are found by the texts of rows, and what was taken back has no rows. */
TEST(rewind, vectors_of_what_was_taken_back_are_forgotten)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    loci_open_options options = test_open_options(store);
    const char *first, *second;
    loci_engine *engine;
    loci_error err;

    options.settings = "{\"model.embedder\":\"lexical\"}";
    CHECK_OK(loci_open(&options, &engine, &err), err);
    first = message_id(
        test_call(engine, "session.append", "{'role':'user','text':'One','session_id':'s'}"));
    second = message_id(
        test_call(engine, "session.append", "{'role':'user','text':'Two','session_id':'s'}"));
    test_call(engine, "fact.write", "{'key':'city','value':'Xanadu','message_id':'%s'}", second);
    test_call(engine, "memory.store", "{'text':'Visits Xanadu','message_id':'%s'}", second);
    test_call(engine, "memory.store", "{'text':'Likes tea'}");
    test_call(engine, "model.reembed", "{}");
    CHECK_EQ(test_store_number(store, "select count(*) from vectors"), 5);
    test_call(engine, "session.rewind", "{'message_id':'%s'}", first);
    CHECK_EQ(test_member_int(test_call(engine, "session.forget", "{'session_id':'s'}"),
                             "removed.vector"),
             4);
    CHECK_EQ(test_store_number(store, "select count(*) from vectors"), 1);
    test_close(engine);
}

/* One message, what was read in it and what a caller derived from it: nothing of them stays in the
 * files, and the other messages that were taken back stay in the log. */
TEST(rewind, a_message_that_was_taken_back_can_be_forgotten)
{
    facts f;
    const char *first, *second, *kept;
    loci_str answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    first = say(&f, "Good morning");
    second = say(&f, "My sister Xylia lives in Xanadu.");
    facts_call(&f, "fact.write", "{'key':'city','value':'Xanadu','message_id':'%s'}", second);
    facts_call(&f, "memory.store", "{'text':'Visits Xanadu','message_id':'%s'}", second);
    kept = say(&f, "My brother Bodil lives in Babylon.");
    facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    CHECK(facts_is_stored(&f, "Xanadu"));

    facts_fail(&f, LOCI_ENOTFOUND, "no message", "session.forget",
               test_format("{'message_id':'%s','user_id':'bob'}", second));
    answer = facts_call(&f, "session.forget", "{'message_id':'%s','dry_run':true}", second);
    CHECK_EQ(test_member_int(answer, "removed.message"), 1);
    CHECK(facts_is_stored(&f, "Xanadu"));
    answer = facts_call(&f, "session.forget", "{'message_id':'%s','wait':true}", second);
    CHECK_EQ(test_member_int(answer, "removed.message"), 1);
    CHECK_STR_EQ(test_member(answer, "scrubbed"), "true");
    CHECK(!facts_is_stored(&f, "Xanadu"));
    CHECK(!facts_is_stored(&f, "Xylia"));
    CHECK(facts_is_stored(&f, "Babylon"));
    facts_fail(&f, LOCI_ENOTFOUND, "no message", "session.forget",
               test_format("{'message_id':'%s'}", second));
    facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    facts_call(&f, "session.forget", "{'message_id':'%s','wait':true}", kept);
    CHECK(!facts_is_stored(&f, "Babylon"));
    facts_call(&f, "store.rebuild", "{}");
    facts_call(&f, "store.verify", "{}");
    facts_close(&f);
}

/* Memories that were taken back are found by their entity, their metadata and their id, also if the
 * entity was taken back with them. */
TEST(rewind, memories_that_were_taken_back_can_be_forgotten)
{
    static const char *const asked[] = {"\"entity\":\"person:xylia\"", "\"metadata\":{\"trip\":7}"};
    facts f;
    const char *first, *second;

    for (int known = 0; known < 2; known++) {
        for (int i = 0; i < 3; i++) {
            loci_str answer;
            const char *which;

            facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
            first = say(&f, "Good morning");
            if (known)
                facts_call(&f, "memory.store",
                           "{'text':'Xylia paints','entity_refs':['person:xylia'],"
                           "'metadata':{'trip':7}}");
            second = say(&f, "Hello");
            answer = facts_call(&f, "memory.store",
                                "{'text':'Xylia moved to Xanadu','entity_refs':['person:xylia'],"
                                "'metadata':{'trip':7},'message_id':'%s'}",
                                second);
            which = i < 2 ? asked[i] : test_format("\"id\":%s", test_member(answer, "id").ptr);
            facts_call(&f, "memory.store",
                       "{'text':'Bodil moved to Babylon','entity_refs':['person:bodil'],"
                       "'metadata':{'trip':8},'message_id':'%s'}",
                       second);
            facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
            CHECK(facts_is_stored(&f, "Xanadu"));
            answer = facts_call(&f, "memory.forget", "{%s,'wait':true}", which);
            CHECK_EQ(test_member_int(answer, "removed.memory"), known && i < 2 ? 2 : 1);
            CHECK(!facts_is_stored(&f, "Xanadu"));
            CHECK(facts_is_stored(&f, "Babylon"));
            facts_fail(&f, LOCI_ENOTFOUND, "no ", "memory.forget", "{'entity':'person:nobody'}");
            facts_call(&f, "store.rebuild", "{}");
            facts_call(&f, "store.verify", "{}");
            facts_close(&f);
        }
    }
}

/* The same when a fact or a memory is forgotten, and not the session. */
TEST(rewind, versions_that_were_taken_back_go_with_their_key)
{
    facts f;
    const char *first, *second;

    facts_open(&f);
    first = message_id(
        facts_call(&f, "session.append", "{'role':'user','text':'One','session_id':'s'}"));
    second = message_id(
        facts_call(&f, "session.append", "{'role':'user','text':'Two','session_id':'s'}"));
    facts_call(&f, "fact.write", "{'key':'city','value':'Xylophoneville','message_id':'%s'}",
               second);
    facts_call(&f, "memory.store", "{'text':'Plays the xylophone','message_id':'%s'}", second);
    facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    facts_call(&f, "fact.forget", "{'key':'city'}");
    facts_fail(&f, LOCI_ENOTFOUND, "no fact \"city\"", "fact.forget", "{'key':'city'}");
    facts_call(
        &f, "memory.forget", "{'id':%s}",
        test_member(facts_call(&f, "memory.store", "{'text':'Plays the xylophone'}"), "id").ptr);
    CHECK_EQ(
        test_store_number(f.store, "select count(*) from events where payload like '%ylophone%'"),
        0);
    facts_call(&f, "store.rebuild", "{}");
    facts_close(&f);
}

/* Nothing that was forgotten comes back, neither by a rewind nor by its external id after it. */
TEST(rewind, what_was_forgotten_stays_forgotten)
{
    facts f;
    const char *first, *second;
    loci_str answer;

    facts_open(&f);
    facts_call(&f, "fact.write", "{'key':'city','value':'Oslo'}");
    first = message_id(
        facts_call(&f, "session.append", "{'role':'user','text':'One','session_id':'s'}"));
    second = message_id(
        facts_call(&f, "session.append",
                   "{'role':'user','text':'Two','session_id':'s','external_id':'secret'}"));
    facts_call(&f, "fact.write", "{'key':'city','value':'Rome','message_id':'%s'}", second);
    facts_call(&f, "session.append",
               "{'role':'user','text':'Three','session_id':'s','external_id':'three'}");
    facts_call(&f, "session.forget", "{'message_id':'%s'}", second);
    facts_call(&f, "fact.forget", "{'key':'city'}");
    facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    CHECK_STR_EQ(facts_value(&f, "{\"key\":\"city\"}"), "-");
    answer = facts_call(&f, "session.append",
                        "{'role':'user','text':'Two','session_id':'s','external_id':'secret'}");
    CHECK_STR_EQ(test_member(answer, "repeated"), "true");
    answer = facts_call(&f, "session.append",
                        "{'role':'user','text':'3','session_id':'s','external_id':'three'}");
    CHECK_STR_EQ(test_member(answer, "repeated"), "");
    facts_call(&f, "store.rebuild", "{}");
    facts_close(&f);
}

/* In a batch, each call has the source that it names, or none. */
TEST(rewind, calls_of_a_batch_have_sources_of_their_own)
{
    facts f;
    const char *first, *second;
    loci_answer *answer = NULL;
    loci_request requests[2];

    facts_open(&f);
    first = message_id(
        facts_call(&f, "session.append", "{'role':'user','text':'One','session_id':'s'}"));
    second = message_id(
        facts_call(&f, "session.append", "{'role':'user','text':'Two','session_id':'s'}"));
    requests[0] = (loci_request){
        "fact.write",
        loci_str_of(test_json(test_format("{'key':'a','value':1,'message_id':'%s'}", second))),
        f.now_us};
    requests[1] = (loci_request){"fact.write", loci_str_of("{\"key\":\"b\",\"value\":2}"),
                                 f.now_us};
    CHECK_OK(loci_call_many(f.engine, requests, 2, NULL, &answer, &f.err), f.err);
    loci_answer_free(answer);
    facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    CHECK_STR_EQ(facts_value(&f, "{\"key\":\"a\"}"), "-");
    CHECK_STR_EQ(facts_value(&f, "{\"key\":\"b\"}"), "2");
    facts_close(&f);
}

/* What another persona said in the same session is not the caller's to take back. */
TEST(rewind, leaves_the_messages_of_other_personas)
{
    facts f;
    const char *first;
    loci_str answer;

    facts_open(&f);
    facts_call(&f, "session.open", "{'external_id':'s'}");
    first = message_id(
        facts_call(&f, "session.append", "{'role':'user','text':'One','session_id':'s'}"));
    facts_call(&f, "session.append",
               "{'role':'user','text':'Theirs','session_id':'s','persona_id':'coach',"
               "'external_id':'c'}");
    facts_call(&f, "session.append", "{'role':'user','text':'Two','session_id':'s'}");
    facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    answer = facts_call(&f, "session.messages", "{'session_id':'s','persona_id':'coach'}");
    CHECK_STR_EQ(test_member_text(answer, "messages.1.text"), "Theirs");
    CHECK_STR_EQ(test_member(answer, "messages.2"), "");
    answer = facts_call(&f, "session.append",
                        "{'role':'user','text':'Theirs','session_id':'s','persona_id':'coach',"
                        "'external_id':'c'}");
    CHECK_STR_EQ(test_member(answer, "repeated"), "true");
    facts_close(&f);
}

/* ---- Proposals ------------------------------------------------------------------------------- */

static const char *first_proposal(facts *f)
{
    loci_str items = facts_call(f, "review.list", "{'kind':'proposal'}");

    return test_format("%.*s", LC_STR_ARG(test_member_text(items, "items.0.id")));
}

TEST(rewind, takes_open_proposals_back)
{
    facts f;
    const char *first, *proposal;
    loci_str answer;
    uint64_t before;

    facts_open(&f);
    first = say(&f, "Good morning");
    before = test_store_hash(f.store, NOT_STATE);
    say(&f, "i live in leeds.");
    proposal = first_proposal(&f);
    CHECK(strcmp(proposal, "") != 0);
    answer = facts_call(&f, "session.rewind", "{'message_id':'%s','dry_run':true}", first);
    CHECK_EQ(test_member_int(answer, "withdrawn.proposal"), 1);
    CHECK_STR_EQ(first_proposal(&f), proposal);
    answer = facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    CHECK_EQ(test_member_int(answer, "withdrawn.proposal"), 1);
    CHECK_STR_EQ(test_member_text(answer, "items.1.kind"), "proposal");
    CHECK_STR_EQ(test_member_text(answer, "items.1.action"), "withdrawn");
    CHECK_STR_EQ(test_member_text(answer, "items.1.id"), proposal);
    CHECK_STR_EQ(first_proposal(&f), "");
    CHECK_EQ(test_store_hash(f.store, NOT_STATE), before);
    facts_fail(&f, LOCI_ENOTFOUND, "no proposal", "review.accept",
               test_format("{'id':'%s'}", proposal));
    /* The same may be said again, and a second rewind takes only that back. */
    say(&f, "i live in leeds.");
    CHECK(strcmp(first_proposal(&f), "") != 0);
    answer = facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    CHECK_EQ(test_member_int(answer, "withdrawn.proposal"), 1);
    facts_call(&f, "store.rebuild", "{}");
    CHECK_STR_EQ(first_proposal(&f), "");
    CHECK_EQ(test_store_number(f.store, "select count(*) from withdrawals where kind = 'proposal'"),
             2);
    facts_close(&f); /* Verifies. */
}

/* Accepting is a statement of the person's own; the proposal goes all the same. */
TEST(rewind, what_was_accepted_stays_and_the_proposals_go)
{
    facts f;
    const char *first;
    loci_str answer;

    facts_open(&f);
    first = say(&f, "Good morning");
    say(&f, "i live in leeds.");
    facts_call(&f, "review.correct", "{'id':'%s','value':'Lives in Leeds'}", first_proposal(&f));
    say(&f, "i live in york.");
    facts_call(&f, "review.dismiss", "{'id':'%s'}", first_proposal(&f));
    answer = facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
    CHECK_EQ(test_member_int(answer, "withdrawn.proposal"), 2);
    CHECK_STR_EQ(test_member(answer, "withdrawn.memory"), "");
    CHECK_EQ(test_store_number(f.store, "select count(*) from proposals"), 0);
    answer = facts_call(&f, "memory.list", "{}");
    CHECK_CONTAINS(answer.ptr, "Lives in Leeds");
    facts_call(&f, "store.rebuild", "{}");
    facts_close(&f);
}

/* Forgetting finds the payload of a proposal that was taken back: by its session, or because it
 * says what a forgotten memory says. */
TEST(rewind, proposals_that_were_taken_back_can_be_forgotten)
{
    static const char count[] = "select count(*) from events where type = 'review.proposed'"
                                " and payload like '%xanadu%'";
    facts f;
    const char *first;

    for (int by_memory = 0; by_memory < 2; by_memory++) {
        facts_open(&f);
        first = say(&f, "Good morning");
        say(&f, "i live in xanadu.");
        facts_call(&f, "session.rewind", "{'message_id':'%s'}", first);
        CHECK_EQ(test_store_number(f.store, count), 1);
        if (by_memory)
            facts_call(
                &f, "memory.forget", "{'id':%s}",
                test_member(facts_call(&f, "memory.store", "{'text':'Lives in xanadu'}"), "id")
                    .ptr);
        else
            facts_call(&f, "session.forget", "{'session_id':'s'}");
        CHECK_EQ(test_store_number(f.store, count), 0);
        facts_call(&f, "store.rebuild", "{}");
        facts_close(&f);
    }
}
