/* slug.c - The name is folded, then read character by character: letters, digits and the marks on
 * them are kept; a run of spaces, hyphens and underscores is one underscore, and none at either
 * end; the rest is dropped, and that it was is noted. Once something was dropped, letters meet that
 * were apart and may compose (Hangul does): such a label is folded again, lest its own slug differ.
 *
 * A hyphen that is lost at an end is a loss too: the grades C and C- are two.
 */
#include "text/slug.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "text/character.h"
#include "text/normalise.h"

#define HASH_DIGITS 8
#define LABEL_BYTES_MAX (LC_SLUG_BYTES_MAX - 1 - HASH_DIGITS)

typedef struct label {
    lc_buf *out;
    bool is_lossy;
    bool is_gap;     /* Spaces or hyphens since the last kept character. */
    bool has_hyphen; /* One of them was a hyphen. */
    bool is_base;    /* The last character was kept: a mark may follow. */
} label;

static bool is_hyphen(uint32_t code_point)
{
    return code_point == '-' || (code_point >= 0x2010 && code_point <= 0x2015) ||
           code_point == 0x2212;
}

static void keep(label *l, loci_str character)
{
    if (l->is_gap && l->out->len > 0)
        lc_buf_append_byte(l->out, '_');
    else if (l->has_hyphen)
        l->is_lossy = true;
    l->is_gap = false;
    l->has_hyphen = false;
    l->is_base = true;
    lc_buf_append(l->out, character);
}

static void read_character(label *l, const lc_character *c, loci_str character)
{
    if (lc_character_is_letter(c->kind) || c->kind == LC_CHARACTER_DIGIT ||
        (c->kind == LC_CHARACTER_MARK && l->is_base)) {
        keep(l, character);
        return;
    }
    l->is_base = false;
    if (c->kind == LC_CHARACTER_SPACE || c->code_point == '_' || is_hyphen(c->code_point)) {
        l->is_gap = true;
        l->has_hyphen |= is_hyphen(c->code_point);
    } else if (c->kind != LC_CHARACTER_IGNORED) {
        l->is_lossy = true;
    }
}

/* Appends the label of a folded name to `out`; true when that lost something. */
static bool append_label(loci_str folded, lc_buf *out)
{
    label l = {.out = out};
    lc_character c;

    for (size_t at = 0; at < folded.len; at += c.bytes) {
        c = lc_character_read(folded, at);
        read_character(&l, &c, (loci_str){folded.ptr + at, c.bytes});
    }
    return l.is_lossy || l.has_hyphen;
}

/* Cuts at a character and not behind an underscore. */
static loci_str cut(loci_str text, size_t bytes_max)
{
    text.len = lc_utf8_cut(text, bytes_max);
    while (text.len > 0 && text.ptr[text.len - 1] == '_')
        text.len--;
    return text;
}

static void append_hashed(loci_str text, loci_str folded, lc_buf *out)
{
    text = cut(text, LABEL_BYTES_MAX);
    lc_buf_append(out, text);
    lc_buf_append_format(out, "%s%08x", text.len > 0 ? "_" : "",
                         (unsigned)(lc_hash64(folded) >> 32));
}

loci_status lc_slug_append(loci_str name, lc_buf *out, loci_error *err)
{
    lc_buf folded, plain, again;
    bool is_lossy;
    loci_status status;

    lc_buf_init(&folded, out->heap, out->category, SIZE_MAX);
    lc_buf_init(&plain, out->heap, out->category, SIZE_MAX);
    lc_buf_init(&again, out->heap, out->category, SIZE_MAX);
    status = lc_text_fold(name, &folded, err);
    if (status != LOCI_OK)
        goto out;
    is_lossy = append_label(lc_buf_str(&folded), &plain);
    status = lc_buf_status(&plain, err);
    if (status != LOCI_OK)
        goto out;
    if (!is_lossy && plain.len <= LC_SLUG_BYTES_MAX) {
        lc_buf_append(out, lc_buf_str(&plain));
    } else {
        status = lc_text_fold(lc_buf_str(&plain), &again, err);
        if (status != LOCI_OK)
            goto out;
        append_hashed(lc_buf_str(&again), lc_buf_str(&folded), out);
    }
    status = lc_buf_status(out, err);

out:
    lc_buf_clear(&again);
    lc_buf_clear(&plain);
    lc_buf_clear(&folded);
    return status;
}
