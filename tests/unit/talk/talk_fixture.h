/* talk_fixture.h - a lc_talk with plain ranks, and short ways to read texts with it. */
#ifndef TEST_TALK_FIXTURE_H
#define TEST_TALK_FIXTURE_H

#include "lib/test.h"
#include "talk/statement.h"
#include "talk/talk.h"

typedef struct talk_fixture {
    lc_heap heap;
    lc_arena arena;
    lc_talk *talk;
} talk_fixture;

void talk_open(talk_fixture *f);
void talk_close(talk_fixture *f);

/* The ranks that the tests use: ceo 9, vp 8, manager 6, engineer 4, intern 1, guest 0, in any case,
 * and "vice president" like vp. */
int talk_ranking(loci_str title);

lc_terms talk_terms(talk_fixture *f, const char *text);
lc_terms talk_key(talk_fixture *f, const char *key);
void talk_statements(talk_fixture *f, const char *text, lc_statements *out);

#endif /* TEST_TALK_FIXTURE_H */
