/* What a connector said before: a message that repeats it repeats what is no longer so. */
#include "lib/calls.h"

#include <string.h>

#include "base/str.h"

static void observe(loci_engine *engine, const char *text)
{
    test_call(engine, "fact.observe", "{'text':'%s','speaker':'user'}", text);
}

static bool shows(loci_engine *engine, const char *words)
{
    loci_str answer = test_call(engine, "context.build",
                                "{'query':'How warm is the pool?','budget':500}");

    return strstr(test_member_text(answer, "text").ptr, words) != NULL;
}

TEST(signals, a_message_that_repeats_a_former_signal_is_left_out)
{
    loci_engine *engine = test_open(test_path(test_tmpdir(), "store.db"));

    test_call(engine, "environment.set", "{'key':'pool','value':'Pool at 24 degrees'}");
    observe(engine, "The pool is at 24 degrees.");
    CHECK(shows(engine, "The pool is at 24 degrees."));
    test_call(engine, "environment.set", "{'key':'pool','value':'Pool at 27 degrees'}");
    CHECK(!shows(engine, "24 degrees"));
    CHECK(shows(engine, "27 degrees"));
    test_close(engine); /* Log and projections agree. */
}

TEST(signals, the_last_four_are_known_and_what_comes_back_holds)
{
    const char *store = test_path(test_tmpdir(), "store.db");
    loci_engine *engine = test_open(store);

    observe(engine, "The pool is at 20 degrees.");
    for (int degrees = 20; degrees <= 26; degrees++)
        test_call(engine, "environment.set", "{'key':'pool','value':'Pool at %d degrees'}",
                  degrees);
    /* 26 stands, 25 to 22 are known. */
    CHECK_EQ(test_store_number(store, "select count(*) from environment where former ="
                                      " '[\"Pool at 25 degrees\",\"Pool at 24 degrees\","
                                      "\"Pool at 23 degrees\",\"Pool at 22 degrees\"]'"),
             1);
    test_call(engine, "environment.set", "{'key':'pool','value':'Pool at 26 degrees'}");
    CHECK_EQ(test_store_number(store, "select count(*) from environment"
                                      " where former like '[\"Pool at 25%'"),
             1);
    CHECK(shows(engine, "The pool is at 20 degrees."));
    test_close(engine);
}
