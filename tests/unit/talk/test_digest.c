/* Tests of talk/digest.h: which sentences of a conversation a summary keeps. */
#include "talk/digest.h"

#include <stdio.h>

#include "base/utf8.h"
#include "talk_fixture.h"

#define ROOM ((lc_digest_room){.code_points = 600, .lines = 12})

static lc_digest digest_of(talk_fixture *f, const lc_digest_message *messages, size_t count)
{
    lc_digest digest;
    loci_error err;

    CHECK_EQ(lc_digest_read(lc_talk_lexicon(f->talk), &f->arena,
                            &(lc_digest_input){.messages = messages, .count = count}, &digest,
                            &err),
             LOCI_OK);
    return digest;
}

static lc_digest_lines choose(talk_fixture *f, const lc_digest *digest, unsigned gists,
                              lc_digest_room room)
{
    lc_digest_lines lines;
    loci_error err;

    CHECK_EQ(lc_digest_choose(digest, gists, room, &f->arena, &lines, &err), LOCI_OK);
    return lines;
}

#define SAYS(name, line) ((lc_digest_message){LC_STR(name), LC_STR("user"), LC_STR(line)})
#define ANSWERS(line) ((lc_digest_message){LC_STR(""), LC_STR("assistant"), LC_STR(line)})
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The summary's lists (decisions, commitments, open loops) are made from these kinds: a promise in
 * the list of open questions would mislead its reader. */
TEST(talk_digest, a_sentence_is_known_by_what_it_does)
{
    static const struct {
        const char *text;
        lc_gist gist;
    } cases[] = {
        {"The launch date is now May 9.", LC_GIST_DECISION},
        {"Let's go with the blue design.", LC_GIST_DECISION},
        {"We decided to hire two more engineers.", LC_GIST_DECISION},
        {"So we ended up going with three nodes.", LC_GIST_DECISION},
        {"I'll call the venue tomorrow.", LC_GIST_COMMITMENT},
        {"Ok, I will send the contract to Maria on Friday.", LC_GIST_COMMITMENT},
        {"I need to renew my passport before June.", LC_GIST_OPEN},
        {"The invoice for March is still pending.", LC_GIST_OPEN},
        {"We haven't booked the flights yet.", LC_GIST_OPEN},
        {"My sister Ana lives in Lisbon.", LC_GIST_STATEMENT},
        {"I'll never eat oysters again.", LC_GIST_STATEMENT},
        {"Maybe we decided too early about the venue.", LC_GIST_STATEMENT},
        {"Which database should the project use?", LC_GIST_OPEN}, /* No answer follows. */
    };
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < COUNT(cases); i++) {
        lc_digest_message message = {LC_STR("Ann"), LC_STR("user"), loci_str_of(cases[i].text)};
        lc_digest digest = digest_of(&f, &message, 1);

        if (digest.count != 1 || digest.lines[0].gist != cases[i].gist)
            test_fail(__FILE__, __LINE__, "\"%s\": %zu lines, kind %d, expected %d", cases[i].text,
                      digest.count, digest.count > 0 ? (int)digest.lines[0].gist : -1,
                      (int)cases[i].gist);
    }
    talk_close(&f);
}

/* A question that was answered is no open loop. */
TEST(talk_digest, a_question_is_open_until_another_speaker_answers)
{
    const lc_digest_message messages[] = {
        SAYS("Ann", "Which database should the project use?"),
        ANSWERS("PostgreSQL fits because you need several writers."),
        SAYS("Ann", "How do I back up the database every night?"),
    };
    talk_fixture f;
    lc_digest digest;
    lc_digest_lines open;

    talk_open(&f);
    digest = digest_of(&f, messages, COUNT(messages));
    open = choose(&f, &digest, LC_GIST_BIT(LC_GIST_OPEN), ROOM);
    CHECK_EQ(open.count, 1);
    CHECK_STR_EQ(open.items[0]->text, "How do I back up the database every night?");
    talk_close(&f);
}

/* Tool output, code and pleasantries would crowd out the statements of people. */
TEST(talk_digest, noise_is_left_out)
{
    const lc_digest_message messages[] = {
        {LC_STR(""), LC_STR("tool"), LC_STR("The launch date is now May 9.")},
        SAYS("Ann", "Hi there! Thanks a lot. Ok great."),
        SAYS("Ann", "`SELECT count FROM telemetry WHERE id = 4 LIMIT 10` fails."),
        SAYS("Ann", "```\nERROR: relation telemetry does not exist\n```"),
    };
    talk_fixture f;
    lc_digest digest;

    talk_open(&f);
    digest = digest_of(&f, messages, COUNT(messages));
    for (size_t i = 0; i < digest.count; i++)
        test_fail(__FILE__, __LINE__, "unexpected line \"%.*s\"", LC_STR_ARG(digest.lines[i].text));
    talk_close(&f);
}

/* A quotation without its end would swallow the next sentence of a summary. */
TEST(talk_digest, a_sentence_keeps_the_marks_that_touch_it)
{
    static const struct {
        const char *text, *line;
    } cases[] = {
        {"Ann said \"the venue is closed\". Then nothing.", "Ann said \"the venue is closed\"."},
        {"Ann said the venue is “closed for ever!” Ok.",
         "Ann said the venue is “closed for ever!”"},
        {"(The venue in Lisbon is closed.) Ok.", "(The venue in Lisbon is closed.)"},
        {"The venue in Lisbon is closed!!!!!!!!", "The venue in Lisbon is closed!!!!"},
        {"The venue in Lisbon is closed", "The venue in Lisbon is closed"},
    };
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < COUNT(cases); i++) {
        lc_digest_message message = {LC_STR("Ann"), LC_STR("user"), loci_str_of(cases[i].text)};
        lc_digest digest = digest_of(&f, &message, 1);

        CHECK_EQ(digest.count, 1);
        CHECK_STR_EQ(digest.lines[0].text, cases[i].line);
    }
    talk_close(&f);
}

/* A value that was said twice must appear once, as it was said last. */
TEST(talk_digest, of_sentences_that_say_the_same_the_last_is_kept)
{
    const lc_digest_message messages[] = {
        SAYS("Ann", "The launch party takes place in Lisbon on May 5."),
        SAYS("Bob", "My train arrives at noon on Thursday."),
        SAYS("Ann", "As I said, the launch party takes place in Lisbon on May 5!"),
    };
    talk_fixture f;
    lc_digest digest;

    talk_open(&f);
    digest = digest_of(&f, messages, COUNT(messages));
    CHECK_EQ(digest.count, 2);
    CHECK_EQ(digest.lines[0].message, 1);
    CHECK_EQ(digest.lines[1].message, 2);
    talk_close(&f);
}

TEST(talk_digest, lines_fit_the_room_and_keep_the_order_of_time)
{
    lc_digest_message messages[60];
    char texts[60][80];
    talk_fixture f;
    lc_digest digest;

    talk_open(&f);
    for (size_t i = 0; i < COUNT(messages); i++) {
        (void)snprintf(texts[i], sizeof texts[i], "Room %zu gets %zu größere Stühle from Malmö.",
                       100 + i * 7, 3 + i);
        messages[i] = (lc_digest_message){LC_STR("Ann"), LC_STR("user"), loci_str_of(texts[i])};
    }
    digest = digest_of(&f, messages, COUNT(messages));
    for (size_t room = 0; room < 400; room += 7) {
        lc_digest_lines lines = choose(&f, &digest, LC_GISTS_ALL,
                                       (lc_digest_room){.code_points = room, .lines = 5});
        size_t used = 0;

        CHECK(lines.count <= 5);
        for (size_t i = 0; i < lines.count; i++) {
            used += lc_utf8_count(lines.items[i]->text) + 1;
            CHECK(i == 0 || lines.items[i - 1]->message <= lines.items[i]->message);
        }
        CHECK(used <= room);
        CHECK(lines.count > 0 || room < 45);
    }
    talk_close(&f);
}

/* A product or a place in the list of people is worse than a missing person. */
TEST(talk_digest, people_are_named_only_where_the_text_says_so)
{
    const lc_digest_message messages[] = {
        SAYS("Ann", "My brother Tom moved to Berlin and uses GitHub."),
        SAYS("Ann", "I met Dr. Voss at Acme. Later Priya is my manager at Initech."),
        SAYS("Ann", "We showed it to Kuba."),
    };
    const loci_str known[] = {LC_STR("Kuba")};
    talk_fixture f;
    lc_digest digest;
    loci_error err;

    talk_open(&f);
    CHECK_EQ(lc_digest_read(lc_talk_lexicon(f.talk), &f.arena,
                            &(lc_digest_input){.messages = messages,
                                               .count = COUNT(messages),
                                               .people = {known, 1}},
                            &digest, &err),
             LOCI_OK);
    CHECK_EQ(digest.people_count, 5);
    CHECK_STR_EQ(digest.people[0], "Ann");
    CHECK_STR_EQ(digest.people[1], "Tom");
    CHECK_STR_EQ(digest.people[2], "Voss");
    CHECK_STR_EQ(digest.people[3], "Priya");
    CHECK_STR_EQ(digest.people[4], "Kuba");
    talk_close(&f);
}

TEST(talk_digest, the_mood_needs_more_than_one_word)
{
    static const struct {
        const char *text;
        lc_tone tone;
    } cases[] = {{"I love this bread.", LC_TONE_NEUTRAL},
                 {"I love this bread, thanks, it is perfect.", LC_TONE_POSITIVE},
                 {"I am stuck and so frustrated.", LC_TONE_TROUBLED},
                 {"Thanks, I was stuck and worried, now I am happy.", LC_TONE_MIXED}};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < COUNT(cases); i++) {
        lc_digest_message message = {LC_STR("Ann"), LC_STR("user"), loci_str_of(cases[i].text)};

        CHECK_EQ(digest_of(&f, &message, 1).tone, cases[i].tone);
    }
    talk_close(&f);
}

/* A session of any length is read within bounds; its end weighs more than its beginning. */
TEST(talk_digest, of_a_long_conversation_the_last_sentences_are_read)
{
    size_t count = 2 * LC_DIGEST_SENTENCES_MAX;
    lc_digest_message *messages = (void *)test_bytes(count * sizeof *messages);
    talk_fixture f;
    lc_digest digest;

    talk_open(&f);
    for (size_t i = 0; i < count; i++) {
        char *text = test_bytes(64);

        (void)snprintf(text, 64, "Order %zu went to customer number %zu.", i * 31, i * 17 + 5);
        messages[i] = (lc_digest_message){LC_STR("Ann"), LC_STR("user"), loci_str_of(text)};
    }
    digest = digest_of(&f, messages, count);
    CHECK(digest.count > 0);
    CHECK(digest.count <= LC_DIGEST_SENTENCES_MAX);
    CHECK_EQ(digest.lines[digest.count - 1].message, count - 1);
    talk_close(&f);
}

static loci_status read_once(void *ctx)
{
    const lc_digest_message messages[] = {SAYS("Ann", "The launch date is now May 9. I'll call."),
                                          ANSWERS("The venue in Lisbon is free on May 9.")};
    talk_fixture *f = ctx;
    lc_arena_mark mark = lc_arena_get_mark(&f->arena);
    lc_digest digest;
    lc_digest_lines lines;
    loci_error err;
    loci_status status = lc_digest_read(
        lc_talk_lexicon(f->talk), &f->arena,
        &(lc_digest_input){.messages = messages, .count = COUNT(messages)}, &digest, &err);

    if (status == LOCI_OK)
        status = lc_digest_choose(&digest, LC_GISTS_ALL, ROOM, &f->arena, &lines, &err);
    lc_arena_rewind(&f->arena, mark);
    return status;
}

TEST(talk_digest, running_out_of_memory_is_an_error)
{
    talk_fixture f;

    talk_open(&f);
    test_oom_sweep(read_once, &f);
    talk_close(&f);
}
