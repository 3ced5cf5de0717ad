/* fuzz_args.c - any JSON as arguments of every operation: the check answers, in words, and never
 * crashes. What it lets pass must be what the table says. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "ops/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

static void demand_passed(const lc_call *call)
{
    const lc_param *param;

    for (size_t i = 0; (param = lc_op_param(call->op, i)) != NULL; i++) {
        const char *base = lc_op_owns(call->op, param) ? call->input : (const void *)&call->implied;
        const loci_str *text = (const loci_str *)(const void *)(base + param->offset);

        if (param->kind != LC_PARAM_STRING)
            continue;
        demand(text->ptr != NULL || (param->flags & LC_PARAM_REQUIRED) == 0);
        demand(text->ptr != NULL || param->default_text == NULL);
        demand(text->ptr == NULL || lc_utf8_is_valid(*text));
    }
    demand(call->user_id.len > 0 || (call->op->flags & LC_OP_USER) == 0);
}

static void demand_failed(lc_arena *arena, const loci_error *err, loci_status status)
{
    const lc_json *parsed;

    demand(status == LOCI_EINVAL || status == LOCI_ENOTFOUND || status == LOCI_EFORBIDDEN);
    demand(err->status == status && err->message[0] != '\0');
    demand(lc_utf8_is_valid(loci_str_of(err->message)));
    demand(err->data[0] == '\0' ||
           lc_json_parse(arena, loci_str_of(err->data), 0, &parsed, NULL) == LOCI_OK);
}

static void check(lc_arena *arena, const lc_op *op, const lc_json *args, bool is_narrowed)
{
    lc_call call = {.op = op, .arena = arena, .is_admin = !is_narrowed};
    loci_error err = {0};
    loci_status status;

    if (is_narrowed) {
        call.user_id = LC_STR("ann");
        call.persona_id = LC_STR("work");
    }
    status = lc_op_check(&call, args, &err);
    if (status != LOCI_OK) {
        demand_failed(arena, &err, status);
        return;
    }
    demand_passed(&call);
    if (is_narrowed)
        demand(lc_str_is(call.user_id, "ann") && lc_str_is(call.persona_id, "work"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const lc_json *args;
    const lc_op *op;
    lc_heap heap;
    lc_arena arena;

    lc_heap_init(&heap, (loci_allocator){0});
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    if (lc_json_parse(&arena, (loci_str){(const char *)data, bytes}, 0, &args, NULL) == LOCI_OK) {
        for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
            check(&arena, op, args, false);
            check(&arena, op, args, true);
        }
    }
    lc_arena_clear(&arena);
    return 0;
}
