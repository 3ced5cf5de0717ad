/* window_fixture.h - windows to draw: a realistic one with 15 resources, and random ones. */
#ifndef LC_TESTS_UNIT_WINDOW_WINDOW_FIXTURE_H
#define LC_TESTS_UNIT_WINDOW_WINDOW_FIXTURE_H

#include "lib/test.h"
#include "window/mind_map.h"

/* An agent that works on a state engine for its user: 15 resources, links and notes. */
lc_mind_map window_fixture_reference(void);

/* `count` resources with URIs, texts and numbers that try to break a format; lives until the test
 * ends. */
lc_mind_map window_fixture_random(test_rng *rng, size_t count);

#endif /* LC_TESTS_UNIT_WINDOW_WINDOW_FIXTURE_H */
