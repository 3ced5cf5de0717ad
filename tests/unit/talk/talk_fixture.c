#include "unit/talk/talk_fixture.h"

#include "base/str.h"

int talk_ranking(loci_str title)
{
    static const struct {
        const char *title;
        int rank;
    } ranks[] = {{"ceo", 6}, {"vp", 5}, {"manager", 3}, {"engineer", 2}, {"contractor", 1}};

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        size_t same = 0;

        while (same < title.len && ranks[i].title[same] != '\0' &&
               (title.ptr[same] | 0x20) == ranks[i].title[same])
            same++;
        if (same == title.len && ranks[i].title[same] == '\0')
            return ranks[i].rank;
    }
    return -1;
}

void talk_open(talk_fixture *f)
{
    loci_error err;

    lc_heap_init(&f->heap, test_heap());
    lc_arena_init(&f->arena, &f->heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_talk_new(&f->heap, talk_ranking, &f->talk, &err), err);
}

void talk_close(talk_fixture *f)
{
    lc_talk_free(f->talk);
    lc_arena_clear(&f->arena);
}

loci_str talk_held(talk_fixture *f, const char *const *messages, size_t count, size_t index,
                   const char *query)
{
    lc_said said[32];
    const lc_judged *judged;
    loci_str text;
    loci_error err;

    CHECK(count <= 32);
    for (size_t i = 0; i < count; i++)
        said[i] = (lc_said){
            .kind = LC_SAID_MESSAGE, .text = loci_str_of(messages[i]), .successor = LC_SAID_NONE};
    CHECK_OK(lc_talk_judge(
                 f->talk, &f->arena,
                 &(lc_talk_input){
                     .said = said, .count = count, .query = loci_str_of(query), .reader_rank = -1},
                 &judged, &err),
             err);
    if (judged[index].verdict != LC_VERDICT_HOLDS)
        return LC_STR("");
    CHECK_OK(lc_judged_text(&f->arena, &judged[index], said[index].text, &text, &err), err);
    return text;
}
