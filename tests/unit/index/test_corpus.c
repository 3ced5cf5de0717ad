#include "index/corpus.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "lib/random.h"
#include "lib/test.h"

#define DIMENSIONS 64
#define DOCUMENTS_MAX 2000

/* The data of a room: texts in the order of writing, and the vectors that a job has stored. */
typedef struct room {
    lc_heap heap;
    lc_corpus corpus;
    lc_arena arena;
    const char *texts[DOCUMENTS_MAX];
    int count;
    int stored; /* Number of texts, from the first, whose vectors are in the store. */
    int others; /* Number of stored vectors of other corpora. */
    int looked_up, scanned, embedded;
    bool fails;
} room;

/* A document's record is the index of its text. */
typedef struct record {
    int text;
} record;

static loci_str text_of(int text, const room *r)
{
    return loci_str_of(r->texts[text]);
}

/* Texts that begin with the same letter mean the same: near in meaning, whatever their words. */
static void vector_of(loci_str text, float *out)
{
    memset(out, 0, DIMENSIONS * sizeof *out);
    out[text.ptr[0] % DIMENSIONS] = 0.98F;
    out[lc_hash64(text) % DIMENSIONS] += 0.1F;
}

static loci_status find(void *ctx, lc_corpus_vector *vectors, size_t count, loci_error *err)
{
    room *r = ctx;
    float numbers[DIMENSIONS];

    if (r->fails)
        return lc_fail(err, LOCI_EUNAVAILABLE, "the store is away");
    for (size_t i = 0; i < count; i++) {
        r->looked_up++;
        for (int text = 0; text < r->stored && !vectors[i].found; text++) {
            vectors[i].found = lc_hash128_eq(lc_hash128_of(text_of(text, r)), vectors[i].content);
            if (!vectors[i].found)
                continue;
            vector_of(text_of(text, r), numbers);
            vectors[i].scale = lc_vector_quantise(numbers, DIMENSIONS, vectors[i].codes);
        }
    }
    return LOCI_OK;
}

static bool is_before(lc_hash128 a, lc_hash128 b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* The lowest content behind `after`, of any corpus, and the index of its text if it is one of ours;
 * false = there is none. */
static bool next_stored(const room *r, lc_hash128 after, lc_hash128 *out, int *out_text)
{
    bool found = false;

    for (int i = 0; i < r->stored + r->others; i++) {
        lc_hash128 content = i < r->stored ? lc_hash128_of(text_of(i, r))
                                           : (lc_hash128){(uint64_t)i << 53, 1};

        if (!is_before(after, content) || (found && !is_before(content, *out)))
            continue;
        found = true;
        *out = content;
        *out_text = i;
    }
    return found;
}

static loci_status scan(void *ctx, lc_hash128 after, size_t limit, lc_corpus_visit *visit,
                        void *visit_ctx, loci_error *err)
{
    room *r = ctx;
    float numbers[DIMENSIONS] = {0};
    int8_t codes[DIMENSIONS];
    int text = 0;

    if (r->fails)
        return lc_fail(err, LOCI_EUNAVAILABLE, "the store is away");
    for (; limit > 0 && next_stored(r, after, &after, &text); limit--) {
        lc_vector_code code = {.codes = codes};

        r->scanned++;
        if (text < r->stored)
            vector_of(text_of(text, r), numbers);
        code.scale = lc_vector_quantise(numbers, DIMENSIONS, codes);
        visit(visit_ctx, after, code);
    }
    return LOCI_OK;
}

static loci_status get_text(void *ctx, const void *of, lc_arena *arena, loci_str *out,
                            loci_error *err)
{
    *out = lc_arena_copy(arena, text_of(((const record *)of)->text, ctx));
    return out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status embed(void *ctx, const loci_str *texts, size_t count, float *out,
                         loci_error *err)
{
    (void)err;
    ((room *)ctx)->embedded += (int)count;
    for (size_t i = 0; i < count; i++)
        vector_of(texts[i], out + i * DIMENSIONS);
    return LOCI_OK;
}

static lc_corpus_vectors vectors_of(room *r)
{
    return (lc_corpus_vectors){.generation = LC_STR("test:1"),
                               .dimensions = DIMENSIONS,
                               .find = find,
                               .scan = scan,
                               .text = get_text,
                               .embed = embed,
                               .ctx = r,
                               .pause_us = INT64_MAX};
}

static void open_room(room *r)
{
    loci_error err;

    memset(r, 0, sizeof *r);
    lc_heap_init(&r->heap, test_heap());
    lc_arena_init(&r->arena, &r->heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_corpus_init(&r->corpus, &r->heap, sizeof(record), &err), err);
}

static void close_room(room *r)
{
    lc_corpus_clear(&r->corpus);
    lc_arena_clear(&r->arena);
}

static loci_status add_text(room *r, int text, uint32_t *out, loci_error *err)
{
    loci_str str = text_of(text, r);

    return lc_corpus_add(&r->corpus,
                         &(lc_corpus_document){.text = str,
                                               .content = str.ptr[0] == '-' ? LC_CORPUS_NO_VECTOR
                                                                            : lc_hash128_of(str),
                                               .record = &(record){text}},
                         &r->arena, out, err);
}

static uint32_t add(room *r, const char *text)
{
    uint32_t number = 0;
    loci_error err;

    r->texts[r->count] = text;
    CHECK_OK(add_text(r, r->count++, &number, &err), err);
    return number;
}

static void follow(room *r, lc_corpus_vectors *from)
{
    loci_error err;

    CHECK_OK(lc_corpus_follow_vectors(&r->corpus, from, &err), err);
}

/* The texts of the hits, best first, each in brackets; `meaning` NULL = by words alone. */
static const char *search(room *r, const char *words, const char *meaning, const lc_bitmap *filter)
{
    lc_corpus_vectors from = vectors_of(r);
    float vector[DIMENSIONS];
    lc_corpus_query query = {.filter = filter, .limit = 5};
    lc_corpus_hits hits;
    const char *out = "";
    loci_error err;

    CHECK_OK(lc_corpus_split(&r->arena, loci_str_of(words), &query.terms, &err), err);
    if (meaning != NULL) {
        vector_of(loci_str_of(meaning), vector);
        follow(r, &from);
        query.vector = vector;
    }
    CHECK_OK(lc_corpus_search(&r->corpus, &query, &r->arena, &hits, &err), err);
    for (size_t i = 0; i < hits.count; i++) {
        const record *of = lc_corpus_record(&r->corpus, hits.items[i].id);

        CHECK(i == 0 || hits.items[i - 1].score >= hits.items[i].score);
        if (hits.items[i].has_bm25 || hits.items[i].cosine > 0.5)
            out = test_format("%s[%s]", out, r->texts[of->text]);
    }
    return out;
}

TEST(corpus, empty_one_finds_nothing)
{
    room r;

    open_room(&r);
    CHECK_STR_EQ(search(&r, "anything", "anything", NULL), "");
    CHECK_STR_EQ(search(&r, "", NULL, NULL), "");
    CHECK(!lc_corpus_is_sparse(&r.corpus));
    lc_corpus_remove(&r.corpus, 0);
    close_room(&r);
    lc_corpus_clear(&r.corpus);
}

TEST(corpus, words_and_meaning_find_what_either_would)
{
    room r;

    open_room(&r);
    add(&r, "boats sail in the harbour");
    add(&r, "cats sleep all day");
    add(&r, "canals freeze in winter");
    CHECK_STR_EQ(search(&r, "boat", NULL, NULL), "[boats sail in the harbour]");
    CHECK_STR_EQ(search(&r, "winter", "cuddly", NULL),
                 "[canals freeze in winter][cats sleep all day]");
    CHECK_STR_EQ(search(&r, "nothing of this", NULL, NULL), "");
    close_room(&r);
}

/* A search that took its best first and filtered afterwards would come back with nothing. */
TEST(corpus, best_are_taken_inside_the_filter)
{
    room r;
    lc_bitmap filter;
    uint32_t wanted;
    loci_error err;

    open_room(&r);
    for (int i = 0; i < 50; i++)
        add(&r, "apple apple apple");
    wanted = add(&r, "an apple among other fruits of the season");
    lc_bitmap_init(&filter, &r.heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_bitmap_add(&filter, wanted, &err), err);
    CHECK_STR_EQ(search(&r, "apple", NULL, &filter), "[an apple among other fruits of the season]");
    CHECK_STR_EQ(search(&r, "apple", "a", &filter), "[an apple among other fruits of the season]");
    lc_bitmap_clear(&filter);
    close_room(&r);
}

/* Which documents a search may find by meaning: "0-9 36-99". */
static const char *usable(const room *r)
{
    const lc_corpus *c = &r->corpus;

    CHECK_EQ(c->vectors.live, c->stored);
    CHECK_EQ(c->newest.live, c->newest_end - c->newest_from);
    return test_format("%u then %u-%u", c->stored, c->newest_from, c->newest_end);
}

TEST(corpus, newest_are_embedded_once_and_the_rest_left_to_the_job)
{
    room r;
    lc_corpus_vectors from;

    open_room(&r);
    r.stored = 10;
    for (int i = 0; i < 20; i++)
        add(&r, test_format("t%d of ten stored and ten new", i));
    from = vectors_of(&r);
    follow(&r, &from);
    CHECK(from.is_complete);
    CHECK_STR_EQ(usable(&r), "10 then 10-20");
    CHECK_EQ(r.embedded, 10);
    CHECK(!from.wants_job);
    follow(&r, &from);
    CHECK_EQ(r.embedded, 10);

    for (int i = 20; i < 100; i++)
        add(&r, test_format("t%d comes later", i));
    follow(&r, &from);
    /* Not those made before: a fresh corpus would not have them. */
    CHECK_STR_EQ(usable(&r), "10 then 36-100");
    CHECK_EQ(r.embedded, 10 + LC_CORPUS_TAIL_MAX);
    CHECK(from.wants_job);
    add(&r, "u is written while the others wait");
    follow(&r, &from);
    CHECK(!from.wants_job); /* Asked for already. */
    CHECK_STR_EQ(usable(&r), "10 then 37-101");
    CHECK_EQ(r.embedded, 11 + LC_CORPUS_TAIL_MAX);

    r.stored = 50; /* The job is at work. */
    follow(&r, &from);
    CHECK_STR_EQ(usable(&r), "50 then 50-101");
    r.stored = 90;
    follow(&r, &from);
    CHECK_STR_EQ(usable(&r), "90 then 90-101");
    CHECK_EQ(r.embedded, 11 + LC_CORPUS_TAIL_MAX);
    r.looked_up = 0;
    follow(&r, &from);
    CHECK_EQ(r.looked_up, 1); /* When nothing changed it costs one look-up. */
    close_room(&r);
}

/* On a busy machine embedding would hold a snapshot for too long. */
TEST(corpus, embedding_pauses_and_goes_on)
{
    room r;
    lc_corpus_vectors from;
    int steps = 0, embedded = 0;

    open_room(&r);
    for (int i = 0; i < 40; i++)
        add(&r, test_format("text %d", i));
    from = vectors_of(&r);
    from.pause_us = lc_clock_monotonic_us();
    do {
        follow(&r, &from);
        CHECK(r.embedded > embedded);
        embedded = r.embedded;
        steps++;
    } while (!from.is_complete);
    CHECK_EQ(embedded, 40);
    CHECK(steps > 3);
    CHECK_STR_EQ(usable(&r), "0 then 0-40");
    close_room(&r);
}

TEST(corpus, document_without_a_vector_is_no_gap)
{
    room r;
    lc_corpus_vectors from;

    open_room(&r);
    r.stored = 3;
    add(&r, "one");
    add(&r, "- not to be embedded");
    add(&r, "three");
    from = vectors_of(&r);
    follow(&r, &from);
    CHECK_EQ(r.corpus.stored, 3);
    CHECK_EQ(r.embedded, 0);
    CHECK_STR_EQ(search(&r, "embedded", "one", NULL), "[one][- not to be embedded]");
    close_room(&r);
}

static void add_many(room *r, int count)
{
    for (int i = 0; i < count; i++)
        add(r, test_format("%c text %d", 'a' + i % 26, i));
}

/* Thousands of look-ups would take longer than a snapshot may be held. */
TEST(corpus, many_vectors_are_loaded_by_one_scan)
{
    room r;
    lc_corpus_vectors from;

    open_room(&r);
    add_many(&r, 1200);
    r.stored = 1200;
    from = vectors_of(&r);
    follow(&r, &from);
    CHECK(from.is_complete);
    CHECK_EQ(r.looked_up, 1);
    CHECK_EQ(r.scanned, 1200);
    CHECK_STR_EQ(usable(&r), "1200 then 1200-1200");
    CHECK_EQ(r.corpus.vectors.live, 1200);
    CHECK_EQ(r.corpus.vectors.dead, 0);
    CHECK_EQ(r.embedded, 0);
    follow(&r, &from); /* Nothing is left to do. */
    CHECK_EQ(r.looked_up + r.scanned, 1201);
    close_room(&r);
}

TEST(corpus, long_load_pauses_and_goes_on)
{
    room r;
    lc_corpus_vectors from;
    uint32_t before = 0;
    int steps = 0;

    open_room(&r);
    add_many(&r, 1800);
    r.stored = 1800;
    from = vectors_of(&r);
    from.pause_us = lc_clock_monotonic_us();
    for (follow(&r, &from); !from.is_complete; follow(&r, &from), steps++) {
        CHECK(r.corpus.vectors.live > before || r.corpus.stored == 1800);
        before = r.corpus.vectors.live;
        if (steps == 1) { /* Documents come and go meanwhile. */
            lc_corpus_remove(&r.corpus, 5);
            add(&r, "b newest");
            r.stored++;
        }
    }
    CHECK(steps > 3);
    CHECK_EQ(r.scanned, 1801);
    CHECK_EQ(r.corpus.stored, 1801);
    CHECK_EQ(r.corpus.vectors.live, 1800);
    CHECK_EQ(r.embedded, 0);
    close_room(&r);
}

/* The job has not come to the end, or a text was written between two others of its pages. */
TEST(corpus, a_scan_keeps_what_is_before_the_first_gap)
{
    room r;
    lc_corpus_vectors from;
    const char *missing;

    open_room(&r);
    add_many(&r, 600);
    missing = r.texts[400];
    r.stored = 600;
    r.texts[400] = "x of another text";
    from = vectors_of(&r);
    follow(&r, &from);
    CHECK(from.is_complete);
    CHECK_EQ(r.corpus.stored, 400);
    CHECK_EQ(r.corpus.vectors.live, 400);
    CHECK_EQ(r.corpus.newest.live, LC_CORPUS_TAIL_MAX);
    CHECK(from.wants_job);
    r.texts[400] = missing; /* The job has made it. */
    follow(&r, &from);
    CHECK_EQ(r.corpus.stored, 600);
    CHECK_EQ(r.corpus.vectors.live, 600);
    CHECK_EQ(r.corpus.newest.live, 0);
    close_room(&r);
}

/* A user with a few facts and a long conversation: the facts' index must not read all messages. */
TEST(corpus, a_scan_that_finds_vectors_of_others_is_given_up)
{
    room r;
    lc_corpus_vectors from;

    open_room(&r);
    add_many(&r, 100);
    r.stored = 100;
    r.others = 1900;
    from = vectors_of(&r);
    follow(&r, &from);
    CHECK(from.is_complete);
    CHECK_EQ(r.scanned, 512);
    CHECK_EQ(r.looked_up, 100);
    CHECK_EQ(r.corpus.vectors.live, 100);
    CHECK_EQ(r.corpus.vectors.dead, 0);
    close_room(&r);
}

/* A caller may give a vector with some texts and none with others; no job makes the latter. */
TEST(corpus, a_missing_given_vector_is_no_gap)
{
    room r;
    lc_corpus_vectors from;

    open_room(&r);
    add_many(&r, 200);
    r.stored = 200;
    r.texts[40] = r.texts[199] = "x of another text";
    from = vectors_of(&r);
    from.is_given = true;
    follow(&r, &from);
    CHECK_EQ(r.scanned, 199);
    CHECK_EQ(r.corpus.stored, 200);
    CHECK_EQ(r.corpus.vectors.live, 200);
    CHECK_EQ(r.embedded, 0);
    close_room(&r);
}

TEST(corpus, vectors_of_another_generation_are_dropped)
{
    room r;
    lc_corpus_vectors from;

    open_room(&r);
    add(&r, "one");
    from = vectors_of(&r);
    follow(&r, &from);
    from.generation = LC_STR("test:2");
    follow(&r, &from);
    CHECK_EQ(r.embedded, 2);
    CHECK_EQ(r.corpus.newest.live, 1);
    close_room(&r);
}

TEST(corpus, failing_store_leaves_it_usable)
{
    room r;
    lc_corpus_vectors from;
    loci_error err;

    open_room(&r);
    add(&r, "one");
    from = vectors_of(&r);
    r.fails = true;
    CHECK_EQ(lc_corpus_follow_vectors(&r.corpus, &from, &err), LOCI_EUNAVAILABLE);
    r.fails = false;
    CHECK_STR_EQ(search(&r, "one", "one", NULL), "[one]");
    close_room(&r);
}

/* Removing and adding must leave nothing behind that a search could see. */
TEST(corpus, one_with_a_history_equals_a_fresh_one)
{
    static const char *const words[] = {"harbour", "boat", "cat", "winter", "canal", "tower"};
    room r, fresh;
    test_rng rng = test_random(7);

    open_room(&r);
    for (int i = 0; i < 300; i++) {
        add(&r,
            test_format("%c %s %s %d", 'a' + (int)test_rng_below(&rng, 6),
                        words[test_rng_below(&rng, 6)], words[test_rng_below(&rng, 6)], i % 40));
        if (i % 7 == 0) {
            r.stored = i / 2;
            search(&r, "boat", "a", NULL);
        }
        if (i % 3 == 0)
            lc_corpus_remove(&r.corpus, (uint32_t)test_rng_below(&rng, (uint64_t)i + 1));
    }
    open_room(&fresh);
    memcpy(fresh.texts, r.texts, sizeof r.texts);
    for (uint32_t i = 0; lc_bitmap_next(&r.corpus.present, i, &i); i++) {
        const record *of = lc_corpus_record(&r.corpus, i);
        uint32_t number;
        loci_error err;

        CHECK_OK(add_text(&fresh, of->text, &number, &err), err);
    }
    CHECK_EQ(fresh.corpus.live, r.corpus.live);
    for (size_t i = 0; i < 12; i++) { /* With some of the vectors in the store, then with all. */
        const char *word = words[i % 6], *meaning = words[5 - i % 6];

        fresh.stored = r.stored = i < 6 ? 170 : 300;
        CHECK_STR_EQ(search(&r, word, NULL, NULL), search(&fresh, word, NULL, NULL));
        CHECK_STR_EQ(search(&r, word, meaning, NULL), search(&fresh, word, meaning, NULL));
    }
    close_room(&fresh);
    close_room(&r);
}

TEST(corpus, sparse_when_most_documents_are_gone)
{
    room r;

    open_room(&r);
    r.texts[0] = "same";
    for (int i = 0; i < 1101; i++) {
        uint32_t number;
        loci_error err;

        CHECK_OK(add_text(&r, 0, &number, &err), err);
        if (i >= 50)
            lc_corpus_remove(&r.corpus, number);
    }
    CHECK(lc_corpus_is_sparse(&r.corpus));
    CHECK_EQ(r.corpus.live, 50);
    close_room(&r);
}

static loci_status build_and_search(void *ctx)
{
    room r = {0};
    lc_corpus_vectors from;
    lc_corpus_query query = {.limit = 5};
    lc_corpus_hits hits;
    float vector[DIMENSIONS];
    loci_error err;
    loci_status status;

    (void)ctx;
    lc_heap_init(&r.heap, test_heap());
    lc_arena_init(&r.arena, &r.heap, LOCI_MEM_REQUESTS);
    status = lc_corpus_init(&r.corpus, &r.heap, sizeof(record), &err);
    for (int i = 0; i < 140 && status == LOCI_OK; i++) {
        uint32_t number;

        r.texts[i] = i % 2 == 0 ? "sailing boats" : "sleeping cats";
        status = add_text(&r, i, &number, &err);
    }
    from = vectors_of(&r);
    r.count = 140;
    r.stored = 10;
    if (status == LOCI_OK)
        status = lc_corpus_follow_vectors(&r.corpus, &from, &err);
    if (status == LOCI_OK)
        status = lc_corpus_split(&r.arena, LC_STR("sleeping boats"), &query.terms, &err);
    vector_of(LC_STR("s"), vector);
    query.vector = vector;
    if (status == LOCI_OK)
        status = lc_corpus_search(&r.corpus, &query, &r.arena, &hits, &err);
    close_room(&r);
    return status;
}

TEST(corpus, running_out_of_memory_is_an_error_like_any_other)
{
    test_oom_sweep(build_and_search, NULL);
}
