#include "base/trace.h"
#include "lib/test.h"

#define GOOD "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

/* Callers send this header without being asked, and it is written to the log: only what is exactly
 * of the right form may pass. */
TEST(trace, accepts_valid_parents_only)
{
    static const struct {
        const char *text;
        bool is_good;
    } cases[] = {
        {GOOD, true},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", true},
        {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true},
        {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", true},
        {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more", false},
        {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-a b", false},
        {GOOD "-more", false},
        {GOOD " ", false},
        {"", false},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0", false},
        {"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false},
        {"0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false},
        {"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false},
        {"00-00000000000000000000000000000000-00f067aa0ba902b7-01", false},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false},
        {"00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false},
        {"00-4bf92f3577b34da6a3ce929d0e0e473\"-00f067aa0ba902b7-01", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_EQ(lc_trace_is_parent(loci_str_of(cases[i].text)), cases[i].is_good);
    CHECK(!lc_trace_is_parent((loci_str){NULL, 0}));
    CHECK_STR_EQ(lc_trace_id(loci_str_of(GOOD)), "4bf92f3577b34da6a3ce929d0e0e4736");
}
