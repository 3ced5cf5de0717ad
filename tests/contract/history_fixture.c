/* history_fixture.c - see history_fixture.h. */
#include "contract/history_fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/time.h"

#define SECOND_US INT64_C(1000000)
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const users[] = {"ann", "bob"};
static const char *const personas[] = {"", "coach", "critic"};
static const char *const sessions[] = {"s1", "s2", "s3"};
static const char *const keys[] = {"harbor",      "garden", "launch_date",
                                   "engine_room", "mirror", "meeting_room"};
static const char *const signals[] = {"location", "weather", "door"};

history *history_open(uint64_t seed)
{
    history *h = (history *)(void *)test_bytes(sizeof *h);

    h->rng = test_random(seed);
    h->seed = h->rng.state;
    facts_open(&h->f);
    return h;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

void history_fail(const history *h, const char *file, int line, const char *format, ...)
{
    char what[16384];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    test_fail(file, line, "seed %llu, step %d: %s\n    call: %s\n    answer: %s",
              (unsigned long long)h->seed, h->step, what, h->call,
              h->answer.ptr != NULL ? h->answer.ptr : "none");
}

size_t history_below(history *h, size_t bound)
{
    return (size_t)test_rng_below(&h->rng, bound);
}

bool history_chance(history *h, unsigned percent)
{
    return test_rng_chance(&h->rng, percent);
}

/* A part of the arguments, `percent` times in a hundred. */
static const char *maybe(history *h, unsigned percent, const char *part)
{
    return history_chance(h, percent) ? part : "";
}

loci_status history_try(history *h, const char *operation, const char *args)
{
    h->call = test_format("%s %s", operation, args);
    h->answer = LC_STR_NONE;
    return facts_try(&h->f, operation, &h->answer, args);
}

const char *history_who(caller who)
{
    return test_format("'user_id':'%s'%s", users[who.user],
                       who.persona > 0 ? test_format(",'persona_id':'%s'", personas[who.persona])
                                       : "");
}

bool history_attempt(history *h, caller who, const char *operation, const char *format, ...)
{
    char more[2048];
    va_list args;
    loci_status status;

    va_start(args, format);
    (void)vsnprintf(more, sizeof more, format, args);
    va_end(args);
    status = history_try(
        h, operation, test_format("{%s%s%s}", history_who(who), more[0] != '\0' ? "," : "", more));
    REQUIRE(h,
            status == LOCI_OK || status == LOCI_ECONFLICT || status == LOCI_ENOTFOUND ||
                status == LOCI_EFORBIDDEN || status == LOCI_ELIMIT,
            "%s", h->f.err.message);
    return status == LOCI_OK;
}

static const char *text_at(history *h, const char *path)
{
    return test_format("%.*s", LC_STR_ARG(test_member_text(h->answer, path)));
}

static const char *time_after(history *h, int64_t minutes)
{
    char *text = test_bytes(LC_TIME_BYTES_MAX);

    lc_time_format(h->f.now_us + minutes * MINUTE_US, text);
    return text;
}

/* ---- Things ---------------------------------------------------------------------------------- */

const char *history_word(int word)
{
    char *text = test_format("Qz....");

    for (int i = HISTORY_WORD_BYTES - 1; i >= 2; i--, word /= 26)
        text[i] = (char)('a' + word % 26);
    return text;
}

static thing *add(history *h, thing_kind what, int word, caller of, const char *id)
{
    thing *to = &h->things[h->count];

    REQUIRE(h, h->count < HISTORY_THINGS_MAX, "too many things");
    *to = (thing){.kind = what,
                  .id = test_format("%s", id),
                  .word = word,
                  .who = of,
                  .source = THING_NONE,
                  .quotes = THING_NONE};
    h->count++;
    return to;
}

bool thing_is_for(const thing *of, caller who)
{
    return of->who.user == who.user && (of->who.persona == 0 || of->who.persona == who.persona);
}

/* Any thing of the kind that still counts, or NULL. */
static thing *any_of(history *h, thing_kind what)
{
    size_t first = history_below(h, (size_t)h->count + 1);

    for (size_t i = 0; i < (size_t)h->count; i++) {
        thing *of = &h->things[(first + i) % (size_t)h->count];

        if (of->kind == what && of->dead == NULL)
            return of;
    }
    return NULL;
}

thing *history_any_for(history *h, thing_kind what, caller who)
{
    size_t first = history_below(h, (size_t)h->count + 1);

    for (size_t i = 0; i < (size_t)h->count; i++) {
        thing *of = &h->things[(first + i) % (size_t)h->count];

        if (of->kind == what && of->dead == NULL && thing_is_for(of, who))
            return of;
    }
    return NULL;
}

int history_index(const history *h, const thing *of)
{
    return (int)(of - h->things);
}

/* Reads from the room whether a fact or memory counts. Forgotten things never come back. */
static void refresh(history *h, thing *of)
{
    const char *status;

    if (of->dead != NULL && strcmp(of->dead, "forgotten") == 0)
        return;
    /* Not in the open session, whose identity may hide it. */
    if (!history_attempt(h, of->who, of->kind == THING_FACT ? "fact.get" : "memory.get",
                         "'id':'%s'%s", of->id,
                         of->kind == THING_FACT ? ",'session_id':'none'" : "")) {
        of->dead = "withdrawn";
        return;
    }
    status = text_at(h, "status");
    of->dead = strcmp(status, "valid") == 0 || strcmp(status, "active") == 0 ? NULL : status;
    if (of->kind == THING_MEMORY)
        return;
    of->is_restricted = test_member(h->answer, "min_read_authority").len > 0;
    of->is_hidden = !lc_str_is(test_member_text(h->answer, "scope"), "global");
    of->is_rule = lc_str_is(test_member(h->answer, "is_constraint"), "true");
}

static void refresh_all(history *h, thing_kind what, int user)
{
    for (int i = 0; i < h->count; i++)
        if (h->things[i].kind == what && h->things[i].who.user == user)
            refresh(h, &h->things[i]);
}

static void refresh_user(history *h, int user)
{
    refresh_all(h, THING_FACT, user);
    refresh_all(h, THING_MEMORY, user);
}

/* After a message: what was learned from it may take the place of other things. */
static void refresh_learned(history *h, int user)
{
    if (test_member(h->answer, "learned.0").len > 0)
        refresh_user(h, user);
}

/* ---- Steps: facts, memories, todos ----------------------------------------------------------- */

/* The caller of a step, and a new word for it to say. */
typedef struct writer {
    caller who;
    int word;
    const char *said; /* The word. */
} writer;

static writer any_writer(history *h)
{
    writer w = {.who = {history_chance(h, 80) ? 0 : 1,
                        history_chance(h, 65) ? 0 : (int)history_below(h, 2) + 1},
                .word = h->words++};

    w.said = history_word(w.word);
    return w;
}

/* ,"message_id":… of a message that the writer sees. */
static const char *derive(history *h, const writer *w, int *source)
{
    thing *message = history_chance(h, 30) ? history_any_for(h, THING_MESSAGE, w->who) : NULL;

    *source = message != NULL ? history_index(h, message) : THING_NONE;
    return message != NULL ? test_format(",'message_id':'%s'", message->id) : "";
}

static void step_fact(history *h)
{
    static const char *const ranks[] = {"policy", "manager", "manager", "employee"};
    writer w = any_writer(h);
    const char *key = keys[history_below(h, COUNT(keys))];
    int64_t minutes = test_rng_between(&h->rng, 2, 40);
    bool expires = history_chance(h, 15);
    int source;
    thing *to;

    if (!history_attempt(
            h, w.who, "fact.write", "'key':'%s','value':'%s','authority':'%s'%s%s%s%s%s%s", key,
            w.said, ranks[history_below(h, COUNT(ranks))], maybe(h, 10, ",'trust':'web'"),
            maybe(h, 12, ",'scope':'hypothetical'"), maybe(h, 12, ",'is_constraint':true"),
            maybe(h, 12, ",'min_read_authority':'manager'"),
            expires ? test_format(",'valid_until':'%s'", time_after(h, minutes)) : "",
            derive(h, &w, &source)))
        return;
    to = add(h, THING_FACT, w.word, w.who, text_at(h, "id"));
    to->key = key;
    to->source = source;
    to->until_us = expires ? h->f.now_us + minutes * MINUTE_US : 0;
    refresh_all(h, THING_FACT, w.who.user);
}

static void step_end_fact(history *h)
{
    thing *of = any_of(h, THING_FACT);

    if (of == NULL)
        return;
    if (history_chance(h, 60))
        (void)history_attempt(h, of->who, "fact.retract", "'id':'%s','authority':'policy'", of->id);
    else if (history_attempt(h, of->who, "fact.forget", "'id':'%s','authority':'policy'", of->id))
        of->dead = "forgotten";
    refresh_all(h, THING_FACT, of->who.user);
}

static void step_memory(history *h)
{
    static const char *const texts[] = {"Likes %s in the morning", "Mia works with %s",
                                        "The project %s needs a new roof", "Prefers %s to coffee",
                                        "Lives in %s"};
    static const char *const attributes[] = {"", ",'entity_refs':['person:mia','project:boat']",
                                             ",'entity_refs':['person:mia']",
                                             ",'entity_refs':['person:mia'],'attribute':'city'",
                                             ",'type':'profile','attribute':'drink'"};
    writer w = any_writer(h);
    const char *text = texts[history_below(h, COUNT(texts))];
    int source;
    thing *to;

    if (!history_attempt(h, w.who, "memory.store", "'text':'%.*s%s%s'%s%s%s%s",
                         (int)(strchr(text, '%') - text), text, w.said, strchr(text, '%') + 2,
                         attributes[history_below(h, COUNT(attributes))],
                         maybe(h, 22, ",'pinned':true"), maybe(h, 30, ",'importance':2"),
                         derive(h, &w, &source)))
        return;
    to = add(h, THING_MEMORY, w.word, w.who, text_at(h, "id"));
    to->source = source;
    refresh_all(h, THING_MEMORY, w.who.user);
}

static void step_change_memory(history *h)
{
    static const char *const changes[] = {"memory.archive", "memory.pin", "memory.unpin",
                                          "memory.update", "memory.forget"};
    const char *change = changes[history_below(h, COUNT(changes))];
    thing *of = any_of(h, THING_MEMORY);
    int word = h->words++;

    if (of == NULL)
        return;
    if (strcmp(change, "memory.update") == 0) {
        if (history_attempt(h, of->who, change, "'id':'%s','text':'Plays with %s now'", of->id,
                            history_word(word)))
            add(h, THING_MEMORY, word, of->who, text_at(h, "id"));
    } else if (history_attempt(h, of->who, change, "'id':'%s'", of->id) &&
               strcmp(change, "memory.forget") == 0) {
        of->dead = "forgotten";
    }
    refresh_all(h, THING_MEMORY, of->who.user);
}

static void step_todo(history *h)
{
    writer w = any_writer(h);
    int source;

    if (history_attempt(h, w.who, "todo.add", "'text':'Send the letter to %s'%s%s", w.said,
                        maybe(h, 20, test_format(",'due_at':'%s'", time_after(h, 600))),
                        derive(h, &w, &source)))
        add(h, THING_TODO, w.word, w.who, text_at(h, "id"))->source = source;
}

static void step_change_todo(history *h)
{
    thing *of = any_of(h, THING_TODO);
    int word = h->words++;

    if (of == NULL)
        return;
    switch (history_below(h, 3)) {
    case 0:
        if (history_attempt(h, of->who, "todo.done", "'id':'%s'", of->id))
            of->dead = "done";
        break;
    case 1:
        if (history_attempt(h, of->who, "todo.update", "'id':'%s','text':'Call %s back'", of->id,
                            history_word(word)))
            of->word = word;
        break;
    default:
        if (history_attempt(h, of->who, "todo.forget", "'id':'%s'", of->id))
            of->dead = "forgotten";
    }
}

/* ---- Steps: conversations -------------------------------------------------------------------- */

/* Names a session of the writer, or none. */
const char *history_session(history *h)
{
    return history_chance(h, 70) ? sessions[history_below(h, COUNT(sessions))] : NULL;
}

const char *history_in_session(const char *name)
{
    return name != NULL ? test_format(",'session_id':'%s'", name) : "";
}

static thing *add_message(history *h, const writer *w, const char *name)
{
    thing *to = add(h, THING_MESSAGE, w->word, w->who, text_at(h, "message_id"));

    to->session = text_at(h, "session_id");
    to->name = name;
    return to;
}

static void step_message(history *h)
{
    static const char *const texts[] = {"We decided to hire %s for the summer party.",
                                        "I will call %s on Friday.",
                                        "My colleague %s books the band.",
                                        "Is %s open on Sundays?",
                                        "I like the way %s paints the boat.",
                                        "Remember that the password hint is %s.",
                                        "I need to find %s before May.",
                                        "My favourite painter is %s.",
                                        "Yesterday we walked to %s and back."};
    static const char *const roles[] = {"user", "user", "user", "assistant", "tool"};
    writer w = any_writer(h);
    const char *name = history_session(h), *text = texts[history_below(h, COUNT(texts))];
    bool is_marked = history_chance(h, 12);

    if (!history_attempt(h, w.who, "session.append", "'role':'%s','text':'%s%.*s%s%s'%s",
                         roles[history_below(h, COUNT(roles))],
                         is_marked ? "[RESTRICTED to VP+] " : "", (int)(strchr(text, '%') - text),
                         text, w.said, strchr(text, '%') + 2, history_in_session(name)))
        return;
    add_message(h, &w, name)->is_hidden = is_marked;
    refresh_learned(h, w.who.user);
}

static const char *words_of(const char *key)
{
    char *text = test_format("%s", key);

    for (char *at = text; *at != '\0'; at++)
        *at = *at == '_' ? ' ' : *at;
    return text;
}

const char *history_key(history *h)
{
    return words_of(keys[history_below(h, COUNT(keys))]);
}

/* A message that states a fact, and may change it. */
static void step_observe(history *h)
{
    writer w = any_writer(h);
    const char *key = keys[history_below(h, COUNT(keys))], *name = history_session(h);
    thing *message, *fact;

    if (!history_attempt(h, w.who, "fact.observe", "'text':'Actually, the %s is now %s.'%s",
                         words_of(key), w.said, history_in_session(name)))
        return;
    message = add_message(h, &w, name);
    if (test_member(h->answer, "outcomes.0.id").len > 0) {
        fact = add(h, THING_FACT, w.word, w.who, text_at(h, "outcomes.0.id"));
        fact->key = key;
        fact->source = history_index(h, message);
        message->quotes = history_index(h, fact);
    }
    refresh_user(h, w.who.user);
}

/* A message that repeats a fact. */
static void step_quote(history *h)
{
    writer w = any_writer(h);
    thing *fact = history_any_for(h, THING_FACT, w.who), *message;
    const char *name = history_session(h);

    if (fact == NULL || fact->is_restricted || fact->is_hidden || fact->until_us > 0)
        return;
    if (!history_attempt(h, w.who, "session.append", "'role':'user','text':'%s the %s is %s.'%s",
                         history_chance(h, 50) ? "As you know," : "Please note that",
                         words_of(fact->key), history_word(fact->word), history_in_session(name)))
        return;
    w.word = fact->word;
    message = add_message(h, &w, name);
    message->quotes = history_index(h, fact);
    refresh_learned(h, w.who.user);
}

static void end_session(history *h, const char *session, const char *why)
{
    for (int i = 0; i < h->count; i++) {
        thing *of = &h->things[i];

        if ((of->kind == THING_NOTE || of->kind == THING_NAME) && strcmp(of->session, session) == 0)
            of->dead = why;
    }
}

static void step_close(history *h)
{
    writer w = any_writer(h);

    if (history_attempt(
            h, w.who, "session.close", "%s",
            history_chance(h, 70)
                ? test_format("'session_id':'%s'", sessions[history_below(h, COUNT(sessions))])
                : ""))
        end_session(h, text_at(h, "id"), "closed");
}

static void step_rewind(history *h)
{
    thing *to = any_of(h, THING_MESSAGE);
    int64_t count = 0, counted;

    if (to == NULL || !history_attempt(h, to->who, "session.rewind", "'message_id':'%s'", to->id))
        return;
    for (int i = history_index(h, to) + 1; i < h->count; i++) {
        thing *of = &h->things[i];

        if (of->kind == THING_MESSAGE && of->dead == NULL && thing_is_for(of, to->who) &&
            strcmp(of->session, to->session) == 0) {
            of->dead = "withdrawn";
            count++;
        }
        if (of->kind == THING_TODO && of->dead == NULL && of->source != THING_NONE &&
            h->things[of->source].dead != NULL &&
            strcmp(h->things[of->source].dead, "withdrawn") == 0)
            of->dead = "withdrawn";
    }
    counted = test_member(h->answer, "withdrawn.message").len > 0
                  ? test_member_int(h->answer, "withdrawn.message")
                  : 0;
    REQUIRE(h, counted == count, "%lld messages should be withdrawn", (long long)count);
    refresh_user(h, to->who.user);
}

/* Marks the things that the answer of a forget lists, and the handles of their frames. */
static void mark_forgotten(history *h)
{
    for (int at = 0;; at++) {
        const char *path = test_format("items.%d.id", at);

        if (test_member(h->answer, path).len == 0)
            break;
        for (int i = 0; i < h->count; i++)
            if (lc_str_is(test_member_text(h->answer, path), h->things[i].id))
                h->things[i].dead = "forgotten";
    }
    for (int i = 0; i < h->count; i++)
        if (h->things[i].kind == THING_HANDLE && h->things[h->things[i].source].dead != NULL)
            h->things[i].dead = "forgotten";
}

static void step_forget(history *h)
{
    thing *of = any_of(h, THING_MESSAGE);

    if (of == NULL)
        return;
    if (history_chance(h, 60)) {
        if (!history_attempt(h, of->who, "session.forget", "'message_id':'%s'", of->id))
            return;
        mark_forgotten(h);
        REQUIRE(h, of->dead != NULL, "the message is not listed");
    } else {
        if (!history_attempt(h, of->who, "session.forget", "'session_id':'%s'", of->session))
            return;
        mark_forgotten(h);
        if (test_member(h->answer, "removed.session").len > 0)
            end_session(h, of->session, "forgotten");
        for (int i = 0; i < h->count; i++)
            REQUIRE(h,
                    h->things[i].kind != THING_MESSAGE || h->things[i].dead != NULL ||
                        !thing_is_for(&h->things[i], of->who) ||
                        strcmp(h->things[i].session, of->session) != 0,
                    "message %s of the session is left", h->things[i].id);
    }
    refresh_user(h, of->who.user);
}

/* ---- Steps: working set, environment, frames, window ----------------------------------------- */

/* Ends the former value of a note or signal. */
static void replace(history *h, const thing *by)
{
    for (int i = 0; i < h->count; i++) {
        thing *of = &h->things[i];

        if (of != by && of->kind == by->kind && of->who.user == by->who.user &&
            strcmp(of->key, by->key) == 0 && of->dead == NULL &&
            (by->kind == THING_NOTE ? strcmp(of->session, by->session) == 0
                                    : of->who.persona == by->who.persona))
            of->dead = "replaced";
    }
}

static void step_note(history *h)
{
    writer w = any_writer(h);
    const char *name = history_session(h);
    int64_t minutes = test_rng_between(&h->rng, 1, 20);
    bool expires = history_chance(h, 20);
    thing *to;

    if (history_chance(h, 40)) {
        if (!history_attempt(h, w.who, "identity.set", "'user_name':'%s','authority':'%s'%s",
                             w.said, history_chance(h, 50) ? "manager" : "employee",
                             history_in_session(name)))
            return;
        to = add(h, THING_NAME, w.word, (caller){w.who.user, 0}, "");
    } else {
        if (!history_attempt(h, w.who, "working.set", "'key':'note%d','value':'%s'%s%s",
                             (int)history_below(h, 3), w.said, history_in_session(name),
                             expires ? test_format(",'expires_at':'%s'", time_after(h, minutes))
                                     : ""))
            return;
        to = add(h, THING_NOTE, w.word, (caller){w.who.user, 0}, "");
        to->key = text_at(h, "key");
        to->until_us = expires ? h->f.now_us + minutes * MINUTE_US : 0;
    }
    to->session = text_at(h, "session_id");
    to->name = name;
    if (to->kind == THING_NOTE)
        replace(h, to);
}

static void step_signal(history *h)
{
    writer w = any_writer(h);
    const char *key = signals[history_below(h, COUNT(signals))];
    thing *to;

    if (!history_attempt(h, w.who, "environment.set", "'key':'%s','value':'%s'", key, w.said))
        return;
    to = add(h, THING_SIGNAL, w.word, w.who, "");
    to->key = key;
    replace(h, to);
}

static void step_frame(history *h)
{
    writer w = any_writer(h);
    thing *parent = history_chance(h, 50) ? history_any_for(h, THING_FRAME, w.who) : NULL;
    const char *place = parent != NULL ? test_format(",'parent_id':'%s'", parent->id)
                                       : history_in_session(history_session(h));

    if (parent != NULL)
        w.who.persona = parent->who.persona;
    if (history_attempt(h, w.who, "frame.push", "'goal':'Find out about %s'%s", w.said, place))
        add(h, THING_FRAME, w.word, w.who, text_at(h, "id"))->source = parent != NULL
                                                                           ? history_index(h,
                                                                                           parent)
                                                                           : THING_NONE;
}

/* A handle with a text of its own, or one to a thing that the frame's persona sees. */
static void step_handle(history *h)
{
    static const char *const priorities[] = {"critical", "high", "medium", "low", "background"};
    static const thing_kind targets[] = {THING_FACT, THING_MEMORY,  THING_MEMORY,
                                         THING_TODO, THING_MESSAGE, THING_MESSAGE};
    thing *frame = any_of(h, THING_FRAME), *target, *handle;
    int word = h->words++;
    const char *content;

    if (frame == NULL)
        return;
    target = history_chance(h, 65)
                 ? history_any_for(h, targets[history_below(h, COUNT(targets))], frame->who)
                 : NULL;
    content = target != NULL ? test_format("'ref':'%s'", target->id)
                             : test_format("'text':'It says %s there. %s'", history_word(word),
                                           maybe(h, 30,
                                                 "  Second  line of the handle, with more "
                                                 "words than one needs."));
    if (!history_attempt(h, frame->who, "frame.handle_add", "'frame_id':'%s','priority':'%s',%s",
                         frame->id, priorities[history_below(h, COUNT(priorities))], content))
        return;
    handle = add(h, THING_HANDLE, target != NULL ? target->word : word, frame->who,
                 text_at(h, "id"));
    handle->source = history_index(h, frame);
    handle->quotes = target != NULL ? history_index(h, target) : THING_NONE;
}

static void step_change_frame(history *h)
{
    thing *handle = any_of(h, THING_HANDLE), *frame = any_of(h, THING_FRAME);

    if (history_chance(h, 60)) {
        if (handle != NULL &&
            history_attempt(h, handle->who, "frame.handle_remove", "'id':'%s'", handle->id))
            handle->dead = "removed";
        return;
    }
    if (frame == NULL || !history_attempt(h, frame->who, "frame.forget", "'id':'%s'", frame->id))
        return;
    mark_forgotten(h);
    REQUIRE(h, frame->dead != NULL, "the frame is not listed");
}

static void step_resource(history *h)
{
    writer w = any_writer(h);
    thing *of = any_of(h, THING_RESOURCE);

    if (of == NULL || history_chance(h, 55)) {
        (void)history_attempt(h, w.who, "window.open", "'context_max':5000");
        if (history_attempt(h, w.who, "resource.discover", "'name':'%s','text':'A page about %s.'",
                            w.said, w.said))
            add(h, THING_RESOURCE, w.word, w.who, text_at(h, "id"));
        return;
    }
    switch (history_below(h, 4)) {
    case 0:
        (void)history_attempt(h, of->who, "resource.page_in", "'id':'%s'", of->id);
        break;
    case 1:
        (void)history_attempt(h, of->who, "resource.page_out", "'id':'%s'", of->id);
        break;
    case 2:
        (void)history_attempt(h, of->who, "resource.annotate", "'id':'%s','text':'%s'", of->id,
                              w.said);
        break;
    default:
        if (history_attempt(h, of->who, "resource.forget", "'id':'%s'", of->id))
            of->dead = "forgotten";
    }
}

typedef struct step_kind {
    void (*take)(history *h);
    int weight;
} step_kind;

void history_step(history *h)
{
    static const step_kind kinds[] = {
        {step_fact, 18},        {step_end_fact, 5},    {step_memory, 12},  {step_change_memory, 8},
        {step_todo, 5},         {step_change_todo, 4}, {step_message, 18}, {step_observe, 8},
        {step_quote, 6},        {step_close, 5},       {step_rewind, 6},   {step_forget, 4},
        {step_note, 9},         {step_signal, 5},      {step_frame, 4},    {step_handle, 12},
        {step_change_frame, 5}, {step_resource, 9},
    };
    int total = 0, at;

    for (size_t i = 0; i < COUNT(kinds); i++)
        total += kinds[i].weight;
    at = (int)history_below(h, (size_t)total);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        at -= kinds[i].weight;
        if (at < 0) {
            kinds[i].take(h);
            break;
        }
    }
    h->f.now_us += test_rng_between(&h->rng, 1, 90) * SECOND_US;
    if (history_chance(h, 3)) /* Sessions end. */
        h->f.now_us += 40 * MINUTE_US;
}
