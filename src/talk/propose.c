/* propose.c - from statements to proposals. Each statement is compared with each known fact by sets
 * of senses; a bit set in front spares most comparisons. */
#include "talk/propose.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "talk/value.h"

#define CHANGE_WORDS_MAX 4   /* Content words of a value that supersedes. */
#define CLAIM_WORDS_MAX 8    /* Of one that claims. */
#define CREATE_WORDS_MAX 4   /* Of one that is new. */
#define REMEMBER_WORDS_MAX 6 /* Of one that the speaker asks to remember. */
#define KEY_WORDS_MAX 3      /* Of a new key. */
#define QUOTE_BYTES_MAX 300
#define KEY_BYTES_MAX 64

const char *lc_rule_name(lc_rule rule)
{
    static const char *const names[] = {"explicit", "implicit", "authority", "temporal"};

    LC_ASSERT(rule < sizeof names / sizeof *names);
    return names[rule];
}

/* One known fact, read. */
typedef struct candidate {
    lc_terms key, value;
    uint64_t key_bits;
    bool is_recent; /* Written or stated within the last turns. */
} candidate;

typedef struct proposing {
    const lc_propose_input *input;
    lc_arena *arena;
    candidate *known; /* As many as input->known. */
} proposing;

/* ---- Reading --------------------------------------------------------------------------------- */

/* Does the text say all of the value? */
static bool states(lc_terms text, lc_terms value)
{
    size_t content = 0;

    for (size_t i = 0; i < value.count; i++) {
        if (!lc_term_is_content(&value.at[i]))
            continue;
        content++;
        if (!lc_terms_have_sense(text, value.at[i].sense))
            return false;
    }
    return content > 0;
}

/* Does the text state the fact? A bare number or word may be that of anything: then it must name a
 * word of the key, too. */
static bool states_fact(lc_terms text, const candidate *c)
{
    lc_value_kind kind = lc_value_kind_of(c->value);
    bool is_weak = lc_terms_content(c->value) == 1 && kind != LC_VALUE_NAME &&
                   kind != LC_VALUE_MONEY && kind != LC_VALUE_DATE;

    if (!states(text, c->value))
        return false;
    for (size_t i = 0; i < c->key.count && is_weak; i++)
        is_weak = !lc_term_is_content(&c->key.at[i]) ||
                  !lc_terms_have_sense(text, c->key.at[i].sense);
    return !is_weak;
}

static loci_status read_known(proposing *p, const lc_lexicon *lexicon, loci_error *err)
{
    const lc_propose_input *input = p->input;
    lc_terms before[LC_PROPOSE_TURNS] = {{{0}}};
    loci_status status = LOCI_OK;

    LC_ASSERT(input->before_count <= LC_PROPOSE_TURNS);
    p->known = lc_arena_zalloc_array(p->arena, input->known_count + 1, sizeof *p->known);
    if (p->known == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < input->before_count && status == LOCI_OK; i++)
        status = lc_terms_read(lexicon, p->arena, input->before[i], &before[i], err);
    for (size_t i = 0; i < input->known_count && status == LOCI_OK; i++) {
        candidate *c = &p->known[i];

        status = lc_terms_read_key(lexicon, p->arena, input->known[i].key, &c->key, err);
        if (status == LOCI_OK)
            status = lc_terms_read(lexicon, p->arena, input->known[i].value, &c->value, err);
        c->key_bits = lc_sense_bits(c->key);
        c->is_recent = input->known[i].is_recent;
        for (size_t b = 0; b < input->before_count && !c->is_recent && status == LOCI_OK; b++)
            c->is_recent = states_fact(before[b], c);
    }
    return status;
}

/* ---- The effects that a statement may have --------------------------------------------------- */

static bool is_word_like(lc_value_kind kind)
{
    return kind == LC_VALUE_NAME || kind == LC_VALUE_WORDS || kind == LC_VALUE_STATE;
}

/* Nothing but the amount, with its unit, or the name: what points back must not say more. */
static bool is_bare_value(lc_terms value, lc_value_kind kind)
{
    for (size_t i = 0; i < value.count && kind <= LC_VALUE_NUMBER; i++)
        if (lc_term_is_content(&value.at[i]) && !lc_term_is_amount(&value.at[i]) &&
            !lc_term_in(&value.at[i], LC_WORDS_UNITS) &&
            !lc_term_in(&value.at[i], LC_WORDS_CURRENCIES))
            return false;
    return true;
}

/* May the statement take the place of the fact's value? */
static bool may_supersede(const candidate *c, const lc_statement *s)
{
    bool is_change = s->is_news || s->is_correction || s->leans_on_rank;
    lc_value_kind kind = lc_value_kind_of(s->value);

    if (lc_terms_content(s->value) > CHANGE_WORDS_MAX ||
        (s->form == LC_STATES_BACK && !is_bare_value(s->value, kind)))
        return false;
    if (s->form == LC_STATES_IMPLIED && !c->is_recent)
        return false;
    if (!lc_value_is_alike(c->value, s->value))
        /* In text without capitals a name is a mere word; a state may take the place of words where
         * a state is what is asked for. */
        return is_change && is_word_like(kind) && is_word_like(lc_value_kind_of(c->value)) &&
               (kind != LC_VALUE_STATE || lc_terms_have_in(c->key, LC_WORDS_STATUS));
    if (kind == LC_VALUE_WORDS)
        return is_change;
    return is_change || c->is_recent || lc_terms_content(c->key) > 1;
}

/* ---- Which fact ------------------------------------------------------------------------------ */

/* Has `all` every content sense of `part`? */
static bool has_all(lc_terms all, lc_terms part)
{
    return states(all, part);
}

/* Are the words of the key and of the subject the same, but for neutral ones of the subject? */
static bool is_named_whole(const candidate *c, lc_terms subject)
{
    for (size_t i = 0; i < subject.count; i++)
        if (lc_term_is_content(&subject.at[i]) && !lc_term_in(&subject.at[i], LC_WORDS_NEUTRAL) &&
            !lc_terms_have_sense(c->key, subject.at[i].sense))
            return false;
    return has_all(subject, c->key);
}

static bool implies(const lc_implication *implication, loci_str key)
{
    loci_str rest = loci_str_of(implication->keys);

    while (rest.len > 0)
        if (lc_str_eq(lc_str_split(rest, '|', &rest), key))
            return true;
    return false;
}

/* Could the statement be about this fact? */
static bool is_about(const proposing *p, const lc_statement *s, size_t index)
{
    const candidate *c = &p->known[index];

    switch (s->form) {
    case LC_STATES_BACK:
        return c->is_recent && lc_value_is_alike(c->value, s->value);
    case LC_STATES_IMPLIED:
        return implies(s->implication, p->input->known[index].key);
    default:
        if ((lc_sense_bits(s->subject) & c->key_bits) == 0)
            return false;
        /* Of a fact just stated a part of the key is enough: "the hearing" for hearing_time. */
        return is_named_whole(c, s->subject) ||
               (c->is_recent && has_all(c->key, s->subject) && may_supersede(c, s));
    }
}

/* The only fact that the statement is about, one whose key is named whole before others. */
static size_t find_fact(const proposing *p, const lc_statement *s)
{
    size_t found = LC_KNOWN_NONE, count = 0;

    for (size_t i = 0; i < p->input->known_count; i++) {
        if (!is_about(p, s, i))
            continue;
        if (s->subject.count > 0 && is_named_whole(&p->known[i], s->subject))
            return i;
        found = i;
        count++;
    }
    return count == 1 ? found : LC_KNOWN_NONE;
}

/* ---- The outcome of a statement -------------------------------------------------------------- */

static bool may_claim(const candidate *c, const lc_statement *s)
{
    bool is_change = s->is_news || s->is_correction || s->leans_on_rank;

    return lc_terms_content(s->value) <= CLAIM_WORDS_MAX &&
           (is_change || lc_value_is_alike(c->value, s->value) || s->form == LC_STATES_IMPLIED);
}

static lc_rule rule_of(const lc_statement *s)
{
    if (s->leans_on_rank)
        return LC_RULE_AUTHORITY;
    if (s->is_correction)
        return LC_RULE_EXPLICIT;
    return s->is_news ? LC_RULE_TEMPORAL : LC_RULE_IMPLICIT;
}

/* The text of a value, with a sign in front that is not a term: "+31 6 5550 9981". */
static loci_str text_of(lc_terms value)
{
    loci_str text = lc_terms_text(value);
    size_t start = value.at[0].start;

    if (start > 0 && value.text.ptr[start - 1] != '\0' &&
        strchr("+-@~", value.text.ptr[start - 1]) != NULL &&
        (start == 1 || value.text.ptr[start - 2] == ' ')) {
        text.ptr--;
        text.len++;
    }
    return text;
}

static loci_str quote_of(const lc_statement *s)
{
    loci_str quote = lc_terms_text(s->sentence);

    return quote.len <= QUOTE_BYTES_MAX ? quote : lc_terms_text(s->value);
}

/* The only amount among the terms; SIZE_MAX when there is none or more than one. */
static size_t only_amount(lc_terms terms)
{
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < terms.count; i++)
        if (lc_term_is_amount(&terms.at[i])) {
            if (found != SIZE_MAX)
                return SIZE_MAX;
            found = i;
        }
    return found;
}

/* "40 stacking chairs" and "make it 55" give "55 stacking chairs": a bare number takes the place of
 * the number. */
static loci_status merge_value(const proposing *p, const candidate *c, lc_terms value,
                               loci_str *out, loci_error *err)
{
    size_t amount = only_amount(c->value);
    const lc_term *term = amount != SIZE_MAX ? &c->value.at[amount] : NULL;
    loci_str old = c->value.text, new = text_of(value);
    char *text;

    *out = new;
    if (term == NULL || value.count != 1 || value.at[0].kind != LC_TERM_NUMBER ||
        term->kind != LC_TERM_NUMBER || c->value.count < 2)
        return LOCI_OK;
    text = lc_arena_alloc(p->arena, old.len + new.len + 1);
    if (text == NULL)
        return lc_fail_memory(err);
    memcpy(text, old.ptr, term->start);
    memcpy(text + term->start, new.ptr, new.len);
    memcpy(text + term->start + new.len, old.ptr + term->start + term->bytes,
           old.len - term->start - term->bytes);
    *out = (loci_str){text, old.len - term->bytes + new.len};
    return LOCI_OK;
}

static loci_status propose_change(const proposing *p, const lc_statement *s, size_t known,
                                  lc_proposal *out, bool *is_proposed, loci_error *err)
{
    const candidate *c = &p->known[known];
    bool supersedes = may_supersede(c, s);

    *is_proposed = false;
    if ((!supersedes && !may_claim(c, s)) ||
        (has_all(s->value, c->value) && has_all(c->value, s->value)))
        return LOCI_OK;
    *is_proposed = true;
    *out = (lc_proposal){.known = known,
                         .key = p->input->known[known].key,
                         .quote = quote_of(s),
                         .rule = rule_of(s),
                         .is_claim = !supersedes};
    return merge_value(p, c, s->value, &out->value, err);
}

/* ---- New facts ------------------------------------------------------------------------------- */

loci_status lc_subject_key(lc_arena *arena, const lc_statement *s, loci_str *out, loci_error *err)
{
    char *key = lc_arena_alloc(arena, KEY_BYTES_MAX);
    size_t len = 0;

    *out = LC_STR_NONE;
    if (key == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < s->subject.count; i++) {
        const lc_term *term = &s->subject.at[i];
        const char *word = s->subject.text.ptr + term->start;

        if (!lc_term_is_content(term))
            continue;
        if (len + term->bytes + 1 > KEY_BYTES_MAX)
            return LOCI_OK;
        if (len > 0)
            key[len++] = '_';
        for (uint32_t b = 0; b < term->bytes; b++) {
            char c = word[b];

            if (c >= 'A' && c <= 'Z')
                c = (char)(c + ('a' - 'A'));
            if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
                return LOCI_OK; /* "sister's", other alphabets: no key is made up. */
            key[len++] = c;
        }
    }
    *out = (loci_str){key, len};
    return LOCI_OK;
}

/* Is it plain enough to know it from now on? */
static bool may_create(const proposing *p, const lc_statement *s)
{
    size_t words = lc_terms_content(s->subject), values = lc_terms_content(s->value);
    lc_value_kind kind = lc_value_kind_of(s->value);
    bool is_favourite = words > 0 && (lc_term_is(s->subject, 0, "favorite") ||
                                      lc_term_is(s->subject, 0, "favourite"));

    if (words == 0 || words > KEY_WORDS_MAX || lc_term_is_amount(&s->subject.at[0]))
        return false;
    if (s->form == LC_STATES_REMEMBER)
        return values <= REMEMBER_WORDS_MAX;
    if (values > CREATE_WORDS_MAX || !p->input->is_owner || !s->is_own)
        return false;
    if (s->form == LC_STATES_USE)
        return kind == LC_VALUE_NAME;
    return s->form == LC_STATES_SUBJECT &&
           (is_favourite ||
            (lc_term_in(&s->subject.at[s->subject.count - 1], LC_WORDS_ATTRIBUTES) &&
             kind != LC_VALUE_WORDS && kind != LC_VALUE_STATE && kind != LC_VALUE_TIME));
}

static loci_status propose_new(const proposing *p, const lc_statement *s, lc_proposal *out,
                               bool *is_proposed, loci_error *err)
{
    loci_status status = LOCI_OK;

    *is_proposed = false;
    if (p->input->is_known_only || !may_create(p, s))
        return LOCI_OK;
    *out = (lc_proposal){.known = LC_KNOWN_NONE,
                         .value = text_of(s->value),
                         .quote = quote_of(s),
                         .rule = s->form == LC_STATES_REMEMBER ? LC_RULE_EXPLICIT : rule_of(s)};
    status = lc_subject_key(p->arena, s, &out->key, err);
    *is_proposed = status == LOCI_OK && out->key.len > 0;
    return status;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Takes the place of an earlier proposal for the same key; one that supersedes is not replaced by a
 * claim. */
static void add_proposal(lc_proposal *out, size_t *count, const lc_proposal *proposal)
{
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++) {
        bool is_same = lc_str_eq(out[i].key, proposal->key);

        if (is_same && proposal->is_claim && !out[i].is_claim)
            return;
        if (!is_same)
            out[kept++] = out[i];
    }
    out[kept++] = *proposal;
    *count = kept;
}

loci_status lc_talk_propose(const lc_talk *talk, lc_arena *arena, const lc_propose_input *input,
                            lc_proposal out[LC_PROPOSALS_MAX], size_t *count, loci_error *err)
{
    proposing p = {.input = input, .arena = arena};
    loci_status status = LOCI_OK;

    *count = 0;
    if (input->statements->count > 0)
        status = read_known(&p, lc_talk_lexicon(talk), err);
    for (size_t i = 0; i < input->statements->count && status == LOCI_OK; i++) {
        const lc_statement *s = &input->statements->items[i];
        size_t known = LC_KNOWN_NONE;
        lc_proposal proposal;
        bool is_proposed = false;

        /* "My city is ..." of another speaker says nothing about this user. */
        if (s->is_mine && !input->is_owner)
            continue;
        known = find_fact(&p, s);
        status = known != LC_KNOWN_NONE ? propose_change(&p, s, known, &proposal, &is_proposed, err)
                                        : propose_new(&p, s, &proposal, &is_proposed, err);
        if (status == LOCI_OK && is_proposed)
            add_proposal(out, count, &proposal);
    }
    return status;
}
