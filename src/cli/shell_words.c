/* shell_words.c - see shell_words.h. */
#include "cli/shell_words.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Copies the word at `*at` without its quotes and moves `*to` behind it; false if a quote is not
 * closed. */
static bool take_word(loci_str line, size_t *at, char **to)
{
    char *out = *to;
    char quote = '\0';
    bool is_open = false;

    for (; *at < line.len && (quote != '\0' || !is_space(line.ptr[*at])); (*at)++) {
        char byte = line.ptr[*at];

        if (quote == '\0' && (byte == '\'' || byte == '"')) {
            quote = byte;
        } else if (byte == quote) {
            quote = '\0';
        } else if (byte == '\\' && quote != '\'') {
            char next = *at + 1 < line.len ? line.ptr[*at + 1] : '\0';

            is_open = next == '\0';
            if (is_open)
                continue;
            if (quote == '"' && next != '"' && next != '\\')
                *out++ = byte;
            *out++ = next;
            (*at)++;
        } else {
            *out++ = byte;
        }
    }
    *out = '\0';
    *to = out + 1;
    return quote == '\0' && !is_open;
}

loci_status lc_shell_words_split(lc_arena *arena, loci_str line, lc_shell_words *out,
                                 loci_error *err)
{
    lc_shell_words words = {
        .items = lc_arena_zalloc_array(arena, LC_SHELL_WORDS_MAX + 1, sizeof(char *))};
    /* Without quotes and separators, words with their ends are not longer than the line. */
    char *text = lc_arena_alloc(arena, line.len + 1);
    bool is_closed = true;
    size_t at = 0;

    if (words.items == NULL || text == NULL)
        return lc_fail_memory(err);
    if (line.len > 0 && memchr(line.ptr, '\0', line.len) != NULL)
        return lc_fail(err, LOCI_EINVAL, "the line contains a NUL byte");
    for (;;) {
        while (at < line.len && is_space(line.ptr[at]))
            at++;
        if (at == line.len)
            break;
        if (words.count == LC_SHELL_WORDS_MAX)
            return lc_fail(err, LOCI_ELIMIT, "the line has more than %d words", LC_SHELL_WORDS_MAX);
        words.last_start = at;
        words.items[words.count++] = text;
        is_closed = take_word(line, &at, &text);
        words.is_in_word = at == line.len;
    }
    *out = words;
    return is_closed ? LOCI_OK : lc_fail(err, LOCI_EINVAL, "a quote is not closed");
}

void lc_shell_words_quote(lc_buf *out, loci_str word)
{
    if (word.len == 0)
        lc_buf_append(out, LC_STR("''"));
    for (size_t i = 0; i < word.len; i++) {
        if (is_space(word.ptr[i]) || strchr("'\"\\", word.ptr[i]) != NULL)
            lc_buf_append_byte(out, '\\');
        lc_buf_append_byte(out, word.ptr[i]);
    }
}
