/* sentence.h - the answer of a change as one sentence, from the pattern of its operation
 * (lc_look.sentence): "created city = Oslo  (fact_01…)". */
#ifndef LC_CLI_SENTENCE_H
#define LC_CLI_SENTENCE_H

#include "base/json.h"
#include "ops/op.h"

typedef struct lc_sentence {
    const char *pattern;
    const lc_json *answer;
    const lc_json *args;     /* For names that the answer does not have; may be NULL. */
    const lc_record *record; /* Of the answer: its times are shown as ages. May be NULL. */
    int64_t now_us;          /* For ages. */
} lc_sentence;

void lc_sentence_append(lc_buf *out, const lc_sentence *sentence);

#endif /* LC_CLI_SENTENCE_H */
