/* acks.c - Facts are read back one by one: whatever was acknowledged must be found under its id
 * with its value, valid or not. */
#include "acks.h"

#include <string.h>

#include "base/str.h"
#include "lib/calls.h"

static void add(ack_list *list, ack item)
{
    CHECK_LT(list->count, sizeof list->items / sizeof list->items[0]);
    list->items[list->count++] = item;
}

void acks_read_lines(ack_list *list, loci_str lines)
{
    loci_str line;

    while (point_next_line(&lines, &line))
        add(list, (ack){.op = test_member_text(line, "op"),
                        .args = test_member(line, "args"),
                        .answer = test_member(line, "answer")});
}

void acks_read_batch(ack_list *list, loci_str input, loci_str output)
{
    loci_str call, answer;

    while (point_next_line(&input, &call) && point_next_line(&output, &answer)) {
        loci_str ok = test_member(answer, "ok");

        if (ok.len > 0)
            add(list, (ack){.op = test_member_text(call, "op"),
                            .args = test_member(call, "args"),
                            .answer = ok});
    }
}

bool acks_has(const ack_list *list, const char *op)
{
    for (size_t i = 0; i < list->count; i++)
        if (lc_str_is(list->items[i].op, op))
            return true;
    return false;
}

typedef struct checking {
    loci_engine *engine;
    point_tally *tally;
    const point *p;
} checking;

static const char *user_of(loci_str args)
{
    loci_str user = test_member_text(args, "user_id");

    return user.len > 0 ? user.ptr : "default";
}

static void check_fact(const checking *c, loci_str args, loci_str answer)
{
    const char *get = test_format("{\"user_id\":\"%s\",\"id\":\"%s\"}", user_of(args),
                                  test_member_text(answer, "id").ptr);
    loci_answer *found = NULL;
    loci_error err;

    if (loci_call(c->engine, "fact.get", loci_str_of(get), NULL, &found, &err) != LOCI_OK)
        point_note_lost(c->tally, c->p, "%.*s: %s", LC_STR_ARG(args), err.message);
    else if (!lc_str_eq(test_member(loci_answer_json(found), "value"), test_member(args, "value")))
        point_note_corrupt(c->tally, c->p, "%.*s reads back as %s", LC_STR_ARG(args),
                           loci_answer_json(found).ptr);
    loci_answer_free(found);
}

/* A caller that did not hear the answer asks again; it must not write twice. */
static void check_repeat(const checking *c, const ack *item)
{
    loci_answer *again = NULL;
    loci_error err;

    if (test_member(item->args, "request_id").len == 0)
        return;
    if (loci_call(c->engine, item->op.ptr, item->args, NULL, &again, &err) != LOCI_OK)
        point_note_lost(c->tally, c->p, "repeating %.*s: %s", LC_STR_ARG(item->args), err.message);
    else if (!lc_str_eq(loci_answer_json(again), test_replayed(item->answer)))
        point_note_lost(c->tally, c->p, "repeating %.*s answers %s, not %.*s",
                        LC_STR_ARG(item->args), loci_answer_json(again).ptr,
                        LC_STR_ARG(item->answer));
    loci_answer_free(again);
}

static void check_ack(const checking *c, const ack *item)
{
    if (lc_str_is(item->op, "fact.write")) {
        check_fact(c, item->args, item->answer);
        check_repeat(c, item);
    }
    for (int i = 0; lc_str_is(item->op, "many") && i < 3; i++) {
        const char *place = test_format("%d", i);

        check_fact(c, test_member(item->args, place), test_member(item->answer, place));
    }
}

void acks_check(const ack_list *list, size_t count, const char *path, point_tally *tally,
                const point *p)
{
    loci_open_options options = test_open_options(path);
    checking c = {.tally = tally, .p = p};
    const char *problem;
    loci_error err;

    if (count == 0 && !test_file_exists(path))
        return;
    if (!test_file_exists(path)) {
        point_note_lost(tally, p, "%s is gone, %zu acknowledged", path, count);
        return;
    }
    if (loci_open(&options, &c.engine, &err) != LOCI_OK) {
        point_note_corrupt(tally, p, "%s cannot be opened: %s", path, err.message);
        return;
    }
    if (test_verify(c.engine, &err) != LOCI_OK)
        point_note_corrupt(tally, p, "%s: %s %s", path, err.message, err.data);
    else
        for (size_t i = 0; i < count; i++)
            check_ack(&c, &list->items[i]);
    loci_close(c.engine);
    if (!point_is_whole(path, &problem))
        point_note_corrupt(tally, p, "%s: %s", path, problem);
}
