/* text_call.c - the functions of loci.h for other languages: everything is text.
 *
 * Their memory comes from malloc, whatever allocator an engine has: the caller frees a text without
 * naming the engine, perhaps after it was closed.
 */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"

/* NULL when out of memory. */
static char *new_text(loci_str text)
{
    lc_heap heap;
    char *copy;

    lc_heap_init(&heap, (loci_allocator){0});
    copy = lc_heap_alloc(&heap, text.len + 1, LOCI_MEM_REQUESTS);
    if (copy != NULL) {
        memcpy(copy, text.ptr, text.len);
        copy[text.len] = '\0';
    }
    return copy;
}

static char *new_error(const loci_error *err)
{
    char *copy = NULL;
    lc_json_writer w;
    lc_arena scratch;
    lc_heap heap;
    lc_buf text;

    lc_heap_init(&heap, (loci_allocator){0});
    lc_arena_init(&scratch, &heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&text, &heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_put_error(&w, &scratch, err);
    if (lc_buf_status(&text, NULL) == LOCI_OK)
        copy = new_text(lc_buf_str(&text));
    lc_buf_clear(&text);
    lc_arena_clear(&scratch);
    return copy;
}

loci_engine *loci_open_text(const char *store, const char *settings, char **error)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine = NULL;
    loci_error err;

    options.store = store;
    options.settings = settings;
    if (loci_open(&options, &engine, &err) == LOCI_OK)
        return engine;
    if (error != NULL)
        *error = new_error(&err);
    return NULL;
}

char *loci_call_text(loci_engine *engine, const char *operation, const char *args, int *ok)
{
    loci_answer *answer = NULL;
    loci_error err;
    loci_status status = loci_call(engine, operation, loci_str_of(args), NULL, &answer, &err);
    char *text = status == LOCI_OK ? new_text(loci_answer_json(answer)) : new_error(&err);

    if (ok != NULL)
        *ok = status == LOCI_OK;
    loci_answer_free(answer);
    return text;
}

void loci_text_free(char *text)
{
    lc_heap heap;

    lc_heap_init(&heap, (loci_allocator){0});
    lc_heap_free(&heap, text, 0, LOCI_MEM_REQUESTS); /* malloc does not need the size. */
}
