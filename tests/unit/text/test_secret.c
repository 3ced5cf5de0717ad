/* Secrets of well-known forms are found anywhere in a text; ordinary text is left alone. */
#include "lib/test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lib/files.h"
#include "lib/random.h"
#include "text/secret.h"

/* ---- Texts with a secret --------------------------------------------------------------------- */

/* {n?} is n random characters: a letters and digits, u upper case and digits, x hex, w base64url,
 * b base64, d digits. No random part of 8 letters or more may be left. */
static const char *const canaries[] = {
    "AKIA{16u}",
    "ASIA{16u}",
    "aws_secret_access_key = {40b}",
    "AKIA{16u} {40b}",
    "ghp_{36a}",
    "gho_{36a}",
    "ghs_{36a}",
    "github_pat_{22a}_{59a}",
    "glpat-{20w}",
    "glrt-{20w}",
    "xoxb-{12d}-{12d}-{24a}",
    "xoxp-{12d}-{12d}-{12d}-{32x}",
    "xapp-1-{10u}-{12d}-{64x}",
    "https://hooks.slack.com/services/T{10u}/B{10u}/{24a}",
    "sk_live_{24a}",
    "rk_live_{24a}",
    "sk_test_{24a}",
    "whsec_{32a}",
    "sk-{48a}",
    "sk-proj-{64w}",
    "sk-ant-api03-{95w}",
    "AIza{35w}",
    "ya29.{60w}",
    "GOCSPX-{28w}",
    "npm_{36a}",
    "pypi-AgEIcHlwaS5vcmc{70w}",
    "dckr_pat_{27w}",
    "hf_{34a}",
    "SG.{22w}.{43w}",
    "SK{32x}",
    "{9d}:AA{33w}",
    "M{23a}.{6w}.{27w}",
    "eyJhbGciOiJIUzI1NiJ9.eyJ{60w}.{43w}",
    "loci_{26u}_{43a}{4a}",
    "abc8Q~{34a}",
    "AccountName=store;AccountKey={86b}==",
    "shpat_{32x}",
    "dop_v1_{64x}",
    "glsa_{32a}_{8x}",
    "hvs.{90w}",
    "tskey-auth-{11a}-{32a}",
    "nvapi-{64w}",
    "gsk_{52a}",
    "r8_{37a}",
    "rubygems_{48x}",
    "sq0atp-{22w}",
    "AGE-SECRET-KEY-1{58u}",
    "postgres://ann:{12a}@db.example.com:5432/app",
    "https://bob:{20w}@host.example/x",
    "redis://:{16a}@cache:6379",
    "password: {12a}9",
    "api_key={700a}",
    "client_secret=\"{700b}\"",
    "the wifi password is {12a}9",
    "password=\"{9a}7!\"",
    "DB_PASSWORD={14a}3",
    "\"passwd\": \"{10a}5\"",
    "api_key = \"{32a}\"",
    "API_KEY={40x}",
    "client_secret: '{32w}'",
    "access_token={40w}",
    "Authorization: Bearer {40w}",
    "Authorization: Basic {30b}",
    "'db_password' => '{12a}4',",
    "password := \"{12a}4\"",
    "SECRET_KEY=\"{40b}\"",
    "-----BEGIN RSA PRIVATE KEY-----\n{64b}\n{64b}\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n{70b}\n{20b}\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN EC PRIVATE KEY-----\\n{64b}\\n-----END EC PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{64b}\n-----END PGP PRIVATE KEY BLOCK-----",
};

/* % stands for the canary. */
static const char *const surroundings[] = {
    "%",
    "Please use % for the deployment, it expires on Friday.",
    "# .env\nNAME=loci\n%\nDEBUG=1\n",
    "curl -H 'X: 1' % | jq .",
    "{\"config\": {\"note\": \"%\"}}",
    "Here it is:\n\n```\n%\n```\nthanks!",
    "(%)",
    "\xE2\x80\x9C%\xE2\x80\x9D, sagte sie.",
};

static char random_letter(test_rng *rng, char kind)
{
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyz-_";

    switch (kind) {
    case 'd':
        return (char)('0' + test_rng_below(rng, 10));
    case 'x':
        return "0123456789abcdef"[test_rng_below(rng, 16)];
    case 'u':
        return all[test_rng_below(rng, 36)];
    case 'w':
        return all[test_rng_below(rng, 64)];
    case 'b':
        return "+/ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyz"[test_rng_below(
            rng, 64)];
    default:
        return all[test_rng_below(rng, 62)];
    }
}

/* Fills the template; `tails` gets the random parts of at least 8 letters, one per line. */
static char *fill(test_rng *rng, const char *template, char *tails)
{
    char *out = test_bytes(4096);
    size_t len = 0, tail_len = 0;

    for (const char *at = template; *at != '\0'; at++) {
        char *end = NULL;
        long count = *at == '{' ? strtol(at + 1, &end, 10) : 0;

        if (*at != '{' || end == at + 1) {
            out[len++] = *at;
            continue;
        }
        for (long i = 0; i < count; i++) {
            char letter = random_letter(rng, *end);

            /* Real tokens have letters of all kinds; a run of 9 without a digit is rare. */
            if (i == 4 && *end != 'x')
                letter = '7';
            if (i == 5 && (*end == 'a' || *end == 'w' || *end == 'b'))
                letter = 'Q';
            if (i == 6 && (*end == 'a' || *end == 'w' || *end == 'b'))
                letter = 'k';
            if ((i == 0 || i == count - 1) && *end == 'w')
                letter = 'Z'; /* A token does not end in a dash in a sentence. */
            out[len++] = letter;
            if (count >= 8)
                tails[tail_len++] = letter;
        }
        if (count >= 8)
            tails[tail_len++] = '\n';
        at = end + 1;
    }
    out[len] = tails[tail_len] = '\0';
    return out;
}

static char *redact(const char *text)
{
    loci_str all = loci_str_of(text);
    char *out = test_bytes(2 * all.len + 4096);
    size_t done = 0, len = 0;
    lc_secret secret;

    while (lc_secret_next(all, done, &secret)) {
        CHECK_LE(done, secret.start);
        CHECK_LT(0, secret.bytes);
        CHECK_LE(secret.start + secret.bytes, all.len);
        memcpy(out + len, text + done, secret.start - done);
        len += secret.start - done;
        len += (size_t)snprintf(out + len, 64, "[redacted: %s]", secret.kind);
        done = secret.start + secret.bytes;
    }
    memcpy(out + len, text + done, all.len - done + 1);
    return out;
}

TEST(secret, no_canary_slips_through)
{
    size_t count = 0, missed = 0;
    test_rng rng = test_random(1);

    for (size_t c = 0; c < sizeof canaries / sizeof *canaries; c++) {
        for (size_t s = 0; s < sizeof surroundings / sizeof *surroundings; s++) {
            char tails[4096];
            char *canary = fill(&rng, canaries[c], tails);
            const char *place = strchr(surroundings[s], '%');
            char *left, *line = tails;

            left = redact(test_format("%.*s%s%s", (int)(place - surroundings[s]), surroundings[s],
                                      canary, place + 1));
            count++;
            for (char *end = strchr(line, '\n'); end != NULL; end = strchr(line, '\n')) {
                *end = '\0';
                if (strstr(left, line) != NULL) {
                    missed++;
                    printf("left in: %s\n", left);
                }
                line = end + 1;
            }
            /* A redacted secret is not a secret. */
            CHECK_STR_EQ(redact(left), left);
        }
    }
    CHECK_LE(200, count);
    CHECK_EQ(missed, 0);
}

TEST(secret, a_name_makes_a_value_a_secret)
{
    const char *kind = NULL;

    CHECK(lc_secret_is_named(LC_STR("db_password"), LC_STR("hunter2"), &kind));
    CHECK_STR_EQ(kind, "password");
    CHECK(lc_secret_is_named(LC_STR("stripeApiKey"), LC_STR("a8Fk2Lq09ZpXw3Rt"), &kind));
    CHECK_STR_EQ(kind, "api_key");
    CHECK(!lc_secret_is_named(LC_STR("password"), LC_STR("required"), &kind));
    CHECK(!lc_secret_is_named(LC_STR("password_policy"), LC_STR("12 letters"), &kind));
    CHECK(!lc_secret_is_named(LC_STR("city"), LC_STR("hunter2"), &kind));
    CHECK(!lc_secret_is_named(LC_STR("token"), LC_STR("refresh_token_v2"), &kind));
}

/* ---- Texts without a secret ------------------------------------------------------------------ */

static const char *const ordinary[] = {
    "I forgot my password, please send me a password reset link.",
    "Password: required. Passwords must have 12 characters.",
    "The password is changed every 90 days; the secret of success is patience.",
    "password = get_password()",
    "password: str = Field(min_length=8)",
    "const char *password = options->password;",
    "The password is 12 characters long, the token is invalid, the secret is out in 2025.",
    "token = lc_token_identity(engine, made);",
    "token: lexer.tokens[2]",
    "if (password == other_password) return;",
    "PASSWORD=${DB_PASSWORD}",
    "password: <your password>",
    "api_key = \"YOUR_API_KEY\"",
    "api_key: xxxxxxxxxxxxxxxxxxxxxxxx",
    "api_key = \"your-0aPi-k3y-goes-h3r3-1234\"",
    "password: \"changeme123\"",
    "export API_KEY=$(cat key.txt)",
    "Authorization: Bearer TOKEN",
    "Authorization: Bearer $TOKEN",
    "commit 9478f68c3b2a1d0e9f8a7b6c5d4e3f2a1b0c9d8e",
    "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "550e8400-e29b-41d4-a716-446655440000",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwAD",
    "fact_01M7KYKV6B0000000105939K76 superseded fact_01M7KYKV6G0000000201939K76",
    "https://example.com/path?x=1&y=2 and http://localhost:8080/",
    "postgresql://user:password@host:5432/db",
    "mailto:ann@example.com, ssh://git@github.com:22/x",
    "task-management and disk-usage-of-all-the-machines-in-the-rack",
    "The meeting is at 12345678:30 or 10:45.",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGkq6Dk0Zx0w2h1u5yQk8 ann@host",
    "keyboard shortcut: Ctrl+Shift+P; token count: 1500; secret santa: Bob",
    "sk-learn and sk-image are libraries; xoxo-love-and-kisses",
    "Max token: 4096, tokens=128000, token_count: 512",
    "Basic understanding of authentication1234 is required.",
    "secret: the 3 of us met in 2019 at the lake",
    "pwd=/srv/ann/projects/loci2",
    "[redacted: password] and password: [redacted: password]",
};

TEST(secret, ordinary_text_is_left_alone)
{
    lc_secret secret;

    for (size_t i = 0; i < sizeof ordinary / sizeof *ordinary; i++)
        if (lc_secret_next(loci_str_of(ordinary[i]), 0, &secret))
            test_fail(__FILE__, __LINE__, "%s in: %s", secret.kind, ordinary[i]);
}

/* Lines of `path` in which a secret is found. */
static size_t touched_lines(const char *path, size_t *lines)
{
    loci_str rest = test_read_file(path);
    size_t touched = 0;

    while (rest.ptr != NULL && rest.len > 0) {
        loci_str line = lc_str_split(rest, '\n', &rest);
        lc_secret secret;

        ++*lines;
        touched += lc_secret_next(line, 0, &secret);
    }
    return touched;
}

/* Prose and code of this repository. The bar is one line in a hundred; it is far below. */
TEST(secret, hardly_any_line_of_code_or_prose_is_touched)
{
    static const char *const patterns[] = {"*.md", "docs/*.md", "src/*/*.[ch]", "bench/*.c",
                                           "script/*"};
    size_t lines = 0, touched = 0;

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found;

        if (glob(test_source_path(patterns[i]), 0, NULL, &found) != 0)
            continue;
        for (size_t f = 0; f < found.gl_pathc; f++)
            touched += touched_lines(found.gl_pathv[f], &lines);
        globfree(&found);
    }
    CHECK_LE(10000, lines);
    CHECK_LE(touched * 1000, lines);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* Texts made to be slow take time that grows only linearly with their length. */
TEST(secret, hostile_texts_take_linear_time)
{
    static const char *const pieces[] = {"eyJ-",      "sk-ant-",
                                         "password=", "-----BEGIN ",
                                         "://a:",     "Bearer ",
                                         "a8Q~",      "token: \"",
                                         "M1.",       "12345678:",
                                         "AKIA",      "hooks.slack.com/",
                                         "_password", "eyJaaaaaaaaaaaa.eyJaaaaaaaaaaaa"};
    const size_t bytes = 1 << 20;

    test_timeout(60);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t piece = strlen(pieces[i]), from = 0;
        char *text = test_bytes(bytes);
        lc_secret secret;

        for (size_t at = 0; at + piece <= bytes; at += piece)
            memcpy(text + at, pieces[i], piece);
        while (lc_secret_next((loci_str){text, bytes}, from, &secret))
            from = secret.start + secret.bytes;
    }
}

TEST(secret, any_bytes_are_fine)
{
    test_rng rng = test_random(7);

    for (int round = 0; round < 2000; round++) {
        size_t bytes = test_rng_below(&rng, 200), from = 0;
        char *text = malloc(bytes > 0 ? bytes : 1); /* So that a sanitizer sees one byte more. */
        lc_secret secret;

        CHECK(text != NULL);
        for (size_t i = 0; i < bytes; i++)
            text[i] = test_rng_chance(&rng, 50)
                          ? "eyJ.:/@-_=\"sk AKIA password"[test_rng_below(&rng, 27)]
                          : (char)test_rng_below(&rng, 256);
        while (lc_secret_next((loci_str){text, bytes}, from, &secret))
            from = secret.start + secret.bytes;
        free(text);
    }
}
