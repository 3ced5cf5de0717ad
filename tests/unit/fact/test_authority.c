#include "fact/authority.h"

#include "base/str.h"
#include "lib/test.h"

static int rank_of(const char *name, const char *titles)
{
    return lc_authority_of(loci_str_of(name), loci_str_of(titles)).rank;
}

/* The order of the ranks decides which statement supersedes which. */
TEST(authority, ranks_are_in_order)
{
    static const char *const words[] = {"guest", "intern",    "employee", "manager",
                                        "admin", "executive", "policy"};

    for (int i = 0; i < 7; i++)
        CHECK_EQ(rank_of(words[i], ""), LC_RANK_GUEST + i);
    CHECK_EQ(rank_of(" Manager ", ""), LC_RANK_MANAGER);
    CHECK_EQ(rank_of("CFO", ""), LC_RANK_EXECUTIVE);
    CHECK_EQ(rank_of("Vice-President", ""), LC_RANK_EXECUTIVE);
    CHECK_EQ(rank_of("", ""), 0);
}

/* A part of a title is no title. */
TEST(authority, unknown_words_rank_lowest)
{
    static const char *const words[] = {
        "peer", "system", "Account Executive", "Project Manager", "policy maker", "cfo2", "é"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        CHECK_EQ(rank_of(words[i], ""), LC_RANK_GUEST);
}

/* The rank decides what a caller may do, the weight whose quoted word prevails: one table, so that
 * the two cannot rank the same people differently. */
TEST(authority, weights_of_titles_follow_their_ranks)
{
    static const char *const titles[] = {"policy",    "ceo",      "chief executive officer",
                                         "president", "cfo",      "chro",
                                         "evp",       "svp",      "vp",
                                         "executive", "admin",    "administrator",
                                         "manager",   "director", "supervisor",
                                         "employee",  "staff",    "intern",
                                         "trainee",   "guest"};
    size_t count = sizeof titles / sizeof titles[0];

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            if (rank_of(titles[i], "") > rank_of(titles[k], ""))
                CHECK(lc_title_weight(loci_str_of(titles[i])) >
                      lc_title_weight(loci_str_of(titles[k])));
        }
    }
    CHECK(lc_title_weight(LC_STR("CEO")) > lc_title_weight(LC_STR("CFO")));
    CHECK_EQ(lc_title_weight(LC_STR("Managers")), lc_title_weight(LC_STR("manager")));
    CHECK_EQ(lc_title_weight(LC_STR("peer")), -1);
    CHECK_EQ(lc_title_weight(LC_STR("")), -1);
}

TEST(authority, titles_can_be_added_and_ranks_not_changed)
{
    static const char titles[] = "tech lead = manager,peer=employee , cfo=guest,x=nothing, =policy,"
                                 "guest=policy,broken";

    CHECK_EQ(rank_of("Tech_Lead", titles), LC_RANK_MANAGER);
    CHECK_EQ(rank_of("peer", titles), LC_RANK_EMPLOYEE);
    CHECK_EQ(rank_of("CFO", titles), LC_RANK_GUEST);
    CHECK_EQ(rank_of("guest", titles), LC_RANK_GUEST);
    CHECK_EQ(rank_of("x", titles), LC_RANK_GUEST);
    CHECK_EQ(rank_of("broken", titles), LC_RANK_GUEST);
}

static lc_authority effective(const char *ceiling, const char *identity, const char *argument)
{
    return lc_authority_effective(&(lc_authority_bounds){
        .ceiling = lc_authority_of(loci_str_of(ceiling), LC_STR("")),
        .identity = lc_authority_of(loci_str_of(identity), LC_STR("")),
        .argument = lc_authority_of(loci_str_of(argument), LC_STR("")),
    });
}

TEST(authority, the_lowest_of_what_bounds_a_caller_counts)
{
    CHECK_STR_EQ(effective("", "", "").name, "manager");
    CHECK_STR_EQ(effective("guest", "", "").name, "guest");
    CHECK_STR_EQ(effective("policy", "", "").name, "manager");
    CHECK_STR_EQ(effective("", "CEO", "").name, "CEO");
    CHECK_STR_EQ(effective("manager", "CEO", "").name, "manager");
    CHECK_STR_EQ(effective("", "", "policy").name, "policy");
    CHECK_STR_EQ(effective("", "intern", "policy").name, "intern");
    CHECK_STR_EQ(effective("admin", "CEO", "policy").name, "admin");
    CHECK_STR_EQ(effective("", "CEO", "peer").name, "peer");
    CHECK_STR_EQ(effective("executive", "", "CFO").name, "CFO"); /* Equal: as it said. */
}

TEST(authority, trust_is_capped)
{
    CHECK(lc_trust_is_trusted(LC_STR("user")) && lc_trust_is_trusted(LC_STR("system")));
    CHECK(!lc_trust_is_trusted(LC_STR("tool")) && !lc_trust_is_trusted(LC_STR("")));
    CHECK_STR_EQ(lc_trust_capped(LC_STR(""), LC_STR("")), "user");
    CHECK_STR_EQ(lc_trust_capped(LC_STR("user"), LC_STR("web")), "web");
    CHECK_STR_EQ(lc_trust_capped(LC_STR("model"), LC_STR("web")), "model");
    CHECK_STR_EQ(lc_trust_capped(LC_STR("system"), LC_STR("user")), "system");
}
