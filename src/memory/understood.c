/* understood.c - see understood.h.
 *
 * A text becomes words with their case and the punctuation behind them. A reader walks over them:
 *
 *     [opening] subject predicate         I / the user / my mother / John / nothing ("Lives in
 * ...") [opening] subject's noun is value   my, our, John's, the user's [opening] [the] noun is
 * value       nouns that are single-valued by themselves
 *
 * and must reach the end. The tables of words are "a|b|c".
 */
#include "memory/understood.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "memory/slug.h"
#include "text/normalise.h"

#define WORDS_MAX 24      /* A longer text has no attribute. */
#define VALUE_WORDS_MAX 4 /* More than that is a story. */
#define NOUN_WORDS_MAX 4

/* ---- Words ----------------------------------------------------------------------------------- */

typedef struct word {
    loci_str raw;   /* Without punctuation around it and without 's. */
    loci_str lower; /* ASCII letters in lower case. */
    bool is_capital;
    bool is_possessive; /* It had 's. */
    bool has_comma;     /* Behind it. */
} word;

typedef struct reader {
    lc_arena *arena;
    word words[WORDS_MAX];
    size_t count, at;
    bool is_plain; /* One clause without a word of `guards`. */
    lc_understood *out;
} reader;

static bool is_one_of(loci_str text, const char *list)
{
    loci_str rest = loci_str_of(list);

    while (rest.ptr != NULL)
        if (lc_str_eq(lc_str_split(rest, '|', &rest), text))
            return true;
    return false;
}

/* A clause with one of these is not a plain statement about the present, or is more than one
 * statement. */
static const char guards[] =
    "not|no|never|none|longer|anymore|used|was|were|had|been|did|didn't|formerly|previously|ago|"
    "if|would|could|might|may|maybe|perhaps|probably|possibly|likely|should|shall|will|wish|hope|"
    "hopefully|think|thinks|thought|guess|suppose|believe|heard|said|says|told|claims|according|"
    "wants|want|plans|planning|considering|almost|nearly|about|around|and|or|but|because|although|"
    "though|when|while|until|unless|than|also|too|another|both|either|sometimes|often|usually|"
    "mostly|part-time|temporarily|except|only|who|which|what|where|why|how|whether|that|"
    "isn't|aren't|don't|doesn't|wasn't|won't|can't|cannot|ain't|supposed|pretend|imagine|like|"
    "example|e.g|joking|lol|haha";

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Bytes of an apostrophe with an s at the end, or 0. */
static size_t possessive_bytes(loci_str text)
{
    if (text.len > 2 && memcmp(text.ptr + text.len - 2, "'s", 2) == 0)
        return 2;
    return text.len > 4 && memcmp(text.ptr + text.len - 4, "\xE2\x80\x99s", 4) == 0 ? 4 : 0;
}

/* Takes punctuation off the end of `text`. False if it ends a clause before the end of the whole
 * text, or has marks that a plain statement does not have. */
static bool strip(loci_str *text, bool is_last, bool *has_comma)
{
    bool is_plain = strchr("(\"'", text->ptr[0]) == NULL;

    while (text->len > 0 && strchr(",.!;:)", text->ptr[text->len - 1]) != NULL) {
        char mark = text->ptr[text->len - 1];
        bool is_short = mark == '.' && text->len <= 3; /* "St. Ives", "Dr. Smith" */

        if (mark == ',')
            *has_comma = true;
        else if (mark == ')' || (!is_last && !is_short))
            is_plain = false;
        text->len--;
    }
    for (size_t i = 0; i < text->len; i++)
        is_plain &= strchr("?\"`{}<>;*", text->ptr[i]) == NULL;
    return is_plain && text->len > 0;
}

static bool add_word(reader *r, loci_str raw)
{
    word *to = &r->words[r->count];
    char *lower;

    to->is_possessive = possessive_bytes(raw) > 0;
    raw.len -= possessive_bytes(raw);
    lower = lc_arena_alloc(r->arena, raw.len + 1);
    if (lower == NULL)
        return false;
    for (size_t i = 0; i < raw.len; i++)
        lower[i] = lc_ascii_lower(raw.ptr[i]);
    lower[raw.len] = '\0';
    to->raw = raw;
    to->lower = (loci_str){lower, raw.len};
    to->is_capital = (raw.ptr[0] >= 'A' && raw.ptr[0] <= 'Z') || (unsigned char)raw.ptr[0] >= 0xC3;
    if (is_one_of(to->lower, guards) && !lc_str_is(raw, "May"))
        r->is_plain = false;
    r->count++;
    return true;
}

/* "I'm" is two words. */
static bool add_words(reader *r, loci_str text)
{
    bool is_short = lc_str_is(text, "I'm") || lc_str_is(text, "i'm") ||
                    lc_str_is(text, "I\xE2\x80\x99m");

    return is_short ? add_word(r, (loci_str){text.ptr, 1}) && add_word(r, LC_STR("am"))
                    : add_word(r, text);
}

static loci_status split(reader *r, loci_str text, loci_error *err)
{
    r->is_plain = true;
    text = lc_str_trim(text);
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        loci_str part;

        while (end < text.len && !is_space(text.ptr[end]))
            end++;
        part = (loci_str){text.ptr + at, end - at};
        at = end;
        while (at < text.len && is_space(text.ptr[at]))
            at++;
        if (r->count + 2 > WORDS_MAX || memchr(part.ptr, '\n', part.len) != NULL) {
            r->is_plain = false;
            return LOCI_OK;
        }
        r->words[r->count].has_comma = false;
        if (!strip(&part, at >= text.len, &r->words[r->count].has_comma)) {
            r->is_plain = false;
            if (part.len == 0)
                continue;
        }
        if (!add_words(r, part))
            return lc_fail_memory(err);
    }
    return LOCI_OK;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static const word *peek(const reader *r, size_t ahead)
{
    static const word end = {.raw = {"", 0}, .lower = {"", 0}};

    return r->at + ahead < r->count ? &r->words[r->at + ahead] : &end;
}

static bool eat(reader *r, const char *list)
{
    if (r->at >= r->count || !is_one_of(r->words[r->at].lower, list))
        return false;
    r->at++;
    return true;
}

/* Two words in a row. */
static bool eat_two(reader *r, const char *first, const char *second)
{
    if (!is_one_of(peek(r, 0)->lower, first) || !is_one_of(peek(r, 1)->lower, second))
        return false;
    r->at += 2;
    return true;
}

static size_t left(const reader *r)
{
    return r->count - r->at;
}

/* The words from `first` up to `end` as written, commas included, in the arena. */
static loci_str join(reader *r, size_t first, size_t end, bool is_lower, char gap)
{
    size_t bytes = 0;
    char *text, *to;

    for (size_t i = first; i < end; i++)
        bytes += r->words[i].raw.len + 2;
    text = to = lc_arena_alloc(r->arena, bytes + 1);
    if (text == NULL)
        return LC_STR_NONE;
    for (size_t i = first; i < end; i++) {
        loci_str from = is_lower ? r->words[i].lower : r->words[i].raw;

        if (i > first)
            *to++ = gap;
        memcpy(to, from.ptr, from.len);
        to += from.len;
        if (!is_lower && r->words[i].has_comma && i + 1 < end)
            *to++ = ',';
    }
    *to = '\0';
    return (loci_str){text, (size_t)(to - text)};
}

/* Removes words at the end that only refer to the present: "these days", "since May", "as of
 * today". */
static void drop_tail(reader *r)
{
    for (size_t i = 2; i < r->count; i++)
        if (lc_str_is(r->words[i].lower, "since") ||
            (i + 1 < r->count && lc_str_is(r->words[i].lower, "as") &&
             lc_str_is(r->words[i + 1].lower, "of")))
            r->count = i;
    for (;;) {
        loci_str last = r->count > 2 ? r->words[r->count - 1].lower : LC_STR("");
        loci_str before = r->count > 3 ? r->words[r->count - 2].lower : LC_STR("");

        if (is_one_of(last, "now|currently|nowadays|instead|again|already|today"))
            r->count--;
        else if ((lc_str_is(last, "days") && lc_str_is(before, "these")) ||
                 (lc_str_is(last, "year") && lc_str_is(before, "this")))
            r->count -= 2;
        else if (r->count > 4 && lc_str_is(last, "moment") && lc_str_is(before, "the"))
            r->count -= 3;
        else
            break;
    }
}

/* ---- Kinds of values ------------------------------------------------------------------------- */

typedef enum kind { ANY, NAME, NUMBER, DATE, TIME, EMAIL, STATE } kind;

static const char months[] =
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec";
static const char weekdays[] =
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tue|wed|thu|fri|sat|sun";
static const char date_words[] = "next|this|end|of|early|mid|late|week|month|quarter|year|the|"
                                 "tomorrow|q1|q2|q3|q4|spring|summer|autumn|fall|winter|by|on";
static const char units[] =
    "dollars|euros|pounds|usd|eur|gbp|k|m|kg|lbs|cm|km|miles|mph|minutes|hours|days|weeks|months|"
    "years|percent|people|gb|mb|tb|ms|seconds|points|per|month|hour|year|week|day|a|feet|inches|"
    "degrees|calories|steps|pages|employees|users|customers";
/* States that exclude each other, of work and of things. */
static const char states[] =
    "delayed|blocked|paused|cancelled|canceled|completed|complete|done|finished|shipped|live|"
    "launched|overdue|ongoing|pending|approved|rejected|archived|green|red|yellow|amber";
static const char states_of_two[] = "on track|at risk|off track|on hold|in progress|in review|"
                                    "in beta|on schedule|behind schedule|in production|in testing";

static bool is_number(loci_str text)
{
    size_t digits = 0;

    if (text.len > 3 && (unsigned char)text.ptr[0] >= 0xC2) /* € and £ */
        text = (unsigned char)text.ptr[0] == 0xE2 ? (loci_str){text.ptr + 3, text.len - 3}
                                                  : (loci_str){text.ptr + 2, text.len - 2};
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] >= '0' && text.ptr[i] <= '9')
            digits++;
        else if (strchr("$%.,-kmKM+", text.ptr[i]) == NULL)
            return false;
    }
    return digits > 0;
}

static bool is_date_word(loci_str text)
{
    size_t digits = 0;

    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9')
        digits++;
    if (digits > 0)
        return is_one_of((loci_str){text.ptr + digits, text.len - digits}, "|st|nd|rd|th") ||
               is_number(text);
    return is_one_of(text, months) || is_one_of(text, weekdays) || is_one_of(text, date_words);
}

static bool is_time_word(loci_str text)
{
    size_t i = 0;

    while (i < text.len && ((text.ptr[i] >= '0' && text.ptr[i] <= '9') || text.ptr[i] == ':'))
        i++;
    return i > 0 ? is_one_of((loci_str){text.ptr + i, text.len - i}, "|am|pm|h")
                 : is_one_of(text, "am|pm|noon|midnight|at|in|the|morning|evening");
}

static bool word_fits(const word *w, kind wanted, bool is_first)
{
    switch (wanted) {
    case NAME:
        return w->is_capital || (!is_first && is_one_of(w->lower, "of|the|de|la|van|von|upon"));
    case NUMBER:
        return is_first ? is_number(w->lower) : is_one_of(w->lower, units);
    case DATE:
        return is_date_word(w->lower);
    case TIME:
        return is_time_word(w->lower);
    case EMAIL:
        return is_first && memchr(w->raw.ptr, '@', w->raw.len) != NULL;
    default:
        return true;
    }
}

/* Whether all words that are left are a value of this kind. */
static bool is_value(const reader *r, kind wanted)
{
    if (left(r) == 0 || left(r) > VALUE_WORDS_MAX)
        return false;
    if (wanted == STATE && left(r) == 2) {
        loci_str first = peek(r, 0)->lower, second = peek(r, 1)->lower;
        loci_str rest = loci_str_of(states_of_two);

        while (rest.ptr != NULL) {
            loci_str tail, each = lc_str_split(rest, '|', &rest);

            if (lc_str_eq(lc_str_split(each, ' ', &tail), first) && lc_str_eq(tail, second))
                return true;
        }
    }
    if (wanted == STATE)
        return left(r) == 1 && is_one_of(peek(r, 0)->lower, states);
    for (size_t i = 0; i < left(r); i++)
        if (!word_fits(peek(r, i), wanted, i == 0) || peek(r, i)->is_possessive)
            return false;
    return wanted != DATE || !is_one_of(peek(r, 0)->lower, "end|of|by|on|the") || left(r) > 1;
}

/* Ends the reading: the words that are left are the value. */
static bool take(reader *r, const char *attribute, const char *fact_type)
{
    r->out->attribute = loci_str_of(attribute);
    r->out->fact_type = fact_type;
    r->out->value = join(r, r->at, r->count, true, ' ');
    return true;
}

static bool take_if(reader *r, kind wanted, const char *attribute, const char *fact_type)
{
    return is_value(r, wanted) && take(r, attribute, fact_type);
}

/* ---- Predicates of people -------------------------------------------------------------------- */

static const char professions[] =
    "engineer|developer|programmer|designer|manager|teacher|nurse|doctor|physician|surgeon|lawyer|"
    "attorney|accountant|consultant|analyst|scientist|researcher|professor|architect|electrician|"
    "plumber|carpenter|chef|cook|barista|journalist|editor|writer|photographer|pharmacist|dentist|"
    "therapist|psychologist|paramedic|firefighter|pilot|mechanic|librarian|translator|cashier|"
    "radiographer|salesperson|recruiter|bartender|veterinarian|freelancer|student|director|"
    "president|ceo|cto|cfo|administrator|technician|biologist|chemist|physicist|economist|"
    "farmer|welder|baker|butcher|hairdresser|florist|gardener|musician|actor|actress|painter|"
    "sculptor|banker|waiter|waitress|paralegal|midwife|optician|physiotherapist|radiologist|"
    "soldier|"
    "sailor|fisherman|realtor|janitor|secretary|receptionist|activist|coach|tutor";

/* "A good cook" is not an occupation. */
static const char praise[] =
    "good|great|bad|terrible|nice|amazing|real|huge|big|decent|keen|former";

/* Values of which one person has one: the first that a set has names the attribute. */
static const struct {
    const char *attribute, *fact_type, *values;
} exclusive[] = {
    {"marital_status", "fact", "married|single|engaged|divorced|widowed|separated"},
    {"diet", "preference", "vegetarian|vegan|pescatarian|omnivore|a vegetarian|a vegan"},
    {"chronotype", "fact", "a morning person|a night owl|an early bird|a night person"},
};

static const struct {
    const char *attribute, *values;
} preferences[] = {
    {"color_mode", "dark mode|light mode|dark theme|light theme|the dark theme|the light theme"},
    {"indentation", "tabs|spaces|2 spaces|4 spaces|two spaces|four spaces"},
    {"hot_drink", "tea|coffee"},
    {"units", "metric|imperial|metric units|imperial units|celsius|fahrenheit"},
    {"seat", "aisle seats|window seats|an aisle seat|a window seat|the aisle seat|the window seat"},
    {"time_format", "24-hour time|12-hour time|24 hour time|12 hour time"},
    {"contact_channel", "email|phone|phone calls|text messages|slack|whatsapp|sms"},
    {"editor_keys", "vim|emacs|vim keybindings|emacs keybindings"},
};

static bool read_preference(reader *r)
{
    loci_str value = join(r, r->at, r->count, true, ' ');

    for (size_t i = 0; i < sizeof preferences / sizeof *preferences; i++)
        if (is_one_of(value, preferences[i].values))
            return take(r, preferences[i].attribute, "preference");
    return false;
}

/* "34", "34 years old". */
static bool read_age(reader *r, bool is_self)
{
    int64_t years = 0;

    if (!lc_str_to_i64(peek(r, 0)->lower, &years) || years < 1 || years > 120)
        return false;
    if (left(r) == 3 && is_one_of(peek(r, 1)->lower, "years|yrs") &&
        lc_str_is(peek(r, 2)->lower, "old"))
        r->count -= 2;
    else if (left(r) != 1 || !is_self)
        return false;
    return take(r, "age", "fact");
}

/* Behind "is" or "am". */
static bool read_being(reader *r, bool is_self)
{
    loci_str value = join(r, r->at, r->count, true, ' ');

    for (size_t i = 0; i < sizeof exclusive / sizeof *exclusive; i++)
        if (is_one_of(value, exclusive[i].values))
            return take(r, exclusive[i].attribute, exclusive[i].fact_type);
    if (eat_two(r, "living|based|located", "in"))
        return take_if(r, NAME, "home", "fact");
    if (eat_two(r, "married", "to"))
        return take_if(r, NAME, "spouse", "relationship");
    if (read_age(r, is_self))
        return true;
    if (eat(r, "a|an") && left(r) <= 3 && left(r) > 0 && !is_one_of(peek(r, 0)->lower, praise) &&
        is_one_of(r->words[r->count - 1].lower, professions))
        return take(r, "occupation", "fact");
    return false;
}

static bool read_count(reader *r)
{
    static const char countable[] = "kids|children|sons|daughters|cats|dogs|pets|siblings|brothers|"
                                    "sisters|employees|cars|grandchildren|kid|child|cat|dog";
    static const char numbers[] = "one|two|three|four|five|six|seven|eight|nine|ten";

    if (left(r) != 2 || !is_one_of(peek(r, 1)->lower, countable) ||
        !(is_number(peek(r, 0)->lower) || is_one_of(peek(r, 0)->lower, numbers)))
        return false;
    r->out->attribute = join(r, r->at + 1, r->count, true, '_');
    r->out->value = peek(r, 0)->lower;
    return true;
}

/* Reads a statement about a person's name, work, home or other attributes. */
static bool read_person(reader *r, bool is_self)
{
    size_t start = r->at;

    (void)eat(r, "now|currently|still|just");
    if (is_one_of(peek(r, 1)->lower, "living|working"))
        (void)eat(r, "is|am");
    if (eat_two(r, "live|lives|living|reside|resides", "in"))
        return take_if(r, NAME, "home", "fact");
    if (eat_two(r, "work|works|working", "at"))
        return take_if(r, NAME, "employer", "fact");
    if (eat_two(r, "work|works|working", "as"))
        return (eat(r, "a|an|the") || true) && take_if(r, ANY, "occupation", "fact");
    if (eat(r, "prefer|prefers"))
        return read_preference(r);
    if (eat(r, "have|has"))
        return read_count(r);
    if (eat(r, "turned|turns"))
        return read_age(r, true);
    if (eat(r, "is|am") && ((eat(r, "now|currently") || true)) && read_being(r, is_self))
        return true;
    r->at = start;
    return false;
}

/* ---- Nouns with one value -------------------------------------------------------------------- */

#define RELATIONS                                                                                  \
    "wife|husband|spouse|partner|girlfriend|boyfriend|fiance|fiancee|boss|manager|supervisor|"     \
    "doctor|dentist|therapist|landlord|roommate|flatmate|cofounder|co-founder|mentor|accountant|"  \
    "lawyer|assistant"
#define RELATIVES                                                                                  \
    "mom|mum|mother|dad|father|sister|brother|son|daughter|grandmother|grandma|grandfather|"       \
    "grandpa|nana|aunt|uncle|cousin|friend|colleague|coworker|neighbor|neighbour|dog|cat"

static const struct {
    const char *nouns;
    kind kind;
    bool needs_owner; /* Only with "my" or a name in front. */
    bool is_project;  /* The owner is a project. */
} single_valued[] = {
    {"name|full_name|first_name|last_name|surname|nickname|middle_name", NAME, true, false},
    {"city|hometown|country|home_city|address|home_address|employer|company", NAME, true, false},
    {"wife|husband|spouse|partner|girlfriend|boyfriend|boss|manager|supervisor|landlord", NAME,
     true, false},
    {"team_lead|tech_lead|owner|product_owner|project_manager|project_lead", NAME, true, true},
    {"age|height|weight|shoe_size|size|salary|rent|hourly_rate|income|heart_rate", NUMBER, true,
     false},
    {"phone|phone_number|number|zip_code|postcode|employee_number", NUMBER, true, false},
    {"birthday|birth_date|date_of_birth|anniversary|wedding_date|start_date|end_date", DATE, true,
     false},
    {"email|email_address|e_mail|work_email", EMAIL, true, false},
    {"timezone|time_zone|native_language|mother_tongue|nationality|pronouns|blood_type|job_title|"
     "job|occupation|profession|title|role|major|star_sign|zodiac_sign",
     ANY, true, false},
    {"bedtime|wakeup_time|wake_up_time", TIME, true, false},
    {"deadline|due_date|launch_date|release_date|ship_date|go_live_date|delivery_date", DATE, false,
     true},
    {"budget|team_size|headcount|price|quota|version|target", NUMBER, false, true},
    {"status|project_status", STATE, false, true},
};

/* Whether `noun` is one of the above, so no name, also if a sentence begins with it. */
static bool is_attribute_noun(loci_str noun)
{
    for (size_t i = 0; i < sizeof single_valued / sizeof *single_valued; i++)
        if (is_one_of(noun, single_valued[i].nouns))
            return true;
    return false;
}

/* Whether a statement that begins with `noun` is about its speaker: "Name is Ana", in notes. Sizes
 * and titles without an owner can be those of anything. */
static bool is_own_noun(loci_str noun)
{
    for (size_t i = 0; i < sizeof single_valued / sizeof *single_valued; i++)
        if (is_one_of(noun, single_valued[i].nouns))
            return !single_valued[i].is_project &&
                   (single_valued[i].kind == NAME || single_valued[i].kind == DATE ||
                    single_valued[i].kind == EMAIL);
    return false;
}

/* The words as a slug. */
static loci_str join_slug(reader *r, size_t first, size_t end)
{
    loci_str noun = join(r, first, end, true, '_');

    for (size_t i = 0; i < noun.len; i++)
        if (noun.ptr[i] == '-')
            ((char *)noun.ptr)[i] = '_';
    return noun;
}

/* The noun of the words from `first` up to `end`: "favorite_color". */
static loci_str read_noun(reader *r, size_t first, size_t end)
{
    while (first < end && is_one_of(r->words[first].lower, "the|current|new|latest|updated"))
        first++;
    for (size_t i = first; i < end; i++) {
        if (lc_str_is(r->words[i].lower, "favourite"))
            r->words[i].lower = LC_STR("favorite");
        else if (lc_str_is(r->words[i].lower, "colour"))
            r->words[i].lower = LC_STR("color");
        if (r->words[i].has_comma || r->words[i].is_possessive)
            return LC_STR("");
    }
    return end - first <= NOUN_WORDS_MAX ? join_slug(r, first, end) : LC_STR("");
}

/* The value behind "is", for `noun`. */
static bool take_noun(reader *r, loci_str noun, bool has_owner, bool *is_project)
{
    for (size_t i = 0; i < sizeof single_valued / sizeof *single_valued; i++) {
        if (!is_one_of(noun, single_valued[i].nouns))
            continue;
        *is_project = single_valued[i].is_project;
        return (has_owner || !single_valued[i].needs_owner) &&
               take_if(r, single_valued[i].kind, noun.ptr,
                       is_one_of(noun, RELATIONS) ? "relationship" : "fact");
    }
    if (has_owner && noun.len > 9 && memcmp(noun.ptr, "favorite_", 9) == 0)
        return !eat(r, "the|a|an|my|to") && take_if(r, ANY, noun.ptr, "preference");
    return false;
}

/* Where the verb of "noun is value" is, or `count`. */
static size_t find_is(const reader *r)
{
    size_t at = r->at;

    while (at < r->count && !is_one_of(r->words[at].lower, "is|are|is:|=|:"))
        at++;
    return at;
}

static loci_status set_subject(reader *r, const char *type, size_t first, size_t end,
                               loci_error *err)
{
    loci_str slug, parts[2];
    char *ref;
    loci_status status;

    r->out->label = join(r, first, end, false, ' ');
    if (r->out->label.ptr == NULL)
        return lc_fail_memory(err);
    status = lc_slug_make(r->arena, r->out->label, &slug, err);
    if (status != LOCI_OK)
        return status;
    parts[0] = loci_str_of(type);
    parts[1] = slug;
    ref = lc_arena_alloc(r->arena, parts[0].len + slug.len + 2);
    if (ref == NULL)
        return lc_fail_memory(err);
    memcpy(ref, parts[0].ptr, parts[0].len);
    ref[parts[0].len] = ':';
    memcpy(ref + parts[0].len + 1, slug.ptr, slug.len);
    ref[parts[0].len + 1 + slug.len] = '\0';
    r->out->ref = (loci_str){ref, parts[0].len + 1 + slug.len};
    r->out->type = strcmp(type, "project") == 0 ? "project" : "people";
    return LOCI_OK;
}

/* "deadline for Apollo is June 3", "Apollo is due on June 3", "Apollo is blocked". */
static loci_status read_project(reader *r, bool *done, loci_error *err)
{
    size_t start, is_at;
    bool is_project = false;

    (void)eat(r, "the");
    start = r->at;
    is_at = find_is(r);
    if (is_at == r->count || is_at == start || is_at - start > NOUN_WORDS_MAX + 2)
        return LOCI_OK;
    for (size_t i = start + 1; i + 1 < is_at; i++) {
        if (!is_one_of(r->words[i].lower, "for|of"))
            continue;
        r->at = is_at + 1;
        *done = take_noun(r, read_noun(r, start, i), true, &is_project);
        i += lc_str_is(r->words[i + 1].lower, "the") && i + 2 < is_at;
        return *done ? set_subject(r, is_project ? "project" : "person", i + 1, is_at, err)
                     : LOCI_OK;
    }
    r->at = is_at + 1;
    if (take_noun(r, read_noun(r, start, is_at), false, &is_project)) {
        *done = true;
        r->out->type = "project";
        return LOCI_OK;
    }
    if (is_at - start > 3 || is_one_of(r->words[start].lower, "it|this|that|he|she|they|we|there|"
                                                              "everything|everyone|i|you|my"))
        return LOCI_OK;
    r->at = is_at + 1;
    if (eat_two(r, "due", "on|by|in"))
        *done = take_if(r, DATE, "deadline", "fact");
    else if (is_value(r, STATE) && !is_one_of(peek(r, 0)->lower, "green|red|yellow|amber|single"))
        *done = take(r, "status", "fact");
    return *done ? set_subject(r, "project", start, is_at, err) : LOCI_OK;
}

/* Behind an owner: "birthday is May 3". `name_end`: the words up to there are the owner's name. */
static loci_status read_owned(reader *r, size_t first, size_t name_end, bool *done, loci_error *err)
{
    size_t is_at = find_is(r);
    bool is_project = false;
    loci_str noun;

    if (is_at == r->count || is_at == r->at)
        return LOCI_OK;
    noun = read_noun(r, r->at, is_at);
    r->at = is_at + 1;
    *done = noun.len > 0 && take_noun(r, noun, true, &is_project);
    return *done && name_end > first
               ? set_subject(r, is_project ? "project" : "person", first, name_end, err)
               : LOCI_OK;
}

/* ---- Subjects -------------------------------------------------------------------------------- */

static const char openings[] = "actually|btw|update|correction|note|fyi|ok|okay|so|well|hey|hi|"
                               "remember|also";
/* Words that begin a sentence in capitals and are not names. */
static const char no_names[] =
    "i|the|a|an|my|our|your|his|her|their|its|it|this|that|these|those|he|she|we|they|you|there|"
    "here|today|tomorrow|yesterday|now|please|yes|no|can|could|do|does|let|just|got|have|has|is|am|"
    "are|in|on|at|for|with|to|from|as|some|every|each|all|one|two|any|thanks|great|good|new|still";

/* Capitalised words at the reader, at most three; what is behind them is not one. */
static size_t name_words(const reader *r)
{
    size_t count = 0;

    while (count < 3 && peek(r, count)->is_capital && !is_one_of(peek(r, count)->lower, no_names) &&
           !is_one_of(peek(r, count)->lower, months) &&
           !is_one_of(peek(r, count)->lower, weekdays) &&
           !(count == 0 && is_attribute_noun(peek(r, 0)->lower))) {
        count++;
        if (peek(r, count - 1)->is_possessive || peek(r, count - 1)->has_comma)
            break;
    }
    return count;
}

static bool is_self_start(reader *r)
{
    return eat(r, "i") || eat_two(r, "the", "user") || eat(r, "user");
}

/* "my mother ...", "our budget is ...". */
static loci_status read_my(reader *r, bool *done, loci_error *err)
{
    size_t first = r->at;

    if (is_one_of(peek(r, 0)->lower, RELATIVES "|" RELATIONS) && left(r) > 2) {
        r->at++;
        if (r->words[first].is_possessive) {
            if (eat(r, "name")) {
                *done = eat(r, "is") && take_if(r, NAME, r->words[first].lower.ptr, "relationship");
                return LOCI_OK;
            }
            return read_owned(r, first, r->at, done, err);
        }
        if (read_person(r, true)) {
            *done = true;
            return set_subject(r, "person", first, first + 1, err);
        }
        r->at = first;
    }
    return read_owned(r, first, first, done, err);
}

static loci_status read_subject(reader *r, bool *done, loci_error *err)
{
    size_t first, names;

    while (r->at < 2 && eat(r, openings))
        continue;
    first = r->at;
    if (is_self_start(r)) {
        if (r->words[r->at - 1].is_possessive)
            return read_owned(r, first, first, done, err);
        *done = read_person(r, true);
        return LOCI_OK;
    }
    if (eat(r, "my|our"))
        return read_my(r, done, err);
    if (is_one_of(peek(r, 0)->lower, "lives|works|prefers|has|is|based|turned|resides|working")) {
        *done = read_person(r, true);
        return LOCI_OK;
    }
    if (is_own_noun(peek(r, 0)->lower) && lc_str_is(peek(r, 1)->lower, "is"))
        return read_owned(r, first, first, done, err);
    names = name_words(r);
    r->at = first + names;
    if (names > 0 && r->words[r->at - 1].is_possessive)
        return read_owned(r, first, r->at, done, err);
    if (names > 0 && read_person(r, false)) {
        *done = true;
        return set_subject(r, "person", first, first + names, err);
    }
    r->at = first;
    return LOCI_OK;
}

/* ---- The subject of a text without an attribute ---------------------------------------------- */

static bool has_any(const reader *r, const char *list)
{
    for (size_t i = 0; i < r->count; i++)
        if (is_one_of(r->words[i].lower, list))
            return true;
    return false;
}

static const char *fact_type_of(const reader *r)
{
    if (has_any(r, "prefer|prefers|like|likes|love|loves|enjoy|enjoys|hate|hates|dislike|dislikes|"
                   "favorite|favourite|allergic"))
        return has_any(r, "allergic") ? "fact" : "preference";
    if (has_any(r, "every|daily|weekly|usually|always|habitually"))
        return "habit";
    if (has_any(r, "struggles|struggling|frustrated|annoyed|stuck|overwhelmed|stressed"))
        return "friction";
    if (has_any(r, RELATIONS "|" RELATIVES "|married|dating") && has_any(r, "my|is"))
        return "relationship";
    return "fact";
}

static loci_status guess(reader *r, loci_error *err)
{
    size_t first = 0, names;

    r->at = 0;
    while (r->at < 2 && eat(r, openings))
        continue;
    r->out->fact_type = fact_type_of(r);
    first = r->at;
    names = name_words(r);
    if (eat(r, "my|our") && is_one_of(peek(r, 0)->lower, RELATIVES "|" RELATIONS))
        return set_subject(r, "person", r->at, r->at + 1, err);
    r->at = first;
    if ((eat_two(r, "i", "am") || true) && eat_two(r, "working", "on") && left(r) <= 5 &&
        left(r) > 0 && r->is_plain) {
        size_t name = r->at + (is_one_of(peek(r, 0)->lower, "a|an|the|my|our") && left(r) > 1);

        return set_subject(r, "project", name, r->count, err);
    }
    if (has_any(r, "launching|shipping|deadline|milestone|sprint|roadmap|repo|codebase") ||
        lc_str_is(r->count > 0 ? r->words[0].lower : LC_STR(""), "project"))
        r->out->type = "project";
    r->at = first;
    /* A name and a verb of a person, which the end of a sentence in capitals does not have. */
    if (names > 0 && names < r->count - first &&
        (is_one_of(r->words[first + names].lower,
                   "is|has|lives|works|likes|loves|hates|prefers|handles|wants|said|says|runs|"
                   "moved|started|got|gave|thinks|needs|uses|plays|studies|owns|owes|was|will") ||
         r->words[first + names - 1].is_possessive) &&
        strcmp(r->out->type, "project") != 0)
        return set_subject(r, "person", first, first + names, err);
    return LOCI_OK;
}

loci_status lc_understood_read(lc_arena *arena, loci_str text, lc_understood *out, loci_error *err)
{
    reader *r = lc_arena_zalloc_array(arena, 1, sizeof *r);
    bool done = false;
    loci_status status;

    *out = (lc_understood){.type = "profile", .fact_type = "fact", .ref = LC_STR(LC_SELF_REF)};
    if (r == NULL)
        return lc_fail_memory(err);
    r->arena = arena;
    r->out = out;
    status = split(r, text, err);
    if (status == LOCI_OK && r->is_plain) {
        size_t count = r->count;

        drop_tail(r);
        status = read_subject(r, &done, err);
        if (status == LOCI_OK && !done) {
            r->at = 0;
            status = read_project(r, &done, err);
        }
        if (!done)
            r->count = count;
    }
    if (status == LOCI_OK && !done) {
        out->attribute = out->value = LC_STR_NONE;
        status = guess(r, err);
    }
    if (status == LOCI_OK && done && (out->attribute.ptr == NULL || out->value.ptr == NULL))
        status = lc_fail_memory(err);
    return status;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

loci_status lc_memory_normalise(lc_arena *arena, loci_str text, loci_str *out, loci_error *err)
{
    lc_buf folded;
    char *to;
    size_t len = 0;
    loci_status status;

    lc_buf_init(&folded, arena->heap, LOCI_MEM_REQUESTS, 8 * text.len + 64);
    status = lc_text_fold(lc_str_trim(text), &folded, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&folded, err);
    to = lc_arena_alloc(arena, folded.len + 1);
    if (status == LOCI_OK && to == NULL)
        status = lc_fail_memory(err);
    for (size_t i = 0; i < folded.len && status == LOCI_OK; i++) {
        bool is_gap = strchr(" \t\r\n", folded.ptr[i]) != NULL;

        if (!is_gap || (len > 0 && to[len - 1] != ' '))
            to[len++] = is_gap ? ' ' : folded.ptr[i];
    }
    while (status == LOCI_OK && len > 1 && strchr(" .!", to[len - 1]) != NULL)
        len--;
    if (status == LOCI_OK)
        *out = (loci_str){to, len};
    lc_buf_clear(&folded);
    return status;
}

bool lc_value_has(loci_str whole, loci_str part)
{
    for (size_t at = 0; part.len > 0 && at + part.len <= whole.len; at++)
        if ((at == 0 || whole.ptr[at - 1] == ' ') &&
            memcmp(whole.ptr + at, part.ptr, part.len) == 0 &&
            (at + part.len == whole.len || whole.ptr[at + part.len] == ' '))
            return true;
    return part.len == 0;
}
