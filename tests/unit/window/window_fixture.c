#include "unit/window/window_fixture.h"

#include <string.h>

/* 2026-11-18T13:35:00Z */
#define NOW_US INT64_C(1795008900000000)
#define MINUTES(n) (NOW_US - INT64_C(60000000) * (n))

static const loci_str tag_protected = LC_STR("protected");
static const loci_str note_user = LC_STR("Prefers short answers.");
static const loci_str note_writer = LC_STR("Check the lock order before editing.");
static const lc_mind_map_link link_writer = {LC_STR("res_01KBB3T0RA00000001AW0BSTYX3"),
                                             LC_STR("calls")};
static const lc_mind_map_link link_test = {LC_STR("res_01KBB3T0R9000000019W0BSTYX3"),
                                           LC_STR("tests")};

static const lc_mind_map_resource reference[] = {
    {.id = LC_STR("res_01KBB3T0R0000000010W0BSTYX3"),
     .uri = LC_STR("file:///home/ada/agent/SOUL.md"),
     .kind = LC_KIND_SOUL,
     .state = LC_RESOURCE_HOT,
     .size_tokens = 1240,
     .attention = 3,
     .last_accessed_us = MINUTES(4),
     .tags = {&tag_protected, 1}},
    {.id = LC_STR("res_01KBB3T0R1000000011W0BSTYX3"),
     .uri = LC_STR("file:///home/ada/agent/USER.md"),
     .kind = LC_KIND_USER,
     .state = LC_RESOURCE_LOADED,
     .size_tokens = 910,
     .attention = 1,
     .last_accessed_us = MINUTES(4),
     .annotations = {&note_user, 1},
     .tags = {&tag_protected, 1}},
    {.id = LC_STR("res_01KBB3T0R2000000012W0BSTYX3"),
     .uri = LC_STR("file:///home/ada/agent/IMPRESSIONS.md"),
     .kind = LC_KIND_IMPRESSIONS,
     .state = LC_RESOURCE_LOADED,
     .size_tokens = 1480,
     .attention = 1,
     .last_accessed_us = MINUTES(31)},
    {.id = LC_STR("res_01KBB3T0R3000000013W0BSTYX3"),
     .uri = LC_STR("file:///home/ada/agent/MEMORY.md"),
     .kind = LC_KIND_MEMORY,
     .state = LC_RESOURCE_LOADED,
     .size_tokens = 3420,
     .attention = 1,
     .last_accessed_us = MINUTES(12)},
    {.id = LC_STR("res_01KBB3T0R4000000014W0BSTYX3"),
     .uri = LC_STR("file:///home/ada/agent/daily/2026-11-18.md"),
     .kind = LC_KIND_DAILY,
     .state = LC_RESOURCE_LOADED,
     .size_tokens = 2105,
     .attention = 1,
     .last_accessed_us = MINUTES(1)},
    {.id = LC_STR("res_01KBB3T0R5000000015W0BSTYX3"),
     .uri = LC_STR("file:///home/ada/agent/daily/2026-11-17.md"),
     .kind = LC_KIND_DAILY,
     .state = LC_RESOURCE_INDEXED,
     .size_tokens = 2440,
     .attention = 1,
     .last_accessed_us = MINUTES(1440),
     .summary = LC_STR("Fixed the flaky log test; the release moved to Friday.")},
    {.id = LC_STR("res_01KBB3T0R6000000016W0BSTYX3"),
     .uri = LC_STR("file:///home/ada/agent/daily/2026-11-16.md"),
     .kind = LC_KIND_DAILY,
     .state = LC_RESOURCE_COLD,
     .size_tokens = 1980,
     .attention = 1},
    {.id = LC_STR("res_01KBB3T0R7000000017W0BSTYX3"),
     .uri = LC_STR("file:///home/ada/agent/TOOLS.md"),
     .kind = LC_KIND_TOOLS,
     .state = LC_RESOURCE_LOADED,
     .size_tokens = 1810,
     .attention = 0.5,
     .last_accessed_us = MINUTES(55)},
    {.id = LC_STR("res_01KBB3T0R8000000018W0BSTYX3"),
     .uri = LC_STR("file:///home/ada/engine/engine.toml"),
     .kind = LC_KIND_CONFIG,
     .state = LC_RESOURCE_INDEXED,
     .size_tokens = 620,
     .attention = 1,
     .last_accessed_us = MINUTES(200),
     .summary = LC_STR("Settings of the engine: path of the store, limits, log level.")},
    {.id = LC_STR("res_01KBB3T0R9000000019W0BSTYX3"),
     .uri = LC_STR("file:///home/ada/engine/src/writer.c"),
     .kind = LC_KIND_CODE,
     .state = LC_RESOURCE_HOT,
     .size_tokens = 14210,
     .attention = 2,
     .last_accessed_us = MINUTES(2),
     .annotations = {&note_writer, 1},
     .links = &link_writer,
     .link_count = 1},
    {.id = LC_STR("res_01KBB3T0RA00000001AW0BSTYX3"),
     .uri = LC_STR("file:///home/ada/engine/src/store.c"),
     .kind = LC_KIND_CODE,
     .state = LC_RESOURCE_LOADED,
     .is_stale = true,
     .size_tokens = 11350,
     .attention = 1,
     .last_accessed_us = MINUTES(3)},
    {.id = LC_STR("res_01KBB3T0RB00000001BW0BSTYX3"),
     .uri = LC_STR("file:///home/ada/engine/tests/writer_test.c"),
     .kind = LC_KIND_CODE,
     .state = LC_RESOURCE_INDEXED,
     .size_tokens = 8120,
     .attention = 1,
     .last_accessed_us = MINUTES(95),
     .summary = LC_STR("Unit tests of the writer: group commit, crash, retry."),
     .links = &link_test,
     .link_count = 1},
    {.id = LC_STR("res_01KBB3T0RC00000001CW0BSTYX3"),
     .uri = LC_STR("file:///home/ada/engine/docs/design.md"),
     .kind = LC_KIND_DOCUMENT,
     .state = LC_RESOURCE_LOADED,
     .is_summary = true,
     .size_tokens = 5400,
     .attention = 1,
     .last_accessed_us = MINUTES(20),
     .summary = LC_STR("Design of the engine: events, projections, one writer.")},
    {.id = LC_STR("res_01KBB3T0RD00000001DW0BSTYX3"),
     .uri = LC_STR("https://example.org/papers/aries.pdf"),
     .kind = LC_KIND_DOCUMENT,
     .state = LC_RESOURCE_COLD,
     .size_tokens = 38700,
     .attention = 1},
    {.id = LC_STR("res_01KBB3T0RE00000001EW0BSTYX3"),
     .uri = LC_STR("file:///mnt/share/inbox.txt"),
     .kind = LC_KIND_OTHER,
     .state = LC_RESOURCE_OFFLINE,
     .size_tokens = 400,
     .attention = 1,
     .last_accessed_us = MINUTES(3000)},
};

lc_mind_map window_fixture_reference(void)
{
    return (lc_mind_map){.context_max = 200000,
                         .reserve_output = 8000,
                         .used_tokens = 41925,
                         .pressure = LC_PRESSURE_NONE,
                         .policy = LC_POLICY_LRU,
                         .time_us = NOW_US,
                         .resources = reference,
                         .resource_count = sizeof reference / sizeof *reference};
}

/* Pieces of the three formats, of their escapes, and characters that end lines somewhere. */
static const char *const pieces[] = {
    "a",
    "b",
    "README",
    ".md",
    ".c",
    "/",
    "//",
    " ",
    "  ",
    "; ",
    ";",
    ": ",
    ":",
    ">",
    "|",
    "\"",
    "\\",
    "\\n",
    "\\u0041",
    "+",
    "+9",
    "!",
    "~",
    "~2",
    "#",
    "## Active",
    "\n## Notes\n",
    "\n",
    "\r\n",
    "\t",
    "@A ",
    "@MM1.0|1/2:low|00:00|lru\n",
    "- note: x",
    "### ✓ x",
    ", ",
    "✓",
    "◆",
    "●",
    "○",
    "✗",
    "—",
    "…",
    "é",
    "\xe2\x80\xa8",
    "\xe2\x80\xae",
    "\xc2\x85",
    "\xef\xbb\xbf",
    "\x1b[31m",
    "\x7f",
    "日本",
    "🙂",
    "code: ",
    "a1",
    "1.5K",
    "-",
};

static loci_str random_text(test_rng *rng, size_t pieces_max)
{
    size_t count = test_rng_below(rng, pieces_max + 1);
    char *text = test_format("%s", "");

    if (test_rng_chance(rng, 2)) /* Long enough to be cut. */
        count = 150;
    for (size_t i = 0; i < count; i++)
        text = test_format("%s%s", text,
                           pieces[test_rng_below(rng, sizeof pieces / sizeof *pieces)]);
    return loci_str_of(text);
}

static lc_str_list random_list(test_rng *rng, size_t count_max)
{
    size_t count = test_rng_chance(rng, 60) ? 0 : test_rng_below(rng, count_max + 1);
    loci_str *items = (void *)test_bytes(count * sizeof *items);

    for (size_t i = 0; i < count; i++)
        items[i] = random_text(rng, 5);
    return (lc_str_list){items, count};
}

static int64_t random_amount(test_rng *rng)
{
    return (int64_t)(test_rng_next(rng) >> 1 >> test_rng_below(rng, 63));
}

static void random_resource(test_rng *rng, lc_mind_map_resource *all, size_t index, size_t count)
{
    lc_mind_map_resource *out = &all[index];
    size_t link_count = test_rng_chance(rng, 60) ? 0 : test_rng_below(rng, 14);
    lc_mind_map_link *links = (void *)test_bytes(link_count * sizeof *links);

    *out = (lc_mind_map_resource){
        .id = loci_str_of(test_format("res_%05zu", index)),
        .uri = test_rng_chance(rng, 20) ? all[test_rng_below(rng, index + 1)].uri
                                        : random_text(rng, 6),
        .kind = (lc_resource_kind)test_rng_below(rng, LC_KINDS),
        .state = (lc_resource_state)test_rng_below(rng, LC_RESOURCE_STATES),
        .is_stale = test_rng_chance(rng, 10),
        .is_summary = test_rng_chance(rng, 10),
        .size_tokens = random_amount(rng),
        .attention = (double)test_rng_below(rng, 11) / (double)test_rng_between(rng, 1, 7),
        .last_accessed_us = test_rng_between(rng, 0, NOW_US),
        .summary = random_text(rng, 6),
        .annotations = random_list(rng, 12),
        .tags = random_list(rng, 22),
        .links = links,
        .link_count = link_count};
    for (size_t i = 0; i < link_count; i++) {
        links[i].label = random_text(rng, 2);
        links[i].target = test_rng_chance(rng, 50)
                              ? random_text(rng, 4)
                              : loci_str_of(test_format("res_%05zu", test_rng_below(rng, count)));
    }
}

lc_mind_map window_fixture_random(test_rng *rng, size_t count)
{
    lc_mind_map_resource *resources = (void *)test_bytes(count * sizeof *resources);
    size_t group_count = test_rng_chance(rng, 50) ? 0 : test_rng_below(rng, 20);
    lc_mind_map_group *groups = (void *)test_bytes(group_count * sizeof *groups);

    for (size_t i = 0; i < count; i++)
        random_resource(rng, resources, i, count);
    for (size_t i = 0; i < group_count; i++)
        groups[i] = (lc_mind_map_group){(lc_resource_region)test_rng_below(rng, LC_REGIONS),
                                        (lc_resource_kind)test_rng_below(rng, LC_KINDS),
                                        test_rng_between(rng, 1, 100000), random_amount(rng)};
    return (lc_mind_map){.context_max = random_amount(rng),
                         .reserve_output = random_amount(rng),
                         .used_tokens = random_amount(rng),
                         .pressure = (lc_pressure)test_rng_below(rng, LC_PRESSURES),
                         .policy = (lc_window_policy)test_rng_below(rng, LC_POLICIES),
                         .time_us = test_rng_between(rng, -NOW_US, NOW_US),
                         .resources = resources,
                         .resource_count = count,
                         .groups = groups,
                         .group_count = group_count,
                         .links_left = test_rng_between(rng, 0, 3),
                         .annotations_left = test_rng_between(rng, 0, 3)};
}
