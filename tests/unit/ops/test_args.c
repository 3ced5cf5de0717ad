/* Functions for a running handler: report progress, and check whether to stop. */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "ops/op.h"

static const lc_op note_read = {.name = "note.read"};

typedef struct calling {
    lc_heap heap;
    lc_arena arena;
    lc_call call;
    loci_error err;
} calling;

static void begin(calling *c)
{
    memset(c, 0, sizeof *c);
    lc_heap_init(&c->heap, test_heap());
    lc_arena_init(&c->arena, &c->heap, LOCI_MEM_REQUESTS);
    c->call.op = &note_read;
    c->call.arena = &c->arena;
}

typedef struct listener {
    char said[256];
    int answer;
} listener;

static int listen_to(void *ctx, loci_str chunk)
{
    listener *l = ctx;

    CHECK_LT(chunk.len, sizeof l->said);
    memcpy(l->said, chunk.ptr, chunk.len);
    l->said[chunk.len] = '\0';
    return l->answer;
}

TEST(args, listeners_get_progress_and_lines_and_may_stop_it)
{
    listener l = {.answer = 0};
    calling c;

    begin(&c);
    CHECK_OK(lc_call_progress(&c.call, "rows", 1, 2, &c.err), c.err);
    c.call.sink = listen_to;
    c.call.sink_ctx = &l;
    CHECK_OK(lc_call_progress(&c.call, "rows", 1, 2, &c.err), c.err);
    CHECK_STR_EQ(l.said, "{\"progress\":{\"done\":1,\"total\":2,\"what\":\"rows\"}}");
    CHECK_OK(lc_call_line(&c.call, LC_STR("[1]"), &c.err), c.err);
    CHECK_STR_EQ(l.said, "{\"line\":[1]}");
    l.answer = 1;
    CHECK_STATUS(LOCI_ECANCELLED, lc_call_progress(&c.call, "rows", 2, 2, &c.err));
    CHECK_STATUS(LOCI_ECANCELLED, lc_call_line(&c.call, LC_STR("1"), &c.err));
}

TEST(args, pause_points_see_cancel_and_deadline)
{
    volatile int cancel = 0;
    calling c;

    begin(&c);
    c.call.cancel = &cancel;
    CHECK_OK(lc_call_pause_point(&c.call, &c.err), c.err);
    c.call.deadline_us = INT64_MAX;
    CHECK_OK(lc_call_pause_point(&c.call, &c.err), c.err);
    c.call.deadline_us = 1;
    CHECK_STATUS(LOCI_EDEADLINE, lc_call_pause_point(&c.call, &c.err));
    cancel = 1;
    CHECK_STATUS(LOCI_ECANCELLED, lc_call_pause_point(&c.call, &c.err));
    CHECK_STATUS(LOCI_ECANCELLED, lc_call_progress(&c.call, "rows", 2, 2, &c.err));
}
