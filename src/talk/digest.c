/* digest.c - three passes: cut the messages into sentences and find the role of each (decision,
 * promise, question); count in how many messages each sense occurs; score, and drop sentences that
 * a later one repeats.
 *
 * The weights were set by reading digests of conversations, not by fitting a figure. The role of a
 * sentence weighs most, because decisions, promises and open points are what readers of a summary
 * look for; shared words come next, because a subject that several messages are about is what the
 * conversation is about.
 */
#include "talk/digest.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "talk/statement.h"

#define TERMS_MIN 3
#define TERMS_MAX 60      /* Longer ones are pasted texts and lists. */
#define TERMS_LONG 32     /* From here on a sentence costs more than it says. */
#define CONTENT_MIN 2     /* "That works for me" says nothing by itself. */
#define LEADS_MAX 3       /* Words such as "ok, so" in front of a sentence. */
#define SHARED_MAX 5      /* Messages that share a sense: more say no more. */
#define SPECIFIC_MAX 4    /* Names, amounts and dates that raise a score. */
#define ALIKE 0.6f        /* Share of common senses from which two sentences say the same. */
#define TONE_WORDS_MIN 2  /* A single word is not a mood. */
#define NAME_BYTES_MAX 64 /* Of a person. */

typedef struct sense_count {
    uint64_t sense; /* 0 = a free place. */
    uint32_t messages;
    uint32_t last; /* Message that was counted last, plus 1. */
} sense_count;

typedef struct digesting {
    const lc_lexicon *lexicon;
    lc_arena *arena;
    const lc_digest_input *input;
    lc_digest *out;
    size_t line_room;
    sense_count *senses;
    size_t sense_places; /* A power of two. */
    size_t glad, troubled;
} digesting;

const char *lc_tone_name(lc_tone tone)
{
    static const char *const names[] = {"neutral", "positive", "troubled", "mixed"};

    return names[tone];
}

static bool is_person(const lc_digest_message *message)
{
    return lc_str_is(message->role, "user");
}

static bool is_read(const lc_digest_message *message)
{
    return is_person(message) || lc_str_is(message->role, "assistant");
}

/* ---- The role of a sentence ------------------------------------------------------------------ */

static size_t skip_fillers(lc_terms s)
{
    size_t at = 0;

    while (at < LEADS_MAX && at + 1 < s.count &&
           (lc_term_in(&s.at[at], LC_WORDS_FILLERS) || lc_term_in(&s.at[at], LC_WORDS_CORRECTING)))
        at++;
    return at;
}

/* Whether the sentence continues at `at` with one of the phrases, '|' between them. */
static bool begins(lc_terms s, size_t at, const char *phrases)
{
    loci_str rest = loci_str_of(phrases);

    while (rest.len > 0) {
        loci_str phrase = lc_str_split(rest, '|', &rest);
        size_t i = at;
        bool fits = true;

        while (fits && phrase.len > 0) {
            loci_str word = lc_str_split(phrase, ' ', &phrase);

            fits = i < s.count && s.at[i++].word == lc_word_key(word);
        }
        if (fits)
            return true;
    }
    return false;
}

static bool has_phrase(lc_terms s, const char *phrases)
{
    for (size_t at = 0; at < s.count; at++)
        if (begins(s, at, phrases))
            return true;
    return false;
}

static bool is_question(lc_terms s)
{
    return s.at[s.count - 1].after == '?';
}

static bool is_uncertain(lc_terms s)
{
    return lc_terms_have_in(s, LC_WORDS_SUPPOSING);
}

static bool is_decision(lc_terms s)
{
    lc_statements statements = {.count = 0};
    size_t at = skip_fillers(s);

    if (is_uncertain(s) || lc_terms_have_in(s, LC_WORDS_DENYING))
        return false;
    lc_statements_read(s, &statements);
    for (size_t i = 0; i < statements.count; i++)
        if (statements.items[i].is_news || statements.items[i].is_correction)
            return true;
    if (begins(s, at, "let's") && at + 1 < s.count &&
        (lc_term_in(&s.at[at + 1], LC_WORDS_DECIDING) ||
         lc_term_in(&s.at[at + 1], LC_WORDS_CHANGE)))
        return true;
    return lc_terms_have_in(s, LC_WORDS_DECIDED) ||
           has_phrase(s, "ended up with|ended up going|ended up using|going with|went with");
}

static bool is_commitment(lc_terms s)
{
    size_t at = skip_fillers(s);

    return begins(s, at,
                  "i'll|i will|we'll|we will|i'm going to|i am going to|we're going to|"
                  "we are going to|i'm gonna|i promise|i promised") &&
           !lc_terms_have_in(s, LC_WORDS_DENYING) && !is_uncertain(s);
}

static bool is_open(lc_terms s)
{
    size_t at = skip_fillers(s);

    if (lc_terms_have_in(s, LC_WORDS_PENDING))
        return true;
    if (begins(s, at,
               "i need to|we need to|i have to|we have to|i must|we must|i should|we should|"
               "i still|we still|remind me|don't forget|don't let me forget"))
        return true;
    return has_phrase(s, "still need|still needs|still have to|still has to|still missing|"
                         "still open|still unclear|not sure yet|not decided|figure out") ||
           (has_phrase(s, "yet") && lc_terms_have_in(s, LC_WORDS_DENYING));
}

/* A question of a person is open while no other speaker has said anything after it. */
static bool is_answered(const digesting *d, size_t message)
{
    const lc_digest_message *asked = &d->input->messages[message];

    for (size_t i = message + 1; i < d->input->count; i++) {
        const lc_digest_message *later = &d->input->messages[i];

        if (is_read(later) &&
            !(lc_str_eq(later->role, asked->role) && lc_str_eq(later->speaker, asked->speaker)))
            return true;
    }
    return false;
}

static lc_gist gist_of(const digesting *d, lc_terms s, size_t message)
{
    bool is_persons = is_person(&d->input->messages[message]);

    if (is_question(s))
        return is_persons && !is_answered(d, message) ? LC_GIST_OPEN : LC_GIST_QUESTION;
    if (is_decision(s))
        return LC_GIST_DECISION;
    if (!is_persons)
        return LC_GIST_STATEMENT; /* "I'll help you with that" is not a promise. */
    if (is_commitment(s))
        return LC_GIST_COMMITMENT;
    return is_open(s) ? LC_GIST_OPEN : LC_GIST_STATEMENT;
}

/* ---- Sentences ------------------------------------------------------------------------------- */

#define MARKS_MAX 4 /* Behind a sentence: ...") */

/* The sentence with the marks that touch it: an opening quote or bracket, and behind it closing
 * ones and the marks that end it. Without them, "She said "no". I left." would read as one
 * quotation that never ends. */
static loci_str with_marks(lc_terms s)
{
    static const char *const opening[] = {"\"", "'", "(", "[", "\u201C", "\u2018"};
    static const char *const closing[] = {".", "?", "!", "\"", "'", ")", "]", "\u201D", "\u2019"};
    loci_str text = lc_terms_text(s);
    loci_str rest = {text.ptr + text.len, s.text.len - (size_t)(text.ptr + text.len - s.text.ptr)};

    for (size_t i = 0; i < sizeof opening / sizeof *opening; i++) {
        size_t bytes = strlen(opening[i]);

        if ((size_t)(text.ptr - s.text.ptr) >= bytes &&
            memcmp(text.ptr - bytes, opening[i], bytes) == 0) {
            text = (loci_str){text.ptr - bytes, text.len + bytes};
            break;
        }
    }
    for (size_t i = 0, found = 0; i < sizeof closing / sizeof *closing && found < MARKS_MAX; i++) {
        loci_str mark = loci_str_of(closing[i]);

        if (!lc_str_starts(rest, mark))
            continue;
        rest = (loci_str){rest.ptr + mark.len, rest.len - mark.len};
        text.len += mark.len;
        found++;
        i = SIZE_MAX; /* Any of them may follow. */
    }
    return text;
}

/* The sentence as one line: runs of white space become one space. */
static loci_str make_line(lc_arena *arena, lc_terms s)
{
    loci_str text = with_marks(s);
    char *out = lc_arena_alloc(arena, text.len + 1);
    size_t len = 0;

    if (out == NULL)
        return LC_STR_NONE;
    for (size_t i = 0; i < text.len; i++) {
        bool is_space = strchr(" \t\r\n", text.ptr[i]) != NULL && text.ptr[i] != '\0';

        if (!is_space)
            out[len++] = text.ptr[i];
        else if (len > 0 && out[len - 1] != ' ')
            out[len++] = ' ';
    }
    out[len] = '\0';
    return (loci_str){out, len};
}

static bool is_worth_reading(lc_terms s)
{
    size_t code = 0, content = 0;

    for (size_t i = 0; i < s.count; i++) {
        code += s.at[i].is_code;
        content += lc_term_is_content(&s.at[i]) && !lc_term_in(&s.at[i], LC_WORDS_FILLERS);
    }
    return s.count >= TERMS_MIN && s.count <= TERMS_MAX && content >= CONTENT_MIN &&
           2 * code < s.count;
}

/* Of more sentences than there is room for, the first half goes. */
static void make_room(digesting *d)
{
    lc_digest *out = d->out;

    if (out->count < d->line_room)
        return;
    memmove(out->lines, out->lines + out->count / 2,
            (out->count - out->count / 2) * sizeof *out->lines);
    out->count -= out->count / 2;
}

static loci_status add_line(digesting *d, lc_terms s, size_t message, loci_error *err)
{
    lc_digest_line line = {.message = message, .terms = s, .bits = lc_sense_bits(s)};

    if (!is_worth_reading(s))
        return LOCI_OK;
    line.text = make_line(d->arena, s);
    if (line.text.ptr == NULL)
        return lc_fail_memory(err);
    line.gist = gist_of(d, s, message);
    make_room(d);
    d->out->lines[d->out->count++] = line;
    return LOCI_OK;
}

static sense_count *find_sense(const digesting *d, uint64_t sense)
{
    size_t place = sense & (d->sense_places - 1);

    while (d->senses[place].sense != 0 && d->senses[place].sense != sense)
        place = (place + 1) & (d->sense_places - 1);
    return &d->senses[place];
}

/* ---- People and mood ------------------------------------------------------------------------- */

static void add_person(digesting *d, loci_str name)
{
    lc_digest *out = d->out;

    if (name.len == 0 || name.len > NAME_BYTES_MAX || out->people_count == LC_DIGEST_PEOPLE_MAX)
        return;
    for (size_t i = 0; i < out->people_count; i++)
        if (lc_str_eq(out->people[i], name))
            return;
    out->people[out->people_count++] = name;
}

/* A name of one or two words at `at`; 0 = there is none. */
static size_t name_terms(lc_terms s, size_t at)
{
    size_t count = 0;

    while (count < 2 && at + count < s.count && s.at[at + count].kind == LC_TERM_NAME &&
           lc_term_has_capital(s, at + count) && (count == 0 || s.at[at].after == 0))
        count++;
    return count;
}

/* "my brother Tom", "Dr. Voss", "Tom is my brother", and names that are known. Nothing else: a
 * capital alone may be a product or a place. */
static void find_people(digesting *d, lc_terms s)
{
    for (size_t at = 0; at < s.count; at++) {
        bool is_kin = lc_term_in(&s.at[at], LC_WORDS_KIN) && at > 0 &&
                      lc_term_in(&s.at[at - 1], LC_WORDS_OWN) && s.at[at].after == 0;
        bool is_title = begins(s, at, "mr|mrs|ms|dr|prof");
        size_t count = is_kin || is_title ? name_terms(s, at + 1) : 0;

        if (count > 0)
            add_person(d, lc_terms_text(lc_terms_part(s, at + 1, count)));
        else if ((count = name_terms(s, at)) > 0 && begins(s, at + count, "is my|is our") &&
                 at + count + 2 < s.count && lc_term_in(&s.at[at + count + 2], LC_WORDS_KIN))
            add_person(d, lc_terms_text(lc_terms_part(s, at, count)));
        for (size_t i = 0; i < d->input->people.count; i++)
            if (lc_str_eq(d->input->people.items[i],
                          (loci_str){s.text.ptr + s.at[at].start,
                                     d->input->people.items[i].len <= s.text.len - s.at[at].start
                                         ? d->input->people.items[i].len
                                         : 0}))
                add_person(d, d->input->people.items[i]);
    }
}

static void note_mood(digesting *d, lc_terms terms)
{
    for (size_t i = 0; i < terms.count; i++) {
        d->glad += lc_term_in(&terms.at[i], LC_WORDS_GLAD);
        d->troubled += lc_term_in(&terms.at[i], LC_WORDS_TROUBLED);
    }
}

static lc_tone tone_of(const digesting *d)
{
    bool is_glad = d->glad >= TONE_WORDS_MIN, is_troubled = d->troubled >= TONE_WORDS_MIN;

    if (is_glad && is_troubled)
        return LC_TONE_MIXED;
    return is_glad ? LC_TONE_POSITIVE : is_troubled ? LC_TONE_TROUBLED : LC_TONE_NEUTRAL;
}

/* ---- Scores ---------------------------------------------------------------------------------- */

/* How far the senses of a sentence are shared with other messages, 0 to 1. */
static float centrality(const digesting *d, lc_terms s)
{
    float sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < s.count; i++) {
        uint32_t shared;

        if (!lc_term_is_content(&s.at[i]))
            continue;
        shared = find_sense(d, s.at[i].sense)->messages;
        sum += (float)((shared < SHARED_MAX ? shared : SHARED_MAX) - 1) / (SHARED_MAX - 1);
        count++;
    }
    return count > 0 ? sum / sqrtf((float)count) : 0;
}

static float specificity(lc_terms s)
{
    size_t count = 0;

    for (size_t i = 0; i < s.count; i++)
        count += s.at[i].kind == LC_TERM_NAME || lc_term_is_amount(&s.at[i]);
    return (float)(count < SPECIFIC_MAX ? count : SPECIFIC_MAX) / SPECIFIC_MAX;
}

static float score_of(const digesting *d, const lc_digest_line *line, bool is_first)
{
    static const float weights[] = {[LC_GIST_DECISION] = 1.0f,
                                    [LC_GIST_COMMITMENT] = 0.8f,
                                    [LC_GIST_OPEN] = 0.7f,
                                    [LC_GIST_QUESTION] = 0.1f,
                                    [LC_GIST_STATEMENT] = 0.2f};
    const lc_digest_message *message = &d->input->messages[line->message];
    lc_terms s = line->terms;
    float score = weights[line->gist] + centrality(d, s) + 0.8f * specificity(s);

    if (is_first)
        score += 0.2f;
    if (is_person(message) &&
        (lc_term_in(&s.at[0], LC_WORDS_SPEAKERS) || lc_term_in(&s.at[0], LC_WORDS_OWN)))
        score += 0.3f; /* People speak of themselves. */
    /* Later statements are more likely to be still true. */
    score += 0.3f * (float)(line->message + 1) / (float)d->input->count;
    if (!is_person(message))
        score *= 0.6f;
    if (is_uncertain(s))
        score *= 0.7f;
    if (s.at[0].is_quoted)
        score *= 0.5f;
    return s.count > TERMS_LONG ? score * 0.6f : score;
}

static bool says_the_same(const lc_digest_line *a, const lc_digest_line *b)
{
    size_t common = 0, a_count = lc_terms_content(a->terms), b_count = lc_terms_content(b->terms);

    if ((a->bits & b->bits) == 0)
        return false;
    for (size_t i = 0; i < a->terms.count; i++)
        common += lc_term_is_content(&a->terms.at[i]) &&
                  lc_terms_have_sense(b->terms, a->terms.at[i].sense);
    return (float)common >= ALIKE * (float)(a_count < b_count ? b_count : a_count);
}

/* Scores all lines; an earlier one that a later one repeats is dropped. */
static void score_lines(digesting *d)
{
    lc_digest *out = d->out;
    size_t kept = 0;

    for (size_t i = 0; i < out->count; i++) {
        lc_digest_line *line = &out->lines[i];
        bool is_first = i == 0 || out->lines[i - 1].message != line->message;

        line->score = score_of(d, line, is_first);
    }
    for (size_t i = 0; i < out->count; i++) {
        bool is_repeated = false;

        for (size_t j = i + 1; j < out->count && !is_repeated; j++)
            is_repeated = says_the_same(&out->lines[i], &out->lines[j]);
        if (!is_repeated)
            out->lines[kept++] = out->lines[i];
    }
    out->count = kept;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Counts each sense once per message. */
static void count_senses(digesting *d, lc_terms terms, size_t message, size_t *left)
{
    for (size_t i = 0; i < terms.count; i++) {
        sense_count *sense;

        if (!lc_term_is_content(&terms.at[i]))
            continue;
        sense = find_sense(d, terms.at[i].sense);
        if (sense->sense == 0 && *left == 0)
            continue; /* The table is full: senses that are new now are rare ones. */
        *left -= sense->sense == 0;
        sense->sense = terms.at[i].sense;
        if (sense->last != message + 1)
            sense->messages++;
        sense->last = (uint32_t)message + 1;
    }
}

static bool ends_sentence(char mark)
{
    return mark == '.' || mark == '?' || mark == '!';
}

static loci_status read_message(digesting *d, size_t index, size_t *left, loci_error *err)
{
    const lc_digest_message *message = &d->input->messages[index];
    lc_terms terms = {.count = 0};
    size_t first = 0;
    loci_status status = lc_terms_read(d->lexicon, d->arena, message->text, &terms, err);

    if (status == LOCI_OK && is_person(message)) {
        add_person(d, message->speaker);
        note_mood(d, terms);
    }
    count_senses(d, terms, index, left);
    for (size_t i = 0; i < terms.count && status == LOCI_OK; i++) {
        if (!ends_sentence(terms.at[i].after) && i + 1 < terms.count)
            continue;
        if (is_person(message))
            find_people(d, lc_terms_part(terms, first, i + 1 - first));
        status = add_line(d, lc_terms_part(terms, first, i + 1 - first), index, err);
        first = i + 1;
    }
    return status;
}

loci_status lc_digest_read(const lc_lexicon *lexicon, lc_arena *arena, const lc_digest_input *input,
                           lc_digest *out, loci_error *err)
{
    digesting d = {.lexicon = lexicon,
                   .arena = arena,
                   .input = input,
                   .out = out,
                   .line_room = LC_DIGEST_SENTENCES_MAX,
                   .sense_places = 16384};
    size_t left = d.sense_places / 2;
    loci_status status = LOCI_OK;

    *out = (lc_digest){.lines = lc_arena_alloc(arena, d.line_room * sizeof *out->lines)};
    d.senses = lc_arena_zalloc_array(arena, d.sense_places, sizeof *d.senses);
    if (out->lines == NULL || d.senses == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < input->count && status == LOCI_OK; i++)
        if (is_read(&input->messages[i]))
            status = read_message(&d, i, &left, err);
    if (status == LOCI_OK)
        score_lines(&d);
    out->tone = tone_of(&d);
    return status;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

loci_status lc_digest_choose(const lc_digest *digest, unsigned gists, lc_digest_room room,
                             lc_arena *arena, lc_digest_lines *out, loci_error *err)
{
    bool *is_tried = lc_arena_zalloc_array(arena, digest->count + 1, sizeof *is_tried);
    bool *is_chosen = lc_arena_zalloc_array(arena, digest->count + 1, sizeof *is_chosen);
    size_t used = 0, chosen = 0;

    *out = (lc_digest_lines){
        .items = lc_arena_alloc(arena, (digest->count + 1) * sizeof *out->items)};
    if (is_tried == NULL || is_chosen == NULL || out->items == NULL)
        return lc_fail_memory(err);
    while (chosen < room.lines) {
        size_t best = digest->count, code_points;

        for (size_t i = 0; i < digest->count; i++)
            if (!is_tried[i] && (gists & LC_GIST_BIT(digest->lines[i].gist)) != 0 &&
                (best == digest->count || digest->lines[i].score > digest->lines[best].score))
                best = i;
        if (best == digest->count)
            break;
        is_tried[best] = true;
        code_points = lc_utf8_count(digest->lines[best].text) + 1;
        if (used + code_points > room.code_points)
            continue;
        used += code_points;
        is_chosen[best] = true;
        chosen++;
    }
    for (size_t i = 0; i < digest->count; i++)
        if (is_chosen[i])
            out->items[out->count++] = &digest->lines[i];
    return LOCI_OK;
}
