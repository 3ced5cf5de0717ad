/* lexical.h - a vector of a text's spelling, for when no encoder is installed.
 *
 * Words and their parts are hashed into 512 numbers. Two texts are near each other when they share
 * words or stems; that two different words mean the same it cannot know, and whoever shows results
 * found by it must say that they are lexical only. No data, no memory, the same on every machine.
 */
#ifndef LC_MODEL_LEXICAL_H
#define LC_MODEL_LEXICAL_H

#include "loci.h"

#define LC_LEXICAL_DIMENSIONS 512

/* A unit vector. A text without a letter or digit gets the first axis. */
void lc_lexical_embed(loci_str text, float out[LC_LEXICAL_DIMENSIONS]);

#endif /* LC_MODEL_LEXICAL_H */
