/* secret.c - see secret.h.
 *
 * One walk over the text. At the beginning of each word the forms are tried: tokens with a prefix
 * (a table), forms without one (a few functions), and names that something is assigned to. Each
 * trial reads a bounded number of bytes, or up to the end of the secret that it finds, and the walk
 * continues behind a secret: so the time is linear.
 *
 * A token must be complete: the characters before and behind it must not be ones that could belong
 * to it. Its tail must vary (`sk-xxxxxxxxxxxxxxxxxxxx` is a placeholder).
 */
#include "text/secret.h"

#include <stdint.h>
#include <string.h>

#include "base/str.h"

/* ---- Characters ------------------------------------------------------------------------------ */

#define UPPER 1u
#define LOWER 2u
#define DIGIT 4u
#define HEX 8u   /* 0-9 a-f */
#define WORD 16u /* _ - */
#define PLUS 32u /* + / = */
#define DOT 64u
#define ALNUM (UPPER | LOWER | DIGIT)
#define URL64 (ALNUM | WORD)
#define BASE64 (ALNUM | PLUS)

static const unsigned char class_table[256] = {
    ['0' ... '9'] = DIGIT | HEX,
    ['a' ... 'f'] = LOWER | HEX,
    ['g' ... 'z'] = LOWER,
    ['A' ... 'Z'] = UPPER,
    ['_'] = WORD,
    ['-'] = WORD,
    ['+'] = PLUS,
    ['/'] = PLUS,
    ['='] = PLUS,
    ['.'] = DOT,
};

static unsigned class_of(char c)
{
    return class_table[(unsigned char)c];
}

static bool is_in(loci_str text, size_t at, unsigned set)
{
    return at < text.len && (class_of(text.ptr[at]) & set) != 0;
}

/* How many characters of the set follow, at most `max`. */
static size_t run_of(loci_str text, size_t at, unsigned set, size_t max)
{
    size_t count = 0;

    while (count < max && is_in(text, at + count, set))
        count++;
    return count;
}

/* The classes of characters in a piece of text. */
typedef struct makeup {
    unsigned classes; /* UPPER, LOWER, DIGIT, and DOT for anything else. */
    unsigned distinct;
} makeup;

static makeup makeup_of(loci_str text)
{
    unsigned char seen[32] = {0};
    makeup m = {0};

    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        unsigned kind = class_of(text.ptr[i]) & ALNUM;

        m.classes |= kind != 0 ? kind : DOT;
        m.distinct += (seen[byte / 8] & 1u << byte % 8) == 0;
        seen[byte / 8] = (unsigned char)(seen[byte / 8] | 1u << byte % 8);
    }
    return m;
}

static unsigned class_count(unsigned classes)
{
    return ((classes & UPPER) != 0) + ((classes & LOWER) != 0) + ((classes & DIGIT) != 0) +
           ((classes & DOT) != 0);
}

static loci_str part(loci_str text, size_t start, size_t bytes)
{
    return (loci_str){text.ptr + start, bytes};
}

static bool starts_at(loci_str text, size_t at, const char *what)
{
    size_t bytes = strlen(what);

    return at + bytes <= text.len && memcmp(text.ptr + at, what, bytes) == 0;
}

/* ---- Tokens with a prefix -------------------------------------------------------------------- */

#define DISTINCT_MIN 6
#define LOOK_BYTES_MAX 512 /* Bytes that a trial reads before it is sure. */

typedef struct form {
    const char *prefix;
    size_t tail_min, tail_max; /* Characters behind it; 0 = any number. */
    unsigned set;              /* Of which they are. */
    unsigned needs;            /* Classes that must all be there. */
    const char *kind;
} form;

/* Longer prefixes before shorter ones that they begin with. */
static const form forms[] = {
    {"AKIA", 16, 16, UPPER | DIGIT, 0, "aws_access_key"},
    {"ASIA", 16, 16, UPPER | DIGIT, 0, "aws_access_key"},
    {"ABIA", 16, 16, UPPER | DIGIT, DIGIT, "aws_access_key"},
    {"ACCA", 16, 16, UPPER | DIGIT, DIGIT, "aws_access_key"},
    {"AGE-SECRET-KEY-1", 58, 58, UPPER | DIGIT, 0, "age_secret_key"},
    {"AIza", 35, 35, URL64, 0, "google_api_key"},
    {"ATATT3", 60, 0, URL64 | PLUS, 0, "atlassian_token"},
    {"CFPAT-", 40, 0, URL64, 0, "contentful_token"},
    {"EAACEdEose0cBA", 20, 0, ALNUM, 0, "facebook_token"},
    {"GOCSPX-", 20, 0, URL64, 0, "google_client_secret"},
    {"PMAK-", 50, 0, ALNUM | WORD, 0, "postman_key"},
    {"SG.", 40, 0, URL64 | DOT, DIGIT, "sendgrid_key"},
    {"SK", 32, 32, HEX, DIGIT | LOWER, "twilio_key"},
    {"dckr_pat_", 20, 0, URL64, 0, "docker_token"},
    {"doo_v1_", 64, 64, HEX, 0, "digitalocean_token"},
    {"dop_v1_", 64, 64, HEX, 0, "digitalocean_token"},
    {"dor_v1_", 64, 64, HEX, 0, "digitalocean_token"},
    {"dp.pt.", 40, 0, ALNUM, 0, "doppler_token"},
    {"figd_", 30, 0, URL64, 0, "figma_token"},
    {"gho_", 36, 0, ALNUM, 0, "github_token"},
    {"ghp_", 36, 0, ALNUM, 0, "github_token"},
    {"ghr_", 36, 0, ALNUM, 0, "github_token"},
    {"ghs_", 36, 0, ALNUM, 0, "github_token"},
    {"ghu_", 36, 0, ALNUM, 0, "github_token"},
    {"github_pat_", 22, 0, ALNUM | WORD, DIGIT, "github_token"},
    {"glcbt-", 20, 0, URL64, 0, "gitlab_token"},
    {"gldt-", 20, 0, URL64, 0, "gitlab_token"},
    {"glpat-", 20, 0, URL64, 0, "gitlab_token"},
    {"glptt-", 20, 0, URL64, 0, "gitlab_token"},
    {"glrt-", 20, 0, URL64, 0, "gitlab_token"},
    {"glsa_", 32, 0, ALNUM | WORD, DIGIT, "grafana_token"},
    {"gsk_", 40, 0, ALNUM, DIGIT, "groq_key"},
    {"hf_", 30, 0, ALNUM, UPPER | LOWER, "huggingface_token"},
    {"hvb.", 40, 0, URL64, DIGIT, "vault_token"},
    {"hvs.", 24, 0, URL64, DIGIT, "vault_token"},
    {"lin_api_", 32, 0, ALNUM, DIGIT, "linear_key"},
    {"loci_", 60, 80, URL64, DIGIT, "loci_token"},
    {"npm_", 36, 36, ALNUM, DIGIT, "npm_token"},
    {"ntn_", 40, 0, ALNUM, DIGIT, "notion_token"},
    {"nvapi-", 40, 0, URL64, DIGIT, "nvidia_key"},
    {"pplx-", 40, 0, ALNUM, DIGIT, "perplexity_key"},
    {"pypi-", 50, 0, URL64, DIGIT, "pypi_token"},
    {"r8_", 30, 0, ALNUM, DIGIT, "replicate_token"},
    {"rk_live_", 16, 0, ALNUM, 0, "stripe_key"},
    {"rk_test_", 16, 0, ALNUM, DIGIT, "stripe_key"},
    {"rubygems_", 40, 0, HEX, DIGIT, "rubygems_key"},
    {"shpat_", 32, 32, HEX | UPPER, DIGIT, "shopify_token"},
    {"shpca_", 32, 32, HEX | UPPER, DIGIT, "shopify_token"},
    {"shppa_", 32, 32, HEX | UPPER, DIGIT, "shopify_token"},
    {"shpss_", 32, 32, HEX | UPPER, DIGIT, "shopify_token"},
    {"sk-ant-", 20, 0, URL64, DIGIT, "anthropic_key"},
    {"sk-or-v1-", 40, 0, HEX, DIGIT, "openrouter_key"},
    {"sk-proj-", 20, 0, URL64, DIGIT, "openai_key"},
    {"sk-svcacct-", 20, 0, URL64, DIGIT, "openai_key"},
    {"sk-", 20, 0, ALNUM, DIGIT, "openai_key"},
    {"sk_live_", 16, 0, ALNUM, 0, "stripe_key"},
    {"sk_test_", 16, 0, ALNUM, DIGIT, "stripe_key"},
    {"sq0atp-", 22, 0, URL64, 0, "square_token"},
    {"sq0csp-", 40, 0, URL64, 0, "square_token"},
    {"tskey-", 20, 0, URL64, DIGIT, "tailscale_key"},
    {"whsec_", 24, 0, BASE64, 0, "stripe_key"},
    {"xapp-", 20, 0, ALNUM | WORD, DIGIT, "slack_token"},
    {"xkeysib-", 60, 0, ALNUM | WORD, DIGIT, "brevo_key"},
    {"xoxa-", 10, 0, ALNUM | WORD, DIGIT, "slack_token"},
    {"xoxb-", 10, 0, ALNUM | WORD, DIGIT, "slack_token"},
    {"xoxe-", 10, 0, ALNUM | WORD, DIGIT, "slack_token"},
    {"xoxe.", 10, 0, ALNUM | WORD | DOT, DIGIT, "slack_token"},
    {"xoxp-", 10, 0, ALNUM | WORD, DIGIT, "slack_token"},
    {"xoxr-", 10, 0, ALNUM | WORD, DIGIT, "slack_token"},
    {"xoxs-", 10, 0, ALNUM | WORD, DIGIT, "slack_token"},
    {"ya29.", 20, 0, URL64, 0, "google_token"},
};

static bool set_found(lc_secret *out, size_t start, size_t bytes, const char *kind)
{
    *out = (lc_secret){start, bytes, kind};
    return true;
}

static bool is_form(loci_str text, size_t at, const form *f, lc_secret *out)
{
    size_t prefix = strlen(f->prefix), tail;
    makeup m;

    if (!starts_at(text, at, f->prefix))
        return false;
    tail = run_of(text, at + prefix, f->set, LOOK_BYTES_MAX);
    if (tail < f->tail_min || (f->tail_max > 0 && tail > f->tail_max))
        return false;
    if (f->tail_max > 0 && is_in(text, at + prefix + tail, ALNUM))
        return false;
    m = makeup_of(part(text, at + prefix, tail));
    return (m.classes & f->needs) == f->needs && m.distinct >= DISTINCT_MIN &&
           set_found(out, at, prefix + tail + run_of(text, at + prefix + tail, f->set, SIZE_MAX),
                     f->kind);
}

static bool find_form(loci_str text, size_t at, lc_secret *out)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].prefix[0] == text.ptr[at] && is_form(text, at, &forms[i], out))
            return true;
    return false;
}

/* ---- Forms without a prefix ------------------------------------------------------------------ */

/* Three parts in base64: eyJ….eyJ….…; the last may be empty. */
static bool find_jwt(loci_str text, size_t at, lc_secret *out)
{
    size_t first, second, third;

    if (!starts_at(text, at, "eyJ"))
        return false;
    first = run_of(text, at, URL64, LOOK_BYTES_MAX);
    if (first < 12 || !starts_at(text, at + first, ".eyJ"))
        return false;
    second = run_of(text, at + first + 1, URL64, SIZE_MAX);
    if (second < 12 || !starts_at(text, at + first + 1 + second, "."))
        return false;
    third = run_of(text, at + first + second + 2, URL64, SIZE_MAX);
    return set_found(out, at, first + second + third + 2, "jwt");
}

/* 123456789:AA… of a bot of Telegram: 8 to 10 digits, a colon, 35 letters. */
static bool find_telegram(loci_str text, size_t at, lc_secret *out)
{
    size_t digits = run_of(text, at, DIGIT, 11), tail;

    if (digits < 8 || digits > 10 || !starts_at(text, at + digits, ":"))
        return false;
    tail = run_of(text, at + digits + 1, URL64, 40);
    return tail == 35 &&
           class_count(makeup_of(part(text, at + digits + 1, tail)).classes & ALNUM) == 3 &&
           set_found(out, at, digits + 1 + tail, "telegram_token");
}

/* Three parts of 23 to 28, 6 and 27 to 40 letters. */
static bool find_discord(loci_str text, size_t at, lc_secret *out)
{
    size_t first, second, third;

    if (strchr("MNO", text.ptr[at]) == NULL)
        return false;
    first = run_of(text, at, URL64, 29);
    if (first < 23 || first > 28 || !starts_at(text, at + first, "."))
        return false;
    second = run_of(text, at + first + 1, URL64, 7);
    if (second != 6 || !starts_at(text, at + first + 7, "."))
        return false;
    third = run_of(text, at + first + 8, URL64, 41);
    return third >= 27 && third <= 40 &&
           class_count(makeup_of(part(text, at, first)).classes & ALNUM) == 3 &&
           set_found(out, at, first + 8 + third, "discord_token");
}

/* Azure's client secrets have 8Q~ behind three letters. */
static bool find_azure(loci_str text, size_t at, lc_secret *out)
{
    size_t tail;

    if (!starts_at(text, at + 3, "8Q~") || run_of(text, at, ALNUM | WORD | DOT, 3) != 3)
        return false;
    for (tail = 0; tail < 64; tail++)
        if (!is_in(text, at + 6 + tail, ALNUM | WORD | DOT) && !starts_at(text, at + 6 + tail, "~"))
            break;
    return tail >= 30 && set_found(out, at, 6 + tail, "azure_client_secret");
}

/* An incoming webhook of Slack or Discord is a secret in the form of a path. */
static bool find_webhook(loci_str text, size_t at, lc_secret *out)
{
    static const char *const hosts[] = {"hooks.slack.com/services/", "discord.com/api/webhooks/",
                                        "discordapp.com/api/webhooks/"};

    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        size_t host = strlen(hosts[i]), tail;

        if (!starts_at(text, at, hosts[i]))
            continue;
        tail = run_of(text, at + host, URL64 | PLUS, 200);
        if (tail >= 40 && (makeup_of(part(text, at + host, tail)).classes & DIGIT) != 0)
            return set_found(out, at + host, tail, "webhook_url");
    }
    return false;
}

#define PEM_BEGIN "-----BEGIN "
#define PEM_LABEL_MAX 48

/* From -----BEGIN … PRIVATE KEY----- to the end of its END line; without one, as far as it looks
 * like a key. */
static bool find_pem(loci_str text, size_t at, lc_secret *out)
{
    size_t label = at + sizeof PEM_BEGIN - 1, end;

    if (!starts_at(text, at, PEM_BEGIN))
        return false;
    end = label;
    while (end < text.len && end - label < PEM_LABEL_MAX && text.ptr[end] != '-')
        end++;
    if (!starts_at(text, end, "-----") ||
        memmem(text.ptr + label, end - label, "PRIVATE KEY", sizeof "PRIVATE KEY" - 1) == NULL)
        return false;
    end += 5;
    /* Lines, also as \n in a string, with headers such as Proc-Type: 4,ENCRYPTED. */
    while (end < text.len && text.ptr[end] != '-')
        end++;
    if (starts_at(text, end, "-----END ")) {
        end += sizeof "-----END " - 1;
        while (end < text.len && text.ptr[end] != '-')
            end++;
        end += run_of(text, end, WORD, 5);
    }
    return set_found(out, at, end - at, "private_key");
}

/* ---- Assignments ----------------------------------------------------------------------------- */

#define NAME_BYTES_MAX 128
#define VALUE_BYTES_MAX 512

/* How a name ends whose value is a secret; letters and digits only, in lower case. */
static const struct {
    const char *end;
    bool is_password; /* People choose it: it may be short. */
    const char *kind;
} names[] = {
    {"password", true, "password"},
    {"passwd", true, "password"},
    {"passphrase", true, "password"},
    {"passwort", true, "password"},
    {"motdepasse", true, "password"},
    {"pwd", true, "password"},
    {"secretaccesskey", false, "aws_secret_key"},
    {"secretkey", false, "secret_key"},
    {"clientsecret", false, "client_secret"},
    {"sharedaccesskey", false, "azure_key"},
    {"accountkey", false, "azure_key"},
    {"apikey", false, "api_key"},
    {"apitoken", false, "api_key"},
    {"apisecret", false, "api_key"},
    {"accesskey", false, "access_key"},
    {"accesstoken", false, "access_token"},
    {"refreshtoken", false, "access_token"},
    {"authtoken", false, "access_token"},
    {"bearertoken", false, "access_token"},
    {"bottoken", false, "access_token"},
    {"privatekey", false, "private_key"},
    {"encryptionkey", false, "secret_key"},
    {"signingkey", false, "secret_key"},
    {"webhooksecret", false, "secret_key"},
    {"authkey", false, "api_key"},
    {"secret", false, "secret"},
    {"token", false, "token"},
};

/* Words that examples have in place of a secret. */
static const char *const placeholders[] = {
    "password", "passwd", "secret",  "changeme", "example", "placeholder", "your",     "redacted",
    "xxx",      "test",   "dummy",   "sample",   "foobar",  "none",        "null",     "undefined",
    "true",     "false",  "default", "insert",   "replace", "token",       "required", "optional",
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool contains_word(loci_str text, const char *word)
{
    size_t bytes = strlen(word);

    for (size_t at = 0; at + bytes <= text.len; at++) {
        size_t same = 0;

        while (same < bytes && lower(text.ptr[at + same]) == word[same])
            same++;
        if (same == bytes)
            return true;
    }
    return false;
}

static bool is_placeholder(loci_str value)
{
    if (value.len > 40)
        return false;
    for (size_t i = 0; i < sizeof placeholders / sizeof *placeholders; i++)
        if (contains_word(value, placeholders[i]))
            return true;
    return false;
}

/* The index in `names` of the ending of a name; -1 = none. */
static int find_name(loci_str name)
{
    char letters[NAME_BYTES_MAX];
    size_t count = 0;

    if (name.len > NAME_BYTES_MAX)
        return -1;
    for (size_t i = 0; i < name.len; i++)
        if (is_in(name, i, ALNUM))
            letters[count++] = lower(name.ptr[i]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t bytes = strlen(names[i].end);

        if (count >= bytes && memcmp(letters + count - bytes, names[i].end, bytes) == 0)
            return (int)i;
    }
    return -1;
}

/* lower_case_words, lowerCamelCase, a::b or a.b: identifiers of programs. */
static bool looks_like_code(loci_str value)
{
    size_t digits = 0, changes = 0;

    for (size_t i = 0; i < value.len; i++) {
        unsigned kind = class_of(value.ptr[i]);

        if (strchr("()[]{}<>;,|*&$%\\`\"'", value.ptr[i]) != NULL)
            return true;
        digits += (kind & DIGIT) != 0;
        changes += i > 0 && (kind & DIGIT) != 0 && (class_of(value.ptr[i - 1]) & DIGIT) == 0;
    }
    /* Names have few numbers, at the end of a word; keys have them everywhere. */
    return digits == 0 || (changes <= 1 && digits * 6 < value.len);
}

/* Whether a value with the name of a secret looks like one. */
static bool is_value(loci_str value, bool is_password, bool is_quoted)
{
    makeup m = makeup_of(value);
    size_t min = is_password ? (is_quoted ? 6 : 8) : 16;

    if (value.len < min || m.distinct < (is_password ? 4 : 8) || is_placeholder(value))
        return false;
    if (strchr("$<{[(%*&@", value.ptr[0]) != NULL)
        return false; /* A variable, a placeholder or an address. */
    if (is_password && is_quoted)
        return class_count(m.classes) >= 2 && memchr(value.ptr, ' ', value.len) == NULL &&
               ((m.classes & DIGIT) != 0 || class_count(m.classes) >= 3);
    if (is_password)
        return class_count(m.classes) >= 2 && (m.classes & DIGIT) != 0 && !looks_like_code(value);
    return (m.classes & DIGIT) != 0 && (m.classes & (UPPER | LOWER)) != 0 &&
           !looks_like_code(value);
}

/* Behind a name: a quote that ends the name, white space, and one of = : := =>, or the word "is".
 */
static bool skip_sign(loci_str text, size_t *at)
{
    size_t i = *at;

    if (starts_at(text, i, " is ")) {
        *at = i + 4;
        return *at < text.len;
    }
    while (i < text.len && i - *at < 3 && strchr("\"'`]", text.ptr[i]) != NULL)
        i++;
    while (i < text.len && i - *at < 16 && (text.ptr[i] == ' ' || text.ptr[i] == '\t'))
        i++;
    if (i >= text.len || (text.ptr[i] != '=' && text.ptr[i] != ':'))
        return false;
    if (starts_at(text, i, "==") || starts_at(text, i, "::"))
        return false; /* A comparison, a qualified name. */
    i += starts_at(text, i, ":=") || starts_at(text, i, "=>") ? 2 : 1;
    while (i < text.len && i - *at < 32 && (text.ptr[i] == ' ' || text.ptr[i] == '\t'))
        i++;
    *at = i;
    return i < text.len;
}

/* Whether the value continues at `at`; `quote` 0 = it has no quotes. */
static bool is_inside(loci_str text, size_t at, char quote)
{
    char c = at < text.len ? text.ptr[at] : ' ';

    if ((unsigned char)c <= ' ')
        return false;
    return quote != 0 ? c != quote && c != '\\' : strchr("\"'`,;&)}]", c) == NULL;
}

/* The value that begins at `*at`, without its quotes; of a long one the beginning. */
static loci_str read_value(loci_str text, size_t *at, char *quote)
{
    size_t end;

    *quote = text.ptr[*at];
    if (*quote == '\\' && *at + 1 < text.len) /* \" in a string. */
        *quote = text.ptr[++*at];
    if (*quote != '"' && *quote != '\'' && *quote != '`')
        *quote = 0;
    *at += *quote != 0;
    end = *at;
    while (end - *at < VALUE_BYTES_MAX && is_inside(text, end, *quote))
        end++;
    /* A quoted text with spaces is a sentence. */
    if (*quote != 0 && end - *at < VALUE_BYTES_MAX &&
        (end >= text.len || (text.ptr[end] != *quote && text.ptr[end] != '\\')))
        end = *at;
    if (*quote == 0 && end - *at < VALUE_BYTES_MAX)
        while (end > *at && strchr(".!?:", text.ptr[end - 1]) != NULL)
            end--; /* The end of a sentence. */
    return part(text, *at, end - *at);
}

static bool find_assigned(loci_str text, size_t at, lc_secret *out)
{
    size_t name = run_of(text, at, ALNUM | WORD, NAME_BYTES_MAX + 1);
    size_t value_at = at + name;
    char quote;
    loci_str value;
    int found;

    /* The sign first: nearly no word has one. */
    if (name > NAME_BYTES_MAX || !skip_sign(text, &value_at))
        return false;
    found = find_name(part(text, at, name));
    if (found < 0)
        return false;
    value = read_value(text, &value_at, &quote);
    if (!is_value(value, names[found].is_password, quote != 0))
        return false;
    while (value.len >= VALUE_BYTES_MAX && is_inside(text, value_at + value.len, quote))
        value.len++;
    return set_found(out, value_at, value.len, names[found].kind);
}

bool lc_secret_is_named(loci_str name, loci_str value, const char **out_kind)
{
    int found = find_name(name);

    if (found < 0 || !is_value(value, names[found].is_password, true))
        return false;
    *out_kind = names[found].kind;
    return true;
}

/* Bearer and Basic credentials of an HTTP header. */
static bool find_header(loci_str text, size_t at, lc_secret *out)
{
    static const char *const schemes[] = {"Bearer ", "bearer ", "Basic ", "basic "};

    for (size_t i = 0; lower(text.ptr[at]) == 'b' && i < sizeof schemes / sizeof *schemes; i++) {
        size_t scheme = strlen(schemes[i]), tail;
        makeup m;

        if (!starts_at(text, at, schemes[i]))
            continue;
        tail = run_of(text, at + scheme, URL64 | PLUS | DOT, LOOK_BYTES_MAX);
        m = makeup_of(part(text, at + scheme, tail));
        if (tail >= 16 && m.distinct >= 8 && (m.classes & DIGIT) != 0 &&
            (m.classes & (UPPER | LOWER)) != 0 && !looks_like_code(part(text, at + scheme, tail)))
            return set_found(out, at + scheme,
                             run_of(text, at + scheme, URL64 | PLUS | DOT, SIZE_MAX),
                             "authorization");
    }
    return false;
}

/* ://user:password@host */
static bool find_url(loci_str text, size_t at, lc_secret *out)
{
    size_t colon = 0, end = at + 3;
    loci_str password;

    if (!starts_at(text, at, "://"))
        return false;
    while (end < text.len && end - at < VALUE_BYTES_MAX && (unsigned char)text.ptr[end] > ' ' &&
           strchr("/@\"'`<>?#", text.ptr[end]) == NULL) {
        if (text.ptr[end] == ':' && colon == 0)
            colon = end;
        end++;
    }
    if (colon == 0 || !starts_at(text, end, "@"))
        return false;
    password = part(text, colon + 1, end - colon - 1);
    if (password.len < 3 || strchr("$<{[%*.", password.ptr[0]) != NULL ||
        is_placeholder(password) || lc_str_is(password, "pass") || lc_str_is(password, "pwd") ||
        makeup_of(password).distinct < 3)
        return false;
    return set_found(out, colon + 1, password.len, "url_password");
}

/* Behind an access key of AWS: the 40 letters of its secret key. */
#define AWS_NEAR_BYTES 300
#define AWS_SECRET_BYTES 40

static bool find_aws_secret(loci_str text, size_t at, lc_secret *out)
{
    size_t from = at > AWS_NEAR_BYTES ? at - AWS_NEAR_BYTES : 0;

    if (run_of(text, at, BASE64, AWS_SECRET_BYTES + 1) != AWS_SECRET_BYTES ||
        class_count(makeup_of(part(text, at, AWS_SECRET_BYTES)).classes & ALNUM) < 3)
        return false;
    return (memmem(text.ptr + from, at - from, "AKIA", 4) != NULL ||
            memmem(text.ptr + from, at - from, "ASIA", 4) != NULL ||
            memmem(text.ptr + from, at - from, "[redacted: aws_access_key]",
                   sizeof "[redacted: aws_access_key]" - 1) != NULL) &&
           set_found(out, at, AWS_SECRET_BYTES, "aws_secret_key");
}

/* ---- The walk -------------------------------------------------------------------------------- */

#define TOKEN_BYTES_MIN 15 /* Of the shortest form. */

/* Finds a secret that begins here with a letter or digit, at the start of a word. */
static bool find_word(loci_str text, size_t at, unsigned before, lc_secret *out)
{
    bool is_alone = (before & (WORD | PLUS | DOT)) == 0;

    /* Words of ordinary text are short: nearly all are skipped here. */
    if (run_of(text, at, URL64 | PLUS | DOT, TOKEN_BYTES_MIN) == TOKEN_BYTES_MIN &&
        (find_form(text, at, out) || find_jwt(text, at, out) || find_webhook(text, at, out) ||
         (is_alone && (find_discord(text, at, out) || find_aws_secret(text, at, out)))))
        return true;
    if (find_azure(text, at, out) || find_header(text, at, out) ||
        (is_alone && find_telegram(text, at, out)))
        return true;
    return (before & WORD) == 0 && find_assigned(text, at, out);
}

static bool find_at(loci_str text, size_t at, lc_secret *out)
{
    unsigned before = at > 0 ? class_of(text.ptr[at - 1]) : 0;

    if (text.ptr[at] == ':')
        return find_url(text, at, out);
    if (text.ptr[at] == '-' && (at == 0 || text.ptr[at - 1] != '-'))
        return find_pem(text, at, out);
    return is_in(text, at, ALNUM) && (before & ALNUM) == 0 && find_word(text, at, before, out);
}

bool lc_secret_next(loci_str text, size_t from, lc_secret *out)
{
    for (size_t at = from; at < text.len; at++)
        if (find_at(text, at, out))
            return true;
    return false;
}
