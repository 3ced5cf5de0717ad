/* Answers for other programs: CSV, TSV and ids, and the sentences that people read. */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "cli/rows.h"
#include "cli/sentence.h"

typedef struct fixture {
    lc_heap heap;
    lc_arena arena;
    lc_buf out;
} fixture;

static fixture *open_fixture(void)
{
    fixture *f = (fixture *)test_bytes(sizeof *f);

    lc_heap_init(&f->heap, (loci_allocator){0});
    lc_arena_init(&f->arena, &f->heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&f->out, &f->heap, LOCI_MEM_REQUESTS, 1u << 20);
    return f;
}

static void close_fixture(fixture *f)
{
    lc_buf_clear(&f->out);
    lc_arena_clear(&f->arena);
}

static const lc_json *parse(fixture *f, const char *text)
{
    const lc_json *json = NULL;
    loci_error err;

    CHECK_OK(lc_json_parse(&f->arena, loci_str_of(text), LC_JSON_ALLOW_NUL, &json, &err), err);
    return json;
}

static const lc_op *list_op(void)
{
    return lc_op_find(LC_STR("fact.list"));
}

static const char *rows(fixture *f, lc_rows_format format, const char *columns, const char *answer)
{
    lc_buf_reset(&f->out);
    lc_rows_append(&f->out, list_op(), format, columns, parse(f, answer));
    return test_format("%.*s", LC_STR_ARG(lc_buf_str(&f->out)));
}

static const char awkward[] = "{\"facts\":["
                              "{\"id\":\"f_1\",\"key\":\"a,b\","
                              "\"value\":\"say \\\"hi\\\"\\n\\tyou\"},"
                              "{\"id\":\"f_2\",\"key\":\"\",\"value\":{\"x\":[1,\"y\"]}},"
                              "{\"id\":\"f_3\",\"key\":\" c\\\\\"}]}";

TEST(rows, csv_is_that_of_rfc_4180)
{
    fixture *f = open_fixture();

    CHECK_STR_EQ(rows(f, LC_ROWS_CSV, "id key value", awkward),
                 "id,key,value\r\n"
                 "f_1,\"a,b\",\"say \"\"hi\"\"\n\tyou\"\r\n"
                 "f_2,\"\",\"{\"\"x\"\":[1,\"\"y\"\"]}\"\r\n"
                 "f_3,\" c\\\",\r\n");
    close_fixture(f);
}

TEST(rows, tsv_has_one_line_per_row)
{
    fixture *f = open_fixture();

    CHECK_STR_EQ(rows(f, LC_ROWS_TSV, "id key value", awkward), "id\tkey\tvalue\n"
                                                                "f_1\ta,b\tsay \"hi\"\\n\\tyou\n"
                                                                "f_2\t\t{\"x\":[1,\"y\"]}\n"
                                                                "f_3\t c\\\\\t\n");
    CHECK_STR_EQ(rows(f, LC_ROWS_IDS, lc_rows_id(list_op()), awkward), "f_1\nf_2\nf_3\n");
    close_fixture(f);
}

/* The columns are those of the record, so that a script does not depend on the stored data. */
TEST(rows, an_empty_list_has_all_columns)
{
    fixture *f = open_fixture();
    const char *text = rows(f, LC_ROWS_CSV, NULL, "{\"facts\":[]}");

    CHECK(strncmp(text, "id,key,value,status,", 20) == 0);
    CHECK_STR_EQ(strchr(text, '\r'), "\r\n");
    close_fixture(f);
}

TEST(rows, an_unknown_column_is_refused_and_the_known_ones_are_named)
{
    fixture *f = open_fixture();
    const char *columns = NULL;
    loci_error err;

    CHECK_OK(lc_rows_check_columns(&f->arena, list_op(), "value,key", &columns, &err), err);
    CHECK_STR_EQ(columns, "value key");
    CHECK_EQ(lc_rows_check_columns(&f->arena, list_op(), "key,kye", &columns, &err), LOCI_EINVAL);
    CHECK(strstr(err.message, "\"kye\"") != NULL);
    CHECK(strstr(err.message, "id, key, value") != NULL);
    CHECK_EQ(lc_rows_check_columns(&f->arena, list_op(), "", &columns, &err), LOCI_EINVAL);
    close_fixture(f);
}

static const char *sentence(fixture *f, const char *pattern, const char *answer, const char *args)
{
    lc_buf_reset(&f->out);
    lc_sentence_append(
        &f->out,
        &(lc_sentence){.pattern = pattern, .answer = parse(f, answer), .args = parse(f, args)});
    return test_format("%.*s", LC_STR_ARG(lc_buf_str(&f->out)));
}

TEST(sentence, says_what_the_answer_and_the_arguments_have)
{
    fixture *f = open_fixture();
    static const char pattern[] = "{outcome superseded=changed,late=kept:} {key} = {value}"
                                  "[; review {needs_review}][ ({flag yes=sure})]";

    CHECK_STR_EQ(
        sentence(f, pattern, "{\"outcome\":\"created\"}", "{\"key\":\"city\",\"value\":\"Oslo\"}"),
        "created city = Oslo");
    CHECK_STR_EQ(sentence(f, pattern, "{\"outcome\":\"superseded\",\"needs_review\":2}",
                          "{\"key\":\"a\",\"value\":{\"b\":1}}"),
                 "changed a = {\"b\":1}; review 2");
    CHECK_STR_EQ(sentence(f, pattern, "{\"outcome\":\"late\",\"needs_review\":0,\"flag\":true}",
                          "{\"key\":\"{id}\",\"value\":\"[x]\"}"),
                 "kept: {id} = [x] (sure)");
    /* A text cannot act on the terminal. */
    CHECK_STR_EQ(sentence(f, "{key}", "{\"key\":\"a\\u001b[31m\"}", "{}"), "a\\x1b[31m");
    close_fixture(f);
}
