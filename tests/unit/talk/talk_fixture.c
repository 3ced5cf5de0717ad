#include "unit/talk/talk_fixture.h"

#include "base/str.h"

int talk_ranking(loci_str title)
{
    static const struct {
        const char *title;
        int rank;
    } ranks[] = {{"ceo", 9},      {"vp", 8},     {"vice president", 8}, {"manager", 6},
                 {"engineer", 4}, {"intern", 1}, {"guest", 0}};

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

lc_terms talk_terms(talk_fixture *f, const char *text)
{
    lc_terms terms = {{0}};
    loci_error err;

    CHECK_OK(lc_terms_read(lc_talk_lexicon(f->talk), &f->arena, loci_str_of(text), &terms, &err),
             err);
    return terms;
}

lc_terms talk_key(talk_fixture *f, const char *key)
{
    lc_terms terms = {{0}};
    loci_error err;

    CHECK_OK(lc_terms_read_key(lc_talk_lexicon(f->talk), &f->arena, loci_str_of(key), &terms, &err),
             err);
    return terms;
}

void talk_statements(talk_fixture *f, const char *text, lc_statements *out)
{
    lc_statements_read(talk_terms(f, text), out);
}
