/* JSON Schema of parameters, arguments and answers. */
#include "lib/test.h"

#include "base/str.h"
#include "ops/schema.h"

static lc_heap heap;

static void begin(lc_json_writer *w, lc_buf *text)
{
    heap.allocator = test_heap();
    lc_buf_init(text, &heap, LOCI_MEM_REQUESTS, 65536);
    lc_jw_init(w, text);
}

static const char *end(lc_buf *text)
{
    const char *copy = test_format("%.*s", (int)text->len, text->ptr);

    lc_buf_clear(text);
    return copy;
}

static const char *record_text(const lc_record *record)
{
    lc_json_writer w;
    lc_buf text;

    begin(&w, &text);
    lc_schema_record(&w, record);
    return end(&text);
}

static const char *param_text(const lc_param *param, bool takes_null)
{
    lc_json_writer w;
    lc_buf text;

    begin(&w, &text);
    lc_schema_param(&w, param, takes_null);
    return end(&text);
}

static const char *args_text(const lc_op *op, const char *path)
{
    lc_json_writer w;
    lc_buf text;

    begin(&w, &text);
    lc_schema_args(&w, op, loci_str_of(path));
    return end(&text);
}

TEST(schema, a_record_lists_its_members_and_refers_to_other_records)
{
    const lc_record item = {.name = "Item",
                            .members = (const lc_result[]){{"id", LC_PARAM_STRING, "I"}, {NULL}}};
    const lc_record base = {
        .members = (const lc_result[]){{"state", LC_PARAM_STRING, "S", .choices = "a|b"}, {NULL}}};
    const lc_record inner = {
        .members = (const lc_result[]){{"n", LC_PARAM_INT, "N", LC_RESULT_NULLABLE}, {NULL}}};
    const lc_record record = {
        .base = &base,
        .members = (const lc_result[]){
            {"items", 0, "L", LC_RESULT_LIST, NULL, &item},
            {"one", 0, "O", LC_RESULT_NULLABLE | LC_RESULT_OPTIONAL, NULL, &item},
            {"counts", LC_PARAM_INT, "C", LC_RESULT_MAP},
            {"inner", 0, "R", .record = &inner},
            {"names", LC_PARAM_STRINGS, "W", LC_RESULT_OPTIONAL},
            {"value", LC_PARAM_ANY, "V"},
            {NULL},
        }};

    CHECK_STR_EQ(
        record_text(&record),
        "{\"type\":\"object\",\"properties\":{\"state\":{\"description\":\"S\",\"type\":\"string\","
        "\"enum\":[\"a\",\"b\"]},\"items\":{\"description\":\"L\",\"type\":\"array\",\"items\":{"
        "\"$ref\":\"#/components/schemas/Item\"}},\"one\":{\"description\":\"O\",\"anyOf\":[{"
        "\"$ref\":\"#/components/schemas/Item\"},{\"type\":\"null\"}]},\"counts\":{"
        "\"description\":\"C\",\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\","
        "\"format\":\"int64\"}},\"inner\":{\"description\":\"R\",\"type\":\"object\","
        "\"properties\":{\"n\":{\"description\":\"N\",\"type\":[\"integer\",\"null\"],\"format\":"
        "\"int64\"}},\"required\":[\"n\"]},\"names\":{\"description\":\"W\",\"type\":\"array\","
        "\"items\":{\"type\":\"string\"}},\"value\":{\"description\":\"V\"}},\"required\":["
        "\"state\",\"items\",\"counts\",\"inner\",\"value\"]}");
}

TEST(schema, a_parameter_says_what_it_takes)
{
    static const lc_param choice = {.name = "a",
                                    .kind = LC_PARAM_STRING,
                                    .choices = "x|y",
                                    .default_text = "\"x\"",
                                    .help = "A"};
    static const lc_param number = {
        .name = "n", .kind = LC_PARAM_INT, .min = 1, .max = 1000, .help = "N"};
    static const lc_param words = {
        .name = "s", .kind = LC_PARAM_STRINGS, .choices = "x|y", .max = 3, .help = "S"};
    static const lc_param any = {.name = "v", .kind = LC_PARAM_JSON, .max = 9, .help = "V"};
    static const lc_param id = {.name = "i",
                                .kind = LC_PARAM_STRING,
                                .flags = LC_PARAM_ID,
                                .min = 1,
                                .max = 8,
                                .help = "I"};
    static const lc_param one_or_many = {.name = "m",
                                         .kind = LC_PARAM_STRINGS,
                                         .flags = LC_PARAM_ONE_OR_MANY,
                                         .max = 2,
                                         .item_max = 7,
                                         .help = "M"};

    CHECK_STR_EQ(param_text(&choice, false),
                 "{\"type\":\"string\",\"enum\":[\"x\",\"y\"],\"default\":\"x\","
                 "\"description\":\"A\"}");
    CHECK_STR_EQ(param_text(&number, false),
                 "{\"type\":\"integer\",\"format\":\"int64\",\"minimum\":1,\"maximum\":1000,"
                 "\"description\":\"N\"}");
    CHECK_STR_EQ(param_text(&words, false),
                 "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"x\",\"y\"]},"
                 "\"maxItems\":3,\"description\":\"S\"}");
    CHECK_STR_EQ(param_text(&any, true), "{\"x-max-bytes\":9,\"description\":\"V\"}");
    CHECK_STR_EQ(
        param_text(&id, false),
        "{\"type\":\"string\",\"minLength\":1,\"maxLength\":8,\"x-max-bytes\":8,"
        "\"pattern\":\"^[^\\\\u0000-\\\\u001f\\\\u007f-\\\\u009f]*$\",\"description\":\"I\"}");
    CHECK_STR_EQ(param_text(&one_or_many, false),
                 "{\"anyOf\":[{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1,"
                 "\"maxLength\":7,\"x-max-bytes\":7},\"maxItems\":2},{\"type\":\"string\","
                 "\"minLength\":1,\"maxLength\":7,\"x-max-bytes\":7}],\"description\":\"M\"}");
}

/* The check accepts null for optional arguments, so generated clients may send it. */
TEST(schema, optional_arguments_may_be_null_and_required_ones_not)
{
    static const lc_param choice = {
        .name = "a", .kind = LC_PARAM_STRING, .choices = "x|y", .help = "A"};
    static const lc_param required = {
        .name = "b", .kind = LC_PARAM_BOOL, .flags = LC_PARAM_REQUIRED, .help = "B"};

    CHECK_STR_EQ(param_text(&choice, true),
                 "{\"type\":[\"string\",\"null\"],\"enum\":[\"x\",\"y\",null],"
                 "\"description\":\"A\"}");
    CHECK_STR_EQ(param_text(&required, true), "{\"type\":\"boolean\",\"description\":\"B\"}");
}

#define GIVEN(name)                                                                                \
    "{\"required\":[\"" name "\"],\"properties\":{\"" name "\":{\"not\":{\"type\":\"null\"}}}}"

TEST(schema, rules_about_several_arguments_are_expressed)
{
    static const lc_param params[] = {
        {.name = "a", .kind = LC_PARAM_BOOL, .flags = LC_PARAM_REQUIRED, .help = "A"},
        {.name = "b", .kind = LC_PARAM_BOOL, .flags = LC_PARAM_REQUIRED, .help = "B"},
        {.name = NULL},
    };
    const lc_op op = {.name = "x.y",
                      .params = params,
                      .rules = (const lc_param_rule[]){{LC_RULE_EXACTLY_ONE, "a|b"},
                                                       {LC_RULE_AT_MOST_ONE, "a|b"},
                                                       {LC_RULE_NEEDS, "a|b"},
                                                       {LC_RULE_END, NULL}}};

    CHECK_STR_EQ(
        args_text(&op, "/v1/{a}"),
        "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"b\":{"
        "\"type\":\"boolean\",\"description\":\"B\"}},\"required\":[\"b\"],\"allOf\":[{"
        "\"oneOf\":[" GIVEN("a") "," GIVEN(
            "b") "]},{\"not\":{\"required\":[\"a\",\"b\"],"
                 "\"properties\":{\"a\":{\"not\":{\"type\":\"null\"}},\"b\":{\"not\":{\"type\":"
                 "\"null\"}}}}},{\"if\":" GIVEN("a") ",\"then\":" GIVEN("b") "}]}");
}
