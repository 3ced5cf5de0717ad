/* fuzz_talk.c - any bytes as a conversation: it is read, proposals are made, and it is judged.
 *
 * The input is parts with '|' between them: the key of a fact, the value it lost, the value it has,
 * then messages. What is found must lie in the text it was found in, what is left of a message must
 * stand in the message in the same order, and doing it twice must give the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "talk/learn.h"
#include "talk/propose.h"

#define MESSAGES_MAX 12
#define SAID_MAX (MESSAGES_MAX + 4)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static lc_heap heap;
static lc_talk *talk;

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

static int ranking(loci_str title)
{
    return lc_str_is(title, "CEO") || lc_str_is(title, "vp") ? 5 : -1;
}

static bool is_inside(loci_str part, loci_str text)
{
    return part.len == 0 || (part.ptr >= text.ptr && part.ptr + part.len <= text.ptr + text.len);
}

/* Do the bytes of `left` stand in `text`, in their order? */
static bool is_left_of(loci_str left, loci_str text)
{
    size_t found = 0;

    for (size_t i = 0; i < text.len && found < left.len; i++)
        found += text.ptr[i] == left.ptr[found];
    return found == left.len;
}

static void demand_terms(lc_terms terms)
{
    size_t end = 0;

    for (size_t i = 0; i < terms.count; i++) {
        demand(terms.at[i].start >= end && terms.at[i].bytes > 0);
        end = terms.at[i].start + terms.at[i].bytes;
        demand(end <= terms.text.len && end <= LC_TERMS_BYTES_MAX);
    }
}

static void demand_statements(const lc_statements *statements, loci_str text)
{
    demand(statements->count <= LC_STATEMENTS_MAX);
    for (size_t i = 0; i < statements->count; i++) {
        const lc_statement *s = &statements->items[i];

        demand(s->value.count > 0 && lc_terms_content(s->value) > 0);
        demand(s->sentence.count <= LC_STATEMENT_WORDS_MAX);
        demand(is_inside(lc_terms_text(s->sentence), text));
        demand(is_inside(lc_terms_text(s->value), lc_terms_text(s->sentence)));
        demand(is_inside(lc_terms_text(s->subject), lc_terms_text(s->sentence)));
        demand((s->form == LC_STATES_IMPLIED) == (s->implication != NULL));
        demand(s->subject.count == 0 ||
               (s->form != LC_STATES_BACK && s->form != LC_STATES_IMPLIED));
    }
}

static void demand_lessons(lc_arena *arena, lc_terms terms)
{
    const lc_moment said = {INT64_C(1773223200000000), 0};
    lc_lessons lessons;
    lc_when when;

    demand(lc_lessons_read(arena, terms, &lessons, NULL) == LOCI_OK);
    demand(lessons.count <= LC_LESSONS_MAX);
    for (size_t i = 0; i < lessons.count; i++) {
        const lc_lesson *lesson = &lessons.items[i];

        demand(lesson->text.len > 0 && lesson->confidence > 0 && lesson->confidence <= 1);
        demand(lesson->quote.len > 0 && is_inside(lesson->quote, terms.text));
        demand(is_inside(lesson->person, lesson->quote));
        if (lc_when_find(lesson->when, &said, &when))
            demand(when.count > 0 && when.first + when.count <= lesson->when.count);
    }
}

static size_t propose(lc_arena *arena, loci_str text, const lc_known *known, size_t known_count,
                      lc_proposal out[LC_PROPOSALS_MAX])
{
    lc_statements statements;
    lc_terms terms;
    size_t count = 0;

    demand(lc_terms_read(lc_talk_lexicon(talk), arena, text, &terms, NULL) == LOCI_OK);
    demand_terms(terms);
    lc_statements_read(terms, &statements);
    demand_statements(&statements, text);
    demand_lessons(arena, terms);
    demand(lc_talk_propose(talk, arena,
                           &(lc_propose_input){.statements = &statements,
                                               .known = known,
                                               .known_count = known_count,
                                               .before = &known[0].value,
                                               .before_count = 1,
                                               .is_owner = text.len % 2 == 0},
                           out, &count, NULL) == LOCI_OK);
    return count;
}

static void check_propose(lc_arena *arena, loci_str text, lc_known first)
{
    const lc_known known[] = {first,
                              {LC_STR("chair_order"), LC_STR("40 stacking chairs"), true},
                              {LC_STR("deadline"), LC_STR("June 2"), true},
                              {LC_STR("city"), LC_STR("Oslo"), false},
                              {LC_STR("marquee_budget"), LC_STR("$4,000"), false},
                              {LC_STR("menu"), LC_STR("soup"), true}};
    enum { KNOWN = sizeof known / sizeof *known };
    lc_proposal a[LC_PROPOSALS_MAX], b[LC_PROPOSALS_MAX];
    size_t count = propose(arena, text, known, KNOWN, a);

    demand(count == propose(arena, text, known, KNOWN, b));
    for (size_t i = 0; i < count; i++) {
        demand(a[i].known < KNOWN || (a[i].known == LC_KNOWN_NONE && !a[i].is_claim));
        demand(a[i].value.len > 0 && (a[i].key.len > 0 || a[i].known == 0)); /* `first` has any. */
        demand(is_inside(a[i].quote, text) && a[i].quote.len > 0);
        demand(is_inside(a[i].value, text) || a[i].known != LC_KNOWN_NONE);
        demand(lc_str_eq(a[i].key, b[i].key) && lc_str_eq(a[i].value, b[i].value));
        demand(a[i].is_claim == b[i].is_claim && a[i].rule == b[i].rule);
        for (size_t k = 0; k < i; k++)
            demand(!lc_str_eq(a[k].key, a[i].key));
    }
}

static void check_judge(lc_arena *arena, const lc_said *said, size_t count)
{
    lc_reader reader = {.rank = 4, .title = LC_STR("vp"), .organization = LC_STR("Acme")};
    const lc_judged *a, *b;

    demand(lc_talk_judge(talk, arena, &(lc_talk_input){said, count, reader}, &a, NULL) == LOCI_OK);
    demand(lc_talk_judge(talk, arena, &(lc_talk_input){said, count, reader}, &b, NULL) == LOCI_OK);
    for (size_t i = 0; i < count; i++) {
        demand(is_left_of(a[i].text, said[i].text));
        demand(said[i].kind == LC_SAID_MESSAGE || lc_str_eq(a[i].text, said[i].text));
        demand(a[i].weight > 0 && a[i].weight <= 1);
        demand(a[i].later == LC_SAID_NONE || (a[i].later > i && a[i].later < count));
        demand(a[i].verdict == b[i].verdict && a[i].later == b[i].later &&
               lc_str_eq(a[i].text, b[i].text));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    loci_str rest = {(const char *)data, bytes}, key, former, value;
    lc_said said[SAID_MAX] = {{0}};
    size_t count = 3;
    lc_arena arena;

    if (talk == NULL) {
        lc_heap_init(&heap, (loci_allocator){0});
        demand(lc_talk_new(&heap, ranking, &talk, NULL) == LOCI_OK);
    }
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    key = lc_str_split(rest, '|', &rest);
    former = lc_str_split(rest, '|', &rest);
    value = lc_str_split(rest, '|', &rest);
    said[0] = (lc_said){.kind = LC_SAID_FORMER, .key = key, .text = former, .successor = 1};
    said[1] = (lc_said){.kind = LC_SAID_FACT, .key = key, .text = value, .seq = 1};
    said[2] = (lc_said){.kind = LC_SAID_SIGNAL, .text = former, .seq = 2};
    while (rest.len > 0 && count < 3 + MESSAGES_MAX) {
        said[count] = (lc_said){.kind = LC_SAID_MESSAGE,
                                .text = lc_str_split(rest, '|', &rest),
                                .speaker = count % 3 == 0 ? LC_STR("anna") : LC_STR("user"),
                                .is_model = count % 4 == 3,
                                .seq = (int64_t)count};
        check_propose(&arena, said[count].text, (lc_known){key, value, count % 2 == 0});
        count++;
    }
    said[count] = (lc_said){.kind = LC_SAID_SIGNAL, .text = value, .seq = (int64_t)count};
    check_judge(&arena, said, count + 1);
    lc_arena_clear(&arena);
    return 0;
}
