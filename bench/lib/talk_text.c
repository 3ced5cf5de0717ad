#include "lib/talk_text.h"

#include <string.h>

#include "lib/state_input.h"

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

loci_str talk_normalise(lc_arena *arena, loci_str text)
{
    char *out = state_alloc(arena, text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (!is_space(text.ptr[i]))
            out[len++] = text.ptr[i];
        else if (len > 0 && out[len - 1] != ' ')
            out[len++] = ' ';
    }
    if (len > 0 && out[len - 1] == ' ')
        len--;
    return (loci_str){out, len};
}

size_t talk_find(loci_str text, loci_str part)
{
    const char *hit = NULL;

    if (part.len > 0 && part.len <= text.len)
        hit = memmem(text.ptr, text.len, part.ptr, part.len);
    return hit != NULL ? (size_t)(hit - text.ptr) : TALK_ABSENT;
}
