/* test_mind_map.c - the three formats of a mind map: what they say, what they cost, and that they
 * can be read back. */
#include "window/mind_map.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "unit/text/tokenizer_fixture.h"
#include "unit/window/window_fixture.h"

typedef struct fixture {
    tokenizer_fixture tokens;
    lc_arena arena;
    lc_buf text;
} fixture;

static void open_fixture(fixture *f)
{
    tokenizer_fixture_open(&f->tokens);
    lc_arena_init(&f->arena, &f->tokens.heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&f->text, &f->tokens.heap, LOCI_MEM_REQUESTS, LC_MIND_MAP_BYTES_MAX);
}

static void close_fixture(fixture *f)
{
    lc_buf_clear(&f->text);
    lc_arena_clear(&f->arena);
    tokenizer_fixture_close(&f->tokens);
}

/* A copy that lives until the test ends. */
static const char *write_map(fixture *f, const lc_mind_map *map, int level)
{
    loci_error err;

    lc_buf_reset(&f->text);
    CHECK_OK(
        lc_mind_map_write(&(lc_mind_map_order){map, level, &f->tokens.tokenizers[0], &f->arena},
                          &f->text, &err),
        err);
    return test_format("%.*s", (int)f->text.len, f->text.ptr);
}

static void check_round_trip(fixture *f, const char *text)
{
    lc_mind_map parsed;
    loci_error err;

    CHECK_OK(lc_mind_map_parse(loci_str_of(text), &f->arena, &parsed, &err), err);
    CHECK_STR_EQ(write_map(f, &parsed, parsed.level), text);
}

static int64_t count_tokens(const fixture *f, const char *text)
{
    return tokenizer_fixture_count(&f->tokens.tokenizers[0], loci_str_of(text));
}

/* The costs that agents are promised: within a fifth of 1500, 350 and 80 tokens. */
TEST(mind_map, reference_window)
{
    static const int64_t expected[] = {1500, 350, 80};
    lc_mind_map map = window_fixture_reference();
    fixture f;

    open_fixture(&f);
    for (int level = 1; level <= 3; level++) {
        const char *text = write_map(&f, &map, level);
        int64_t tokens = count_tokens(&f, text);

        CHECK_GOLDEN(test_format("tests/unit/fixtures/mind_map_%d.txt", level), text);
        CHECK_LE(expected[level - 1] * 8, tokens * 10);
        CHECK_LE(tokens * 10, expected[level - 1] * 12);
        check_round_trip(&f, text);
    }
    close_fixture(&f);
}

/* Names that look like headings, symbols, escapes or line ends: whatever a user writes, the map can
 * be read back, has no line that the format does not know, and keeps its limit. */
TEST(mind_map, random_windows_come_back_the_same)
{
    static const int64_t tokens_max[] = {LC_MIND_MAP_TOKENS_MAX_1, LC_MIND_MAP_TOKENS_MAX_2,
                                         LC_MIND_MAP_TOKENS_MAX_3};
    test_rng rng = test_random(170);
    fixture f;

    open_fixture(&f);
    for (uint64_t run = 0; run < test_count(150, 5000); run++) {
        lc_mind_map map = window_fixture_random(
            &rng, test_rng_below(&rng, test_rng_chance(&rng, 10) ? 150 : 20));
        int level = (int)test_rng_between(&rng, 1, 3);
        const char *text = write_map(&f, &map, level);

        CHECK_LE(count_tokens(&f, text), tokens_max[level - 1]);
        check_round_trip(&f, text);
        CHECK_STR_EQ(write_map(&f, &map, level), text);
        lc_arena_clear(&f.arena);
    }
    close_fixture(&f);
}

/* ---- Large windows --------------------------------------------------------------------------- */

/* Resources as an agent that indexed a few repositories would have them. */
static lc_mind_map large_window(size_t count)
{
    static const char *const words[] = {"store",  "writer",  "index", "parser", "session", "report",
                                        "budget", "release", "notes", "schema", "client"};
    static const char *const ends[LC_KINDS] = {"md", "md",   "md", "md",  "md",
                                               "md", "toml", "c",  "pdf", "txt"};
    lc_mind_map_resource *resources = (void *)test_bytes(count * sizeof *resources);
    test_rng rng = test_random(10000);

    for (size_t i = 0; i < count; i++) {
        lc_resource_kind kind = (lc_resource_kind)(i % LC_KINDS);

        resources[i] = (lc_mind_map_resource){
            .id = loci_str_of(test_format("res_%05zu", i)),
            .uri = loci_str_of(test_format("file:///home/%s/%s_%zu.%s", words[i % 11],
                                           words[i / 11 % 11], i, ends[kind])),
            .kind = kind,
            .state = (lc_resource_state)test_rng_between(&rng, LC_RESOURCE_COLD,
                                                         LC_RESOURCE_OFFLINE),
            .size_tokens = test_rng_chance(&rng, 10) ? 0 : test_rng_between(&rng, 100, 20000),
            .attention = test_rng_chance(&rng, 1) ? (double)test_rng_between(&rng, 2, 10) : 1,
            .last_accessed_us = test_rng_between(&rng, 1, 1000000)};
    }
    return (lc_mind_map){.context_max = 1000000,
                         .reserve_output = 16000,
                         .used_tokens = 812345,
                         .pressure = LC_PRESSURE_HIGH,
                         .time_us = 0,
                         .resources = resources,
                         .resource_count = count};
}

/* The promise for 10 000 resources: 300 tokens at level 3, with the most important ones by name and
 * every other one counted. */
TEST(mind_map, ten_thousand_resources_keep_the_limits)
{
    static const int64_t tokens_max[] = {LC_MIND_MAP_TOKENS_MAX_1, LC_MIND_MAP_TOKENS_MAX_2,
                                         LC_MIND_MAP_TOKENS_MAX_3};
    lc_mind_map map = large_window(10000), parsed;
    size_t hot_count = 0;
    fixture f;
    loci_error err;

    open_fixture(&f);
    for (size_t i = 0; i < map.resource_count; i++)
        hot_count += map.resources[i].attention > 1;
    CHECK_LT(LC_MIND_MAP_NAMED_MAX_3, hot_count);
    for (int level = 1; level <= 3; level++) {
        const char *text = write_map(&f, &map, level);
        int64_t counted = 0;
        size_t hot_named = 0;

        CHECK_LE(count_tokens(&f, text), tokens_max[level - 1]);
        CHECK_OK(lc_mind_map_parse(loci_str_of(text), &f.arena, &parsed, &err), err);
        CHECK_EQ(parsed.level, level);
        CHECK_LE(8, parsed.resource_count);
        for (size_t i = 0; i < parsed.group_count; i++)
            counted += parsed.groups[i].resource_count;
        CHECK_EQ(counted + (int64_t)parsed.resource_count, 10000);
        for (size_t i = 0; i < parsed.resource_count; i++)
            hot_named += parsed.resources[i].attention > 1;
        CHECK_LE(LC_KINDS, parsed.group_count); /* At least one region is counted by kind. */
        if (level < 3)                          /* Level 3 does not hold attention. */
            CHECK_EQ(hot_named,
                     hot_count < parsed.resource_count ? hot_count : parsed.resource_count);
        check_round_trip(&f, text);
    }
    close_fixture(&f);
}

static int by_attention(const void *a, const void *b)
{
    const lc_mind_map_resource *x = a, *y = b;

    if (x->attention != y->attention)
        return x->attention > y->attention ? -1 : 1;
    if (lc_resource_region_of(x->state) != lc_resource_region_of(y->state))
        return lc_resource_region_of(x->state) < lc_resource_region_of(y->state) ? -1 : 1;
    return x->last_accessed_us > y->last_accessed_us ? -1 : 1;
}

/* A room with a large window reads the important rows only and counts the others in the database:
 * the map must be the same. */
TEST(mind_map, counted_resources_need_not_be_given)
{
    lc_mind_map map = large_window(2000), part = map;
    lc_mind_map_group groups[1900];
    lc_mind_map_resource *sorted = (void *)test_bytes(2000 * sizeof *sorted);
    fixture f;

    open_fixture(&f);
    memcpy(sorted, map.resources, 2000 * sizeof *sorted);
    qsort(sorted, 2000, sizeof *sorted, by_attention);
    part.resources = sorted;
    part.resource_count = LC_MIND_MAP_NAMED_MAX_1;
    for (size_t i = 0; i < 1900; i++) {
        const lc_mind_map_resource *other = &sorted[LC_MIND_MAP_NAMED_MAX_1 + i];

        groups[i] = (lc_mind_map_group){lc_resource_region_of(other->state), other->kind, 1,
                                        other->size_tokens};
    }
    part.groups = groups;
    part.group_count = 1900;
    for (int level = 1; level <= 3; level++)
        CHECK_STR_EQ(write_map(&f, &part, level), write_map(&f, &map, level));
    close_fixture(&f);
}

/* One more resource than a level names: one is counted. */
TEST(mind_map, names_as_many_resources_as_its_maximum)
{
    fixture f;
    loci_error err;

    open_fixture(&f);
    for (size_t count = LC_MIND_MAP_NAMED_MAX_1 - 1; count <= LC_MIND_MAP_NAMED_MAX_1 + 1;
         count++) {
        lc_mind_map map = large_window(count), parsed;
        const char *text = write_map(&f, &map, 1);
        size_t named = count < LC_MIND_MAP_NAMED_MAX_1 ? count : LC_MIND_MAP_NAMED_MAX_1;

        CHECK_OK(lc_mind_map_parse(loci_str_of(text), &f.arena, &parsed, &err), err);
        CHECK_LE(parsed.resource_count, named);
        CHECK_EQ(parsed.group_count == 0, parsed.resource_count == count);
    }
    close_fixture(&f);
}

/* ---- Order and differences ------------------------------------------------------------------- */

static size_t count_changed_lines(const char *before, const char *after)
{
    size_t changed = 0;

    for (const char *line = after; *line != 0; line = strchr(line, '\n') + 1) {
        char *text = test_format("\n%.*s", (int)(strchr(line, '\n') + 1 - line), line);

        changed += strstr(test_format("\n%s", before), text) == NULL;
    }
    return changed;
}

TEST(mind_map, a_change_of_one_resource_changes_few_lines)
{
    static const size_t lines_max[] = {7, 3, 3};
    lc_mind_map map = window_fixture_reference();
    lc_mind_map_resource *resources = (void *)test_bytes(map.resource_count * sizeof *resources);
    loci_str note = LC_STR("New.");
    fixture f;

    open_fixture(&f);
    for (size_t i = 0; i < map.resource_count * 4; i++)
        for (int level = 1; level <= 3; level++) {
            lc_mind_map changed = map;
            lc_mind_map_resource *one = &resources[i / 4];

            memcpy(resources, map.resources, map.resource_count * sizeof *resources);
            changed.resources = resources;
            if (i % 4 == 0)
                one->size_tokens += 5000;
            else if (i % 4 == 1)
                one->attention += 1.5, one->last_accessed_us = map.time_us;
            else if (i % 4 == 2)
                one->annotations = (lc_str_list){&note, 1};
            else
                one->state = LC_RESOURCE_COLD;
            CHECK_LE(
                count_changed_lines(write_map(&f, &map, level), write_map(&f, &changed, level)),
                lines_max[level - 1]);
        }
    close_fixture(&f);
}

TEST(mind_map, order_of_the_input_does_not_matter)
{
    lc_mind_map map = window_fixture_reference(), turned = map;
    lc_mind_map_resource *resources = (void *)test_bytes(map.resource_count * sizeof *resources);
    fixture f;

    open_fixture(&f);
    for (size_t i = 0; i < map.resource_count; i++)
        resources[i] = map.resources[map.resource_count - 1 - i];
    turned.resources = resources;
    for (int level = 1; level <= 3; level++)
        CHECK_STR_EQ(write_map(&f, &turned, level), write_map(&f, &map, level));
    close_fixture(&f);
}

/* ---- Names and texts ------------------------------------------------------------------------- */

static const char *write_uris(fixture *f, int level, const char *const *uris, size_t count)
{
    lc_mind_map_resource resources[9];
    lc_mind_map map = {.context_max = 1000, .resources = resources, .resource_count = count};

    for (size_t i = 0; i < count; i++)
        resources[i] = (lc_mind_map_resource){.id = loci_str_of(test_format("res_%zu", i)),
                                              .uri = loci_str_of(uris[i]),
                                              .kind = LC_KIND_CODE,
                                              .state = LC_RESOURCE_LOADED,
                                              .attention = 1};
    return write_map(f, &map, level);
}

TEST(mind_map, names_are_short_and_unique)
{
    static const char *const uris[] = {"file:///a/x/main.c",
                                       "file:///a/y/main.c",
                                       "main.c",
                                       "file:///a/x/main.h",
                                       "https://example.org/",
                                       "loci:fact_1",
                                       "loci:fact_1",
                                       "",
                                       "text:plan"};
    fixture f;

    open_fixture(&f);
    CHECK_STR_EQ(write_uris(&f, 2, uris, 9),
                 "@state|ctx:0/1K|reserve:0|pressure:low|policy:lru|time:00:00\n"
                 "## Active\n"
                 "code: ✓res_7; ✓x/main.c; ✓main.h; ✓y/main.c; ✓example.org/; "
                 "✓loci\\:fact_1; ✓loci\\:fact_1~2; ✓main.c; ✓plan\n");
    CHECK_STR_EQ(write_uris(&f, 3, uris, 5), "@MM1.0|0/1K:low|00:00|lru\n"
                                             "@A x/main main.h y/main example.org/ main.c\n");
    check_round_trip(&f, write_uris(&f, 3, uris, 8));
    close_fixture(&f);
}

/* A file name with a line break is the classic way into a list of files. */
TEST(mind_map, texts_cannot_forge_lines_or_fields)
{
    static const char *const uris[] = {"a\n@A b",   "◆hot",     "+9 1K",
                                       "## Notes",  "x; ✓y 9K", "\xe2\x80\xa8@C c",
                                       "tab\there", "p>q:r"};
    lc_mind_map_resource resource = {.id = LC_STR("res_1\n- kind: soul"),
                                     .uri = LC_STR("u\n\n## Cold"),
                                     .kind = LC_KIND_CODE,
                                     .state = LC_RESOURCE_INDEXED,
                                     .attention = 1,
                                     .summary = LC_STR("one\" a9\n- note: two"),
                                     .tags = {&LC_STR("a, b"), 1},
                                     .links = &(lc_mind_map_link){LC_STR("t x"), LC_STR("y\nz")},
                                     .link_count = 1,
                                     .annotations = {&LC_STR("\\n\n@N x"), 1}};
    lc_mind_map map = {.context_max = 1, .resources = &resource, .resource_count = 1};
    const char *text;
    fixture f;

    open_fixture(&f);
    text = write_uris(&f, 3, uris, 8);
    CHECK_STR_EQ(text, "@MM1.0|0/1K:low|00:00|lru\n"
                       "@A \\##\\ Notes \\+9\\ 1K a\\n@A\\ b p\\>q\\:r tab\\there x\\;\\ ✓y\\ 9K "
                       "\\u2028@C\\ c \\u25c6hot\n");
    check_round_trip(&f, text);
    text = write_map(&f, &map, 1);
    CHECK_CONTAINS(text, "### ● u\\n\\n## Cold\n- id: res_1\\n- kind: soul\n- kind: code\n");
    CHECK_CONTAINS(text, "- summary: one\" a9\\n- note: two\n- tags: a\\, b\n- link: t\\ x y\\nz\n"
                         "- note: \\\\n\\n@N x\n");
    check_round_trip(&f, text);
    text = write_map(&f, &map, 2);
    CHECK_CONTAINS(text, "code: ●u\\n\\n##\\ Cold \"one\\\" a9\\n- note: two\"\n");
    CHECK_CONTAINS(text,
                   "u\\n\\n##\\ Cold>t\\ x:y\\nz\n## Notes\nu\\n\\n##\\ Cold: \\\\n\\n@N x\n");
    check_round_trip(&f, text);
    close_fixture(&f);
}

TEST(mind_map, long_texts_are_cut_at_a_character)
{
    char *summary = test_bytes(2000);
    lc_mind_map_resource resource = {
        .uri = LC_STR("u"), .kind = LC_KIND_CODE, .state = LC_RESOURCE_INDEXED, .attention = 1};
    lc_mind_map map = {.context_max = 1, .resources = &resource, .resource_count = 1}, parsed;
    fixture f;
    loci_error err;

    open_fixture(&f);
    for (size_t bytes = 599; bytes <= 601; bytes++) {
        for (size_t i = 0; i + 1 < bytes; i += 2)
            memcpy(summary + i, "é", 2);
        summary[bytes - 1] = bytes % 2 == 0 ? summary[bytes - 1] : 'x';
        resource.summary = (loci_str){summary, bytes};
        CHECK_OK(lc_mind_map_parse(loci_str_of(write_map(&f, &map, 1)), &f.arena, &parsed, &err),
                 err);
        CHECK_EQ(parsed.resources[0].summary.len, bytes <= 600 ? bytes : 596 + 3);
    }
    close_fixture(&f);
}

/* ---- Parsing --------------------------------------------------------------------------------- */

TEST(mind_map, level_1_holds_everything)
{
    lc_mind_map map = window_fixture_reference(), parsed;
    fixture f;
    loci_error err;

    open_fixture(&f);
    CHECK_OK(lc_mind_map_parse(loci_str_of(write_map(&f, &map, 1)), &f.arena, &parsed, &err), err);
    CHECK_EQ(parsed.context_max, map.context_max);
    CHECK_EQ(parsed.reserve_output, map.reserve_output);
    CHECK_EQ(parsed.used_tokens, map.used_tokens);
    CHECK_EQ(parsed.time_us, map.time_us);
    CHECK_EQ(parsed.resource_count, map.resource_count);
    for (size_t i = 0; i < map.resource_count; i++) {
        const lc_mind_map_resource *a = &map.resources[i], *b = parsed.resources;

        while (!lc_str_eq(a->id, b->id))
            b++;
        CHECK_STR_EQ(a->uri, b->uri);
        CHECK(a->kind == b->kind && a->state == b->state && a->is_stale == b->is_stale);
        CHECK(a->is_summary == b->is_summary && a->attention == b->attention);
        CHECK_EQ(a->size_tokens, b->size_tokens);
        CHECK_EQ(a->last_accessed_us, b->last_accessed_us);
        CHECK_STR_EQ(a->summary, b->summary);
        CHECK_EQ(a->annotations.count, b->annotations.count);
        CHECK_EQ(a->tags.count, b->tags.count);
        CHECK_EQ(a->link_count, b->link_count);
        for (size_t k = 0; k < a->link_count; k++) {
            CHECK_STR_EQ(a->links[k].target, b->links[k].target);
            CHECK_STR_EQ(a->links[k].label, b->links[k].label);
        }
    }
    close_fixture(&f);
}

#define DENSE "@state|ctx:1/2K|reserve:0|pressure:low|policy:lru|time:13:35\n"
#define SHORT "@MM1.0|42K/200K:low|13:35|lru\n"
#define LONG                                                                                       \
    "# Mind map\n\n- context: 1 of 2 tokens, 0 reserved for output\n- pressure: low\n"             \
    "- policy: lru\n- time: 2026-11-18T13:35:00Z\n"
#define ONE "\n## Active\n\n### ✓ u\n"

/* An error names the line and what was expected there. */
TEST(mind_map, texts_that_are_not_a_map_are_refused)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"", "line 0: expected a mind map; the text is empty"},
        {"\n", "line 1: expected \"# Mind map\", \"@state|ctx:\" or \"@MM1.0|\""},
        {"Hello\n", "line 1: expected \"# Mind map\""},
        {"# Mind map", "line 1: expected a line break at the end of the text"},
        {"# Mind map\n", "line 1: expected another line"},
        {"# Mind map!\n", "line 1: expected the end of the line"},
        {"# Mind map\n\n- context: many\n", "line 3: expected a number"},
        {LONG "hello\n", "line 7: expected a section such as \"## Active\""},
        {LONG "\n## Warm\n", "line 8: expected Active, Indexed, Cold or Offline"},
        {LONG "\n## Active\n\n### x u\n", "line 10: expected the symbol of a state"},
        {LONG ONE "- colour: red\n", "line 11: expected a field of a resource"},
        {LONG ONE "- kind: cat\n", "line 11: expected a kind: soul|user"},
        {LONG ONE "- state: warm\n", "line 11: expected a state: unknown|cold"},
        {LONG ONE "- last access: noon\n", "line 11: expected a time such as"},
        {LONG ONE "- id: \\q\n", "line 11: expected \\\\, \\n, \\r, \\t, \\uXXXX"},
        {LONG ONE "- id: \\ud800\n", "line 11: expected \\\\, \\n, \\r, \\t, \\uXXXX"},
        {LONG ONE "- id: \\\n", "line 11: expected \\\\, \\n, \\r, \\t, \\uXXXX"},
        {LONG ONE "- id: r\n", "line 8: expected the order, spelling and spacing of window.map"},
        {LONG "\n## Active\n", "line 7: expected the order, spelling and spacing"},
        {"@state|ctx:1/2X\n", "line 1: expected \"|reserve:\""},
        {"@state|ctx:1.55K/2K\n", "line 1: expected one digit after the point"},
        {"@state|ctx:99E/2K\n", "line 1: expected a number of at most 64 bits"},
        {DENSE "code: ✓a 1\n", "line 2: expected a section such as \"## Active\""},
        {DENSE "## Warm\n", "line 2: expected Active, Indexed, Cold, Links or Notes"},
        {DENSE "## Active\ncode: a 1\n", "line 3: expected the symbol of a state"},
        {DENSE "## Active\ncode: ✓a 0\n", "line 3: expected the order, spelling and spacing"},
        {DENSE "## Active\ncode: ✓a 1; ✓a 2\n", "line 3: expected a name that no other"},
        {DENSE "## Active\ncode: ✓a 1 \"x\n", "line 3: expected \"\"\""},
        {DENSE "## Active\ncode: ✓a 1 a1\n", "line 3: expected the order, spelling and spacing"},
        {DENSE "## Active\ncode: ●a 1\n", "line 2: expected the order, spelling and spacing"},
        {DENSE "## Links\nb>a\n", "line 3: expected the name of a resource that is listed above"},
        {DENSE "## Notes\na\n", "line 3: expected the name of a resource that is listed above"},
        {DENSE "## Active\ncode: ✓a 1 a-1\n", "line 3: expected the order"},
        {DENSE "## Active\ncode: ✓a 1 ax\n", "line 3: expected a number"},
        {DENSE "## Active\ncode: ✓\\u00zz 1\n", "line 3: expected \\\\, \\n, \\r, \\t, \\uXXXX"},
        {DENSE "## Active\ncode: ✓a 1\n## Links\na>\n", "line 5: expected a name"},
        {"@MM1.0|42K/200K:low|noon|lru\n", "line 1: expected a number"},
        {"@MM1.0|42K/200K:low|24:00|lru\n", "line 1: expected a time of day, 00:00 to 23:59"},
        {"@MM1.0|42K/200K:none|1:00|lru\n", "line 1: expected a pressure: low, medium, high"},
        {"@MM1.0|42K/200K:low|01:00|mru\n", "line 1: expected a policy: lru|size_first"},
        {"@MM1.0|1000/200K:low|01:00|lru\n", "line 1: expected the order, spelling and spacing"},
        {SHORT "@X a\n", "line 2: expected a line that begins with @A, @I, @C, @L or @N"},
        {SHORT "@A \n", "line 2: expected a name"},
        {SHORT "@A a a\n", "line 2: expected a name that no other resource has"},
        {SHORT "@A +cat:1/1\n", "line 2: expected a kind"},
        {SHORT "@A +1/1 +1/1\n", "line 2: expected a kind that this section has not counted"},
        {SHORT "@A +1\n", "line 2: expected \"/\""},
        {SHORT "@A a\n@N a:1\n", "line 3: expected the order, spelling and spacing"},
        {SHORT "@I a\n@A b\n", "line 2: expected the order, spelling and spacing"},
        {SHORT "@A a\r\n", "line 2: expected the order, spelling and spacing"},
        {SHORT "@A \xff\n", "the text is not valid UTF-8"},
    };
    fixture f;

    open_fixture(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lc_mind_map parsed;
        loci_error err = {0};
        loci_status status = lc_mind_map_parse(loci_str_of(rows[i].text), &f.arena, &parsed, &err);

        if (status != LOCI_EINVAL || strstr(err.message, rows[i].expected) == NULL)
            test_fail(__FILE__, __LINE__, "%s\n    status %s: %s\n    expected: %s", rows[i].text,
                      loci_status_name(status), status == LOCI_OK ? "" : err.message,
                      rows[i].expected);
    }
    close_fixture(&f);
}

/* The piece with its "%zu", if it has one, replaced by a number: names must differ. */
static const char *number_piece(const char *piece, size_t number)
{
    const char *at = strstr(piece, "%zu");

    return at == NULL ? piece : test_format("%.*s%zu%s", (int)(at - piece), piece, number, at + 3);
}

/* Everything that a parsed map can hold is bounded. */
TEST(mind_map, maxima_of_a_parsed_text)
{
    static const struct {
        const char *head, *piece, *end;
        size_t count_max;
        const char *expected;
    } rows[] = {
        {LONG ONE, "- note: x\n", "", 10, "no further note"},
        {LONG ONE, "- link: x\n", "", 10, "no further link"},
        {LONG ONE "- tags: x", ", x", "\n", 19, "no further tag"},
        {LONG "\n## Cold\n", "\n### ○ x\n", "", 100, "no further resource"},
        {DENSE "## Cold\ncode: ○x 1", "; ○%zu 1", " a1\n", 99, "no further resource"},
        {SHORT "@A x", " %zu", "\n@N x:1\n", 99, "no further resource"},
    };
    fixture f;

    open_fixture(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t count = rows[i].count_max; count <= rows[i].count_max + 1; count++) {
            char *text = test_format("%s", rows[i].head);
            lc_mind_map parsed;
            loci_error err;

            for (size_t k = 0; k < count; k++)
                text = test_format("%s%s", text, number_piece(rows[i].piece, k));
            text = test_format("%s%s", text, rows[i].end);
            /* The fields that are missing are found at the end, when all was read. */
            CHECK_STATUS(LOCI_EINVAL,
                         lc_mind_map_parse(loci_str_of(text), &f.arena, &parsed, &err));
            CHECK_CONTAINS(err.message,
                           count > rows[i].count_max ? rows[i].expected : "the order, spelling");
        }
    close_fixture(&f);
}

TEST(mind_map, a_text_of_more_than_the_maximum_is_refused)
{
    char *text = test_bytes(LC_MIND_MAP_BYTES_MAX + 1);
    lc_mind_map parsed;
    loci_error err;
    fixture f;

    open_fixture(&f);
    memset(text, 'x', LC_MIND_MAP_BYTES_MAX + 1);
    CHECK_STATUS(LOCI_EINVAL, lc_mind_map_parse((loci_str){text, LC_MIND_MAP_BYTES_MAX + 1},
                                                &f.arena, &parsed, &err));
    CHECK_CONTAINS(err.message, "the text has 1048577 bytes, the maximum is 1048576");
    CHECK_STATUS(LOCI_EINVAL, lc_mind_map_parse((loci_str){text, LC_MIND_MAP_BYTES_MAX}, &f.arena,
                                                &parsed, &err));
    CHECK_CONTAINS(err.message, "line 1: expected");
    close_fixture(&f);
}

/* ---- Numbers, levels, memory ----------------------------------------------------------------- */

TEST(mind_map, amounts_are_rounded_to_the_same_text_again)
{
    static const struct {
        int64_t amount;
        const char *text;
    } rows[] = {{-1, "0"},         {999, "999"},       {1000, "1K"},   {1049, "1K"},
                {1050, "1.1K"},    {9949, "9.9K"},     {9950, "10K"},  {10499, "10K"},
                {999499, "999K"},  {999500, "1M"},     {41925, "42K"}, {1250000, "1.3M"},
                {999999999, "1G"}, {INT64_MAX, "9.2E"}};
    fixture f;

    open_fixture(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lc_mind_map map = {.used_tokens = rows[i].amount, .context_max = rows[i].amount};
        const char *text = write_map(&f, &map, 3);

        CHECK_STR_EQ(text, test_format("@MM1.0|%s/%s:low|00:00|lru\n", rows[i].text, rows[i].text));
        check_round_trip(&f, text);
    }
    close_fixture(&f);
}

TEST(mind_map, pressure_chooses_the_level)
{
    CHECK_EQ(lc_mind_map_level(LC_PRESSURE_NONE), 1);
    CHECK_EQ(lc_mind_map_level(LC_PRESSURE_MEDIUM), 2);
    CHECK_EQ(lc_mind_map_level(LC_PRESSURE_HIGH), 3);
    CHECK_EQ(lc_mind_map_level(LC_PRESSURE_CRITICAL), 3);
}

typedef struct sweep {
    lc_heap heap;
    lc_mind_map map;
    int level;
} sweep;

static loci_status write_and_parse(void *ctx)
{
    sweep *s = ctx;
    lc_tokenizer tokenizer;
    lc_arena arena;
    lc_buf text;
    lc_mind_map parsed;
    loci_error err;
    loci_status status;

    lc_tokenizer_init(&tokenizer, &s->heap, LC_ENCODING_O200K_BASE);
    lc_arena_init(&arena, &s->heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&text, &s->heap, LOCI_MEM_REQUESTS, LC_MIND_MAP_BYTES_MAX);
    status = lc_mind_map_write(&(lc_mind_map_order){&s->map, s->level, &tokenizer, &arena}, &text,
                               &err);
    if (status == LOCI_OK)
        status = lc_mind_map_parse(lc_buf_str(&text), &arena, &parsed, &err);
    lc_buf_clear(&text);
    lc_arena_clear(&arena);
    return status;
}

TEST(mind_map, survives_every_failed_allocation)
{
    test_rng rng = test_random(3);
    sweep s = {.map = window_fixture_random(&rng, 60)};

    lc_heap_init(&s.heap, test_heap());
    for (s.level = 1; s.level <= 3; s.level++)
        test_oom_sweep(write_and_parse, &s);
}
