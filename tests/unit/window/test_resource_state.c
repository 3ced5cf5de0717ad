/* The life cycle of a resource: every move in every state, written down once more by hand. */
#include "base/str.h"
#include "lib/files.h"
#include "lib/test.h"
#include "window/resource_state.h"

/* Rows are states, columns moves, in the order of their enums; "" = refused. */
TEST(resource_state, the_table_allows_exactly_these_moves)
{
    static const char *const expected[LC_RESOURCE_STATES][LC_RESOURCE_MOVE_COUNT] = {
        /* discover, page_in, load, page_out, raise, lower, stale, fail, restore, recover */
        [LC_RESOURCE_UNKNOWN] = {"cold", "", "", "", "", "", "", "", "", ""},
        [LC_RESOURCE_COLD] = {"", "loaded", "loaded", "", "", "", "", "offline", "", ""},
        [LC_RESOURCE_LOADED] = {"", "loaded", "loaded", "indexed", "hot", "", "loaded", "offline",
                                "", ""},
        [LC_RESOURCE_HOT] = {"", "hot", "hot", "indexed", "", "loaded", "hot", "offline", "", ""},
        [LC_RESOURCE_INDEXED] = {"", "loaded", "loaded", "", "", "", "cold", "offline", "", ""},
        [LC_RESOURCE_OFFLINE] = {"", "", "", "", "", "", "", "", "indexed", "cold"},
    };

    for (int from = 0; from < LC_RESOURCE_STATES; from++) {
        for (int move = 0; move < LC_RESOURCE_MOVE_COUNT; move++) {
            lc_resource_state state = (lc_resource_state)from;
            loci_error err = {0};
            loci_status status = lc_resource_make_move(&state, (lc_resource_move)move,
                                                       LC_STR("res_1"), &err);
            const char *to = expected[from][move];

            CHECK_EQ(status, to[0] != '\0' ? LOCI_OK : LOCI_ECONFLICT);
            CHECK_STR_EQ(loci_str_of(lc_resource_state_name(state)),
                         to[0] != '\0' ? to : lc_resource_state_name((lc_resource_state)from));
            if (status != LOCI_OK)
                CHECK_CONTAINS(err.message, lc_resource_move_name((lc_resource_move)move));
        }
    }
}

/* docs/window.md shows the table of the program: `loci reference --states` prints it. */
TEST(resource_state, the_page_has_the_table)
{
    loci_str page = test_read_file(test_source_path("docs/window.md"));
    lc_heap heap;
    lc_buf out;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, 1 << 20);
    lc_resource_states_write(&out);
    CHECK_CONTAINS(page.ptr, lc_buf_terminate(&out));
    lc_buf_clear(&out);
}
