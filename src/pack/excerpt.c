/* excerpt.c - see excerpt.h.
 *
 * A text is verbatim if it has a code fence, begins like a JSON value, has an indented line that is
 * no item of a list, or if more than one of 25 characters other than spaces is a sign that prose
 * hardly uses. Log lines and URLs often are verbatim by this rule, which costs room, not meaning.
 */
#include "pack/excerpt.h"

#include <string.h>

#include "base/utf8.h"

#define SIGN_PART 25
#define ELLIPSIS " \xe2\x80\xa6"
#define INDENT "  "

/* ---- Prose or not ---------------------------------------------------------------------------- */

static bool is_sign(char c)
{
    return c != '\0' && strchr("{}[]<>;=_\\|`#$%^&*~+/@", c) != NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Whether the line at `i`, the beginning of a line, is indented and no item of a list. */
static bool is_indented(loci_str text, size_t i)
{
    size_t first = i;

    while (first < text.len && (text.ptr[first] == ' ' || text.ptr[first] == '\t'))
        first++;
    return first > i && first < text.len && !is_blank(text.ptr[first]) && text.ptr[first] != '-' &&
           text.ptr[first] != '*';
}

bool lc_excerpt_is_verbatim(loci_str text)
{
    loci_str trimmed = lc_str_trim(text);
    size_t signs = 0, others = 0;

    if (trimmed.len == 0)
        return false;
    if (trimmed.ptr[0] == '{' || trimmed.ptr[0] == '[' || trimmed.ptr[0] == '<' ||
        memmem(text.ptr, text.len, "```", 3) != NULL)
        return true;
    for (size_t i = 0; i < text.len; i++) {
        if ((i == 0 || text.ptr[i - 1] == '\n') && is_indented(text, i))
            return true;
        if (is_blank(text.ptr[i]))
            continue;
        signs += is_sign(text.ptr[i]);
        others++;
    }
    return signs * SIGN_PART > others;
}

/* ---- Shorter forms --------------------------------------------------------------------------- */

loci_str lc_excerpt_trim(lc_arena *arena, loci_str text)
{
    loci_str from = lc_str_trim(text);
    char *to = lc_arena_alloc(arena, from.len + 1);
    size_t len = 0, breaks = 0;
    bool has_space = false;

    if (to == NULL)
        return LC_STR_NONE;
    for (size_t i = 0; i < from.len; i++) {
        char c = from.ptr[i];

        if (c == '\n') {
            breaks++;
        } else if (is_blank(c)) {
            has_space = true;
        } else {
            /* White space is written when the next word comes: a line break hides spaces. */
            for (size_t n = 0; n < breaks && n < 2; n++)
                to[len++] = '\n';
            if (breaks == 0 && has_space)
                to[len++] = ' ';
            breaks = 0;
            has_space = false;
            to[len++] = c;
        }
    }
    to[len] = '\0';
    return (loci_str){to, len};
}

/* Where the text is best cut, at most at `max`. */
static size_t find_cut(loci_str text, size_t max)
{
    size_t word = 0;

    for (size_t i = max; i > max / 2; i--) {
        char before = text.ptr[i - 1];

        if (!is_blank(text.ptr[i]))
            continue;
        if (before == '.' || before == '!' || before == '?' || text.ptr[i] == '\n')
            return i;
        if (word == 0)
            word = i;
    }
    return word > 0 ? word : lc_utf8_cut(text, max);
}

loci_str lc_excerpt_cut(lc_arena *arena, loci_str text, size_t bytes_max)
{
    size_t len = text.len > bytes_max ? find_cut(text, bytes_max) : text.len;
    char *to;

    if (len == text.len)
        return lc_arena_copy(arena, text);
    while (len > 0 && is_blank(text.ptr[len - 1]))
        len--;
    to = lc_arena_alloc(arena, len + sizeof ELLIPSIS);
    if (to == NULL)
        return LC_STR_NONE;
    memcpy(to, text.ptr, len);
    memcpy(to + len, ELLIPSIS, sizeof ELLIPSIS);
    return (loci_str){to, len + sizeof ELLIPSIS - 1};
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Number of bytes at `i` that some reader takes for a line break; 0 = none. */
static size_t break_bytes(loci_str text, size_t i)
{
    const unsigned char *at = (const unsigned char *)text.ptr + i;
    size_t left = text.len - i;

    if (at[0] >= '\n' && at[0] <= '\r')
        return at[0] == '\r' && left >= 2 && at[1] == '\n' ? 2 : 1;
    if (left >= 2 && at[0] == 0xc2 && at[1] == 0x85) /* U+0085. */
        return 2;
    if (left >= 3 && at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9))
        return 3; /* U+2028 and U+2029. */
    return 0;
}

static bool has_break(loci_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (break_bytes(text, i) > 0)
            return true;
    return false;
}

static void append_indented(lc_buf *out, loci_str text)
{
    size_t start = 0;

    for (size_t i = 0; i < text.len;) {
        size_t bytes = break_bytes(text, i);

        i += bytes > 0 ? bytes : 1;
        if (bytes == 0)
            continue;
        lc_buf_append(out, (loci_str){text.ptr + start, i - start});
        /* An empty line stays empty. */
        if (i < text.len && break_bytes(text, i) == 0)
            lc_buf_append(out, LC_STR(INDENT));
        start = i;
    }
    lc_buf_append(out, (loci_str){text.ptr + start, text.len - start});
}

void lc_excerpt_append(lc_buf *out, const char *bullet, loci_str lead, loci_str text)
{
    loci_str shown = text;

    while (shown.len > 0 && shown.ptr[shown.len - 1] == '\n')
        shown.len--; /* The packer ends the block. */
    lc_buf_append(out, loci_str_of(bullet));
    append_indented(out, lead);
    if (lead.len > 0)
        lc_buf_append(out, has_break(shown) ? LC_STR(":\n" INDENT) : LC_STR(": "));
    append_indented(out, shown);
}
