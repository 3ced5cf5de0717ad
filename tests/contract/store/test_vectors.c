/* The table of vectors, on every back end. */
#include "contract/job_fixture.h"
#include "lib/test.h"

#include <math.h>

#include "base/str.h"
#include "store/vector.h"

#define DIMENSIONS 4

typedef struct step {
    lc_vector_set set;
    lc_vector *vectors;
    size_t count;
    int64_t limit, deleted;
    lc_vector_counts counts;
    loci_str stale;
} step;

static loci_status put(lc_tx *tx, void *ctx, loci_error *err)
{
    step *s = ctx;

    return lc_vector_put(tx, &s->set, s->vectors, s->count, err);
}

static loci_status find(lc_tx *tx, void *ctx, loci_error *err)
{
    step *s = ctx;

    return lc_vector_find(tx, &s->set, s->vectors, s->count, err);
}

static loci_status count(lc_tx *tx, void *ctx, loci_error *err)
{
    step *s = ctx;

    return lc_vector_count(tx, &s->set, &s->counts, err);
}

static loci_status delete (lc_tx *tx, void *ctx, loci_error *err)
{
    step *s = ctx;

    return lc_vector_delete(tx, &s->set, s->limit, &s->deleted, err);
}

static lc_vector_set set_of(const char *user, const char *generation)
{
    return (lc_vector_set){.tenant_id = LC_STR("t"),
                           .user_id = loci_str_of(user),
                           .generation = loci_str_of(generation),
                           .dimensions = DIMENSIONS};
}

typedef struct scanned {
    const lc_vector_set *set;
    lc_vector_page page;
    lc_hash128 contents[16];
    float first[16];
    size_t count, visited;
} scanned;

static void visit(void *ctx, const lc_vector *vector)
{
    scanned *s = ctx;

    CHECK_LT(s->visited, 16);
    s->first[s->visited] = vector->scale * (float)vector->codes[0];
    s->contents[s->visited++] = vector->content;
}

static loci_status scan(lc_tx *tx, void *ctx, loci_error *err)
{
    scanned *s = ctx;

    s->page.visit = visit;
    s->page.ctx = s;
    s->visited = 0;
    return lc_vector_scan(tx, s->set, &s->page, &s->count, err);
}

/* Puts one vector whose first number is `first`. */
static void put_one(fixture *f, lc_vector_set set, const char *text, float first)
{
    float numbers[DIMENSIONS] = {first, -0.25f, 1e-30f, 3};
    lc_vector vector = {.content = lc_vector_content(loci_str_of(text)), .numbers = numbers};
    step s = {.set = set, .vectors = &vector, .count = 1};

    CHECK_OK(fixture_write(f, "u", put, &s), f->err);
}

/* The first number, or -1. */
static float find_one(fixture *f, lc_vector_set set, const char *text)
{
    int8_t codes[DIMENSIONS];
    lc_vector vector = {.content = lc_vector_content(loci_str_of(text)), .codes = codes};
    step s = {.set = set, .vectors = &vector, .count = 1};

    CHECK_OK(fixture_read(f, find, &s), f->err);
    if (!vector.found)
        return -1;
    CHECK(fabsf(vector.scale * (float)codes[1] + 0.25F) <= vector.scale / 2);
    CHECK_EQ(codes[2], 0);
    return roundf(vector.scale * (float)codes[0] * 10) / 10;
}

TEST(vectors, are_found_by_user_text_and_generation)
{
    lc_vector_set other_tenant = set_of("u", "g1");
    fixture f;

    other_tenant.tenant_id = LC_STR("t2");
    fixture_open(&f, NULL);
    put_one(&f, set_of("u", "g1"), "a", 1);
    put_one(&f, set_of("u", "g1"), "b", 2);
    put_one(&f, set_of("u", "g2"), "a", 3);
    put_one(&f, set_of("v", "g1"), "a", 4);
    put_one(&f, other_tenant, "a", 5);
    CHECK(find_one(&f, set_of("u", "g1"), "a") == 1);
    CHECK(find_one(&f, set_of("u", "g1"), "b") == 2);
    CHECK(find_one(&f, set_of("u", "g2"), "a") == 3);
    CHECK(find_one(&f, set_of("v", "g1"), "a") == 4);
    CHECK(find_one(&f, other_tenant, "a") == 5);
    CHECK(find_one(&f, set_of("u", "g2"), "b") == -1);
    CHECK(find_one(&f, set_of("u", "g3"), "a") == -1);
    CHECK(find_one(&f, set_of("w", "g1"), "a") == -1);
    put_one(&f, set_of("u", "g1"), "a", 6); /* Once more is in its place. */
    CHECK(find_one(&f, set_of("u", "g1"), "a") == 6);
    fixture_close(&f);
}

TEST(vectors, one_of_another_length_is_damage)
{
    lc_vector_set set = set_of("u", "g1");
    lc_vector vector = {.content = lc_vector_content(LC_STR("a"))};
    step s = {.set = set, .vectors = &vector, .count = 1};
    fixture f;

    fixture_open(&f, NULL);
    put_one(&f, set, "a", 1);
    s.set.dimensions = DIMENSIONS + 1;
    CHECK_STATUS(LOCI_ECORRUPT, fixture_read(&f, find, &s));
    CHECK_CONTAINS(f.err.message, "g1");
    fixture_close(&f);
}

TEST(vectors, are_counted_and_deleted_by_generation)
{
    step s = {.set = set_of("u", "g1"), .limit = 2};
    fixture f;

    fixture_open(&f, NULL);
    for (int i = 0; i < 5; i++) {
        put_one(&f, set_of("u", "g1"), test_format("%d", i), 1);
        put_one(&f, set_of("u", "g2"), test_format("%d", i), 2);
    }
    put_one(&f, set_of("v", "g2"), "0", 3);
    CHECK_OK(fixture_read(&f, count, &s), f.err);
    CHECK_EQ(s.counts.current, 5);
    CHECK_EQ(s.counts.all, 10);
    for (int64_t left = 5; left > 0; left -= 2) {
        CHECK_OK(fixture_write(&f, "u", delete, &s), f.err);
        CHECK_EQ(s.deleted, left < 2 ? left : 2);
    }
    CHECK_OK(fixture_read(&f, count, &s), f.err);
    CHECK_EQ(s.counts.current, 5);
    CHECK_EQ(s.counts.all, 5);
    s.set.generation = LC_STR_NONE; /* All that are left. */
    s.limit = 100;
    CHECK_OK(fixture_write(&f, "u", delete, &s), f.err);
    CHECK_EQ(s.deleted, 5);
    CHECK(find_one(&f, set_of("v", "g2"), "0") == 3);
    fixture_close(&f);
}

/* An index loads the vectors of one user and generation, and no others, page by page. */
TEST(vectors, are_scanned_in_the_order_of_their_contents)
{
    lc_vector_set set = set_of("u", "g1");
    scanned s = {.set = &set, .page = {.limit = 4}};
    lc_hash128 last = {0};
    size_t total = 0;
    fixture f;

    fixture_open(&f, NULL);
    for (int i = 0; i < 10; i++) {
        put_one(&f, set, test_format("%d", i), (float)(i + 4));
        put_one(&f, set_of("u", "g2"), test_format("%d", i), 50);
        put_one(&f, set_of("v", "g1"), test_format("%d", i), 60);
    }
    do {
        CHECK_OK(fixture_read(&f, scan, &s), f.err);
        CHECK_EQ(s.count, s.visited);
        for (size_t i = 0; i < s.count; i++, total++) {
            CHECK(last.high < s.contents[i].high ||
                  (last.high == s.contents[i].high && last.low < s.contents[i].low));
            last = s.contents[i];
            CHECK(s.first[i] > 3.9F && s.first[i] < 13.1F);
        }
        s.page.after = last;
    } while (s.count == s.page.limit);
    CHECK_EQ(total, 10);
    s.set = &(lc_vector_set){.tenant_id = LC_STR("t"),
                             .user_id = LC_STR("u"),
                             .generation = LC_STR("g1"),
                             .dimensions = DIMENSIONS + 1};
    s.page.after = (lc_hash128){0};
    CHECK_STATUS(LOCI_ECORRUPT, fixture_read(&f, scan, &s));
    fixture_close(&f);
}

static loci_status find_stale(lc_tx *tx, void *ctx, loci_error *err)
{
    step *s = ctx;

    return lc_vector_find_stale(tx, &s->set, &tx->db->scratch, &s->stale, err);
}

static void check_stale(fixture *f, const char *current, bool is_stale)
{
    step s = {.set = set_of("u", current)};

    CHECK_OK(fixture_read(f, find_stale, &s), f->err);
    CHECK_EQ(s.stale.ptr != NULL, is_stale);
}

/* Given vectors have a model of their own: no embedder makes them stale. */
TEST(vectors, of_any_other_embedder_are_stale)
{
    static const char *const names[] = {"a", "given:m", "m", "z"};
    fixture f;

    fixture_open(&f, NULL);
    put_one(&f, set_of("u", "given:m"), "a", 1);
    for (size_t i = 0; i < 4; i++)
        check_stale(&f, names[i], false);
    put_one(&f, set_of("u", "b"), "a", 1);
    check_stale(&f, "a", true);
    check_stale(&f, "b", false);
    check_stale(&f, "", true);
    put_one(&f, set_of("u", "y"), "a", 1);
    check_stale(&f, "b", true);
    check_stale(&f, "y", true);
    check_stale(&f, "z", true);
    fixture_close(&f);
}

static loci_status forget(lc_tx *tx, void *ctx, loci_error *err)
{
    step *s = ctx;

    return lc_vector_forget(tx, s->vectors->content, &s->deleted, err);
}

TEST(vectors, of_a_forgotten_text_are_deleted_in_all_generations)
{
    static const char *const names[] = {"a", "given:m", "z"};
    lc_vector gone = {.content = lc_vector_content(LC_STR("gone"))};
    step s = {.vectors = &gone};
    fixture f;

    fixture_open(&f, NULL);
    for (size_t i = 0; i < 3; i++) {
        put_one(&f, set_of("u", names[i]), "gone", 1);
        put_one(&f, set_of("u", names[i]), "kept", 2);
    }
    CHECK_OK(fixture_write(&f, "u", forget, &s), f.err);
    CHECK_EQ(s.deleted, 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK(find_one(&f, set_of("u", names[i]), "gone") == -1);
        CHECK(find_one(&f, set_of("u", names[i]), "kept") == 2);
    }
    fixture_close(&f);
}
