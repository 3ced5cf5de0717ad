/* block.c - matches the opening and closing phrases, word by word. */
#include "talk/block.h"

#include "base/str.h"

/* Is one of the phrases at `at`? Phrases have spaces between their words and '|' between them. */
static bool has_phrase(lc_terms terms, size_t at, const char *phrases)
{
    loci_str rest = loci_str_of(phrases);

    while (rest.len > 0) {
        loci_str phrase = lc_str_split(rest, '|', &rest);
        size_t next = at;

        while (phrase.len > 0) {
            loci_str word = lc_str_split(phrase, ' ', &phrase);

            if (next >= terms.count || terms.at[next].word != lc_word_key(word)) {
                next = SIZE_MAX;
                break;
            }
            next++;
        }
        if (next != SIZE_MAX)
            return true;
    }
    return false;
}

lc_block_cue lc_block_cue_of(lc_terms message)
{
    static const struct {
        lc_block_cue cue;
        const char *phrases;
        bool begins; /* Only where the message begins, behind fillers, or behind a comma. */
    } cues[] = {{LC_BLOCK_CLOSES_ASIDE, lc_phrases_aside_close, true},
                {LC_BLOCK_CLOSES_PLAY, lc_phrases_play_close, false},
                {LC_BLOCK_OPENS_ASIDE, lc_phrases_aside_open, true},
                {LC_BLOCK_OPENS_PLAY, lc_phrases_play_open, false}};
    size_t begin = 0;

    while (begin < message.count && begin < 4 && lc_term_in(&message.at[begin], LC_WORDS_FILLERS) &&
           !has_phrase(message, begin, lc_phrases_aside_close))
        begin++;
    for (size_t c = 0; c < sizeof cues / sizeof *cues; c++)
        for (size_t at = begin; at < message.count && at < begin + 24; at++)
            if ((!cues[c].begins || at == begin || message.at[at - 1].after == ',') &&
                has_phrase(message, at, cues[c].phrases))
                return cues[c].cue;
    return LC_BLOCK_NONE;
}
