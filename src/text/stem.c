/* stem.c - Snowball knows nothing of digits and punctuation: what has any stays as it is. */
#include "text/stem.h"

#include <libstemmer.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"

#define STEM_BYTES_MAX 64 /* Longer than that are no words, whatever they are. */

static bool is_language(const char *language)
{
    for (const char **name = sb_stemmer_list(); *name != NULL; name++) {
        if (strcmp(*name, language) == 0)
            return true;
    }
    return false;
}

loci_status lc_stemmer_init(lc_stemmer *stemmer, const char *language, loci_error *err)
{
    struct sb_stemmer *snowball;

    if (!is_language(language))
        return lc_fail(err, LOCI_EINVAL, "there are no stems for the language %s", language);
    snowball = sb_stemmer_new(language, "UTF_8");
    if (snowball == NULL)
        return lc_fail_memory(err);
    *stemmer = (lc_stemmer){.snowball = snowball,
                            .is_english = strcmp(language, LC_STEM_ENGLISH) == 0};
    return LOCI_OK;
}

void lc_stemmer_clear(lc_stemmer *stemmer)
{
    sb_stemmer_delete(stemmer->snowball);
    stemmer->snowball = NULL;
}

static bool is_letters(loci_str word)
{
    for (size_t i = 0; i < word.len; i++) {
        unsigned char byte = (unsigned char)word.ptr[i];

        if (!(byte >= 'a' && byte <= 'z') && byte != '\'' && byte < 0x80)
            return false;
    }
    return true;
}

loci_status lc_stemmer_stem(lc_stemmer *stemmer, loci_str word, loci_str *out, loci_error *err)
{
    const sb_symbol *stem;

    LC_ASSERT(stemmer->snowball != NULL);
    if (word.len < 3 || word.len > STEM_BYTES_MAX || !is_letters(word)) {
        *out = word;
        return LOCI_OK;
    }
    stem = sb_stemmer_stem(stemmer->snowball, (const sb_symbol *)word.ptr, (int)word.len);
    if (stem == NULL)
        return lc_fail_memory(err);
    *out = (loci_str){(const char *)stem, (size_t)sb_stemmer_length(stemmer->snowball)};
    return LOCI_OK;
}
