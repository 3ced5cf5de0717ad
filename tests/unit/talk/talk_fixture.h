/* talk_fixture.h - a lc_talk with plain ranks, and short ways to ask it. */
#ifndef TEST_TALK_FIXTURE_H
#define TEST_TALK_FIXTURE_H

#include "lib/test.h"
#include "talk/propose.h"

typedef struct talk_fixture {
    lc_heap heap;
    lc_arena arena;
    lc_talk *talk;
} talk_fixture;

void talk_open(talk_fixture *f);
void talk_close(talk_fixture *f);

/* The ranks that the tests use: ceo 6, vp 5, manager 3, engineer 2, contractor 1. */
int talk_ranking(loci_str title);

/* Judges messages of one person, oldest first, and returns the text of message `index` that still
 * holds; empty when none does. */
loci_str talk_held(talk_fixture *f, const char *const *messages, size_t count, size_t index,
                   const char *query);

#endif /* TEST_TALK_FIXTURE_H */
