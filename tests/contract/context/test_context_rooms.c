/* Contexts of random histories of all rooms: the budget is kept, ended and foreign things are left
 * out, the manifest is complete, and the same call gives the same bytes.
 *
 * A word in a context is a leak if no thing with this word may be shown to the reader. The opposite
 * is checked for rules only, because all other things may lose their place. LOCI_TEST_SEED=n runs
 * one history alone. */
#include "contract/history_fixture.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"

#define STEPS 170
#define CHECK_EVERY 3
#define TRIES_MAX 1000
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const sections[] = {
    "identity",  "constraints",  "foundation", "facts", "cards",   "memories",   "todos",
    "summaries", "conversation", "frame",      "map",   "working", "environment"};

/* Cases of all histories together, so that no check can be empty. */
typedef struct coverage {
    int builds, too_small, prefixes;
    int dead[THING_KINDS], shown[THING_KINDS];
    int sections[COUNT(sections)]; /* Things included. */
} coverage;

/* ---- Readers --------------------------------------------------------------------------------- */

/* The caller of context.build. */
typedef struct reader {
    caller who;
    const char *session; /* Name or id; NULL = the last one. */
    bool is_employee;    /* By the token, or by the identity of the session. */
    int frame;
    loci_str notes, identity; /* Of the session. */
} reader;

static const char *named(const char *session)
{
    return session != NULL ? test_format("'session_id':'%s'", session) : "";
}

static reader any_reader(history *h)
{
    static const thing_kind placed[] = {THING_MESSAGE, THING_NOTE, THING_NAME};
    reader r = {.who = {history_chance(h, 75) ? 0 : 1, (int)history_below(h, 3)},
                .frame = THING_NONE};
    thing *there = history_any_for(h, placed[history_below(h, COUNT(placed))], r.who);
    thing *handle = history_chance(h, 60) ? history_any_for(h, THING_HANDLE, r.who) : NULL;

    if (history_chance(h, 50))
        r.session = there != NULL && history_chance(h, 70) ? there->session : history_session(h);
    if (handle != NULL)
        r.frame = handle->source;
    h->f.ceiling = history_chance(h, 30) ? "employee" : NULL;
    if (!history_attempt(h, r.who, "working.list", "%s", named(r.session))) {
        r.session = NULL; /* It is another persona's. */
        (void)history_attempt(h, r.who, "working.list", "%s", "");
    }
    r.notes = h->answer;
    if (history_attempt(h, r.who, "identity.get", "%s", named(r.session)))
        r.identity = h->answer;
    r.is_employee = h->f.ceiling != NULL;
    if (r.identity.len > 0)
        r.is_employee |= lc_str_is(test_member_text(r.identity, "identity.authority"), "employee");
    return r;
}

static bool has_word(loci_str text, int word)
{
    return text.len > 0 &&
           memmem(text.ptr, text.len, history_word(word), HISTORY_WORD_BYTES) != NULL;
}

static bool is_above(const history *h, int frame, int of)
{
    for (; of != THING_NONE; of = h->things[of].source)
        if (of == frame)
            return true;
    return false;
}

static bool is_expired(const history *h, const thing *of)
{
    return of->until_us > 0 && of->until_us <= h->f.now_us;
}

/* A fact or signal of this persona's own hides the one of the same key that is for all. */
static bool is_overridden(const history *h, const reader *r, const thing *of)
{
    for (int i = 0; i < h->count; i++) {
        const thing *own = &h->things[i];

        if (own->kind == of->kind && own->who.user == r->who.user &&
            own->who.persona == r->who.persona && own->who.persona != of->who.persona &&
            own->dead == NULL && !own->is_hidden && !is_expired(h, own) &&
            strcmp(own->key, of->key) == 0)
            return true;
    }
    return false;
}

/* Did the fact lose this value, as far as the reader may know? */
static bool is_lost(const history *h, const reader *r, int fact)
{
    const thing *of = &h->things[fact];

    return of->dead != NULL && thing_is_for(of, r->who) && !(of->is_restricted && r->is_employee) &&
           (strcmp(of->dead, "superseded") == 0 || strcmp(of->dead, "retracted") == 0);
}

/* Whether a handle shows this thing. The agent chose it, so that it may be an old message or a
 * supposition, but nothing that ended in its room, or that is not for every reader. */
static bool may_refer(const history *h, const thing *of)
{
    bool is_done = of->kind == THING_TODO && of->dead != NULL && strcmp(of->dead, "done") == 0;

    return (of->dead == NULL || is_done) && !of->is_restricted && !is_expired(h, of) &&
           !(of->kind == THING_MESSAGE && of->is_hidden);
}

/* Whether the thing may be in a context of this reader. */
static bool may_show(const history *h, const reader *r, const thing *of)
{
    /* Beside a fact that an employee may not read, the statement of an employee is a claim for
     * managers and a fact for employees. */
    bool is_claim = of->kind == THING_FACT && of->dead != NULL && strcmp(of->dead, "claim") == 0;

    if ((of->dead != NULL && !(is_claim && r->is_employee)) || of->is_hidden ||
        !thing_is_for(of, r->who) || is_expired(h, of) || (of->is_restricted && r->is_employee))
        return false;
    switch (of->kind) {
    case THING_MESSAGE:
        return of->quotes == THING_NONE || !is_lost(h, r, of->quotes);
    case THING_NOTE:
        return has_word(r->notes, of->word);
    case THING_NAME:
        return has_word(r->identity, of->word);
    case THING_FACT:
    case THING_SIGNAL:
        return !is_overridden(h, r, of);
    case THING_FRAME:
        return r->frame != THING_NONE && is_above(h, history_index(h, of), r->frame);
    case THING_HANDLE:
        return of->source == r->frame &&
               (of->quotes == THING_NONE || may_refer(h, &h->things[of->quotes]));
    default:
        return true;
    }
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* One call of context.build. */
typedef struct question {
    const char *query;
    int64_t budget;
    const char *options;
    bool is_estimate, has_rules; /* It asks for estimates; the rules must be in. */
    const char *without;         /* Session, or NULL. */
} question;

/* Builds a context; false if the budget is too small. On a busy machine a call may end before all
 * vectors are loaded, and says so; the next one goes on from there. */
static bool build(history *h, const reader *r, const question *q, int64_t budget)
{
    const char *args = test_format(
        "{%s,'query':'%s','budget':%lld%s%s%s}", history_who(r->who), q->query, (long long)budget,
        history_in_session(r->session),
        r->frame != THING_NONE ? test_format(",'frame_id':'%s'", h->things[r->frame].id) : "",
        q->options);
    loci_status status;
    int tries = 0;

    do {
        status = history_try(h, "context.build", args);
        REQUIRE(h, status == LOCI_OK || status == LOCI_EBUDGET, "%s", h->f.err.message);
        REQUIRE(h, tries++ < TRIES_MAX, "the index is never complete");
    } while (status == LOCI_OK && strstr(h->answer.ptr, "index is still being built") != NULL);
    return status == LOCI_OK;
}

/* Every word of the text is that of a thing that this reader may see. */
static void check_words(history *h, const reader *r, loci_str text, coverage *met)
{
    for (size_t at = 0; at + HISTORY_WORD_BYTES <= text.len; at++) {
        const char *c = text.ptr + at;
        bool is_shown = false;
        const thing *last = NULL;
        int word = 0;

        if ((c[0] != 'Q' && c[0] != 'q') || c[1] != 'z')
            continue;
        for (int i = 2; i < HISTORY_WORD_BYTES; i++)
            word = word * 26 + (tolower((unsigned char)c[i]) - 'a');
        for (int i = 0; i < h->count; i++) {
            const thing *of = &h->things[i];

            if (of->word != word)
                continue;
            last = of;
            if (!may_show(h, r, of))
                continue;
            is_shown = true;
            met->shown[of->kind]++;
        }
        REQUIRE(h, is_shown, "%s of thing %d (%s, kind %d, %s) is in the text", history_word(word),
                last != NULL ? history_index(h, last) : THING_NONE,
                last != NULL ? last->id : "none", last != NULL ? (int)last->kind : THING_NONE,
                last == NULL         ? "its text was replaced"
                : last->dead != NULL ? last->dead
                                     : "not for this reader");
    }
}

static loci_str member(const lc_json *object, const char *name)
{
    return lc_json_str(lc_json_member(object, loci_str_of(name)));
}

static const lc_json *list_of(const lc_json *answer, const char *name)
{
    return lc_json_first(lc_json_member(answer, loci_str_of(name)));
}

static int64_t number_of(const lc_json *object, loci_str name)
{
    const lc_json *value = lc_json_member(object, name);

    return value != NULL ? lc_json_int(value) : 0;
}

static const thing *find_thing(const history *h, loci_str id)
{
    for (int i = 0; i < h->count; i++)
        if (lc_str_is(id, h->things[i].id))
            return &h->things[i];
    return NULL;
}

/* Notes and signals are named by their keys, and one of each may have the same. */
static bool is_object(loci_str id)
{
    return id.len > 26 && memchr(id.ptr, '_', id.len) != NULL;
}

static void check_tokens(history *h, const question *q, int64_t budget, const lc_json *answer)
{
    const lc_json *tokens = lc_json_member(answer, LC_STR("tokens"));
    int64_t total = number_of(tokens, LC_STR("total")), sum = 0;

    for (const lc_json *part = lc_json_first(tokens); part != NULL; part = lc_json_next(part))
        sum += lc_str_is(lc_json_name(part), "total") ? 0 : lc_json_int(part);
    REQUIRE(h, sum == total, "the sections have %lld tokens", (long long)sum);
    REQUIRE(h, total <= budget, "more than the budget");
    if (!q->is_estimate) {
        const char *call = h->call;
        loci_str build_answer = h->answer;
        loci_status status = history_try(
            h, "text.count", test_format("{\"text\":%s}", test_member(build_answer, "text").ptr));
        int64_t counted = status == LOCI_OK ? test_member_int(h->answer, "tokens") : -1;

        h->call = call;
        h->answer = build_answer;
        REQUIRE(h, counted == total, "text.count counts %lld: %s", (long long)counted,
                status == LOCI_OK ? "" : h->f.err.message);
    }
}

/* Whether a message is in the session that the reader means. A write without a session goes to the
 * last one, so that the name of a session may be known from another write. */
static bool is_in(const history *h, const thing *of, const char *session)
{
    if (strcmp(of->session, session) == 0)
        return true;
    for (int i = 0; i < h->count; i++)
        if (h->things[i].name != NULL && strcmp(h->things[i].name, session) == 0 &&
            strcmp(h->things[i].session, of->session) == 0)
            return true;
    return false;
}

static void check_included(history *h, const reader *r, const question *q, const lc_json *answer,
                           coverage *met)
{
    for (const lc_json *item = list_of(answer, "included"); item != NULL;
         item = lc_json_next(item)) {
        loci_str id = member(item, "id"), section = member(item, "section");
        const thing *of = find_thing(h, id);

        for (size_t i = 0; i < COUNT(sections); i++)
            met->sections[i] += lc_str_is(section, sections[i]);
        for (const lc_json *other = lc_json_next(item); other != NULL; other = lc_json_next(other))
            REQUIRE(h,
                    !lc_str_eq(member(other, "id"), id) ||
                        (!is_object(id) && !lc_str_eq(member(other, "section"), section)),
                    "%.*s is included twice", LC_STR_ARG(id));
        if (of == NULL)
            continue;
        REQUIRE(h, may_show(h, r, of), "%.*s must not be included: %s", LC_STR_ARG(id),
                of->dead != NULL ? of->dead : "not for this reader");
        if (of->kind != THING_MESSAGE)
            continue;
        REQUIRE(h, r->session == NULL || is_in(h, of, r->session), "%s is of another session",
                of->id);
        REQUIRE(h, q->without == NULL || !is_in(h, of, q->without),
                "%s is of the session that was left out", of->id);
    }
}

static void check_excluded(history *h, const lc_json *answer)
{
    static const char *const reasons = " superseded retracted restricted scope expired"
                                       " needs_review claim duplicate irrelevant budget ";
    const lc_json *counts = lc_json_member(answer, LC_STR("excluded_counts"));

    for (const lc_json *item = list_of(answer, "excluded"); item != NULL;
         item = lc_json_next(item)) {
        loci_str id = member(item, "id"), reason = member(item, "reason");
        int64_t count = 0;

        REQUIRE(h, strstr(reasons, test_format(" %.*s ", LC_STR_ARG(reason))) != NULL,
                "the reason %.*s is unknown", LC_STR_ARG(reason));
        for (const lc_json *other = list_of(answer, "excluded"); other != NULL;
             other = lc_json_next(other)) {
            REQUIRE(h, other == item || !lc_str_eq(member(other, "id"), id) || !is_object(id),
                    "%.*s is excluded twice", LC_STR_ARG(id));
            count += lc_str_eq(member(other, "reason"), reason);
        }
        REQUIRE(h, number_of(counts, reason) >= count, "%lld are %.*s", (long long)count,
                LC_STR_ARG(reason));
        for (const lc_json *other = list_of(answer, "included"); other != NULL;
             other = lc_json_next(other))
            REQUIRE(h, !is_object(id) || !lc_str_eq(member(other, "id"), id),
                    "%.*s is included and excluded", LC_STR_ARG(id));
    }
}

/* Rules are mandatory. */
static void check_rules(history *h, const reader *r, const lc_json *answer)
{
    for (int i = 0; i < h->count; i++) {
        const thing *of = &h->things[i];
        bool is_there = false;

        if (of->kind != THING_FACT || !of->is_rule || of->dead != NULL || !may_show(h, r, of))
            continue;
        for (const lc_json *item = list_of(answer, "included"); item != NULL && !is_there;
             item = lc_json_next(item))
            is_there = lc_str_is(member(item, "id"), of->id) &&
                       lc_str_is(member(item, "section"), "constraints");
        REQUIRE(h, is_there, "the rule %s is missing", of->id);
    }
}

/* The answer of the last build. */
static void check_answer(history *h, const reader *r, const question *q, int64_t budget,
                         coverage *met)
{
    loci_error err;
    lc_heap heap;
    lc_arena arena;
    const lc_json *answer;

    met->builds++;
    lc_heap_init(&heap, (loci_allocator){0});
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_json_parse(&arena, h->answer, 0, &answer, &err), err);
    check_words(h, r, member(answer, "text"), met);
    check_included(h, r, q, answer, met);
    check_excluded(h, answer);
    if (q->has_rules)
        check_rules(h, r, answer);
    check_tokens(h, q, budget, answer);
    lc_arena_clear(&arena);
}

static const char *any_query(history *h)
{
    switch (history_below(h, 5)) {
    case 0:
        return "";
    case 1: /* Of a thing that may have ended, or belong to others. */
        return test_format("What about %s?",
                           history_word((int)history_below(h, (size_t)h->words + 1)));
    case 2:
        return "What did we decide about the party, and who paints the boat?";
    case 3:
        return "What do you know about Mia and the boat?";
    default:
        return test_format("Where is the %s and the %s?", history_key(h), history_key(h));
    }
}

static question any_question(history *h)
{
    static const char *const formats[] = {"text", "markdown", "json", "messages"};
    static const char *const parts[] = {"'memories'",
                                        "'conversation','summaries'",
                                        "'facts','environment'",
                                        "'frame','map','todos'",
                                        "'summaries'",
                                        "'conversation'",
                                        "'identity','constraints','foundation','working'"};
    question q = {.query = any_query(h), .has_rules = true};
    bool is_plain = history_chance(h, 50);

    q.budget = history_chance(h, 25)
                   ? test_rng_between(&h->rng, 1, 80)
                   : test_rng_between(&h->rng, 80, history_chance(h, 50) ? 400 : 3000);
    q.is_estimate = history_chance(h, 10);
    q.options = test_format(",'format':'%s'%s", formats[history_below(h, COUNT(formats))],
                            q.is_estimate ? ",'estimate':true" : "");
    if (is_plain)
        return q;
    if (q.query[0] == '\0' && history_chance(h, 60)) {
        q.options = test_format("%s,'brief':true", q.options);
    } else if (history_chance(h, 40)) {
        q.options = test_format("%s,'relevant_only':true", q.options);
        q.has_rules = false;
    }
    if (history_chance(h, 40)) {
        q.options = test_format("%s,'sections':[%s]", q.options,
                                parts[history_below(h, COUNT(parts))]);
        q.has_rules = false;
    }
    q.without = history_chance(h, 30) ? history_session(h) : NULL;
    if (q.without != NULL) {
        q.options = test_format("%s,'without_session':'%s'", q.options, q.without);
    }
    return q;
}

/* The prefix that a provider caches (identity, rules, foundation) does not depend on the query. */
static void check_prefix(history *h, const reader *r, coverage *met)
{
    const char *path = history_chance(h, 50) ? "request.system" : "request.messages.0";
    const question q = {.query = any_query(h),
                        .options = strcmp(path, "request.system") == 0
                                       ? ",'format':'messages'"
                                       : ",'format':'messages','api':'openai'"};
    question other = q;
    int64_t budget = test_rng_between(&h->rng, 200, 4000);
    loci_str prefix;

    if (!build(h, r, &q, budget))
        return;
    prefix = test_member(h->answer, path);
    other.query = any_query(h);
    REQUIRE(h, build(h, r, &other, budget), "another query needs more");
    if (prefix.len == 0 || (strcmp(path, "request.system") != 0 &&
                            !lc_str_is(test_member_text(prefix, "role"), "system")))
        return; /* There is none. */
    met->prefixes += prefix.len > 0;
    REQUIRE(h, lc_str_eq(test_member(h->answer, path), prefix), "the prefix was %s", prefix.ptr);
}

static void check_context(history *h, coverage *met)
{
    reader r = any_reader(h);
    question q = any_question(h);
    int64_t budget = q.budget;
    loci_str first;

    if (!build(h, &r, &q, budget)) {
        int64_t needed = test_member_int(loci_str_of(h->f.err.data), "needed");

        met->too_small++;
        REQUIRE(h, needed > budget, "%s", h->f.err.message);
        budget = needed;
        REQUIRE(h, build(h, &r, &q, budget), "%lld tokens were needed: %s", (long long)needed,
                h->f.err.message);
    }
    check_answer(h, &r, &q, budget, met);
    first = h->answer;
    (void)build(h, &r, &q, budget);
    REQUIRE(h, lc_str_eq(h->answer, first), "the same call was answered with %s", first.ptr);
    if (history_chance(h, 40))
        check_prefix(h, &r, met);
    h->f.ceiling = NULL;
}

/* An engine that has read nothing yet gives the same bytes as the one that wrote the history. */
static void check_cold(history *h)
{
    facts warm = h->f, cold;
    reader r;
    question q;
    loci_str answer;

    facts_open_store(&cold, warm.store);
    cold.now_us = warm.now_us;
    for (int i = 0; i < 12; i++) {
        r = any_reader(h);
        q = any_question(h);
        q.budget = 1000;
        if (!build(h, &r, &q, q.budget))
            continue;
        answer = h->answer;
        cold.ceiling = h->f.ceiling;
        warm = h->f;
        h->f = cold;
        (void)build(h, &r, &q, q.budget);
        h->f = warm;
        REQUIRE(h, lc_str_eq(h->answer, answer), "the engine with the history answered %s",
                answer.ptr);
    }
    h->f.ceiling = NULL;
    facts_close(&cold);
}

/* A change of the product or of the steps must not leave the checks without cases. */
static void check_coverage(const coverage *met)
{
    int dead = 0, shown = 0, used = 0;

    for (int i = 0; i < THING_KINDS; i++) {
        dead += met->dead[i] > 0;
        shown += met->shown[i] > 0;
    }
    for (size_t i = 0; i < COUNT(sections); i++)
        used += met->sections[i] > 0;
    CHECK_LT(100, met->builds);
    CHECK_LT(5, met->too_small);
    CHECK_LT(10, met->prefixes);
    CHECK_LT(0, met->dead[THING_FACT]);
    CHECK_LT(0, met->dead[THING_MEMORY]);
    CHECK_LT(0, met->dead[THING_MESSAGE]);
    /* Chance may leave out two of them. The section identity has no ids. */
    CHECK_LE(THING_KINDS - 2, dead);
    CHECK_LE(THING_KINDS - 2, shown);
    CHECK_LE((int)COUNT(sections) - 3, used);
}

TEST(context_rooms, contexts_of_random_histories_keep_their_promises)
{
    coverage met = {0};
    bool is_one = getenv("LOCI_TEST_SEED") != NULL;
    uint64_t seeds = is_one ? 1 : test_count(3, 60);

    test_timeout(seeds > 3 ? 1200 : 120);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        history *h = history_open(seed);

        for (h->step = 0; h->step < STEPS; h->step++) {
            history_step(h);
            if (h->step % CHECK_EVERY == CHECK_EVERY - 1)
                check_context(h, &met);
        }
        check_cold(h);
        for (int i = 0; i < h->count; i++)
            met.dead[h->things[i].kind] += h->things[i].dead != NULL;
        facts_close(&h->f);
    }
    if (!is_one) /* One history need not have everything. */
        check_coverage(&met);
}
