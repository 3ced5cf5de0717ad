/* slug.c - see slug.h. */
#include "memory/slug.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "text/character.h"
#include "text/normalise.h"

#define HASH_DIGITS 6

/* Punctuation that can be dropped without making two names one. */
static bool is_quiet(uint32_t code_point)
{
    return (code_point < 0x80 && memchr(",.'\"():;", (int)code_point, 8) != NULL) ||
           (code_point >= 0x2018 && code_point <= 0x201F); /* Typographic quotes. */
}

static bool is_gap(const lc_character *character)
{
    return character->kind == LC_CHARACTER_SPACE || character->code_point == '-' ||
           character->code_point == '_' ||
           (character->code_point >= 0x2010 && character->code_point <= 0x2015); /* Dashes. */
}

/* Appends the characters of the folded name that a slug keeps; true if others were lost. A slug
 * with its hash is not longer than LC_SLUG_BYTES_MAX, so it is not cut again. */
static bool put_kept(loci_str folded, lc_buf *out)
{
    bool is_lossy = false, has_gap = false;
    size_t cut = 0;

    for (size_t at = 0; at < folded.len;) {
        lc_character character = lc_character_read(folded, at);
        bool is_kept = lc_character_is_letter(character.kind) ||
                       character.kind == LC_CHARACTER_DIGIT || character.kind == LC_CHARACTER_MARK;

        if (is_kept && out->len + has_gap + character.bytes > LC_SLUG_BYTES_MAX) {
            lc_buf_truncate(out, cut);
            return true;
        }
        if (is_kept) {
            if (has_gap && out->len > 0)
                lc_buf_append_byte(out, '_');
            has_gap = false;
            lc_buf_append(out, (loci_str){folded.ptr + at, character.bytes});
            if (out->len + 1 + HASH_DIGITS <= LC_SLUG_BYTES_MAX)
                cut = out->len;
        } else if (is_gap(&character)) {
            has_gap = true;
        } else {
            is_lossy |= !is_quiet(character.code_point) && character.kind != LC_CHARACTER_IGNORED;
        }
        at += character.bytes;
    }
    return is_lossy || out->len == 0;
}

static loci_status put_slug(loci_str folded, lc_buf *out, loci_error *err)
{
    if (put_kept(folded, out))
        lc_buf_append_format(out, "%s%06x", out->len > 0 ? "_" : "",
                             (unsigned)(lc_hash64(folded) & 0xFFFFFF));
    return lc_buf_status(out, err);
}

loci_status lc_slug_make(lc_arena *arena, loci_str name, loci_str *out, loci_error *err)
{
    lc_buf folded, slug;
    loci_status status;

    if (lc_str_trim(name).len == 0)
        return lc_fail(err, LOCI_EINVAL, "the name of an entity is empty");
    lc_buf_init(&folded, arena->heap, LOCI_MEM_REQUESTS, 8 * name.len + 64);
    lc_buf_init(&slug, arena->heap, LOCI_MEM_REQUESTS, LC_SLUG_BYTES_MAX + 1);
    status = lc_text_fold(lc_str_trim(name), &folded, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&folded, err);
    if (status == LOCI_OK)
        status = put_slug(lc_buf_str(&folded), &slug, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&slug));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&folded);
    lc_buf_clear(&slug);
    return status;
}

static bool is_type(loci_str type)
{
    for (size_t i = 0; i < type.len; i++)
        if (!(type.ptr[i] >= 'a' && type.ptr[i] <= 'z') && type.ptr[i] != '_')
            return false;
    return type.len > 0 && type.len <= LC_REF_TYPE_BYTES_MAX;
}

loci_status lc_ref_make(lc_arena *arena, loci_str ref, loci_str *out, loci_error *err)
{
    loci_str name, slug, type = lc_str_split(ref, ':', &name);
    char *text;
    loci_status status;

    if (!is_type(type) || lc_str_trim(name).len == 0)
        return lc_fail(err, LOCI_EINVAL,
                       "entity \"%.*s\": expected type:name, such as person:john_doe",
                       LC_STR_ARG(ref));
    status = lc_slug_make(arena, name, &slug, err);
    if (status != LOCI_OK)
        return status;
    text = lc_arena_alloc(arena, type.len + 1 + slug.len + 1);
    if (text == NULL)
        return lc_fail_memory(err);
    memcpy(text, type.ptr, type.len);
    text[type.len] = ':';
    memcpy(text + type.len + 1, slug.ptr, slug.len);
    text[type.len + 1 + slug.len] = '\0';
    *out = (loci_str){text, type.len + 1 + slug.len};
    return LOCI_OK;
}

loci_str lc_ref_type(loci_str ref)
{
    loci_str rest;

    return lc_str_split(ref, ':', &rest);
}
