/* random_text.h - the texts of tools/data/random_texts.mjs: hard to split, the same in every run.
 * Change both files together, and make the fixtures again. */
#ifndef LC_TESTS_UNIT_TEXT_RANDOM_TEXT_H
#define LC_TESTS_UNIT_TEXT_RANDOM_TEXT_H

#include "loci.h"

#include <stdint.h>

#define RANDOM_TEXTS 20000
#define RANDOM_TEXT_BYTES 1024

typedef struct random_text {
    uint32_t state;
    char bytes[RANDOM_TEXT_BYTES];
} random_text;

void random_text_init(random_text *random);
/* The next text, until the one after it. */
loci_str random_text_next(random_text *random);

#endif /* LC_TESTS_UNIT_TEXT_RANDOM_TEXT_H */
