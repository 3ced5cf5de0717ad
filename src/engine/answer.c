/* answer.c - one allocation an answer, made before anything is committed. */
#include "engine/answer.h"

#include <string.h>

loci_answer *lc_answer_new(lc_heap *heap, loci_str json)
{
    loci_answer *answer = lc_heap_alloc(heap, sizeof *answer + json.len + 1, LOCI_MEM_REQUESTS);

    if (answer == NULL)
        return NULL;
    answer->heap = heap;
    answer->next = NULL;
    answer->len = json.len;
    if (json.len > 0)
        memcpy(answer->text, json.ptr, json.len);
    answer->text[json.len] = '\0';
    return answer;
}

loci_str loci_answer_json(const loci_answer *answer)
{
    return (loci_str){answer->text, answer->len};
}

void loci_answer_free(loci_answer *answer)
{
    if (answer != NULL)
        lc_heap_free(answer->heap, answer, sizeof *answer + answer->len + 1, LOCI_MEM_REQUESTS);
}
