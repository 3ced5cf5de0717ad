/* observe.c - see observe.h.
 *
 * What a sentence can be about is bounded: the facts written last, those whose keys it names
 * (each_named()), and those that ended last. A proposal is decided before anything is written; one
 * that cannot be written (its slot was taken over by another, say) is dropped, because the message
 * itself is not wrong.
 */
#include "context/observe.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/number.h"
#include "base/str.h"
#include "context/candidate.h"
#include "pack/show.h"
#include "talk/term.h"

#define KNOWN_MAX 200
#define NAMED_MAX 100
#define FORMER_MAX 50
#define BEFORE_MAX 50
#define WORDS_MAX 3   /* Of one name. */
#define STARTS_MAX 16 /* Words of the sentence that a name may begin with. */
#define ROWS_MAX 8    /* Facts that begin with one name. */

typedef struct observing {
    lc_tx *tx;
    const lc_observation *o;
    lc_arena *arena;
    lc_known known[KNOWN_MAX + NAMED_MAX + FORMER_MAX];
    lc_fact facts[KNOWN_MAX + NAMED_MAX + FORMER_MAX];
    size_t count;
    size_t seen; /* Facts that were written last, those that are not candidates included. */
} observing;

static loci_status add_known(void *ctx, const lc_fact *fact, loci_error *err)
{
    observing *p = ctx;
    lc_fact *to = &p->facts[p->count];

    if (fact->standing == LC_FACT_VALID &&
        (lc_fact_is_expired(fact, p->tx->now_us) || !lc_fact_may_read(fact, &p->o->view.access)))
        return LOCI_OK;
    /* Talk is about what is so; suppositions and drafts change by their own operations. */
    if (!lc_str_is(fact->scope, "global"))
        return LOCI_OK;
    *to = *fact;
    if (!lc_fact_keep(p->arena, to))
        return lc_fail_memory(err);
    p->count++;
    return LOCI_OK;
}

/* The value of each as text; of those that ended, what took their place. */
static loci_status describe(observing *p, loci_error *err)
{
    for (size_t i = 0; i < p->count; i++) {
        const lc_fact *fact = &p->facts[i];
        lc_known *known = &p->known[i];
        loci_status status = lc_show_value(p->arena, fact->value, &known->value, err);

        if (status != LOCI_OK)
            return status;
        known->key = fact->key;
        known->is_former = fact->standing != LC_FACT_VALID;
        known->successor = LC_SAID_NONE;
        for (size_t j = 0; known->is_former && j < p->count; j++)
            if (lc_str_eq(p->facts[j].id, fact->superseded_by))
                known->successor = j;
    }
    return LOCI_OK;
}

static loci_status add_named(void *ctx, const lc_fact *fact, loci_error *err)
{
    observing *p = ctx;

    for (size_t i = 0; i < p->count; i++)
        if (lc_str_eq(p->facts[i].id, fact->id))
            return LOCI_OK;
    return p->count < KNOWN_MAX + NAMED_MAX ? add_known(p, fact, err) : LOCI_OK;
}

static loci_status count_fact(void *ctx, const lc_fact *fact, loci_error *err)
{
    observing *p = ctx;

    p->seen++;
    return add_known(p, fact, err);
}

/* Appends a word of the sentence in lower case. */
static size_t put_word(lc_terms terms, size_t at, char *out)
{
    const char *word = terms.text.ptr + terms.at[at].start;
    size_t bytes = terms.at[at].bytes;

    for (size_t i = 0; i < bytes; i++)
        out[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] + ('a' - 'A')) : word[i];
    return bytes;
}

/* `count` words from `first` on, with _ between them and without the last one's plural. */
static loci_status write_name(lc_terms terms, size_t first, size_t count, lc_arena *arena,
                              loci_str *out, loci_error *err)
{
    size_t bytes = 0, room = count;
    char *name;

    for (size_t i = 0; i < count; i++)
        room += terms.at[first + i].bytes;
    name = lc_arena_alloc(arena, room);
    if (name == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            name[bytes++] = '_';
        bytes += put_word(terms, first + i, name + bytes);
    }
    if (bytes > 3 && name[bytes - 1] == 's')
        bytes--;
    *out = (loci_str){name, bytes};
    return LOCI_OK;
}

/* Adds the valid global facts that the message names by their keys, longer names first; one may
 * be added more than once. "The marquee budget is 7,200 pounds" names marquee_budget, and a
 * plural names the singular, too. Words are tried one, two and three at a time as the beginning of
 * a key, each a short walk along the key's index, so the cost depends on the message alone. */
static loci_status each_named(observing *p, loci_str persona_id, loci_error *err)
{
    lc_terms terms;
    loci_status status = lc_terms_read(lc_talk_lexicon(p->o->talk), p->arena, p->o->message.text,
                                       &terms, err);

    for (size_t count = WORDS_MAX; count > 0 && status == LOCI_OK; count--) {
        size_t starts = 0;

        for (size_t at = 0; at + count <= terms.count && starts < STARTS_MAX; at++) {
            lc_fact_prefix prefix = {.persona_id = persona_id, .limit = ROWS_MAX};

            if (!lc_term_is_content(terms.at[at].kind))
                continue;
            starts++;
            status = write_name(terms, at, count, p->arena, &prefix.key, err);
            if (status == LOCI_OK)
                status = lc_fact_each_prefix(p->tx, &prefix, p->arena, add_named, p, err);
            if (status != LOCI_OK)
                return status;
        }
    }
    return status;
}

/* What the message can be about: when there is more than was written last, what it names. */
static loci_status read_known(observing *p, loci_error *err)
{
    lc_fact_recent recent = {
        .persona_id = p->o->view.persona_id, .after_seq = -1, .limit = KNOWN_MAX};
    loci_status status = lc_fact_each_recent(p->tx, &recent, count_fact, p, err);

    if (status == LOCI_OK && p->seen == KNOWN_MAX)
        status = each_named(p, recent.persona_id, err);
    recent.limit = FORMER_MAX;
    if (status == LOCI_OK)
        status = lc_fact_each_ended(p->tx, &recent, add_known, p, err);
    return status == LOCI_OK ? describe(p, err) : status;
}

/* ---- Proposing ------------------------------------------------------------------------------- */

static loci_status propose(observing *p, lc_proposal out[LC_PROPOSALS_MAX], size_t *count,
                           loci_error *err)
{
    lc_message_page page = {.session_id = p->o->is_one_session ? p->o->session->session.id
                                                               : LC_STR_NONE,
                            .persona_id = p->o->view.persona_id,
                            .before_seq = p->o->message.seq,
                            .limit = BEFORE_MAX};
    lc_message_list messages = {0};
    lc_said *before;
    loci_status status = lc_context_read_messages(p->tx, &page, p->arena, &messages, err);

    if (status != LOCI_OK)
        return status;
    before = lc_arena_zalloc_array(p->arena, messages.count + 1, sizeof *before);
    if (before == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < messages.count; i++)
        before[messages.count - 1 - i] = (lc_said){
            /* Oldest first. */
            .kind = LC_SAID_MESSAGE,
            .text = messages.items[i].text,
            .is_model = lc_message_is_model(&messages.items[i]),
            .successor = LC_SAID_NONE};
    return lc_talk_propose(p->o->talk, p->arena,
                           &(lc_propose_input){.known = p->known,
                                               .known_count = p->count,
                                               .before = before,
                                               .before_count = messages.count,
                                               .message = p->o->message.text},
                           out, count, err);
}

/* The number as the log writes it; none for one that is too large. */
static loci_status write_number(lc_arena *arena, lc_number number, loci_str *out, loci_error *err)
{
    char text[LC_NUMBER_BYTES_MAX];
    size_t bytes = 0;

    if (number.kind == LC_NUMBER_INT)
        bytes = lc_number_format_i64(number.integer, text);
    else if (number.kind == LC_NUMBER_REAL)
        bytes = lc_number_format_f64(number.real, text);
    if (bytes == 0)
        return LOCI_OK;
    *out = lc_arena_copy(arena, (loci_str){text, bytes});
    return out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static bool is_digit(loci_str text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

/* The only number in a text, as JSON has it: of "$1,250.50" 1250.5. None when there is no number,
 * more than one, or one with a factor ("$1.5k"). */
static loci_status read_only_number(lc_arena *arena, loci_str text, loci_str *out, loci_error *err)
{
    char *digits = lc_arena_alloc(arena, text.len + 2);
    size_t count = 0, at = 0;

    *out = LC_STR_NONE;
    if (digits == NULL)
        return lc_fail_memory(err);
    while (at < text.len && !is_digit(text, at))
        at++;
    if (at > 0 && text.ptr[at - 1] == '-')
        digits[count++] = '-';
    for (; is_digit(text, at) || ((at < text.len) && is_digit(text, at + 1) &&
                                  (text.ptr[at] == ',' || text.ptr[at] == '.'));
         at++)
        if (text.ptr[at] != ',')
            digits[count++] = text.ptr[at];
    if (at < text.len && strchr(" %.", text.ptr[at]) == NULL)
        return LOCI_OK;
    for (; at < text.len; at++)
        if (is_digit(text, at))
            return LOCI_OK;
    if (count == 0 || lc_number_read((loci_str){digits, count}).bytes != count)
        return LOCI_OK;
    return write_number(arena, lc_number_read((loci_str){digits, count}), out, err);
}

static loci_status write_text(lc_arena *arena, loci_str text, loci_str *out, loci_error *err)
{
    lc_json_writer writer;
    lc_buf buf;
    loci_status status;

    lc_buf_init(&buf, arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&writer, &buf);
    lc_jw_str(&writer, text);
    status = lc_buf_status(&buf, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&buf));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&buf);
    return status;
}

loci_status lc_context_write_value(lc_arena *arena, loci_str old, loci_str text, loci_str *out,
                                   loci_error *err)
{
    loci_status status = LOCI_OK;

    *out = LC_STR_NONE;
    if (lc_number_read(old).kind != LC_NUMBER_NONE)
        status = read_only_number(arena, text, out, err);
    return status != LOCI_OK || out->len > 0 ? status : write_text(arena, text, out, err);
}

bool lc_context_is_about_fact(loci_status status)
{
    return status == LOCI_ECONFLICT || status == LOCI_ENOTFOUND || status == LOCI_EINVAL ||
           status == LOCI_EFORBIDDEN;
}

lc_authority lc_context_authority(const lc_observation *observation, const lc_fact *fact)
{
    return !observation->is_authority_given && fact->authority.rank < observation->authority.rank
               ? fact->authority
               : observation->authority;
}

static loci_status decide(observing *p, const lc_proposal *proposal, lc_fact_plan **out,
                          loci_error *err)
{
    const lc_fact *fact = &p->facts[proposal->known];
    lc_fact_input input = {
        .key = fact->key,
        .source = fact->source,
        .view = p->o->view,
        .authority = lc_context_authority(p->o, fact),
        .trust = p->o->trust,
        .observed_at = p->o->message.observed_at,
        .valid_until = LC_FACT_NO_TIME,
    };
    loci_status status = lc_context_write_value(p->arena, fact->value, proposal->value,
                                                &input.value, err);

    *out = NULL;
    input.view.scope = LC_STR_NONE;
    input.view.scope_id = LC_STR_NONE;
    if (status == LOCI_OK)
        status = lc_fact_decide(p->tx, &input, p->arena, out, err);
    return lc_context_is_about_fact(status) ? LOCI_OK : status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static bool is_same_slot(const observing *p, const lc_proposal *a, const lc_proposal *b)
{
    return lc_str_eq(p->facts[a->known].key, p->facts[b->known].key);
}

/* What the rules find in the message, decided; a plan is NULL when nothing is to be written. */
typedef struct changes {
    lc_proposal proposals[LC_PROPOSALS_MAX];
    lc_fact_plan *plans[LC_PROPOSALS_MAX];
    size_t count;
} changes;

static loci_status find_changes(observing *p, changes *out, loci_error *err)
{
    loci_status status = read_known(p, err);

    if (status == LOCI_OK)
        status = propose(p, out->proposals, &out->count, err);
    for (size_t i = 0; i < out->count && status == LOCI_OK; i++)
        if (i == 0 || !is_same_slot(p, &out->proposals[i], &out->proposals[i - 1]))
            status = decide(p, &out->proposals[i], &out->plans[i], err);
    return status;
}

static loci_status write_changes(observing *p, const changes *found, lc_observed *out,
                                 loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < found->count && status == LOCI_OK; i++) {
        lc_observed_fact *fact = &out->facts[out->count];

        if (found->plans[i] == NULL)
            continue;
        status = lc_fact_commit(p->tx, found->plans[i], p->arena, &fact->result, err);
        fact->key = p->facts[found->proposals[i].known].key;
        fact->rule = found->proposals[i].rule;
        out->count += status == LOCI_OK;
    }
    return status;
}

static observing *begin(lc_tx *tx, const lc_observation *observation, lc_observed *out)
{
    observing *p = lc_arena_zalloc_array(observation->arena, 1, sizeof *p);

    memset(out, 0, sizeof *out);
    if (p != NULL)
        *p = (observing){.tx = tx, .o = observation, .arena = observation->arena};
    return p;
}

loci_status lc_context_apply_rules(lc_tx *tx, const lc_observation *observation, lc_observed *out,
                                   loci_error *err)
{
    observing *p = begin(tx, observation, out);
    changes found = {.count = 0};
    loci_status status = p != NULL ? find_changes(p, &found, err) : lc_fail_memory(err);

    return status == LOCI_OK ? write_changes(p, &found, out, err) : status;
}

loci_status lc_context_observe(lc_tx *tx, const lc_observation *observation, lc_observed *out,
                               loci_error *err)
{
    observing *p = begin(tx, observation, out);
    lc_message message = observation->message;
    changes found = {.count = 0};
    loci_status status = p != NULL ? LOCI_OK : lc_fail_memory(err);

    /* What a model says is kept and changes nothing. What a tool or the web says makes claims. */
    if (status == LOCI_OK && !observation->is_left_to_job && !lc_message_is_model(&message))
        status = find_changes(p, &found, err);
    if (status == LOCI_OK)
        status = lc_session_begin(tx, observation->session, true, err);
    message.session_id = observation->session->session.id;
    if (status == LOCI_OK)
        status = lc_session_append_message(tx, &message, &out->message_id, &out->seq, err);
    return status == LOCI_OK ? write_changes(p, &found, out, err) : status;
}
