/* Tests of frame/frame_status.h: all 36 pairs of statuses. */
#include "frame/frame_status.h"

#include "base/str.h"
#include "lib/test.h"

TEST(frame_status, every_pair_is_allowed_or_refused_as_documented)
{
    /* Rows: from. Columns: to, in the order active waiting suspended completed failed cancelled. */
    static const char *const allowed[] = {
        [LC_FRAME_ACTIVE] = "-xxxxx",    [LC_FRAME_WAITING] = "x-xxxx",
        [LC_FRAME_SUSPENDED] = "x---xx", [LC_FRAME_COMPLETED] = "------",
        [LC_FRAME_FAILED] = "------",    [LC_FRAME_CANCELLED] = "------",
    };

    for (int from = 0; from < LC_FRAME_STATUS_COUNT; from++) {
        for (int to = 0; to < LC_FRAME_STATUS_COUNT; to++) {
            bool is_allowed = allowed[from][to] == 'x';
            lc_frame_status status = (lc_frame_status)from;
            loci_error err = {0};

            CHECK_EQ(lc_frame_status_leads(status, (lc_frame_status)to), is_allowed);
            CHECK_STATUS(is_allowed ? LOCI_OK : LOCI_ECONFLICT,
                         lc_frame_move(&status, (lc_frame_status)to, LC_STR("frm_1"), &err));
            CHECK_EQ((int)status, is_allowed ? to : from);
            if (!is_allowed)
                CHECK_CONTAINS(err.message, "frame frm_1 is ");
        }
    }
}

TEST(frame_status, names_are_those_of_the_answers)
{
    loci_str rest = LC_STR(LC_FRAME_STATUSES);
    lc_frame_status found;

    for (int i = 0; i < LC_FRAME_STATUS_COUNT; i++) {
        loci_str name = lc_str_split(rest, '|', &rest);

        CHECK_STR_EQ(name, lc_frame_status_name((lc_frame_status)i));
        CHECK(lc_frame_status_find(name, &found));
        CHECK_EQ((int)found, i);
        CHECK_EQ(lc_frame_status_is_open(found), i < 3);
    }
    CHECK(!lc_frame_status_find(LC_STR("done"), &found));
}
