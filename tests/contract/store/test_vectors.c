/* The table of vectors, on every back end. */
#include "contract/job_fixture.h"
#include "lib/test.h"

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
    float numbers[DIMENSIONS] = {-1};
    lc_vector vector = {.content = lc_vector_content(loci_str_of(text)), .numbers = numbers};
    step s = {.set = set, .vectors = &vector, .count = 1};

    CHECK_OK(fixture_read(f, find, &s), f->err);
    CHECK_EQ(vector.found, numbers[0] >= 0);
    if (vector.found) {
        CHECK(numbers[1] == -0.25f);
        CHECK(numbers[2] == 1e-30f);
        CHECK(numbers[3] == 3);
    }
    return numbers[0];
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
