/* test_kind.c - the words of a window: names and numbers agree in both directions. */
#include "window/kind.h"

#include "base/str.h"
#include "lib/test.h"

TEST(window_kind, names_are_found_again)
{
    lc_resource_kind kind;
    lc_resource_state state;
    lc_resource_region region;
    lc_window_policy policy;

    for (unsigned i = 0; i < LC_KINDS; i++) {
        loci_str name = loci_str_of(lc_resource_kind_name((lc_resource_kind)i));

        CHECK(lc_resource_kind_find(name, &kind) && kind == (lc_resource_kind)i);
        CHECK(lc_str_is_choice(name, LC_KIND_CHOICES));
    }
    for (unsigned i = 0; i < LC_RESOURCE_STATES; i++) {
        loci_str name = loci_str_of(lc_resource_state_name((lc_resource_state)i));

        CHECK(lc_resource_state_find(name, &state) && state == (lc_resource_state)i);
        CHECK(lc_str_is_choice(name, LC_RESOURCE_STATE_CHOICES));
    }
    for (unsigned i = 0; i < LC_REGIONS; i++) {
        loci_str name = loci_str_of(lc_resource_region_name((lc_resource_region)i));

        CHECK(lc_resource_region_find(name, &region) && region == (lc_resource_region)i);
        CHECK(lc_str_is_choice(name, LC_REGION_CHOICES));
    }
    for (unsigned i = 0; i < LC_POLICIES; i++) {
        loci_str name = loci_str_of(lc_window_policy_name((lc_window_policy)i));

        CHECK(lc_window_policy_find(name, &policy) && policy == (lc_window_policy)i);
        CHECK(lc_str_is_choice(name, LC_POLICY_CHOICES));
    }
    CHECK(!lc_resource_kind_find(LC_STR("Soul"), &kind));
    CHECK(!lc_resource_state_find(LC_STR(""), &state));
    CHECK(!lc_resource_region_find(LC_STR("warm"), &region));
    CHECK(!lc_window_policy_find(LC_STR("lru "), &policy));
}

TEST(window_kind, states_have_their_symbols_and_regions)
{
    static const struct {
        lc_resource_state state;
        const char *symbol;
        lc_resource_region region;
    } rows[] = {{LC_RESOURCE_UNKNOWN, "—", LC_REGION_COLD},
                {LC_RESOURCE_COLD, "○", LC_REGION_COLD},
                {LC_RESOURCE_LOADED, "✓", LC_REGION_ACTIVE},
                {LC_RESOURCE_HOT, "◆", LC_REGION_ACTIVE},
                {LC_RESOURCE_INDEXED, "●", LC_REGION_INDEXED},
                {LC_RESOURCE_OFFLINE, "✗", LC_REGION_OFFLINE}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_STR_EQ(lc_resource_state_symbol(rows[i].state), rows[i].symbol);
        CHECK_EQ(lc_resource_region_of(rows[i].state), rows[i].region);
    }
}

TEST(kind, a_resource_has_the_kind_of_its_name)
{
    static const struct {
        const char *uri, *kind;
    } cases[] = {
        {"file:///home/ada/SOUL.md", "soul"},
        {"file:///home/ada/user.md", "user"},
        {"file:///home/ada/user.py", "code"},
        {"file:///home/ada/MEMORY.md", "memory"},
        {"file:///home/ada/memory/2026-03-01.md", "daily"},
        {"file:///home/ada/2026-03-01-standup.txt", "daily"},
        {"file:///src/main.C", "code"},
        {"file:///src/.env", "config"},
        {"file:///src/package.json", "config"},
        {"file:///src/README.md", "document"},
        {"file:///src/LICENSE", "other"},
        {"text:tools", "tools"},
        {"text:rules", "other"},
        {"loci:mem_01", "other"},
        {"file:///src/", "other"},
        {"", "other"},
        {".", "other"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR_EQ(lc_resource_kind_name(lc_resource_kind_guess(loci_str_of(cases[i].uri))),
                     cases[i].kind);
}
