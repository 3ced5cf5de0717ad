/* token_estimate.c - a weighted sum of the pieces and characters of a text.
 *
 * Each piece adds the weight of the kind of its first letter (not of a space or sign before a
 * word), and each of its characters, for some kinds beyond the first few, adds the weight of its
 * own kind.
 *
 * The weights were fitted by tools/data/token_estimate.mjs; docs/tokens.md names the texts they
 * were fitted to, and the error of the estimate. There are no rules for particular texts here.
 */
#include "text/tokenizer.h"

typedef enum char_kind {
    KIND_ASCII, /* Letters; so are all up to KIND_OTHER. */
    KIND_LATIN,
    KIND_GREEK,
    KIND_CYRILLIC,
    KIND_ARABIC, /* And Hebrew. */
    KIND_INDIC,  /* And Thai. */
    KIND_KANA,
    KIND_HAN,
    KIND_HANGUL,
    KIND_OTHER, /* Armenian, Georgian, Khmer, Ethiopic ... */
    KIND_NUMBER,
    KIND_SIGN,      /* ASCII. */
    KIND_WIDE_SIGN, /* Emoji among them. */
    KIND_SPACE,
    KINDS
} char_kind;

/* The cost of a piece of this kind, and of each of its characters beyond the free ones, in 1/1000
 * of a token. */
typedef struct kind_weight {
    int32_t piece, character;
} kind_weight;

static const uint8_t free_characters[KINDS] = {
    [KIND_ASCII] = 5,  [KIND_GREEK] = 2, [KIND_CYRILLIC] = 2, [KIND_ARABIC] = 2,
    [KIND_NUMBER] = 3, [KIND_SIGN] = 2,  [KIND_SPACE] = 16,
};

/* By encoding, in its order. */
static const kind_weight weights[KINDS][LC_ENCODINGS] = {
    [KIND_ASCII] = {{794, 235}, {917, 201}},    [KIND_LATIN] = {{0, 1219}, {0, 2078}},
    [KIND_GREEK] = {{1208, 281}, {1344, 1263}}, [KIND_CYRILLIC] = {{1752, 0}, {3132, 0}},
    [KIND_ARABIC] = {{643, 418}, {2629, 615}},  [KIND_INDIC] = {{0, 380}, {1216, 743}},
    [KIND_KANA] = {{0, 622}, {0, 946}},         [KIND_HAN] = {{0, 709}, {0, 1195}},
    [KIND_HANGUL] = {{765, 458}, {1471, 666}},  [KIND_OTHER] = {{0, 362}, {0, 2081}},
    [KIND_NUMBER] = {{1014, 0}, {1171, 0}},     [KIND_SIGN] = {{1179, 162}, {878, 30}},
    [KIND_WIDE_SIGN] = {{0, 2736}, {0, 1627}},  [KIND_SPACE] = {{830, 0}, {906, 203}},
};

static char_kind letter_kind(uint32_t code_point)
{
    static const struct {
        uint32_t end; /* The first character behind. */
        char_kind kind;
    } ranges[] = {
        {0x80, KIND_ASCII},    {0x370, KIND_LATIN},   {0x400, KIND_GREEK},  {0x530, KIND_CYRILLIC},
        {0x590, KIND_OTHER},   {0x900, KIND_ARABIC},  {0xE80, KIND_INDIC},  {0x1100, KIND_OTHER},
        {0x1200, KIND_HANGUL}, {0x1E00, KIND_OTHER},  {0x1F00, KIND_LATIN}, {0x2000, KIND_GREEK},
        {0x3040, KIND_OTHER},  {0x3100, KIND_KANA},   {0x3400, KIND_OTHER}, {0xA000, KIND_HAN},
        {0xAC00, KIND_OTHER},  {0xD7B0, KIND_HANGUL}, {0xF900, KIND_OTHER}, {0xFB00, KIND_HAN},
        {0x20000, KIND_OTHER}, {0x30000, KIND_HAN},
    };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (code_point < ranges[i].end)
            return ranges[i].kind;
    }
    return KIND_OTHER;
}

static char_kind kind_at(const uint8_t *at, const uint8_t *end, size_t *bytes)
{
    uint32_t code_point = *at;

    *bytes = 1;
    if (*at >= 0x80)
        code_point = lc_split_wide(at, end, bytes);
    switch (lc_char_class_of(code_point)) {
    case LC_CHAR_UPPER:
    case LC_CHAR_LOWER:
    case LC_CHAR_LETTER:
    case LC_CHAR_MARK:
        return letter_kind(code_point);
    case LC_CHAR_NUMBER:
        return KIND_NUMBER;
    case LC_CHAR_SPACE:
    case LC_CHAR_NEWLINE:
        return KIND_SPACE;
    case LC_CHAR_OTHER:
        break;
    }
    return code_point < 0x80 ? KIND_SIGN : KIND_WIDE_SIGN;
}

typedef struct seen {
    int64_t pieces[KINDS];
    int64_t characters[KINDS]; /* Beyond the free ones of their piece. */
} seen;

static void see_piece(seen *s, const uint8_t *at, const uint8_t *end)
{
    int64_t count[KINDS] = {0};
    char_kind first = KINDS;

    for (size_t bytes; at < end; at += bytes) {
        char_kind kind = kind_at(at, end, &bytes);

        count[kind]++;
        /* The lowest is the letters before the rest. */
        if (first == KINDS || (first > KIND_OTHER && kind < first))
            first = kind;
    }
    s->pieces[first]++;
    count[first] -= count[first] < free_characters[first] ? count[first] : free_characters[first];
    if (first <= KIND_OTHER) /* A sign at either end of a word, an apostrophe, is part of it. */
        count[KIND_SIGN] = count[KIND_SPACE] = 0;
    for (int kind = 0; kind < KINDS; kind++)
        s->characters[kind] += count[kind];
}

int64_t lc_token_estimate(loci_str text, lc_encoding encoding, lc_split *split)
{
    const uint8_t *at = (const uint8_t *)text.ptr, *end = text.len > 0 ? at + text.len : at;
    int64_t total = 0;
    seen s = {0};

    while (at < end) {
        const uint8_t *next = split(at, end);

        see_piece(&s, at, next);
        at = next;
    }
    for (int kind = 0; kind < KINDS; kind++)
        total += weights[kind][encoding].piece * s.pieces[kind] +
                 weights[kind][encoding].character * s.characters[kind];
    total = (total + 500) / 1000;
    return total > 0 || text.len == 0 ? total : 1;
}
