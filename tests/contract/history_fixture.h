/* history_fixture.h - a random history of all rooms, and a model of its things.
 *
 *     history *h = history_open(seed);
 *
 *     for (h->step = 0; h->step < 100; h->step++)
 *         history_step(h);
 *     facts_close(&h->f);
 *
 * Two users, two personas and several sessions write, change, withdraw and forget facts, memories,
 * todos, messages, notes, signals, identities, frames with handles, and resources. Every stored
 * text has a word of its own, so that a test can find it anywhere, and the model knows of each
 * thing whether it is still valid and which readers it is for. A failure prints seed, step and
 * call.
 */
#ifndef LC_TESTS_CONTRACT_HISTORY_FIXTURE_H
#define LC_TESTS_CONTRACT_HISTORY_FIXTURE_H

#include "contract/fact_fixture.h"

#define HISTORY_THINGS_MAX 1024
#define HISTORY_WORD_BYTES 6 /* Of every word: "Qz" and four letters. */
#define THING_NONE (-1)

/* A user and persona, by number. Things of the persona 0 are for all personas of the user. */
typedef struct caller {
    int user, persona;
} caller;

typedef enum thing_kind {
    THING_FACT,
    THING_MEMORY,
    THING_TODO,
    THING_MESSAGE,
    THING_NOTE,     /* Of the working set. */
    THING_SIGNAL,   /* Of the environment. */
    THING_NAME,     /* Of an identity. */
    THING_FRAME,    /* Its goal. */
    THING_HANDLE,   /* Its text. */
    THING_RESOURCE, /* Its name. */
    THING_KINDS
} thing_kind;

typedef struct thing {
    thing_kind kind;
    const char *id;      /* "" for notes, signals and identities. */
    int word;            /* Several things may have the same one, such as a fact and its message. */
    caller who;          /* Its owner. */
    const char *key;     /* Of a fact, note or signal. */
    const char *session; /* Id of the session it belongs to, or NULL. */
    const char *name;    /* Name of that session, or NULL. */
    const char *dead;    /* Reason for which no context may show it any more, or NULL. */
    int64_t until_us;    /* Time at which it expires; 0 = never. */
    bool is_restricted;  /* For managers. */
    bool is_hidden;      /* Of a scope, or a message marked for others. */
    bool is_rule;
    int source; /* Index of the message it was derived from, of a handle's or parent frame. */
    int quotes; /* Index of the fact that a message repeats, or of a handle's target. */
} thing;

typedef struct history {
    facts f;
    test_rng rng;
    uint64_t seed;
    int step;  /* Set by the test, for messages. */
    int words; /* Words given so far. */
    thing things[HISTORY_THINGS_MAX];
    int count;
    const char *call; /* The last call, and its answer. */
    loci_str answer;
} history;

history *history_open(uint64_t seed);
/* One random call or two; then time passes. */
void history_step(history *h);

/* Fails the test with seed, step, call and answer. */
#define REQUIRE(h, condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition))                                                                          \
            history_fail(h, __FILE__, __LINE__, __VA_ARGS__);                                      \
    } while (0)
void history_fail(const history *h, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

loci_status history_try(history *h, const char *operation, const char *args);
/* Returns whether the call was done; members follow user and persona. A refusal is fine, because
 * calls are random, but not a call that is written wrongly. */
bool history_attempt(history *h, caller who, const char *operation, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

size_t history_below(history *h, size_t bound);
bool history_chance(history *h, unsigned percent);
/* Parts of arguments: user and persona; a session, or nothing for NULL. */
const char *history_who(caller who);
const char *history_in_session(const char *name);
/* The name of any session, or NULL. */
const char *history_session(history *h);
/* Any key of a fact, as people write it. */
const char *history_key(history *h);

const char *history_word(int word);
int history_index(const history *h, const thing *of);
bool thing_is_for(const thing *of, caller who);
/* Any thing of the kind that is not dead and that the caller may see, or NULL. */
thing *history_any_for(history *h, thing_kind what, caller who);

#endif /* LC_TESTS_CONTRACT_HISTORY_FIXTURE_H */
