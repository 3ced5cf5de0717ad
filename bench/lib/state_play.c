/* state_play.c - what the file calls a fact and what loci calls it.
 *
 * Ids in the file repeat (many writes are "W-AUTO") and a pointer is a key or such an id. So every
 * answer is kept with the key and the id that the file gave: a pointer that is a known key is
 * handed on, one that is an id becomes the id that loci answered last for it, any other is left
 * out, and so is one at the own slot, which a write takes over anyway. Initial facts that are not
 * valid are not written: nothing in the file says when they ended.
 */
#include "lib/state_play.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/str.h"
#include "lib/state_input.h"

struct state_known {
    loci_str id;    /* Of loci. */
    loci_str given; /* The file's id, or none. */
    loci_str key;   /* Of a fact, or none. */
    loci_str label;
    state_known *next;
};

/* ---- What is known by which name -------------------------------------------------------------
 */

static void learn(state_player *player, state_known known)
{
    state_known *kept = state_alloc(player->client.arena, sizeof *kept);

    *kept = known;
    kept->next = player->known;
    player->known = kept;
}

loci_str state_label(const state_player *player, loci_str id)
{
    for (const state_known *known = player->known; known != NULL; known = known->next) {
        if (lc_str_eq(known->id, id))
            return known->label;
    }
    return LC_STR_NONE;
}

/* "key: value" for people. */
static loci_str label_of(state_player *player, loci_str key, const lc_json *value)
{
    lc_buf text;
    lc_json_writer w;
    loci_str label;

    lc_buf_init(&text, player->client.heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_buf_append(&text, key);
    lc_buf_append(&text, LC_STR(": "));
    lc_jw_init(&w, &text);
    lc_jw_value(&w, value);
    label = state_copy(player->client.arena, lc_buf_str(&text));
    lc_buf_clear(&text);
    return label;
}

/* What to call the fact that `pointer` means; none when it is unknown or the slot `key` itself. An
 * id of the data becomes the key of its slot: what was said since may have given that another
 * value. */
static loci_str resolve(const state_player *player, loci_str pointer, loci_str key)
{
    const state_known *known;

    if (lc_str_eq(pointer, key))
        return LC_STR_NONE;
    for (known = player->known; known != NULL; known = known->next) {
        if (known->key.len > 0 && lc_str_eq(known->key, pointer))
            return pointer;
    }
    for (known = player->known; known != NULL; known = known->next) {
        if (known->given.len > 0 && lc_str_eq(known->given, pointer))
            return lc_str_eq(known->key, key) ? LC_STR_NONE : known->key;
    }
    return LC_STR_NONE;
}

/* One pointer or a list of them. */
static void put_pointers(state_call *c, const state_player *player, const lc_json *fact,
                         const char *name)
{
    const lc_json *given = state_member(fact, name);
    bool is_list = given != NULL && lc_json_kind_of(given) == LC_JSON_ARRAY;
    bool is_open = false;

    for (const lc_json *each = is_list ? lc_json_first(given) : given; each != NULL;
         each = is_list ? lc_json_next(each) : NULL) {
        loci_str target = LC_STR_NONE;

        if (lc_json_kind_of(each) == LC_JSON_STRING)
            target = resolve(player, lc_json_str(each), state_text(fact, "key"));
        if (target.len == 0)
            continue;
        if (!is_open) {
            lc_jw_name(&c->args, name);
            lc_jw_array(&c->args);
            is_open = true;
        }
        lc_jw_str(&c->args, target);
    }
    if (is_open)
        lc_jw_end(&c->args);
}

/* ---- The layers ------------------------------------------------------------------------------
 */

static void write_fact(state_player *player, const lc_json *fact)
{
    const lc_json *source = state_member(fact, "source");
    const lc_json *value = state_need(fact, "value");
    const lc_json *is_constraint = state_member(fact, "is_constraint");
    loci_str key = state_text(fact, "key");
    loci_str scope = state_text(fact, "scope");
    const lc_json *answer;
    state_call c;

    state_call_begin(&c, &player->client);
    state_call_text(&c, "key", key);
    lc_jw_member_value(&c.args, "value", value);
    state_call_text(&c, "source", state_text(source, "type"));
    state_call_text(&c, "authority", state_text(source, "authority"));
    lc_jw_member_time(&c.args, "observed_at", player->client.now_us);
    if (!lc_str_is(scope, "global")) {
        state_call_text(&c, "scope", scope);
        state_call_text(&c, "scope_id", state_text(fact, "scope_id"));
    }
    if (is_constraint != NULL && lc_json_bool(is_constraint)) {
        lc_jw_member_bool(&c.args, "is_constraint", true);
        state_call_text(&c, "constraint_type", state_text(fact, "constraint_type"));
    }
    put_pointers(&c, player, fact, "supersedes");
    put_pointers(&c, player, fact, "depends_on");
    answer = state_call_end(&c, &player->client, "fact.write");
    if (answer != NULL)
        learn(player, (state_known){.id = state_text(answer, "id"),
                                    .given = state_text(fact, "id"),
                                    .key = key,
                                    .label = label_of(player, key, value)});
}

/* working.set or environment.set. */
static void set_item(state_player *player, const char *operation, loci_str key,
                     const lc_json *value)
{
    state_call c;

    if (value == NULL || lc_json_kind_of(value) == LC_JSON_NULL || lc_str_is(key, "now"))
        return;
    state_call_begin(&c, &player->client);
    state_call_text(&c, "key", key);
    lc_jw_member_value(&c.args, "value", value);
    (void)state_call_end(&c, &player->client, operation); /* Nothing points at it. */
}

static void set_identity(state_player *player, const lc_json *identity)
{
    static const char *const names[] = {"user_name", "authority", "department", "organization"};
    state_call c;

    if (identity == NULL)
        return;
    state_call_begin(&c, &player->client);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        state_call_text(&c, names[i], state_text(identity, names[i]));
    (void)state_call_end(&c, &player->client, "identity.set"); /* Nothing points at it. */
}

/* ---- In time ---------------------------------------------------------------------------------
 */

/* Something that happens at a time. */
typedef struct moment {
    int64_t at_us;
    int number; /* In the file, for equal times; of a query: among the queries. */
    int query;
    const lc_json *what;
} moment;

static int compare_moments(const void *a, const void *b)
{
    const moment *left = a, *right = b;

    if (left->at_us != right->at_us)
        return left->at_us < right->at_us ? -1 : 1;
    return left->number - right->number;
}

/* The elements of an array by their `ts`. */
static moment *in_time(lc_arena *arena, const lc_json *first, int *out_count)
{
    moment *moments;
    int count = 0, queries = 0;

    for (const lc_json *each = first; each != NULL; each = lc_json_next(each))
        count++;
    moments = state_alloc(arena, ((size_t)count + 1) * sizeof *moments);
    count = 0;
    for (const lc_json *each = first; each != NULL; each = lc_json_next(each)) {
        moments[count] = (moment){.at_us = state_time(state_text(each, "ts")),
                                  .number = count,
                                  .query = queries,
                                  .what = each};
        queries += lc_str_is(state_text(each, "type"), "query");
        count++;
    }
    qsort(moments, (size_t)count, sizeof *moments, compare_moments);
    *out_count = count;
    return moments;
}

static void set_up(state_player *player, const lc_json *initial)
{
    const lc_json *environment = state_member(initial, "environment");
    const lc_json *each;
    int count, item = 0;
    moment *facts = in_time(player->client.arena, state_first(initial, "persistent_facts"), &count);

    for (int i = 0; i < count; i++) {
        const lc_json *is_valid = state_member(facts[i].what, "is_valid");

        player->client.now_us = facts[i].at_us;
        if (is_valid == NULL || lc_json_bool(is_valid))
            write_fact(player, facts[i].what);
    }
    player->client.now_us = state_time(state_text(environment, "now"));
    set_identity(player, state_member(initial, "identity_role"));
    for (each = state_first(initial, "working_set"); each != NULL; each = lc_json_next(each)) {
        char key[128];
        int bytes = snprintf(key, sizeof key, "%.*s_%d", LC_STR_ARG(state_text(each, "item_type")),
                             ++item);

        if (bytes >= (int)sizeof key)
            state_die("a working set has too long an item_type");
        set_item(player, "working.set", loci_str_of(key), state_member(each, "content"));
    }
    for (each = environment != NULL ? lc_json_first(environment) : NULL; each != NULL;
         each = lc_json_next(each))
        set_item(player, "environment.set", lc_json_name(each), each);
}

static void play_writes(state_player *player, const lc_json *event)
{
    for (const lc_json *write = state_first(event, "writes"); write != NULL;
         write = lc_json_next(write)) {
        loci_str layer = state_text(write, "layer");
        const lc_json *value = state_need(write, "value");

        if (lc_str_is(layer, "working_set"))
            set_item(player, "working.set", state_text(write, "key"), value);
        else if (lc_str_is(layer, "environment"))
            set_item(player, "environment.set", state_text(write, "key"), value);
        else if (lc_str_is(layer, "persistent_facts"))
            write_fact(player, write);
        else
            state_die("no layer is called \"%.*s\"", LC_STR_ARG(layer));
    }
}

static void play_turn(state_player *player, const lc_json *event)
{
    loci_str text = state_text(event, "text");
    const lc_json *answer;
    state_call c;

    state_call_begin(&c, &player->client);
    state_call_text(&c, "text", text);
    state_call_text(&c, "speaker", state_text(event, "speaker"));
    lc_jw_member_time(&c.args, "observed_at", player->client.now_us);
    answer = state_call_end(&c, &player->client, "fact.observe");
    if (answer == NULL)
        return;
    learn(player, (state_known){.id = state_text(answer, "message_id"), .label = text});
    for (const lc_json *outcome = state_first(answer, "outcomes"); outcome != NULL;
         outcome = lc_json_next(outcome))
        learn(player, (state_known){.id = state_text(outcome, "id"),
                                    .key = state_text(outcome, "key"),
                                    .label = text});
}

static state_query ask(state_player *player, const moment *when)
{
    state_query query = {.event = when->what, .number = when->query};
    state_call c;

    state_call_begin(&c, &player->client);
    lc_jw_member_str(&c.args, "query", state_text(when->what, "prompt"));
    lc_jw_member_int(&c.args, "budget", STATE_BUDGET_TOKENS);
    query.answer = state_call_end(&c, &player->client, "context.build");
    if (query.answer != NULL)
        query.context = state_text(query.answer, "text");
    return query;
}

void state_play(state_player *player, lc_arena *arena, int number, const lc_json *timeline,
                state_query_fn *on_query, void *ctx)
{
    int count;
    moment *events;

    state_client_turn_to(&player->client, arena, number);
    player->known = NULL;
    events = in_time(arena, state_first(timeline, "events"), &count);
    set_up(player, state_member(timeline, "initial_state"));
    for (int i = 0; i < count; i++) {
        loci_str type = state_text(events[i].what, "type");

        player->client.now_us = events[i].at_us;
        if (lc_str_is(type, "conversation_turn")) {
            play_turn(player, events[i].what);
        } else if (lc_str_is(type, "query")) {
            state_query query = ask(player, &events[i]);

            on_query(ctx, &query);
        } else {
            play_writes(player, events[i].what);
        }
    }
}
