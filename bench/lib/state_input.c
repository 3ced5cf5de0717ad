/* state_input.c - nothing here can fail but by ending the process. */
#include "lib/state_input.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/time.h"

#define FILE_BYTES_MAX ((size_t)1 << 30)
#define READ_BYTES 65536

void state_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

void state_file_read(const char *path, lc_heap *heap, lc_buf *out)
{
    FILE *file = fopen(path, "rb");
    size_t bytes = 1;

    if (file == NULL)
        state_die("%s: cannot be read", path);
    lc_buf_init(out, heap, LOCI_MEM_REQUESTS, FILE_BYTES_MAX);
    while (bytes > 0) {
        char *room = lc_buf_reserve(out, READ_BYTES);

        if (room == NULL)
            state_die("%s: too large", path);
        bytes = fread(room, 1, READ_BYTES, file);
        lc_buf_grew(out, bytes);
    }
    if (ferror(file))
        state_die("%s: cannot be read", path);
    fclose(file);
}

void *state_alloc(lc_arena *arena, size_t bytes)
{
    void *piece = lc_arena_zalloc_array(arena, 1, bytes);

    if (piece == NULL)
        state_die("out of memory");
    return piece;
}

loci_str state_copy(lc_arena *arena, loci_str text)
{
    loci_str copy = lc_arena_copy(arena, text);

    if (copy.ptr == NULL)
        state_die("out of memory");
    return copy;
}

const lc_json *state_parse(lc_arena *arena, loci_str text)
{
    const lc_json *value;

    if (lc_json_parse(arena, text, 0, &value, NULL) != LOCI_OK ||
        lc_json_kind_of(value) != LC_JSON_OBJECT)
        return NULL;
    return value;
}

const lc_json *state_member(const lc_json *object, const char *name)
{
    const lc_json *member = NULL;

    if (object != NULL && lc_json_kind_of(object) == LC_JSON_OBJECT)
        member = lc_json_member(object, loci_str_of(name));
    return member != NULL && lc_json_kind_of(member) != LC_JSON_NULL ? member : NULL;
}

const lc_json *state_need(const lc_json *object, const char *name)
{
    const lc_json *member = lc_json_member(object, loci_str_of(name));

    if (member == NULL)
        state_die("a member is missing: %s", name);
    return member;
}

loci_str state_text(const lc_json *object, const char *name)
{
    const lc_json *member = state_member(object, name);

    return member != NULL && lc_json_kind_of(member) == LC_JSON_STRING ? lc_json_str(member)
                                                                       : LC_STR_NONE;
}

const lc_json *state_first(const lc_json *object, const char *name)
{
    const lc_json *member = state_member(object, name);

    return member != NULL && lc_json_kind_of(member) == LC_JSON_ARRAY ? lc_json_first(member)
                                                                      : NULL;
}

int64_t state_time(loci_str text)
{
    char zoned[LC_TIME_BYTES_MAX + 16];
    int64_t us;
    int bytes;

    if (lc_time_parse(text, &us))
        return us;
    bytes = snprintf(zoned, sizeof zoned, "%.*sZ", LC_STR_ARG(text));
    if (bytes >= (int)sizeof zoned || !lc_time_parse((loci_str){zoned, (size_t)bytes}, &us))
        state_die("\"%.*s\" is no time", LC_STR_ARG(text));
    return us;
}
