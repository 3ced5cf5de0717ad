/* Writes of several users in one commit: each finds its own user's session. */
#include "lib/test.h"

#include "base/clock.h"
#include "base/str.h"
#include "engine/rooms.h"
#include "session/session.h"
#include "store/schema.h"

#define NOW_US INT64_C(1700000000000000)
#define PATIENCE_US INT64_C(60000000)

typedef struct visit {
    const char *user;
    lc_id session;
    bool is_new;
} visit;

static loci_status use_session(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_session_ref ref = {.idle_us = 1000000};
    visit *v = ctx;
    lc_session_use use;
    lc_arena arena;
    loci_status status;

    lc_arena_init(&arena, &tx->db->env->heap, LOCI_MEM_REQUESTS);
    status = lc_session_choose(tx, &ref, &arena, &use, err);
    if (status == LOCI_OK) {
        memcpy(v->session.text, use.session.id.ptr, use.session.id.len);
        v->is_new = use.is_new;
        status = lc_session_begin(tx, &use, false, err);
    }
    lc_arena_clear(&arena);
    return status;
}

TEST(session_group, users_of_one_commit_have_sessions_of_their_own)
{
    visit visits[] = {{.user = "a"}, {.user = "a"}, {.user = "a"}, {.user = "b"}, {.user = "b"},
                      {.user = "b"}, {.user = "a"}, {.user = "b"}, {.user = "a"}};
    enum { VISITS = sizeof visits / sizeof visits[0] };
    lc_write writes[VISITS];
    lc_catalogue catalogue = {.rooms = lc_engine_rooms};
    lc_env env = {.clock = lc_clock_system_us};
    lc_schema_state state;
    lc_db *db = NULL;
    loci_error err;

    lc_heap_init(&env.heap, test_heap());
    lc_random_init(&env.random, 1);
    CHECK_OK(lc_sqlite_driver.open(
                 &env, &catalogue,
                 &(lc_db_target){.store = test_path(test_tmpdir(), "store.db"), .is_created = true},
                 &db, &err),
             err);
    CHECK_OK(lc_schema_open(db, NULL, &state, &err), err);
    db->commit_us_max = INT64_MAX; /* A busy machine must not split what belongs together. */
    for (size_t i = 0; i < VISITS; i++)
        writes[i] = (lc_write){.tenant_id = LC_STR("t"),
                               .user_id = loci_str_of(visits[i].user),
                               .now_us = NOW_US + (int64_t)i,
                               .deadline_us = lc_clock_monotonic_us() + PATIENCE_US,
                               .body = use_session,
                               .ctx = &visits[i],
                               .next = i + 1 < VISITS ? &writes[i + 1] : NULL};
    lc_db_write(db, writes);
    for (size_t i = 0; i < VISITS; i++) {
        size_t first = visits[i].user[0] == 'a' ? 0 : 3;

        CHECK_OK(writes[i].status, writes[i].error);
        CHECK_EQ(visits[i].is_new, i == first);
        CHECK_STR_EQ(visits[i].session.text, visits[first].session.text);
    }
    CHECK(!lc_str_is(loci_str_of(visits[0].session.text), visits[3].session.text));
    lc_db_close(db);
}
