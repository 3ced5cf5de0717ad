#include "unit/text/random_text.h"

#include <string.h>

#include "base/assert.h"
#include "base/utf8.h"

static const char *const fragments[] = {
    "'s",      "'T",    "'ll",     "'RE",         "'ſ",     "don't",   " ",
    "  ",      "\n",    "\r\n",    "\t",          " \n ",   "/",       "//",
    "...",     "123",   "4567",    "the",         " The",   "HTTP",    "camelCase",
    "ß",       "é",     "e\u0301", "中文",        "かな",   "한국",    "привет",
    "مرحبا",   "हिन्दी", "😀",       "👩‍👧", "\u00a0", "\u3000",  "<|endoftext|>",
    "{\"a\":", "=> ",   "ǅ",       "ª",           "Ⅷ",      "\u0300A",
};

static const struct {
    uint32_t low, high;
} ranges[] = {
    {0x20, 0x7E},     {0xA0, 0x24F},      {0x300, 0x52F},   {0x590, 0x6FF},
    {0x900, 0xDFF},   {0x1E00, 0x20CF},   {0x3040, 0x30FF}, {0x4E00, 0x9FFF},
    {0xAC00, 0xD7A3}, {0x10000, 0x1FFFF}, {0, 0x10FFFF},
};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

void random_text_init(random_text *random)
{
    random->state = 2463534242u;
}

static uint32_t next(random_text *random)
{
    random->state ^= random->state << 13;
    random->state ^= random->state >> 17;
    random->state ^= random->state << 5;
    return random->state;
}

static uint32_t next_code_point(random_text *random)
{
    uint32_t range = next(random) % COUNT(ranges);
    uint32_t value = ranges[range].low +
                     next(random) % (ranges[range].high - ranges[range].low + 1);

    return value >= 0xD800 && value <= 0xDFFF ? 0xFFFD : value;
}

loci_str random_text_next(random_text *random)
{
    uint32_t parts = 1 + next(random) % 24;
    size_t len = 0;

    for (uint32_t i = 0; i < parts; i++) {
        if (next(random) % 2 == 0) {
            const char *fragment = fragments[next(random) % COUNT(fragments)];

            LC_ASSERT(len + strlen(fragment) <= sizeof random->bytes);
            memcpy(random->bytes + len, fragment, strlen(fragment));
            len += strlen(fragment);
        } else {
            LC_ASSERT(len + 4 <= sizeof random->bytes);
            len += lc_utf8_encode(next_code_point(random), random->bytes + len);
        }
    }
    return (loci_str){random->bytes, len};
}
