/* Arguments against a table made for the purpose: every kind, both ends of every range, and whose
 * state it is about. The words of the messages are tested in test_check_message.c. */
#include "checking.h"

static const lc_op note_read = {.name = "note.read",
                                .params = note_params,
                                .input_bytes = sizeof(note_input),
                                .flags = LC_OP_USER};
static const lc_op store_wipe = {.name = "store.wipe", .flags = LC_OP_ADMIN | LC_OP_MUTATES};
static const lc_op key_cut = {.name = "key.cut", .flags = LC_OP_TENANT_ADMIN | LC_OP_MUTATES};
static const lc_op op_count = {.name = "op.count"};

/* ---- Values ---------------------------------------------------------------------------------- */

TEST(op_check, given_values_arrive_as_c_types)
{
    const note_input *in;
    checking c;

    begin(&c, &note_write);
    CHECK_OK(run(&c, "{\"key\":\"city\",\"value\":[1],\"limit\":7,\"weight\":1,\"wait\":false,"
                     "\"observed_at\":\"1970-01-01T00:00:02Z\",\"types\":[\"user\",\"tool\"],"
                     "\"scope\":\"task\",\"meta\":{},\"expected_seq\":0,\"is_final\":false,"
                     "\"share\":0.25,\"links\":[],\"body\":[ 1, 2 ]}"),
             c.err);
    in = c.call.input;
    CHECK_STR_EQ(in->key, "city");
    CHECK_EQ(lc_json_kind_of(in->value), LC_JSON_ARRAY);
    CHECK_EQ(in->limit, 7);
    CHECK(in->weight == 1.0);
    CHECK(in->share == 0.25);
    CHECK(!in->wait);
    CHECK_EQ(in->is_final, LC_FALSE);
    CHECK_EQ(in->observed_at, 2000000);
    CHECK_EQ(in->types.count, 2);
    CHECK_STR_EQ(in->types.items[1], "tool");
    CHECK_EQ(in->links.count, 0);
    CHECK(in->links.items != NULL);
    CHECK_STR_EQ(in->scope, "task");
    CHECK_EQ(lc_json_kind_of(in->meta), LC_JSON_OBJECT);
    CHECK_STR_EQ(in->body, "[1,2]");
    CHECK_EQ(c.call.implied.expected_seq, 0);
    lc_arena_clear(&c.arena);
}

TEST(op_check, what_is_absent_has_its_default_or_what_stands_for_absence)
{
    const note_input *in;
    checking c;

    begin(&c, &note_write);
    CHECK_OK(run(&c, "{\"key\":\"k\"}"), c.err);
    in = c.call.input;
    CHECK_EQ(in->limit, 10);
    CHECK(in->weight == 0.5);
    CHECK(in->wait);
    CHECK_STR_EQ(in->scope, "global");
    CHECK_STR_EQ(in->quote, "\"");
    CHECK_EQ(in->since, 1000000);
    CHECK_EQ(in->tags.count, 2);
    CHECK_EQ(lc_json_kind_of(in->any), LC_JSON_OBJECT);

    CHECK(in->value == NULL);
    CHECK(in->meta == NULL);
    CHECK(in->share != in->share); /* NaN. */
    CHECK_EQ(in->is_final, LC_UNSET);
    CHECK_EQ(in->observed_at, LC_ABSENT);
    CHECK(in->types.items == NULL);
    CHECK(in->body.ptr == NULL);
    CHECK(c.call.implied.request_id.ptr == NULL);
    CHECK_EQ(c.call.implied.expected_seq, LC_ABSENT);
    lc_arena_clear(&c.arena);
}

/* Clients serialise what they do not have as null. */
TEST(op_check, null_is_absence_of_what_is_optional)
{
    const note_input *in;
    checking c;

    begin(&c, &note_write);
    CHECK_OK(run(&c, "{\"key\":\"k\",\"value\":null,\"limit\":null,\"any\":null,\"meta\":null,"
                     "\"user_id\":null,\"body\":null,\"types\":null}"),
             c.err);
    in = c.call.input;
    CHECK(in->value == NULL);
    CHECK_EQ(lc_json_kind_of(in->any), LC_JSON_OBJECT);
    CHECK_EQ(in->limit, 10);
    CHECK(in->meta == NULL);
    CHECK(in->body.ptr == NULL);
    CHECK_STR_EQ(c.call.user_id, "default");
    lc_arena_clear(&c.arena);
    expect_wrong("{\"key\":null}", "key: expected a string of 1 to 8 bytes, got null", "key");
}

typedef struct keep_input {
    loci_str value;
} keep_input;

TEST(op_check, null_is_a_value_where_any_value_is_required)
{
    static const lc_param params[] = {
        {LC_ARG_JSON("value", keep_input, value), .flags = LC_PARAM_REQUIRED, .help = "What"},
        {.name = NULL},
    };
    static const lc_op keep = {
        .name = "note.keep", .params = params, .input_bytes = sizeof(keep_input)};
    checking c;

    begin(&c, &keep);
    CHECK_OK(run(&c, "{\"value\":null}"), c.err);
    CHECK_STR_EQ(((const keep_input *)c.call.input)->value, "null");
    lc_arena_clear(&c.arena);
}

TEST(op_check, one_string_is_a_list_where_the_table_says_so)
{
    checking c;

    begin(&c, &note_write);
    CHECK_OK(run(&c, "{\"key\":\"k\",\"links\":\"one\"}"), c.err);
    CHECK_EQ(((const note_input *)c.call.input)->links.count, 1);
    CHECK_STR_EQ(((const note_input *)c.call.input)->links.items[0], "one");
    lc_arena_clear(&c.arena);
    expect_wrong("{\"key\":\"k\",\"links\":[\"one\",\"fives\"]}",
                 "links[1]: expected a string of 1 to 4 bytes, got a string of 5 bytes", "links");
    expect_wrong("{\"key\":\"k\",\"links\":[\"\"]}",
                 "links[0]: expected a string of 1 to 4 bytes, got an empty string", "links");
    expect_wrong("{\"key\":\"k\",\"links\":[\"a\",\"b\",\"c\"]}",
                 "links: expected a string or an array of at most 2 strings of 1 to 4 bytes, got "
                 "an array of 3 elements",
                 "links");
}

TEST(op_check, an_alias_is_the_parameter_itself)
{
    checking c;

    begin(&c, &note_write);
    CHECK_OK(run(&c, "{\"key\":\"k\",\"content\":1}"), c.err);
    CHECK_STR_EQ(((const note_input *)c.call.input)->body, "1");
    lc_arena_clear(&c.arena);
    expect_wrong("{\"key\":\"k\",\"content\":1,\"body\":1}", "body: given twice, also as content",
                 "body");
}

TEST(op_check, long_json_is_a_limit)
{
    checking c;

    begin(&c, &note_write);
    CHECK_OK(run(&c, "{\"key\":\"k\",\"body\":\"123456\"}"), c.err);
    CHECK_STATUS(LOCI_ELIMIT, run(&c, "{\"key\":\"k\",\"body\":\"1234567\"}"));
    CHECK_STR_EQ(c.err.message, "body: 9 bytes of JSON; the maximum is 8");
    lc_arena_clear(&c.arena);
}

static void expect_rule(const lc_op *op, const char *args, const char *message)
{
    checking c;

    begin(&c, op);
    CHECK_STATUS(message == NULL ? LOCI_OK : LOCI_EINVAL, run(&c, args));
    if (message != NULL)
        CHECK_STR_EQ(c.err.message, message);
    lc_arena_clear(&c.arena);
}

TEST(op_check, rules_about_several_parameters_are_checked)
{
    static const lc_param_rule rules[] = {
        {LC_RULE_EXACTLY_ONE, "types|links"},
        {LC_RULE_AT_MOST_ONE, "since|observed_at"},
        {LC_RULE_NEEDS, "meta|value"},
        {LC_RULE_END, NULL},
    };
    static const lc_op pick = {.name = "note.pick",
                               .params = note_params,
                               .rules = rules,
                               .input_bytes = sizeof(note_input)};

    expect_rule(&pick, "{\"key\":\"k\",\"links\":\"a\"}", NULL);
    expect_rule(&pick, "{\"key\":\"k\"}", "note.pick: give types or links");
    expect_rule(&pick, "{\"key\":\"k\",\"links\":\"a\",\"types\":[\"user\"]}",
                "note.pick: give types or links, not both");
    expect_rule(&pick, "{\"key\":\"k\",\"links\":\"a\",\"types\":null}", NULL);
    expect_rule(&pick,
                "{\"key\":\"k\",\"links\":\"a\",\"since\":\"1970-01-01T00:00:02Z\","
                "\"observed_at\":\"1970-01-01T00:00:02Z\"}",
                "note.pick: give since or observed_at, not both");
    expect_rule(&pick, "{\"key\":\"k\",\"links\":\"a\",\"meta\":{}}", "meta: needs value as well");
    expect_rule(&pick, "{\"key\":\"k\",\"links\":\"a\",\"meta\":{},\"value\":1}", NULL);
}

TEST(op_check, ranges_include_both_ends)
{
    expect_right("{\"key\":\"1\"}");
    expect_right("{\"key\":\"12345678\"}");
    expect_wrong("{\"key\":\"\"}", "key: expected a string of 1 to 8 bytes, got an empty string",
                 "key");
    expect_wrong("{\"key\":\"123456789\"}",
                 "key: expected a string of 1 to 8 bytes, got a string of 9 bytes", "key");

    expect_right("{\"key\":\"k\",\"limit\":1}");
    expect_right("{\"key\":\"k\",\"limit\":1000}");
    expect_wrong("{\"key\":\"k\",\"limit\":0}",
                 "limit: expected an integer from 1 to 1000, got integer 0", "limit");
    expect_wrong("{\"key\":\"k\",\"limit\":1001}",
                 "limit: expected an integer from 1 to 1000, got integer 1001", "limit");

    expect_right("{\"key\":\"k\",\"weight\":0}");
    expect_right("{\"key\":\"k\",\"weight\":1.0}");
    expect_wrong("{\"key\":\"k\",\"weight\":1.01}",
                 "weight: expected a number from 0 to 1, got number 1.01", "weight");

    expect_right("{\"key\":\"k\",\"types\":[\"user\",\"user\",\"user\"]}");
    expect_wrong(
        "{\"key\":\"k\",\"types\":[]}",
        "types: expected an array of 1 to 3 strings, each one of user, system, tool, got an "
        "array of 0 elements",
        "types");
}

/* Bytes, not characters: stores and indexes count bytes. */
TEST(op_check, lengths_are_bytes)
{
    expect_right("{\"key\":\"\\u00e9\\u00e9\\u00e9\\u00e9\"}");
    expect_wrong("{\"key\":\"\\u00e9\\u00e9\\u00e9\\u00e9x\"}",
                 "key: expected a string of 1 to 8 bytes, got a string of 9 bytes", "key");
}

TEST(op_check, limits_of_ids_are_tested_at_their_edge)
{
    char *longest = test_bytes(LC_ID_BYTES_MAX);

    memset(longest, 'u', LC_ID_BYTES_MAX);
    expect_right(test_format("{\"key\":\"k\",\"request_id\":\"%s\"}", longest));
    expect_wrong(
        test_format("{\"key\":\"k\",\"request_id\":\"%su\"}", longest),
        "request_id: expected a string of 1 to 256 bytes without control characters, got a "
        "string of 257 bytes",
        "request_id");
    expect_wrong("{\"key\":\"k\",\"expected_seq\":-1}",
                 "expected_seq: expected an integer of at least 0, got integer -1", "expected_seq");
    expect_right("{\"key\":\"k\",\"expected_seq\":9223372036854775807}");
}

TEST(op_check, err_may_be_left_out)
{
    checking c;
    const lc_json *json;

    begin(&c, &note_write);
    CHECK_OK(lc_json_parse(&c.arena, LC_STR("{\"x\":1}"), 0, &json, &c.err), c.err);
    CHECK_STATUS(LOCI_EINVAL, lc_op_check(&c.call, json, NULL));
    lc_arena_clear(&c.arena);
}

/* ---- The user and the persona ---------------------------------------------------------------- */

TEST(op_check, implied_parameters_follow_from_the_flags)
{
    CHECK(lc_op_param(&op_count, 0) == NULL);
    CHECK_STR_EQ(lc_op_param(&store_wipe, 0)->name, "request_id");
    CHECK(lc_op_param(&store_wipe, 1) == NULL);
    CHECK_STR_EQ(lc_op_param(&note_read, 0)->name, "key");
    CHECK_STR_EQ(lc_op_param(&note_read, 17)->name, "user_id");
    CHECK_STR_EQ(lc_op_param(&note_read, 18)->name, "persona_id");
    CHECK(lc_op_param(&note_read, 19) == NULL);
    CHECK_STR_EQ(lc_op_param(&note_write, 19)->name, "request_id");
    CHECK_STR_EQ(lc_op_param(&note_write, 20)->name, "expected_seq");
    CHECK(lc_op_param(&note_write, 21) == NULL);
}

TEST(op_check, user_and_persona_are_those_of_the_arguments)
{
    checking c;

    begin(&c, &note_read);
    CHECK_OK(run(&c, "{\"key\":\"k\"}"), c.err);
    CHECK_STR_EQ(c.call.user_id, "default");
    CHECK_EQ(c.call.persona_id.len, 0);
    lc_arena_clear(&c.arena);

    begin(&c, &note_read);
    CHECK_OK(run(&c, "{\"key\":\"k\",\"user_id\":\"ann\",\"persona_id\":\"work\"}"), c.err);
    CHECK_STR_EQ(c.call.user_id, "ann");
    CHECK_STR_EQ(c.call.persona_id, "work");
    lc_arena_clear(&c.arena);

    begin(&c, &op_count);
    CHECK_OK(run(&c, "{}"), c.err);
    CHECK_EQ(c.call.user_id.len, 0);
    lc_arena_clear(&c.arena);
}

/* A token for one user must not tell whether another one exists. */
TEST(op_check, a_narrowed_principal_finds_nobody_else)
{
    checking c;

    begin(&c, &note_write);
    c.call.user_id = LC_STR("ann");
    c.call.persona_id = LC_STR("work");
    CHECK_OK(run(&c, "{\"key\":\"k\"}"), c.err);
    CHECK_STR_EQ(c.call.user_id, "ann");
    CHECK_STR_EQ(c.call.persona_id, "work");
    CHECK_OK(run(&c, "{\"key\":\"k\",\"user_id\":\"ann\",\"persona_id\":\"work\"}"), c.err);

    CHECK_STATUS(LOCI_ENOTFOUND, run(&c, "{\"key\":\"k\",\"user_id\":\"bob\"}"));
    CHECK_STR_EQ(c.err.message, "user \"bob\" not found");
    CHECK_STR_EQ(c.err.data, "");
    CHECK_STATUS(LOCI_ENOTFOUND, run(&c, "{\"key\":\"k\",\"user_id\":\"default\"}"));
    CHECK_STATUS(LOCI_ENOTFOUND, run(&c, "{\"key\":\"k\",\"persona_id\":\"home\"}"));
    CHECK_STR_EQ(c.err.message, "persona \"home\" not found");
    CHECK_STR_EQ(c.call.user_id, "ann");
    lc_arena_clear(&c.arena);
}

TEST(op_check, administrators_operations_are_theirs_alone)
{
    checking c;

    begin(&c, &store_wipe);
    CHECK_STATUS(LOCI_EFORBIDDEN, run(&c, "{}"));
    CHECK_CONTAINS(c.err.message, "store.wipe");
    c.call.is_admin = true;
    CHECK_OK(run(&c, "{}"), c.err);
    lc_arena_clear(&c.arena);
}

TEST(op_check, the_tenants_operations_are_for_both_kinds_of_administrator)
{
    checking c;

    begin(&c, &key_cut);
    CHECK_STATUS(LOCI_EFORBIDDEN, run(&c, "{}"));
    CHECK_CONTAINS(c.err.message, "administrators of the tenant");
    c.call.is_tenant_admin = true;
    CHECK_OK(run(&c, "{}"), c.err);
    c.call.op = &store_wipe;
    CHECK_STATUS(LOCI_EFORBIDDEN, run(&c, "{}"));
    c.call.op = &key_cut;
    c.call.is_tenant_admin = false;
    c.call.is_admin = true;
    CHECK_OK(run(&c, "{}"), c.err);
    lc_arena_clear(&c.arena);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static loci_status check_with_defaults(void *ctx)
{
    checking c;
    const lc_json *json;
    loci_status status;

    (void)ctx;
    begin(&c, &note_write);
    status = lc_json_parse(&c.arena, LC_STR("{\"key\":\"k\"}"), 0, &json, &c.err);
    if (status == LOCI_OK)
        status = lc_op_check(&c.call, json, &c.err);
    lc_arena_clear(&c.arena);
    return status;
}

TEST(op_check, runs_out_of_memory_cleanly)
{
    test_oom_sweep(check_with_defaults, NULL);
}
