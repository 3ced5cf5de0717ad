/* The life cycle of a session: every move in every state, written down once more by hand. */
#include "base/str.h"
#include "lib/test.h"
#include "session/session_state.h"

/* Rows are states, columns moves, in the order of their enums; "" = refused. A session that could
 * leave `ended`, or end twice, would lose or repeat what is made at its end. */
TEST(session_state, the_table_allows_exactly_these_moves)
{
    static const char *const expected[LC_SESSION_STATE_COUNT][LC_SESSION_MOVE_COUNT] = {
        [LC_SESSION_LOADING] = {"bootstrap", "", "", "", "", "", "", "", "ended"},
        [LC_SESSION_BOOTSTRAP] = {"", "active", "", "", "", "", "", "", "active"},
        [LC_SESSION_ACTIVE] = {"", "", "active/pressure", "", "persisting", "persisting",
                               "persisting", "", ""},
        [LC_SESSION_PRESSURE] = {"", "", "", "active", "persisting", "persisting", "persisting", "",
                                 ""},
        [LC_SESSION_PERSISTING] = {"", "", "", "", "", "", "", "ended", "ended"},
        [LC_SESSION_ENDED] = {"", "", "", "", "", "", "", "", ""},
    };

    for (int from = 0; from < LC_SESSION_STATE_COUNT; from++) {
        for (int move = 0; move < LC_SESSION_MOVE_COUNT; move++) {
            lc_session_state state = (lc_session_state)from;
            loci_error err = {0};
            loci_status status = lc_session_make_move(&state, (lc_session_move)move,
                                                      LC_STR("ses_1"), &err);
            const char *to = expected[from][move];

            CHECK_EQ(status, to[0] != '\0' ? LOCI_OK : LOCI_ECONFLICT);
            CHECK_STR_EQ(loci_str_of(lc_session_state_name(state)),
                         to[0] != '\0' ? to : lc_session_state_name((lc_session_state)from));
            if (status != LOCI_OK)
                CHECK_CONTAINS(err.message, lc_session_state_name((lc_session_state)from));
        }
    }
}

/* The words in rows and answers are those of LC_SESSION_STATES, in the order of the enum. */
TEST(session_state, states_have_the_words_of_their_choices)
{
    loci_str rest = LC_STR(LC_SESSION_STATES);

    for (int state = 0; state < LC_SESSION_STATE_COUNT; state++)
        CHECK_STR_EQ(lc_str_split(rest, '|', &rest),
                     lc_session_state_name((lc_session_state)state));
    CHECK(rest.ptr == NULL);
}
