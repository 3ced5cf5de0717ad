/* The check of answers finds what it is there for; else every suite would pass with any table. */
#include "lib/answers.h"
#include "lib/test.h"

#include "base/str.h"

static const lc_result members[] = {
    {"id", LC_PARAM_STRING, "I"},
    {"state", LC_PARAM_STRING, "S", LC_RESULT_OPTIONAL, "on|off"},
    {"at", LC_PARAM_TIME, "T", LC_RESULT_NULLABLE},
    {NULL},
};
static const lc_record item = {.name = "Item", .members = members};
static const lc_result list_members[] = {
    {"items", 0, "L", LC_RESULT_LIST, NULL, &item},
    {"counts", LC_PARAM_INT, "C", LC_RESULT_MAP | LC_RESULT_OPTIONAL},
    {NULL},
};
static const lc_record list = {.members = list_members};

static const char *fault(const lc_record *type, const char *json)
{
    const lc_op op = {.answer = type, .flags = LC_OP_MUTATES};
    const char *found = test_answer_fault(&op, loci_str_of(json));

    return found != NULL ? found : "";
}

TEST(answers, right_answers_have_no_fault)
{
    CHECK_STR_EQ(fault(&item, "{\"id\":\"a\",\"at\":null}"), "");
    CHECK_STR_EQ(fault(&item, "{\"id\":\"a\",\"state\":\"on\",\"at\":\"2026-01-31T09:00:00Z\"}"),
                 "");
    CHECK_STR_EQ(fault(&list, "{\"items\":[],\"counts\":{\"a\":1}}"), "");
    CHECK_STR_EQ(fault(&list, "{\"items\":[],\"replayed\":true}"), "");
}

TEST(answers, every_difference_is_a_fault)
{
    CHECK_CONTAINS(fault(&item, "{\"id\":\"a\"}"), "at: is missing");
    CHECK_CONTAINS(fault(&item, "{\"id\":7,\"at\":null}"), "id: ");
    CHECK_CONTAINS(fault(&item, "{\"id\":null,\"at\":null}"), "id: ");
    CHECK_CONTAINS(fault(&item, "{\"id\":\"a\",\"at\":\"noon\"}"), "at: ");
    CHECK_CONTAINS(fault(&item, "{\"id\":\"a\",\"at\":null,\"more\":1}"), "undeclared member more");
    CHECK_CONTAINS(fault(&item, "{\"id\":\"a\",\"at\":null,\"state\":\"x\"}"),
                   "state: is not one of");
    CHECK_CONTAINS(fault(&list, "{\"items\":[{\"id\":\"a\",\"at\":null},{\"at\":null}]}"),
                   "items.1.id: is missing");
    CHECK_CONTAINS(fault(&list, "{\"items\":{}}"), "items: is not an array");
    CHECK_CONTAINS(fault(&list, "{\"items\":[],\"counts\":{\"a\":\"1\"}}"), "counts.0: ");
    CHECK_CONTAINS(fault(&list, "[]"), "is not an object");
    CHECK_CONTAINS(fault(&list, "{\"items\":[],\"replayed\":1}"), "replayed: ");
}
