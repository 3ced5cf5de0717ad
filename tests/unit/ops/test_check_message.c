/* Error messages for wrong arguments: they name the parameter, the allowed values and the given
 * value, and never contain the text of a user. */
#include "checking.h"

static const lc_op op_count = {.name = "op.count"};

TEST(check_message, wrong_kinds_say_what_was_given_and_what_is_right)
{
    expect_wrong("{\"key\":42}", "key: expected a string of 1 to 8 bytes, got integer 42", "key");
    expect_wrong("{\"key\":{}}", "key: expected a string of 1 to 8 bytes, got an object", "key");
    expect_wrong("{\"key\":\"k\",\"limit\":1.0}",
                 "limit: expected an integer from 1 to 1000, got number 1.0; write 1", "limit");
    expect_wrong("{\"key\":\"k\",\"limit\":1e300}",
                 "limit: expected an integer from 1 to 1000, got number 1e+300", "limit");
    expect_wrong("{\"key\":\"k\",\"limit\":\"7\"}",
                 "limit: expected an integer from 1 to 1000, got \"7\"; write it without quotes",
                 "limit");
    expect_wrong("{\"key\":\"k\",\"wait\":\"true\"}",
                 "wait: expected true or false, got \"true\"; write it without quotes", "wait");
    expect_wrong("{\"key\":\"k\",\"wait\":1}", "wait: expected true or false, got integer 1",
                 "wait");
    expect_wrong("{\"key\":\"k\",\"observed_at\":\"yesterday\"}",
                 "observed_at: expected an RFC 3339 time such as 2026-01-31T09:00:00Z, got "
                 "\"yesterday\"",
                 "observed_at");
    expect_wrong("{\"key\":\"k\",\"tags\":[\"a\",5]}",
                 "tags[1]: expected a string of at least 1 byte, got integer 5", "tags");
    expect_wrong(
        "{\"key\":\"k\",\"tags\":\"a\"}",
        "tags: expected an array of strings, got a string of 1 byte; one string is written "
        "[\"…\"]",
        "tags");
    expect_wrong("{\"key\":\"k\",\"meta\":[1]}",
                 "meta: expected an object, got an array of 1 element", "meta");
}

TEST(check_message, near_misses_are_suggested)
{
    expect_wrong("{\"key\":\"k\",\"scope\":\"taks\"}",
                 "scope: expected one of global, task, draft, got \"taks\"; did you mean \"task\"?",
                 "scope");
    expect_wrong("{\"key\":\"k\",\"scope\":\"elsewhere\"}",
                 "scope: expected one of global, task, draft, got \"elsewhere\"", "scope");
    expect_wrong(
        "{\"key\":\"k\",\"types\":[\"user\",\"tol\"]}",
        "types[1]: expected one of user, system, tool, got \"tol\"; did you mean \"tool\"?",
        "types");
}

/* A misspelt name is told as such, not as the absence of the right one. */
TEST(check_message, unknown_parameters_are_named_with_the_nearest)
{
    checking c;

    begin(&c, &note_write);
    CHECK_STATUS(LOCI_EINVAL, run(&c, "{\"kye\":1}"));
    CHECK_CONTAINS(c.err.message,
                   "unknown parameter \"kye\" of note.write; did you mean \"key\"? allowed: key, "
                   "value, limit, ");
    CHECK_CONTAINS(c.err.message, ", user_id, persona_id, request_id, expected_seq");
    CHECK_STR_EQ(c.err.data, "{\"parameter\":\"kye\"}");
    CHECK_STATUS(LOCI_EINVAL, run(&c, "{\"user\":1}"));
    CHECK_CONTAINS(c.err.message, "did you mean \"user_id\"?");
    CHECK_STATUS(LOCI_EINVAL, run(&c, "{\"zebra\":1}"));
    CHECK_CONTAINS(c.err.message, "unknown parameter \"zebra\" of note.write; allowed: key, ");
    lc_arena_clear(&c.arena);

    begin(&c, &op_count);
    CHECK_STATUS(LOCI_EINVAL, run(&c, "{\"a\\\"\\u0001\":1}"));
    CHECK_STR_EQ(c.err.message, "unknown parameter \"a\"?\" of op.count; it takes none");
    CHECK_STR_EQ(c.err.data, "{\"parameter\":\"a\\u0022\\u0001\"}");
    lc_arena_clear(&c.arena);
}

TEST(check_message, missing_parameters_come_with_their_help)
{
    expect_wrong("{\"value\":1}",
                 "missing parameter \"key\" of note.write (string: The slot of the note)", "key");
}

TEST(check_message, arguments_must_be_an_object)
{
    checking c;

    begin(&c, &note_write);
    CHECK_STATUS(LOCI_EINVAL, run(&c, "[]"));
    CHECK_STR_EQ(c.err.message, "arguments of note.write: expected an object, got array");
    lc_arena_clear(&c.arena);
}

/* Errors end up in logs: what users wrote must not. */
TEST(check_message, text_of_users_is_never_in_a_message)
{
    checking c;
    char *secret = test_bytes(5000);

    memset(secret, 's', 5000);
    begin(&c, &note_write);
    CHECK_STATUS(LOCI_EINVAL, run(&c, test_format("{\"key\":\"%s\"}", secret)));
    CHECK(strstr(c.err.message, "ss") == NULL);
    CHECK_STATUS(LOCI_EINVAL, run(&c, test_format("{\"key\":\"k\",\"scope\":\"%s\"}", secret)));
    CHECK(strstr(c.err.message, test_format("%.41s", secret)) == NULL);
    CHECK_CONTAINS(c.err.message, test_format("\"%.40s…\"", secret));
    CHECK_STATUS(LOCI_EINVAL, run(&c, test_format("{\"%s\":1}", secret)));
    CHECK(strstr(c.err.message, test_format("%.41s", secret)) == NULL);
    CHECK_STR_EQ(c.err.data, test_format("{\"parameter\":\"%.64s\"}", secret));
    lc_arena_clear(&c.arena);
}

TEST(check_message, ids_have_no_control_characters)
{
    expect_wrong("{\"key\":\"k\",\"user_id\":\"a\\nb\"}",
                 "user_id: expected a string of 1 to 256 bytes without control characters, got "
                 "U+000A at byte 2",
                 "user_id");
    expect_wrong("{\"key\":\"k\",\"persona_id\":\"\\u007f\"}",
                 "persona_id: expected a string of 1 to 256 bytes without control characters, got "
                 "U+007F at byte 1",
                 "persona_id");
    expect_wrong("{\"key\":\"k\",\"request_id\":\"ab\\u0085\"}",
                 "request_id: expected a string of 1 to 256 bytes without control characters, got "
                 "U+0085 at byte 3",
                 "request_id");
    expect_right("{\"key\":\"a\\nb\",\"user_id\":\"\\u00a0\\u00e9\"}");
}
