/* One fact, one sentence: what a person would expect of it. Each row is a way of saying it that
 * people use; none of them has to be in the table of cues as it stands here. */
#include "unit/talk/talk_fixture.h"

#include "base/str.h"

typedef struct plain {
    const char *key, *value; /* What is known. */
    const char *message;
    const char *want; /* What it becomes; NULL = it stays. */
} plain;

static const plain changes[] = {
    /* Somebody's word. */
    {"launch_date", "March 12", "Per the CEO, the launch date is April 9.", "April 9"},
    {"launch_date", "2026-03-12", "Per the CEO, the launch date is April 9.", "April 9"},
    {"launch_date", "March 12", "According to the VP, launch is April 9.", "April 9"},
    {"launch_date", "March 12", "The CEO says the launch date is April 9.", "April 9"},
    {"vendor", "DataPro", "Per the VP, the vendor is GlobalTech.", "GlobalTech"},
    {"launch_date", "March 12", "The CEO wants the launch date to be April 9.", NULL},
    /* Where somebody lives. */
    {"address", "123 Main St", "I moved to 456 Oak Ave", "456 Oak Ave"},
    {"home_address", "123 Main St", "We've moved to 456 Oak Ave.", "456 Oak Ave"},
    {"home_address", "123 Main St", "I've just moved to 456 Oak Ave.", "456 Oak Ave"},
    {"home_city", "Oslo", "I moved to Bergen last week.", "Bergen"},
    {"city", "Oslo", "We live in Bergen now.", "Bergen"},
    {"home_city", "Oslo", "I now live in Bergen.", "Bergen"},
    {"location", "Oslo", "We relocated to Bergen.", "Bergen"},
    {"home_city", "Oslo", "I'm based in Bergen now.", "Bergen"},
    {"employer", "Initech", "I work for Hooli now.", "Hooli"},
    {"employer", "Initech", "I've started working at Hooli.", "Hooli"},
    {"age", "39", "I just turned 40.", "40"},
    {"user_name", "Bob", "Please call me Robert from now on.", "Robert"},
    /* From one to another. */
    {"city", "Oslo", "The city changed from Oslo to Bergen.", "Bergen"},
    {"city", "Oslo", "We changed the city from Oslo to Bergen.", "Bergen"},
    {"meeting_day", "Tuesday", "The meeting moved from Tuesday to Friday.", "Friday"},
    {"vendor", "DataPro", "We switched from DataPro to GlobalTech.", "GlobalTech"},
    {"team_budget", "$40,000", "The budget went from $40,000 to $30,000.", "$30,000"},
    {"city", "Oslo", "Correction: the city is Bergen, not Oslo.", "Bergen"},
    {"city", "Oslo", "The city is Bergen, not Oslo.", "Bergen"},
    {"city", "Oslo", "It's not Oslo, it's Bergen.", "Bergen"},
    {"city", "Oslo", "Bergen, not Oslo.", "Bergen"},
    {"city", "Oslo", "Not Oslo but Bergen.", "Bergen"},
    {"city", "Oslo", "I said Oslo, but I meant Bergen.", "Bergen"},
    {"vendor", "DataPro", "Use GlobalTech instead of DataPro.", "GlobalTech"},
    {"vendor", "DataPro", "Replace DataPro with GlobalTech.", "GlobalTech"},
    {"vendor", "DataPro", "We're using GlobalTech rather than DataPro.", "GlobalTech"},
    {"meeting_day", "Tuesday", "The meeting is on Friday instead of Tuesday.", "Friday"},
    {"meeting_day", "Tuesday", "The meeting is on Friday, not Tuesday.", "Friday"},
    {"team_size", "12", "The team size is 14, not 12.", "14"},
    /* Amounts. */
    {"price", "120", "The price is now $97.", "$97"},
    {"price", "$120", "The price is now $97.", "$97"},
    {"price", "$120", "The price dropped to $97.", "$97"},
    {"price", "$120", "The price went down to $97.", "$97"},
    {"price", "$120", "The price has gone up to $130.", "$130"},
    {"price", "$120", "They raised the price to $130.", "$130"},
    {"price", "$120", "The new price is $130.", "$130"},
    {"price", "$120", "Update: the price is $130.", "$130"},
    {"price", "$120", "It now costs $130.", "$130"},
    /* When. */
    {"meeting_time", "Tuesday at 2pm", "Let's do the meeting on Friday.", "Friday"},
    {"meeting_time", "Tuesday at 2pm", "Let's have the meeting on Friday.", "Friday"},
    {"meeting_time", "Tuesday at 2pm", "Let's hold the meeting on Friday at 3pm.", "Friday at 3pm"},
    {"meeting_day", "Tuesday", "The meeting has been moved to Friday.", "Friday"},
    {"meeting_day", "Tuesday", "Let's move the meeting to Friday.", "Friday"},
    {"meeting_day", "Tuesday", "We'll have the meeting on Friday.", "Friday"},
    {"meeting_day", "Tuesday", "The meeting will be on Friday.", "Friday"},
    {"meeting_day", "Tuesday", "The meeting takes place on Friday now.", "Friday"},
    {"deadline", "June 3", "The deadline slipped to June 10.", "June 10"},
    {"deadline", "June 3", "The deadline has been pushed back to June 10.", "June 10"},
    {"deadline", "June 3", "They extended the deadline to June 10.", "June 10"},
    {"deadline", "June 3", "The deadline is June 10 now.", "June 10"},
    /* States. */
    {"project_status", "on track", "The project is delayed now.", "delayed"},
    {"order_status", "pending", "The order has been shipped.", "shipped"},
};

static const plain stays[] = {
    {"price", "120", "The price is now known to everyone", NULL},
    {"price", "$120", "The price is now known to everyone.", NULL},
    {"outfit", "a suit", "She changed from jeans to a dress", NULL},
    {"city", "Oslo", "She changed from jeans to a dress", NULL},
    {"city", "Oslo", "The bus goes from Oslo to Bergen.", NULL},
    {"city", "Oslo", "I flew from Oslo to Bergen.", NULL},
    {"city", "Oslo", "The train from Oslo to Bergen is now late.", NULL},
    {"city", "Oslo", "My sister moved to Bergen.", NULL},
    {"city", "Oslo", "He moved from Oslo to Bergen.", NULL},
    {"city", "Oslo", "I moved to the back row.", NULL},
    {"city", "Oslo", "I moved to tears easily.", NULL},
    {"city", "Oslo", "We moved to adjourn.", NULL},
    {"city", "Oslo", "I'm moving to Bergen if I get the job.", NULL},
    {"city", "Oslo", "I might move to Bergen.", NULL},
    {"city", "Oslo", "I would never live in Bergen.", NULL},
    {"city", "Oslo", "Did you know I moved to Bergen once in a dream?", NULL},
    {"city", "Oslo", "In the book the city is Bergen.", NULL},
    {"city", "Oslo", "The song says the city is Bergen.", NULL},
    {"city", "Oslo", "\"The city is now Bergen\", he read aloud.", NULL},
    {"city", "Oslo", "Just kidding, the city is now Bergen!", NULL},
    {"city", "Oslo", "If we win, the city is Bergen.", NULL},
    {"city", "Oslo", "Unless it rains, the city is Bergen.", NULL},
    {"city", "Oslo", "I dreamt that the city is now Bergen.", NULL},
    {"city", "Oslo", "Bergen is not Oslo.", NULL},
    {"city", "Oslo", "It's Bergen, not Oslo, where it rains.", NULL},
    {"city", "Oslo", "The city is not Bergen but Oslo.", NULL},
    {"city", "Oslo", "Use Oslo instead of Bergen.", NULL},
    {"city", "Oslo", "I wish the city was Bergen.", NULL},
    {"city", "Oslo", "Everyone thinks the city is Bergen.", NULL},
    {"city", "Oslo", "My neighbour's city is now Bergen.", NULL},
    {"meeting_day", "Tuesday", "We moved from Tuesday's topic to the next.", NULL},
    {"meeting_day", "Tuesday", "I prefer Friday to Tuesday.", NULL},
    {"meeting_day", "Tuesday", "Friday would be better for the meeting.", NULL},
    {"meeting_day", "Tuesday", "The meeting last Friday went well.", NULL},
    {"meeting_day", "Tuesday", "Let's do lunch on Friday.", NULL},
    {"meeting_day", "Tuesday", "The other meeting is on Friday.", NULL},
    {"meeting_day", "Tuesday", "Their meeting is on Friday.", NULL},
    {"meeting_day", "Tuesday", "After the meeting we leave on Friday.", NULL},
    {"meeting_day", "Tuesday", "He asked whether the meeting is on Friday.", NULL},
    {"meeting_day", "Tuesday", "Don't move the meeting to Friday.", NULL},
    {"meeting_day", "Tuesday", "We can't move the meeting to Friday.", NULL},
    {"meeting_day", "Tuesday", "I'd love to move the meeting to Friday.", NULL},
    {"meeting_day", "Tuesday", "Should I move the meeting to Friday", NULL},
    {"price", "$120", "The price of fame is now clear.", NULL},
    {"price", "$120", "A beer now costs $12.", NULL},
    {"price", "$120", "Competitors lowered their price to $97.", NULL},
    {"price", "$120", "What would the price be at $97?", NULL},
    {"price", "$120", "I'd pay $97.", NULL},
    {"age", "39", "I turned 3 pages.", NULL},
    {"age", "39", "My son just turned 4.", NULL},
    {"user_name", "Bob", "Please call me on Friday.", NULL},
    {"user_name", "Bob", "Call me later.", NULL},
    {"user_name", "Bob", "Call me crazy, but I like rain.", NULL},
    {"employer", "Initech", "My brother works for Hooli now.", NULL},
    {"employer", "Initech", "I work for fun.", NULL},
    {"employer", "Initech", "I work at night now.", NULL},
    {"address", "123 Main St", "We moved the sofa to the garden.", NULL},
    {"address", "123 Main St", "I moved to 2nd place.", NULL},
    {"address", "123 Main St", "I moved 456 files to the archive.", NULL},
    {"vendor", "DataPro", "Per unit, the vendor is cheap.", NULL},
    {"vendor", "DataPro", "Replace the batteries with new ones.", NULL},
    {"vendor", "DataPro", "DataPro is not GlobalTech.", NULL},
    {"vendor", "DataPro", "I like DataPro, not GlobalTech.", NULL},
    {"project_status", "on track", "The train is delayed now.", NULL},
    {"project_status", "on track", "The project room is now closed.", NULL},
};

static loci_str proposed(talk_fixture *f, const plain *row)
{
    lc_known known = {loci_str_of(row->key), loci_str_of(row->value), false, LC_SAID_NONE};
    lc_propose_input input = {
        .known = &known, .known_count = 1, .message = loci_str_of(row->message)};
    lc_proposal out[LC_PROPOSALS_MAX];
    size_t count = 0;
    loci_error err;

    CHECK_OK(lc_talk_propose(f->talk, &f->arena, &input, out, &count, &err), err);
    return count > 0 ? out[0].value : LC_STR_NONE;
}

static void check(const plain *rows, size_t count)
{
    talk_fixture f;
    const char *wrong = "";

    talk_open(&f);
    for (size_t i = 0; i < count; i++) {
        loci_str got = proposed(&f, &rows[i]);
        loci_str want = rows[i].want != NULL ? loci_str_of(rows[i].want) : LC_STR_NONE;

        if (!lc_str_eq(got, want))
            wrong = test_format("%s\n%s=%s: \"%s\" -> \"%.*s\"", wrong, rows[i].key, rows[i].value,
                                rows[i].message, LC_STR_ARG(got));
    }
    talk_close(&f);
    if (*wrong != '\0')
        test_fail(__FILE__, __LINE__, "%s", wrong);
}

TEST(propose_plain, what_is_meant_changes_the_fact)
{
    check(changes, sizeof changes / sizeof *changes);
}

TEST(propose_plain, what_is_not_meant_changes_nothing)
{
    check(stays, sizeof stays / sizeof *stays);
}
