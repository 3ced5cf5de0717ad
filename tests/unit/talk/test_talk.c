/* Judging a conversation: what is left out, what is kept, and what loses rank. */
#include "talk/talk.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "unit/talk/talk_fixture.h"

enum { SAID_MAX = 16 };

/* A conversation being written down; each call adds one thing said. */
typedef struct conversation {
    talk_fixture f;
    lc_said said[SAID_MAX];
    size_t count;
    lc_reader reader;
    const lc_judged *judged;
} conversation;

static void begin(conversation *c)
{
    memset(c, 0, sizeof *c);
    talk_open(&c->f);
    c->reader.rank = -1;
}

static void end(conversation *c)
{
    talk_close(&c->f);
}

static lc_said *add(conversation *c, lc_said_kind kind, const char *key, const char *text)
{
    lc_said *said = &c->said[c->count];

    CHECK_LT(c->count, SAID_MAX);
    *said = (lc_said){.kind = kind,
                      .key = loci_str_of(key),
                      .text = loci_str_of(text),
                      .seq = (int64_t)++c->count,
                      .successor = LC_SAID_NONE};
    return said;
}

static void say(conversation *c, const char *speaker, const char *text)
{
    add(c, LC_SAID_MESSAGE, "", text)->speaker = loci_str_of(speaker);
}

/* A fact and the value that it had before. */
static void know(conversation *c, const char *key, const char *former, const char *value)
{
    lc_said *lost = add(c, LC_SAID_FORMER, key, former);

    lost->successor = c->count;
    add(c, LC_SAID_FACT, key, value);
}

static void judge(conversation *c)
{
    loci_error err;

    CHECK_OK(lc_talk_judge(c->f.talk, &c->f.arena, &(lc_talk_input){c->said, c->count, c->reader},
                           &c->judged, &err),
             err);
}

/* The text that is left of the last message. */
static loci_str last_text(conversation *c)
{
    judge(c);
    return c->judged[c->count - 1].verdict == LC_VERDICT_HOLDS ? c->judged[c->count - 1].text
                                                               : LC_STR("");
}

/* ---- Lost values ----------------------------------------------------------------------------- */

TEST(talk, only_the_clauses_that_state_a_lost_value_are_left_out)
{
    static const struct {
        const char *text, *left;
    } cases[] = {
        {"The marquee budget is $4,000.", ""},
        {"Hi Anna! The marquee budget is $4,000. See you on Monday.",
         "Hi Anna! See you on Monday."},
        {"It rains, and the marquee budget is $4,000.", "It rains,"},
        {"The marquee budget is $4,000, but we can talk about tents.",
         "but we can talk about tents."},
        {"The tent is red;the marquee budget is $4,000.", "The tent is red"},
        {"The marquee budget is $5,000.", "The marquee budget is $5,000."},
        {"The marquee budget went from $4,000 to $5,000.",
         "The marquee budget went from $4,000 to $5,000."},
        {"The old blue van costs us $4,000 this year.",
         "The old blue van costs us $4,000 this year."},
        {"Is there a budget?", "Is there a budget?"},
        {"- red tents\n- marquee budget $4,000\n- blue chairs", "- red tents\n- blue chairs"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        conversation c;

        begin(&c);
        know(&c, "marquee_budget", "$4,000", "$5,000");
        say(&c, "user", cases[i].text);
        CHECK_STR_EQ(last_text(&c), cases[i].left);
        CHECK_EQ(c.judged[0].verdict, LC_VERDICT_REPLACED);
        CHECK_EQ(c.judged[1].verdict, LC_VERDICT_HOLDS);
        CHECK_EQ(c.judged[2].verdict,
                 cases[i].left[0] != '\0' ? LC_VERDICT_HOLDS : LC_VERDICT_REPLACED);
        end(&c);
    }
}

TEST(talk, a_value_that_is_current_again_is_never_hidden)
{
    conversation c;

    begin(&c);
    know(&c, "marquee_budget", "$4,000", "$5,000");
    add(&c, LC_SAID_FACT, "tent_budget", " $4,000 ");
    say(&c, "user", "The marquee budget is $4,000.");
    CHECK_STR_EQ(last_text(&c), "The marquee budget is $4,000.");
    end(&c);
}

TEST(talk, a_value_without_a_successor_is_lost_as_well)
{
    conversation c;

    begin(&c);
    add(&c, LC_SAID_FORMER, "marquee_budget", "$4,000");
    say(&c, "user", "The marquee budget is $4,000.");
    CHECK_STR_EQ(last_text(&c), "");
    end(&c);
}

TEST(talk, what_a_model_echoes_is_left_out_sooner)
{
    for (int is_model = 0; is_model < 2; is_model++) {
        conversation c;

        begin(&c);
        know(&c, "marquee_budget", "$4,000", "$5,000");
        say(&c, "assistant", "Noted for tents: $4,000.");
        c.said[2].is_model = is_model;
        CHECK_STR_EQ(last_text(&c), is_model ? "" : "Noted for tents: $4,000.");
        end(&c);
    }
}

/* Facts that repeat messages word for word are a log: the next entry does not make one untrue. */
TEST(talk, the_entries_of_a_log_are_not_lost)
{
    static const char first[] = "The tents came today, all twelve of them.";
    static const char second[] = "Painted the fence today.";
    conversation c;

    begin(&c);
    know(&c, "diary", first, second);
    say(&c, "user", second);
    say(&c, "user", first);
    CHECK_STR_EQ(last_text(&c), first);
    c.said[2].text = LC_STR("Something else was said today.");
    CHECK_STR_EQ(last_text(&c), "");
    end(&c);
}

TEST(talk, a_fact_marked_as_withdrawn_is_lost)
{
    conversation c;

    begin(&c);
    add(&c, LC_SAID_FACT, "", "[INVALIDATED] The gala is in Hall Nine.");
    say(&c, "user", "The gala is in Hall Nine.");
    CHECK_STR_EQ(last_text(&c), "");
    CHECK_EQ(c.judged[0].verdict, LC_VERDICT_REPLACED);
    end(&c);
}

/* Text that was not read, because it is long or code, is kept even if the clause before it is
 * removed.
 */
TEST(talk, text_that_is_not_read_is_kept)
{
    enum { BYTES = 20000 };
    static const char stale[] = "The marquee budget is $4,000.";
    conversation c;
    char *text = test_bytes(BYTES);
    loci_str left;

    begin(&c);
    know(&c, "marquee_budget", "$4,000", "$5,000");
    say(&c, "user", "The marquee budget is $4,000.\n```\nx = 1\n```\nGo on. Thanks.");
    CHECK_STR_EQ(last_text(&c), "```\nx = 1\n```\nGo on. Thanks.");
    c.said[2].text = LC_STR("The marquee budget is $4,000.\n```\nx = 1\n```");
    CHECK_STR_EQ(last_text(&c), "```\nx = 1\n```");
    c.said[2].text = LC_STR("```\nx = 1\n```\nThe marquee budget is $4,000.");
    CHECK_STR_EQ(last_text(&c), "```\nx = 1\n```");
    for (size_t i = 0; i < BYTES; i++)
        text[i] = "tent. "[i % 6];
    memcpy(text + 16338, stale, sizeof stale - 1); /* Its end is among the last bytes read. */
    c.said[2].text = (loci_str){text, BYTES};
    left = last_text(&c);
    CHECK_LT(BYTES - 100, left.len);
    CHECK_LT(left.len, BYTES - 20);
    end(&c);
}

/* ---- Taken back ------------------------------------------------------------------------------ */

TEST(talk, a_speaker_takes_a_value_back_by_naming_both)
{
    static const struct {
        const char *by, *text;
        int64_t after; /* Events. */
        bool is_hidden;
    } cases[] = {{"user", "Sorry, Bergen, not Oslo.", 1, true},
                 {"user", "Let's say Bergen instead of Oslo.", 1, true},
                 {"user", "Bergen rather than Oslo please.", 12, true},
                 {"user", "The gala is in Bergen, not Oslo.", 1, true},
                 {"user", "My sister lives in Bergen, not Oslo.", 1, false},
                 {"user", "Sorry, Bergen, not Oslo.", 13, false},
                 {"anna", "Sorry, Bergen, not Oslo.", 1, false},
                 {"user", "Not Oslo.", 1, false},
                 {"user", "Bergen, not Rome.", 1, false},
                 {"user", "It is warm, not cold.", 1, false},
                 {"user", "Bergen but not Oslo.", 1, true},
                 {"user", "Forget Oslo, Bergen is nicer.", 1, true},
                 {"user", "Anna did not go to Oslo.", 1, false},
                 {"user", "Anna would rather see Oslo.", 1, false},
                 {"user", "We can instead visit Oslo.", 1, false},
                 {"user", "Bergen it is.", 1, false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        conversation c;

        begin(&c);
        say(&c, "user", "Hello. The gala is in Oslo on a cold day.");
        say(&c, cases[i].by, cases[i].text);
        c.said[1].seq = c.said[0].seq + cases[i].after;
        judge(&c);
        if (!lc_str_is(c.judged[0].text,
                       cases[i].is_hidden ? "Hello." : "Hello. The gala is in Oslo on a cold day."))
            test_fail(__FILE__, __LINE__, "%s: %s, %.*s", cases[i].by, cases[i].text,
                      LC_STR_ARG(c.judged[0].text));
        CHECK_STR_EQ(c.judged[1].text, cases[i].text);
        end(&c);
    }
}

TEST(talk, nothing_is_taken_back_before_it_is_said)
{
    conversation c;

    begin(&c);
    say(&c, "user", "Bergen, not Oslo.");
    say(&c, "user", "The gala is in Oslo.");
    CHECK_STR_EQ(last_text(&c), "The gala is in Oslo.");
    end(&c);
}

/* ---- Signals and notes ----------------------------------------------------------------------- */

TEST(talk, a_later_signal_on_its_subject_replaces_a_signal)
{
    conversation c;

    begin(&c);
    add(&c, LC_SAID_SIGNAL, "", "Flight LX38 leaves at 10:00 from gate 4");
    add(&c, LC_SAID_SIGNAL, "", "Rain in Oslo until noon");
    add(&c, LC_SAID_SIGNAL, "", "Flight LX38 leaves at 11:30 from gate 9");
    judge(&c);
    CHECK_EQ(c.judged[0].verdict, LC_VERDICT_REPLACED);
    CHECK_EQ(c.judged[1].verdict, LC_VERDICT_HOLDS);
    CHECK_EQ(c.judged[2].verdict, LC_VERDICT_HOLDS);
    end(&c);
}

TEST(talk, of_a_note_only_its_mark_is_judged)
{
    conversation c;

    begin(&c);
    know(&c, "marquee_budget", "$4,000", "$5,000");
    add(&c, LC_SAID_NOTE, "", "The marquee budget is $4,000.");
    add(&c, LC_SAID_NOTE, "", "[RETRACTED] The tent is red.");
    judge(&c);
    CHECK_STR_EQ(c.judged[2].text, "The marquee budget is $4,000.");
    CHECK_EQ(c.judged[2].verdict, LC_VERDICT_HOLDS);
    CHECK_EQ(c.judged[3].verdict, LC_VERDICT_REPLACED);
    end(&c);
}

/* ---- Marks ----------------------------------------------------------------------------------- */

TEST(talk, marks_are_obeyed_for_everything_said)
{
    static const lc_said_kind kinds[] = {LC_SAID_FACT, LC_SAID_NOTE, LC_SAID_SIGNAL,
                                         LC_SAID_MESSAGE};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        conversation c;

        begin(&c);
        add(&c, kinds[i], "", "[RESTRICTED to VP+] The merger is on.");
        add(&c, kinds[i], "", "[DRAFT] Ten red chairs.");
        add(&c, kinds[i], "", "[VOID] One blue lamp.");
        add(&c, kinds[i], "", "A plain word.");
        judge(&c);
        CHECK_EQ(c.judged[0].verdict, LC_VERDICT_RESTRICTED);
        CHECK_EQ(c.judged[1].verdict, LC_VERDICT_SUPPOSED);
        CHECK_EQ(c.judged[2].verdict, LC_VERDICT_REPLACED);
        CHECK_EQ(c.judged[3].verdict, LC_VERDICT_HOLDS);
        c.reader = (lc_reader){.rank = 9, .query = LC_STR("the draft")};
        judge(&c);
        CHECK_EQ(c.judged[0].verdict, LC_VERDICT_HOLDS);
        CHECK_EQ(c.judged[1].verdict, LC_VERDICT_HOLDS);
        end(&c);
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void check_weights(const char *const *texts, size_t count, const char *low)
{
    conversation c;

    begin(&c);
    for (size_t i = 0; i < count; i++)
        say(&c, "user", texts[i]);
    judge(&c);
    for (size_t i = 0; i < count; i++) {
        if ((c.judged[i].weight < 1) != (low[i] == 'x'))
            test_fail(__FILE__, __LINE__, "%s", texts[i]);
        CHECK_EQ(c.judged[i].verdict, LC_VERDICT_HOLDS);
        CHECK_STR_EQ(c.judged[i].text, texts[i]);
    }
    end(&c);
}

TEST(talk, a_block_loses_rank_when_it_is_opened_and_closed)
{
    static const char *const aside[] = {"The tent is red.", "Hold on, the bell.", "It was Anna.",
                                        "Back to the tent.", "It is red."};
    static const char *const play[] = {"Let's brainstorm names.", "Call it Rex.",
                                       "That's enough for now.", "The tent is red."};
    static const char *const open[] = {"The tent is red.", "Hold on, the bell.", "It was Anna.",
                                       "The bell again."};
    static const char *const closed[] = {"The tent is red.", "It was Anna.", "Back to the tent.",
                                         "It is red."};
    static const char *const mixed[] = {"Hold on, the bell.", "It was Anna.",
                                        "That's enough for now.", "The bell again."};

    check_weights(aside, 5, " xx  ");
    check_weights(play, 4, "xx  ");
    check_weights(open, 4, "    ");
    check_weights(closed, 4, "    ");
    check_weights(mixed, 4, "    ");
}

TEST(talk, a_block_of_more_than_twelve_messages_is_none)
{
    for (size_t count = 12; count <= 13; count++) {
        const char *texts[13];

        texts[0] = "Hold on, the bell.";
        for (size_t i = 1; i + 1 < count; i++)
            texts[i] = "The tent is red.";
        texts[count - 1] = "Back to the tent.";
        check_weights(texts, count, count == 12 ? "xxxxxxxxxxx " : "             ");
    }
}

/* ---- Facts and later talk -------------------------------------------------------------------- */

TEST(talk, a_fact_knows_the_last_message_that_names_its_key)
{
    conversation c;

    begin(&c);
    say(&c, "user", "The marquee budget is too low.");
    add(&c, LC_SAID_FACT, "marquee_budget", "$5,000");
    add(&c, LC_SAID_FACT, "", "The marquee budget is low.");
    say(&c, "user", "I heard the marquee budget is $6,000 or so.");
    say(&c, "user", "Who set the budget for the marquee, and why?");
    say(&c, "user", "The marquee budget is $5,000.");
    say(&c, "user", "The budget is fine.");
    say(&c, "user", "[RESTRICTED to VP+] The marquee budget is $9,000.");
    judge(&c);
    CHECK_EQ(c.judged[1].later, 4);
    CHECK_EQ(c.judged[2].later, LC_SAID_NONE);
    CHECK_EQ(c.judged[0].later, LC_SAID_NONE);
    end(&c);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

TEST(talk, nothing_said_is_judged)
{
    conversation c;

    begin(&c);
    judge(&c);
    end(&c);
}

/* Two hundred long messages beside facts, one of which was a document: quick, and nothing hidden.
 */
TEST(talk, many_long_messages_are_judged_quickly)
{
    enum { MESSAGES = 200, BYTES = 20 * 1024 };
    static const char sentence[] = "The red tent is up, and 5.a.b.c stays open; see \xE2\x94\x80. ";
    lc_said *said = (lc_said *)(void *)test_bytes((MESSAGES + 3) * sizeof *said);
    char *text = test_bytes(BYTES);
    lc_reader reader = {.rank = -1};
    const lc_judged *judged;
    talk_fixture f;
    loci_error err;

    for (size_t i = 0; i < BYTES; i++)
        text[i] = sentence[i % (sizeof sentence - 1)];
    said[0] = (lc_said){.kind = LC_SAID_FORMER, .key = LC_STR("report"), .successor = 1};
    said[0].text = (loci_str){text + 7, BYTES - 7};
    said[1] = (lc_said){
        .kind = LC_SAID_FACT, .key = LC_STR("report"), .text = LC_STR("none"), .seq = 1};
    said[2] = (lc_said){.kind = LC_SAID_FORMER, .key = LC_STR("tent"), .text = LC_STR("blue tent")};
    said[2].successor = LC_SAID_NONE;
    for (size_t i = 3; i < MESSAGES + 3; i++)
        said[i] = (lc_said){.kind = LC_SAID_MESSAGE,
                            .text = {text, BYTES},
                            .speaker = LC_STR("user"),
                            .seq = (int64_t)i};
    talk_open(&f);
    CHECK_OK(lc_talk_judge(f.talk, &f.arena, &(lc_talk_input){said, MESSAGES + 3, reader}, &judged,
                           &err),
             err);
    for (size_t i = 3; i < MESSAGES + 3; i++)
        CHECK_EQ(judged[i].text.len, BYTES);
    talk_close(&f);
}

static loci_status judge_with_faults(void *ctx)
{
    static const lc_said said[] = {
        {.kind = LC_SAID_FORMER, .key = LC_STR("budget"), .text = LC_STR("$4"), .successor = 1},
        {.kind = LC_SAID_FACT, .key = LC_STR("budget"), .text = LC_STR("$5"), .seq = 1},
        {.kind = LC_SAID_SIGNAL, .text = LC_STR("Flight LX38 leaves at 10:00"), .seq = 2},
        {.kind = LC_SAID_SIGNAL, .text = LC_STR("Flight LX38 leaves at 11:00"), .seq = 3},
        {.kind = LC_SAID_MESSAGE, .text = LC_STR("Hi. The budget is $4. Bye."), .seq = 4},
        {.kind = LC_SAID_MESSAGE, .text = LC_STR("The budget may change."), .seq = 5}};
    lc_reader reader = {.rank = -1};
    const lc_judged *judged = NULL;
    lc_heap heap;
    lc_arena arena;
    lc_talk *talk = NULL;
    loci_error err;
    loci_status status;

    (void)ctx;
    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_talk_new(&heap, talk_ranking, &talk, &err);
    if (status == LOCI_OK)
        status = lc_talk_judge(talk, &arena,
                               &(lc_talk_input){said, sizeof said / sizeof *said, reader}, &judged,
                               &err);
    if (status == LOCI_OK) {
        CHECK_STR_EQ(judged[4].text, "Hi. Bye.");
        CHECK_EQ(judged[1].later, 5);
    }
    lc_talk_free(talk);
    lc_arena_clear(&arena);
    return status;
}

TEST(talk, running_out_of_memory_is_an_error_and_leaks_nothing)
{
    test_oom_sweep(judge_with_faults, NULL);
}

/* ---- Giving up ------------------------------------------------------------------------------- */

static loci_status allow_two(void *ctx, loci_error *err)
{
    int *asked = ctx;

    return ++*asked <= 2 ? LOCI_OK : lc_fail(err, LOCI_EDEADLINE, "too late");
}

/* A caller whose deadline has passed does not wait for the rest of a long conversation. */
TEST(talk, a_judgement_ends_when_its_caller_gives_up)
{
    static const lc_said said[] = {{.kind = LC_SAID_MESSAGE, .text = LC_STR("One."), .seq = 1},
                                   {.kind = LC_SAID_MESSAGE, .text = LC_STR("Two."), .seq = 2},
                                   {.kind = LC_SAID_MESSAGE, .text = LC_STR("Three."), .seq = 3}};
    int asked = 0;
    lc_talk_input input = {
        .said = said, .count = 3, .reader = {.rank = -1}, .pause = allow_two, .pause_ctx = &asked};
    const lc_judged *judged;
    talk_fixture f;
    loci_error err;

    talk_open(&f);
    CHECK_STATUS(LOCI_EDEADLINE, lc_talk_judge(f.talk, &f.arena, &input, &judged, &err));
    CHECK_EQ(asked, 3);
    talk_close(&f);
}
