/* Marks: each kind, each reader; what restricts fails closed. */
#include "talk/mark.h"

#include "base/str.h"
#include "unit/talk/talk_fixture.h"

/* A reader with a title, its rank, and an organisation. */
static lc_reader reader_of(const char *title, const char *organization)
{
    return (lc_reader){.rank = lc_rank_in(loci_str_of(title), talk_ranking),
                       .title = loci_str_of(title),
                       .organization = loci_str_of(organization)};
}

static void check_mark(const char *text, const lc_reader *reader, lc_mark_verdict expected)
{
    lc_mark_verdict verdict = lc_mark_judge(loci_str_of(text), reader, talk_ranking);

    if (verdict != expected)
        test_fail(__FILE__, __LINE__, "%s for %.*s: %d", text, LC_STR_ARG(reader->title),
                  (int)verdict);
}

TEST(talk_mark, the_rank_of_a_title_is_its_highest_word)
{
    static const struct {
        const char *text;
        int rank;
    } cases[] = {{"CEO", 9},
                 {"Vice President of Sales", 8},
                 {"sales manager", 6},
                 {"Deputy manager", 4},
                 {"Manager and CEO", 9},
                 {"tent-manager", 6},
                 {"painter", -1},
                 {"", -1},
                 {"managers", -1}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (lc_rank_in(loci_str_of(cases[i].text), talk_ranking) != cases[i].rank)
            test_fail(__FILE__, __LINE__, "%s", cases[i].text);
}

TEST(talk_mark, text_without_a_known_mark_is_open)
{
    static const char *const texts[] = {"The budget is $5.",
                                        "",
                                        "[",
                                        "[]",
                                        "[RESTRICTED",
                                        "restricted to the CEO",
                                        "[Anna] hello",
                                        "[1] see below",
                                        "[Test Lead] hello",
                                        "Read this [RESTRICTED to VP+]",
                                        "\xC3\x89t\xC3\xA9 [PRIVATE]"};
    lc_reader reader = reader_of("", "");

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_mark(texts[i], &reader, LC_MARK_OPEN);
}

TEST(talk_mark, a_withdrawn_text_is_withdrawn_for_all)
{
    static const char *const texts[] = {"[INVALIDATED] The budget is $5.",
                                        "[Superseded] x",
                                        "[cancelled: rain] x",
                                        "**[RETRACTED]** x",
                                        "\xE2\x9A\xA0\xEF\xB8\x8F [EXPIRED] x",
                                        "> [void] x"};
    lc_reader reader = reader_of("CEO", "Acme");

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_mark(texts[i], &reader, LC_MARK_WITHDRAWN);
}

TEST(talk_mark, what_restricts_fails_closed)
{
    static const struct {
        const char *text, *title, *organization;
        bool is_open;
    } cases[] = {
        {"[RESTRICTED to VP+] x", "CEO", "", true},
        {"[RESTRICTED to VP+] x", "VP", "", true},
        {"[RESTRICTED to VP+] x", "Manager", "", false},
        {"[RESTRICTED to VP+] x", "", "", false},
        {"[RESTRICTED to VP+] x", "painter", "", false},
        {"[Confidential: for manager and above] x", "CEO", "", true},
        {"[Confidential: for manager and above] x", "Intern", "", false},
        {"[RESTRICTED to Security team] x", "CEO", "", false},
        {"[RESTRICTED to manager of Security] x", "CEO", "", false},
        {"[RESTRICTED to guest] x", "CEO", "", false},
        {"[RESTRICTED to guest] x", "guest", "", true},
        {"[RESTRICTED to Security team] x", "VP", "Security team", true},
        {"[RESTRICTED to Acme] x", "Intern", "Acme", true},
        {"[RESTRICTED to Acme] x", "CEO", "Globex", false},
        {"[PRIVATE] x", "CEO", "Acme", false},
        {"\xF0\x9F\x94\x92 [PRIVATE] x", "CEO", "", false},
        {"\xE2\x9A\xA0\xEF\xB8\x8F\n\xF0\x9F\x94\x92 [RESTRICTED to VP+] x", "Intern", "", false},
        {"- [PRIVATE] x", "CEO", "", false},
        {"## [PRIVATE] x", "CEO", "", false},
        {"\xC2\xA0[PRIVATE] x", "CEO", "", false},
        {"\xE2\x80\x8B[PRIVATE] x", "CEO", "", false},
        {"[secret] x", "", "", false},
        {"[RESTRICTED to nurses] x", "nurse", "", true},
        {"[RESTRICTED to nurses] x", "CEO", "", false},
        {"[RESTRICTED to patients and manager] x", "CEO", "", false},
        {"[STAFF ONLY] x", "CEO", "", false},
        {"[MANAGER ONLY] x", "Manager", "", true},
        {"[MANAGER ONLY: pay] x", "Intern", "", false},
        {"[NOT FOR interns] x", "", "", false},
        {"[NOT FOR intern] x", "Manager", "", true},
        {"[NOT FOR intern] x", "Intern", "", false},
        {"[HIDDEN FROM Globex] x", "CEO", "Acme", false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lc_reader reader = reader_of(cases[i].title, cases[i].organization);

        check_mark(cases[i].text, &reader, cases[i].is_open ? LC_MARK_OPEN : LC_MARK_RESTRICTED);
    }
}

TEST(talk_mark, an_organisation_sees_its_own_texts_only)
{
    static const char *const texts[] = {"[TENANT: Acme Corp] x", "[organisation: ACME-Corp] x",
                                        "[org:acme corp] x"};
    lc_reader acme = reader_of("Intern", "Acme Corp"), other = reader_of("CEO", "Acme"),
              none = reader_of("CEO", "");

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        check_mark(texts[i], &acme, LC_MARK_OPEN);
        check_mark(texts[i], &other, LC_MARK_RESTRICTED);
        check_mark(texts[i], &none, LC_MARK_RESTRICTED);
    }
    check_mark("[TENANT: ] x", &none, LC_MARK_RESTRICTED);
}

TEST(talk_mark, drafts_and_other_scopes_are_shown_when_asked_for)
{
    lc_reader reader = reader_of("CEO", "");

    check_mark("[SANDBOX] x", &reader, LC_MARK_SUPPOSED);
    check_mark("[Draft: v2] x", &reader, LC_MARK_SUPPOSED);
    check_mark("[SCOPE: spring] x", &reader, LC_MARK_SUPPOSED);
    reader.query = LC_STR("what did the sandbox say?");
    check_mark("[SANDBOX] x", &reader, LC_MARK_OPEN);
    check_mark("[Draft: v2] x", &reader, LC_MARK_SUPPOSED);
    reader.scope = LC_STR("spring");
    check_mark("[SCOPE: spring] x", &reader, LC_MARK_OPEN);
    check_mark("[SCOPE: autumn] x", &reader, LC_MARK_SUPPOSED);
}
