/* observe.c - see observe.h.
 *
 * Most messages state nothing about a fact, and then no fact is read. The facts that a statement
 * can be about are bounded: the facts written last, and those whose key it names. A proposal is
 * decided before anything is written; one that cannot be written (its slot was taken over by
 * another, say) is dropped, because the message itself is not wrong.
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

#define KNOWN_MAX 200
#define NAMED_MAX 64
#define ROWS_MAX 8      /* Facts that begin with one key. */
#define MESSAGES_MAX 12 /* Among which the last turns of people are looked for. */

typedef struct observing {
    lc_tx *tx;
    const lc_observation *o;
    lc_arena *arena;
    lc_known known[KNOWN_MAX + NAMED_MAX];
    lc_fact facts[KNOWN_MAX + NAMED_MAX];
    size_t count;
    size_t seen; /* Facts that were written last, those that are not candidates included. */
    loci_str before[LC_PROPOSE_TURNS];
    size_t before_count;
    int64_t before_seq; /* Of the oldest of them; INT64_MAX = there is none. */
} observing;

/* Characters that make a text look like another one: text directions, zero-width spaces. A
 * text that a person would read differently than loci does must not change a fact. */
static bool has_hidden_characters(loci_str text)
{
    for (size_t i = 0; i + 2 < text.len; i++) {
        const unsigned char *at = (const unsigned char *)text.ptr + i;

        if (at[0] == 0xE2 && at[1] == 0x80 &&
            (at[2] == 0x8B || at[2] == 0x8E || at[2] == 0x8F || (at[2] >= 0xAA && at[2] <= 0xAE)))
            return true; /* U+200B, U+200E, U+200F, U+202A to U+202E */
        if (at[0] == 0xE2 && at[1] == 0x81 && at[2] >= 0xA0 && at[2] <= 0xA9)
            return true; /* U+2060 to U+2069 */
    }
    return false;
}

loci_status lc_observation_terms(const lc_talk *talk, lc_arena *arena, loci_str text, lc_terms *out,
                                 loci_error *err)
{
    if (has_hidden_characters(text))
        text = LC_STR("");
    return lc_terms_read(lc_talk_lexicon(talk), arena, text, out, err);
}

loci_status lc_observation_read(const lc_talk *talk, lc_arena *arena, loci_str text,
                                const lc_statements **out, loci_error *err)
{
    lc_statements *statements = lc_arena_zalloc_array(arena, 1, sizeof *statements);
    lc_terms terms;
    loci_status status = statements != NULL ? lc_observation_terms(talk, arena, text, &terms, err)
                                            : lc_fail_memory(err);

    if (status == LOCI_OK)
        lc_statements_read(terms, statements);
    *out = statements;
    return status;
}

/* ---- Known facts and earlier messages -------------------------------------------------------- */

/* Id of the session whose messages are read as the ones before this; none = all sessions. */
static loci_str session_of(const lc_observation *o)
{
    if (!o->is_one_session)
        return LC_STR_NONE;
    return o->session != NULL ? o->session->session.id : o->message.session_id;
}

/* Reads the last messages of people. */
static loci_status read_before(observing *p, loci_error *err)
{
    lc_message_page page = {.session_id = session_of(p->o),
                            .persona_id = p->o->view.persona_id,
                            .before_seq = p->o->message.seq,
                            .limit = MESSAGES_MAX};
    lc_message_list messages = {0};
    loci_status status = lc_context_read_messages(p->tx, &page, p->arena, &messages, err);

    p->before_seq = INT64_MAX;
    for (size_t i = 0;
         i < messages.count && p->before_count < LC_PROPOSE_TURNS && status == LOCI_OK; i++)
        if (!lc_message_is_model(&messages.items[i])) {
            p->before[p->before_count++] = messages.items[i].text;
            p->before_seq = messages.items[i].seq;
        }
    return status;
}

static loci_status add_known(void *ctx, const lc_fact *fact, loci_error *err)
{
    observing *p = ctx;
    lc_fact *to = &p->facts[p->count];

    if (p->count == KNOWN_MAX + NAMED_MAX || lc_fact_is_expired(fact, p->tx->now_us) ||
        !lc_fact_may_read(fact, &p->o->view.access))
        return LOCI_OK;
    /* A message is about facts of the global scope; suppositions and drafts have their own
     * operations. */
    if (!lc_str_is(fact->scope, "global"))
        return LOCI_OK;
    for (size_t i = 0; i < p->count; i++)
        if (lc_str_eq(p->facts[i].id, fact->id))
            return LOCI_OK;
    *to = *fact;
    if (!lc_fact_keep(p->arena, to))
        return lc_fail_memory(err);
    p->known[p->count] = (lc_known){.key = to->key};
    p->count++;
    return LOCI_OK;
}

static loci_status count_fact(void *ctx, const lc_fact *fact, loci_error *err)
{
    observing *p = ctx;

    p->seen++;
    return add_known(p, fact, err);
}

/* Adds the facts that the statements name, when there are more than were written last. */
static loci_status add_named(observing *p, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < p->o->statements->count && status == LOCI_OK; i++) {
        lc_fact_prefix prefix = {.persona_id = p->o->view.persona_id, .limit = ROWS_MAX};

        status = lc_subject_key(p->arena, &p->o->statements->items[i], &prefix.key, err);
        if (status == LOCI_OK && prefix.key.len > 0)
            status = lc_fact_each_prefix(p->tx, &prefix, p->arena, add_known, p, err);
    }
    return status;
}

static loci_status read_known(observing *p, loci_error *err)
{
    lc_fact_recent recent = {
        .persona_id = p->o->view.persona_id, .after_seq = -1, .limit = KNOWN_MAX};
    loci_status status = lc_fact_each_recent(p->tx, &recent, count_fact, p, err);

    if (status == LOCI_OK && p->seen == KNOWN_MAX)
        status = add_named(p, err);
    if (p->count == 0 && p->o->is_known_only)
        return status; /* Nothing can change. */
    if (status == LOCI_OK)
        status = read_before(p, err);
    for (size_t i = 0; i < p->count && status == LOCI_OK; i++) {
        p->known[i].is_recent = p->facts[i].seq > p->before_seq;
        status = lc_show_value(p->arena, p->facts[i].value, &p->known[i].value, err);
    }
    return status;
}

/* ---- Values ---------------------------------------------------------------------------------- */

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

/* ---- Proposals ------------------------------------------------------------------------------- */

bool lc_context_is_about_fact(loci_status status)
{
    return status == LOCI_ECONFLICT || status == LOCI_ENOTFOUND || status == LOCI_EINVAL ||
           status == LOCI_EFORBIDDEN || status == LOCI_ELIMIT;
}

lc_authority lc_context_authority(const lc_observation *observation, const lc_fact *fact)
{
    return !observation->is_authority_given && fact->authority.rank < observation->authority.rank
               ? fact->authority
               : observation->authority;
}

bool lc_observation_is_owner(const lc_observation *o)
{
    loci_str name = o->session != NULL ? o->session->session.identity.user_name : LC_STR_NONE;

    return o->is_owner || o->message.speaker.len == 0 || lc_str_is(o->message.speaker, "user") ||
           (name.len > 0 && lc_str_eq(o->message.speaker, name));
}

static loci_status propose(observing *p, lc_proposal out[LC_PROPOSALS_MAX], size_t *count,
                           loci_error *err)
{
    loci_status status = read_known(p, err);

    *count = 0;
    if (status != LOCI_OK || (p->count == 0 && p->o->is_known_only))
        return status;
    return lc_talk_propose(p->o->talk, p->arena,
                           &(lc_propose_input){.statements = p->o->statements,
                                               .known = p->known,
                                               .known_count = p->count,
                                               .before = p->before,
                                               .before_count = p->before_count,
                                               .is_owner = lc_observation_is_owner(p->o),
                                               .is_known_only = p->o->is_known_only},
                           out, count, err);
}

static loci_status decide(observing *p, const lc_proposal *proposal, lc_fact_plan **out,
                          loci_error *err)
{
    const lc_fact *fact = proposal->known != LC_KNOWN_NONE ? &p->facts[proposal->known] : NULL;
    lc_fact_input input = {
        .key = proposal->key,
        .source = fact != NULL ? fact->source : LC_STR("conversation"),
        .view = p->o->view,
        .authority = fact != NULL ? lc_context_authority(p->o, fact) : p->o->authority,
        .trust = p->o->trust,
        .observed_at = p->o->message.observed_at,
        .valid_until = LC_FACT_NO_TIME,
        .yields = fact == NULL || proposal->is_claim,
    };
    loci_status status = lc_context_write_value(
        p->arena, fact != NULL ? fact->value : LC_STR("\"\""), proposal->value, &input.value, err);

    *out = NULL;
    input.view.scope = LC_STR_NONE;
    input.view.scope_id = LC_STR_NONE;
    if (status == LOCI_OK)
        status = lc_fact_decide(p->tx, &input, p->arena, out, err);
    return lc_context_is_about_fact(status) ? LOCI_OK : status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The proposals of the rules for a message, each with its decision; a NULL plan writes nothing. */
typedef struct changes {
    lc_proposal proposals[LC_PROPOSALS_MAX];
    lc_fact_plan *plans[LC_PROPOSALS_MAX];
    size_t count;
} changes;

static loci_status find_changes(observing *p, changes *out, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (p->o->statements != NULL && p->o->statements->count > 0)
        status = propose(p, out->proposals, &out->count, err);
    for (size_t i = 0; i < out->count && status == LOCI_OK; i++)
        status = decide(p, &out->proposals[i], &out->plans[i], err);
    return status;
}

static loci_status write_changes(observing *p, const changes *found, loci_str message_id,
                                 lc_observed *out, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < found->count && status == LOCI_OK; i++) {
        lc_observed_fact *fact = &out->facts[out->count];

        if (found->plans[i] == NULL)
            continue;
        if (lc_fact_plan_writes(found->plans[i]))
            status = lc_session_carry_source(p->tx, message_id, err);
        if (status == LOCI_OK)
            status = lc_fact_commit(p->tx, found->plans[i], p->arena, &fact->result, err);
        fact->key = found->proposals[i].key;
        fact->value = found->proposals[i].value;
        fact->quote = found->proposals[i].quote;
        fact->rule = found->proposals[i].rule;
        out->count += status == LOCI_OK;
    }
    p->tx->source = LC_STR_NONE; /* The next message of the same call has another source. */
    return status;
}

static observing *begin(lc_tx *tx, const lc_observation *observation, lc_observed *out)
{
    observing *p = lc_arena_alloc(observation->arena, sizeof *p);

    memset(out, 0, sizeof *out);
    if (p != NULL) { /* The rows of `known` and `facts` are written before they are counted. */
        p->count = p->seen = p->before_count = 0;
        p->before_seq = INT64_MAX;
        p->tx = tx;
        p->o = observation;
        p->arena = observation->arena;
    }
    return p;
}

loci_status lc_context_apply_rules(lc_tx *tx, const lc_observation *observation, lc_observed *out,
                                   loci_error *err)
{
    lc_observation stored = *observation;
    observing *p = begin(tx, &stored, out);
    changes found = {.count = 0};
    loci_status status = p != NULL ? LOCI_OK : lc_fail_memory(err);

    if (status == LOCI_OK && stored.statements == NULL)
        status = lc_observation_read(stored.talk, stored.arena, stored.message.text,
                                     &stored.statements, err);
    if (status == LOCI_OK)
        status = find_changes(p, &found, err);
    return status == LOCI_OK ? write_changes(p, &found, stored.message.id, out, err) : status;
}

loci_status lc_context_observe(lc_tx *tx, const lc_observation *observation, lc_observed *out,
                               loci_error *err)
{
    observing *p = begin(tx, observation, out);
    lc_message message = observation->message;
    changes found = {.count = 0};
    loci_status status = p != NULL ? find_changes(p, &found, err) : lc_fail_memory(err);

    if (status == LOCI_OK)
        status = lc_session_begin(tx, observation->session, true, err);
    message.session_id = observation->session->session.id;
    if (status == LOCI_OK)
        status = lc_session_append_message(tx, &message, &out->message_id, &out->seq, err);
    return status == LOCI_OK ? write_changes(p, &found, lc_id_str(&out->message_id), out, err)
                             : status;
}
