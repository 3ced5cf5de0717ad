/* Files: the transcript of the reference implementation, random edits beside a naive model,
 * versions, personas, limits, and forgetting. */
#include "contract/fact_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "lib/files.h"
#include "lib/postgres.h"
#include "memory/file.h"

static void open_here(facts *f)
{
    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
}

static const char *text_of(loci_str answer, const char *path)
{
    loci_str text = test_member_text(answer, path);

    return test_format("%.*s", (int)text.len, text.ptr != NULL ? text.ptr : "");
}

/* Longer texts than facts_call() takes. */
static const char *create(facts *f, const char *path, const char *text)
{
    loci_str answer;

    CHECK_OK(facts_try(f, "file.create", &answer,
                       test_format("{'path':'%s','file_text':'%s'}", path, text)),
             f->err);
    return text_of(answer, "file.id");
}

static const char *content_of(facts *f, const char *path)
{
    return text_of(facts_call(f, "file.get", "{'path':'%s'}", path), "content");
}

static void check_rebuilds(facts *f)
{
    CHECK_EQ(test_member_int(facts_call(f, "store.rebuild", "{}"), "result.differences"), 0);
}

/* ---- The reference --------------------------------------------------------------------------- */

/* Runs one input of the tool as it is, but for `command`, which names the operation; returns what
 * the transcript says of it: {"ok": text} or {"error": message}. */
static const char *play(facts *f, const lc_json *input)
{
    const char *operation = "";
    loci_str answer;
    lc_buf args, out;
    lc_json_writer w;
    lc_heap heap;
    const char *result;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&args, &heap, LOCI_MEM_REQUESTS, SIZE_MAX);
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, SIZE_MAX);
    lc_jw_init(&w, &args);
    lc_jw_object(&w);
    for (const lc_json *member = lc_json_first(input); member != NULL;
         member = lc_json_next(member)) {
        if (lc_str_is(lc_json_name(member), "command")) {
            operation = test_format("file.%.*s", LC_STR_ARG(lc_json_str(member)));
            continue;
        }
        lc_jw_name_str(&w, lc_json_name(member));
        lc_jw_value(&w, member);
    }
    lc_jw_end(&w);
    lc_jw_init(&w, &out);
    lc_jw_object(&w);
    if (facts_try(f, operation, &answer, lc_buf_terminate(&args)) == LOCI_OK)
        lc_jw_member_str(&w, "ok", loci_str_of(text_of(answer, "text")));
    else
        lc_jw_member_text(&w, "error", f->err.message);
    lc_jw_end(&w);
    result = test_format("%s", lc_buf_terminate(&out));
    lc_buf_clear(&out);
    lc_buf_clear(&args);
    return result;
}

/* Written by the tool's own implementation: a model that was trained on it must notice no
 * difference. */
TEST(file, the_transcript_of_the_reference_is_the_same)
{
    loci_str lines = test_read_file(test_source_path("tests/contract/memory/anthropic_memory.txt"));
    int count = 0;
    lc_arena arena;
    lc_heap heap;
    facts f;

    open_here(&f);
    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    while (lines.len > 0) {
        loci_str input = lc_str_split(lines, '\n', &lines);
        loci_str expected = lc_str_trim(lc_str_split(lines, '\n', &lines));
        const lc_json *json;
        const char *seen;

        CHECK_OK(lc_json_parse(&arena, input, 0, &json, &f.err), f.err);
        seen = play(&f, json);
        if (!lc_str_is(expected, seen))
            test_fail(__FILE__, __LINE__, "%.*s\n  gives %s\n  not   %.*s", (int)input.len,
                      input.ptr, seen, (int)expected.len, expected.ptr);
        count++;
    }
    CHECK_EQ(count, 21);
    lc_arena_clear(&arena);
    check_rebuilds(&f);
    facts_close(&f);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

TEST(file, wrong_calls_say_what_is_wrong_and_change_nothing)
{
    static const struct {
        loci_status status;
        const char *part, *operation, *args;
    } calls[] = {
        {LOCI_EINVAL, "Path must start with /memories, got: /tmp/x", "file.create",
         "{'path':'/tmp/x','file_text':''}"},
        {LOCI_EINVAL, "control", "file.view", "{'path':'/memories/a\\nb'}"},
        {LOCI_EINVAL, "missing parameter \"file_text\"", "file.create", "{'path':'/memories/b'}"},
        {LOCI_ECONFLICT, "File /memories already exists", "file.create",
         "{'path':'/memories/','file_text':''}"},
        {LOCI_ECONFLICT, "File /memories/d already exists", "file.create",
         "{'path':'/memories/d','file_text':''}"},
        {LOCI_ECONFLICT, "The path /memories/a.md is not a directory", "file.create",
         "{'path':'/memories/a.md/b/c','file_text':''}"},
        {LOCI_ENOTFOUND, "The path /memories/x does not exist. Please provide a valid path.",
         "file.str_replace", "{'path':'/memories/x','old_str':'a','new_str':'b'}"},
        {LOCI_EINVAL, "The path /memories/d is not a file.", "file.insert",
         "{'path':'/memories/d','insert_line':0,'insert_text':'b'}"},
        {LOCI_EINVAL, "The path /memories/d is not a file.", "file.get", "{'path':'/memories/d'}"},
        {LOCI_EINVAL, "old_str", "file.str_replace",
         "{'path':'/memories/a.md','old_str':'','new_str':'b'}"},
        {LOCI_EINVAL, "view_range", "file.view", "{'path':'/memories/a.md','view_range':[1]}"},
        {LOCI_EINVAL, "view_range", "file.view", "{'path':'/memories/a.md','view_range':[1,-2]}"},
        {LOCI_EINVAL, "view_range", "file.view", "{'path':'/memories/a.md','view_range':['1',2]}"},
        {LOCI_EINVAL, "view_range", "file.view", "{'path':'/memories/a.md','view_range':'1-2'}"},
        {LOCI_EINVAL, "Cannot rename the /memories directory itself", "file.rename",
         "{'old_path':'/memories','new_path':'/memories/x'}"},
        {LOCI_EINVAL, "into itself", "file.rename",
         "{'old_path':'/memories/d','new_path':'/memories/d/e'}"},
        {LOCI_ECONFLICT, "The destination /memories/d already exists", "file.rename",
         "{'old_path':'/memories/a.md','new_path':'/memories/d'}"},
        {LOCI_ECONFLICT, "not a directory", "file.rename",
         "{'old_path':'/memories/d','new_path':'/memories/a.md/d'}"},
        {LOCI_EINVAL, "escape", "file.rename",
         "{'old_path':'/memories/a.md','new_path':'/memories/../a.md'}"},
        {LOCI_ECONFLICT, "has changed: its sha256 is ca978112", "file.delete",
         "{'path':'/memories/a.md','expected_sha256':'00'}"},
        {LOCI_ECONFLICT, "has changed", "file.str_replace",
         "{'path':'/memories/a.md','old_str':'a','new_str':'b','expected_sha256':'00'}"},
        {LOCI_EINVAL, "is a directory", "file.rename",
         "{'old_path':'/memories/d','new_path':'/memories/e','expected_sha256':'00'}"},
        {LOCI_ENOTFOUND, "no version 2", "file.get", "{'path':'/memories/a.md','version':2}"},
        {LOCI_ENOTFOUND, "no file file_", "file.get", "{'id':'file_00000000000000000000000000'}"},
        {LOCI_ENOTFOUND, "no file is or was at or below /memories/x", "file.forget",
         "{'path':'/memories/x'}"},
    };
    facts f;

    open_here(&f);
    (void)create(&f, "/memories/a.md", "a");
    (void)create(&f, "/memories/d/b.md", "b");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        facts_fail(&f, calls[i].status, calls[i].part, calls[i].operation, calls[i].args);
    facts_close(&f);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static const char *letters(size_t count)
{
    char *text = test_bytes(count + 1);

    memset(text, 'x', count);
    text[count] = '\0';
    return text;
}

TEST(file, content_has_a_limit)
{
    facts f;

    open_here(&f);
    (void)create(&f, "/memories/full", letters(LC_FILE_BYTES_MAX - 1));
    facts_fail(
        &f, LOCI_EINVAL, "file_text", "file.create",
        test_format("{'path':'/memories/over','file_text':'%s'}", letters(LC_FILE_BYTES_MAX + 1)));
    facts_fail(&f, LOCI_ELIMIT, "would have 102401 bytes", "file.insert",
               "{'path':'/memories/full','insert_line':0,'insert_text':'a'}");
    (void)facts_call(&f, "file.insert",
                     "{'path':'/memories/full','insert_line':0,'insert_text':''}");
    CHECK_EQ(test_member_int(facts_call(&f, "file.get", "{'path':'/memories/full'}"), "size"),
             LC_FILE_BYTES_MAX);
    facts_fail(&f, LOCI_ELIMIT, "another file", "file.insert",
               "{'path':'/memories/full','insert_line':0,'insert_text':''}");
    facts_close(&f);
}

static void create_many(facts *f, int first)
{
    loci_request requests[LC_CALLS_PER_BATCH_MAX];
    loci_answer *answer = NULL;

    for (int i = 0; i < LC_CALLS_PER_BATCH_MAX; i++)
        requests[i] = (loci_request){
            "file.create",
            loci_str_of(test_json(test_format("{'path':'/memories/d%d/f%d','file_text':'x'}",
                                              (first + i) % 7, first + i))),
            LOCI_AT_CLOCK};
    CHECK_OK(loci_call_many(f->engine, requests, LC_CALLS_PER_BATCH_MAX, NULL, &answer, &f->err),
             f->err);
    loci_answer_free(answer);
}

/* The last file that fits, and one more; a deleted file gives its place back. */
TEST(file, a_user_has_a_number_of_files)
{
    loci_str answer;
    int64_t count = 0;
    const char *cursor = NULL;
    facts f;

    test_timeout(300);
    open_here(&f);
    for (int i = 0; i < LC_FILES_PER_USER_MAX; i += LC_CALLS_PER_BATCH_MAX)
        create_many(&f, i);
    facts_fail(&f, LOCI_ELIMIT, "the user has 2000 files", "file.create",
               "{'path':'/memories/one','file_text':''}");
    (void)facts_call(&f, "file.create",
                     "{'user_id':'other','path':'/memories/one','file_text':''}");
    do {
        answer = cursor == NULL
                     ? facts_call(&f, "file.list", "{'limit':700}")
                     : facts_call(&f, "file.list", "{'limit':700,'cursor':'%s'}", cursor);
        for (const char *at = answer.ptr; (at = strstr(at, "\"id\":")) != NULL; at++)
            count++;
        cursor = text_of(answer, "next_cursor");
    } while (*cursor != '\0' && strcmp(cursor, "null") != 0);
    CHECK_EQ(count, LC_FILES_PER_USER_MAX);
    answer = facts_call(&f, "file.delete", "{'path':'/memories/d6'}");
    CHECK(test_member(answer, "file_ids.284").len > 0);
    CHECK_STR_EQ(test_member(answer, "file_ids.285"), "");
    (void)create(&f, "/memories/one", "");
    facts_close(&f);
}

/* A cursor holds a path: the longest one must fit. */
TEST(file, the_longest_path_can_be_paged)
{
    const char *longest = test_format("/memories/%s", letters(LC_FILE_PATH_BYTES_MAX - 10));
    const char *deep = "/memories/a";
    loci_str answer;
    facts f;

    open_here(&f);
    (void)create(&f, longest, "1");
    (void)create(&f, "/memories/z", "2");
    answer = facts_call(&f, "file.list", "{'limit':1}");
    CHECK_STR_EQ(text_of(answer, "files.0.path"), longest);
    answer = facts_call(&f, "file.list", "{'limit':1,'cursor':'%s'}",
                        text_of(answer, "next_cursor"));
    CHECK_STR_EQ(text_of(answer, "files.0.path"), "/memories/z");
    /* A directory cannot be moved to where its files would be too deep. */
    for (int i = 1; i < LC_FILE_PATH_SEGMENTS_MAX; i++)
        deep = test_format("%s/a", deep);
    (void)create(&f, deep, "3");
    facts_fail(&f, LOCI_EINVAL, "21 names", "file.rename",
               "{'old_path':'/memories/a','new_path':'/memories/b/a'}");
    facts_close(&f);
}

/* ---- Personas -------------------------------------------------------------------------------- */

TEST(file, a_persona_sees_its_own_files_and_those_of_all)
{
    facts f;
    loci_str answer;

    open_here(&f);
    (void)facts_call(&f, "file.create",
                     "{'path':'/memories/a','file_text':'of ann','persona_id':'ann'}");
    (void)create(&f, "/memories/a", "of all");
    (void)create(&f, "/memories/b", "common");
    facts_fail(&f, LOCI_ECONFLICT, "already exists", "file.create",
               "{'path':'/memories/b','file_text':'','persona_id':'ann'}");
    answer = facts_call(&f, "file.get", "{'path':'/memories/a','persona_id':'ann'}");
    CHECK_STR_EQ(text_of(answer, "content"), "of ann");
    answer = facts_call(&f, "file.get", "{'path':'/memories/a','persona_id':'bob'}");
    CHECK_STR_EQ(text_of(answer, "content"), "of all");
    CHECK_STR_EQ(content_of(&f, "/memories/a"), "of all");
    /* Hidden by its own, and shown once. */
    answer = facts_call(&f, "file.list", "{'persona_id':'ann'}");
    CHECK_STR_EQ(text_of(answer, "files.0.persona_id"), "ann");
    CHECK_STR_EQ(text_of(answer, "files.1.path"), "/memories/b");
    CHECK_STR_EQ(test_member(answer, "files.2"), "");
    answer = facts_call(&f, "file.view", "{'path':'/memories','persona_id':'ann'}");
    CHECK_STR_EQ(strstr(text_of(answer, "text"), "4K"), "4K\t/memories\n6B\t/memories/a\n"
                                                        "6B\t/memories/b");
    /* It changes what it sees, and only that. */
    (void)facts_call(&f, "file.str_replace",
                     "{'path':'/memories/b','old_str':'common','new_str':'shared',"
                     "'persona_id':'ann'}");
    CHECK_STR_EQ(content_of(&f, "/memories/b"), "shared");
    answer = facts_call(&f, "file.history", "{'path':'/memories/b','persona_id':'bob'}");
    CHECK_STR_EQ(text_of(answer, "versions.0.persona_id"), "ann");
    CHECK_STR_EQ(test_member(answer, "versions.1.persona_id"), "");
    (void)facts_call(&f, "file.delete", "{'path':'/memories/a','persona_id':'ann'}");
    answer = facts_call(&f, "file.get", "{'path':'/memories/a','persona_id':'ann'}");
    CHECK_STR_EQ(text_of(answer, "content"), "of all");
    answer = facts_call(&f, "file.history", "{'path':'/memories/a'}");
    CHECK_STR_EQ(test_member(answer, "versions.1"), "");
    facts_fail(&f, LOCI_ENOTFOUND, "/memories/z", "file.view",
               "{'path':'/memories/z','persona_id':'bob'}");
    check_rebuilds(&f);
    facts_close(&f);
}

/* ---- Versions -------------------------------------------------------------------------------- */

/* The same bytes are no change; an id survives renames; a deleted file can still be read. */
TEST(file, every_change_is_one_version)
{
    facts f;
    const char *id;
    loci_str answer;

    open_here(&f);
    id = create(&f, "/memories/cafe\u0301", "one");
    (void)facts_call(&f, "file.str_replace",
                     "{'path':'/memories/caf\u00e9','old_str':'one','new_str':'one'}");
    (void)facts_call(&f, "file.str_replace",
                     "{'path':'/memories/caf\u00e9','old_str':'one','new_str':'two'}");
    (void)facts_call(&f, "file.rename",
                     "{'old_path':'/memories/caf\u00e9','new_path':'/memories/bar'}");
    (void)facts_call(&f, "file.str_replace", "{'path':'/memories/bar','old_str':'tw'}");
    (void)facts_call(&f, "file.delete", "{'path':'/memories/bar'}");
    CHECK(strcmp(create(&f, "/memories/bar", "other"), id) != 0);
    answer = facts_call(&f, "file.history", "{'id':'%s'}", id);
    CHECK_STR_EQ(text_of(answer, "versions.0.operation"), "delete");
    CHECK_STR_EQ(text_of(answer, "versions.2.operation"), "rename");
    CHECK_STR_EQ(text_of(answer, "versions.3.path"), "/memories/caf\u00e9");
    CHECK_EQ(test_member_int(answer, "versions.4.size"), 3);
    CHECK_STR_EQ(test_member(answer, "versions.5"), "");
    answer = facts_call(&f, "file.history", "{'path':'/memories/bar','limit':1}");
    CHECK_STR_EQ(text_of(answer, "versions.0.operation"), "create");
    answer = facts_call(&f, "file.history", "{'path':'/memories/bar','cursor':'%s'}",
                        text_of(answer, "next_cursor"));
    CHECK_STR_EQ(text_of(answer, "versions.4.id"), id);
    CHECK_STR_EQ(test_member(answer, "versions.5"), "");
    answer = facts_call(&f, "file.get", "{'id':'%s'}", id);
    CHECK_STR_EQ(text_of(answer, "content"), "");
    CHECK(test_member(answer, "deleted_at").len > 0);
    for (int version = 1; version <= 4; version++) {
        static const char *const contents[] = {"one", "two", "two", "o"};

        answer = facts_call(&f, "file.get", "{'id':'%s','version':%d}", id, version);
        CHECK_STR_EQ(text_of(answer, "content"), contents[version - 1]);
        CHECK_EQ(test_member_int(answer, "version"), version);
    }
    facts_fail(&f, LOCI_ENOTFOUND, "no version 6", "file.get",
               test_format("{'id':'%s','version':6}", id));
    facts_close(&f);
}

/* ---- Random edits ---------------------------------------------------------------------------- */

#define MODEL_FILES 6
#define MODEL_BYTES 4096
#define STEPS 400

typedef struct model_file {
    bool exists;
    char path[32];
    char text[MODEL_BYTES];
} model_file;

typedef struct model {
    facts f;
    test_rng rng;
    model_file files[MODEL_FILES];
    const char *versions[STEPS + 1]; /* Of one file: its content, by number. */
    int version_count;
    int serial;
} model;

static model_file *model_find(model *m, const char *path)
{
    for (int i = 0; i < MODEL_FILES; i++) {
        if (m->files[i].exists && strcmp(m->files[i].path, path) == 0)
            return &m->files[i];
    }
    return NULL;
}

/* A unique word: what is replaced is there once or not at all. */
static const char *any_word(model *m)
{
    return test_format("<%d>", m->serial++);
}

static const char *any_lines(model *m)
{
    const char *text = any_word(m);

    for (uint64_t i = test_rng_below(&m->rng, 4); i > 0; i--)
        text = test_format("%s%s%s", text, test_rng_chance(&m->rng, 50) ? "\n" : " \u00e9 ",
                           any_word(m));
    return test_format("%s%s", text, test_rng_chance(&m->rng, 50) ? "\n" : "");
}

/* The naive way: the content as an array of lines. */
static void model_insert(model_file *file, int line, const char *text)
{
    char *at = file->text;
    size_t len = strlen(text) - (text[strlen(text) - 1] == '\n');
    char after[MODEL_BYTES];

    for (; line > 0 && at != NULL; line--) {
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL) { /* Behind the last line. */
        at = file->text + strlen(file->text);
        *at++ = '\n';
        memcpy(at, text, len);
        at[len] = '\0';
        return;
    }
    snprintf(after, sizeof after, "%s", at);
    memcpy(at, text, len);
    at[len] = '\n';
    memcpy(at + len + 1, after, strlen(after) + 1);
}

static int model_lines(const char *text)
{
    int count = 1;

    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

static const char *escaped(const char *text)
{
    char *out = test_bytes(2 * strlen(text) + 1), *to = out;

    for (; *text != '\0'; text++) {
        if (*text == '\n')
            *to++ = '\\';
        *to++ = *text == '\n' ? 'n' : *text;
    }
    *to = '\0';
    return out;
}

static void step_edit(model *m, model_file *file)
{
    bool inserts = test_rng_chance(&m->rng, 50);
    const char *text = any_lines(m), *open = NULL;
    char after[MODEL_BYTES];

    if (strlen(file->text) + strlen(text) + 8 > MODEL_BYTES || file->text[0] == '\0')
        inserts = file->text[0] == '\0';
    if (inserts) {
        int line = (int)test_rng_below(&m->rng, (uint64_t)model_lines(file->text) + 1);

        (void)facts_call(&m->f, "file.insert", "{'path':'%s','insert_line':%d,'insert_text':'%s'}",
                         file->path, line, escaped(text));
        model_insert(file, line, text);
        return;
    }
    /* One of its words, which are unique, up to the end of another one. */
    open = file->text + test_rng_below(&m->rng, strlen(file->text));
    open = strchr(open, '<') != NULL ? strchr(open, '<') : strchr(file->text, '<');
    if (open != NULL) {
        const char *end = strchr(open + test_rng_below(&m->rng, strlen(open)), '>');
        size_t at = (size_t)(open - file->text), len;

        end = end != NULL ? end : strchr(open, '>');
        len = (size_t)(end - open) + 1;
        (void)facts_call(&m->f, "file.str_replace", "{'path':'%s','old_str':'%s','new_str':'%s'}",
                         file->path, escaped(test_format("%.*s", (int)len, open)), escaped(text));
        snprintf(after, sizeof after, "%s", open + len);
        snprintf(file->text + at, sizeof file->text - at, "%s%s", text, after);
    }
}

static void step(model *m)
{
    model_file *file = &m->files[test_rng_below(&m->rng, MODEL_FILES)];
    const char *path = test_format("/memories/%d/%d", (int)test_rng_below(&m->rng, 2),
                                   (int)test_rng_below(&m->rng, 5));

    if (!file->exists) {
        const char *text = any_lines(m);
        loci_str answer;

        if (model_find(m, path) != NULL) {
            CHECK_EQ(facts_try(&m->f, "file.create", &answer,
                               test_format("{'path':'%s','file_text':''}", path)),
                     LOCI_ECONFLICT);
            return;
        }
        (void)create(&m->f, path, escaped(text));
        file->exists = true;
        snprintf(file->path, sizeof file->path, "%s", path);
        snprintf(file->text, sizeof file->text, "%s", text);
    } else if (test_rng_chance(&m->rng, 4) && file != m->files) {
        (void)facts_call(&m->f, "file.delete", "{'path':'%s'}", file->path);
        file->exists = false;
    } else if (test_rng_chance(&m->rng, 8) && model_find(m, path) == NULL) {
        (void)facts_call(&m->f, "file.rename", "{'old_path':'%s','new_path':'%s'}", file->path,
                         path);
        snprintf(file->path, sizeof file->path, "%s", path);
    } else {
        step_edit(m, file);
    }
    m->f.now_us += MINUTE_US;
}

static void check_model(model *m)
{
    int count = 0;

    for (int i = 0; i < MODEL_FILES; i++) {
        if (m->files[i].exists)
            CHECK_STR_EQ(content_of(&m->f, m->files[i].path), m->files[i].text);
        count += m->files[i].exists;
    }
    CHECK_STR_EQ(test_member(facts_call(&m->f, "file.list", "{}"), test_format("files.%d", count)),
                 "");
}

/* The first file is never deleted: all its versions are compared, so that whole ones and long
 * chains of edits are read. */
TEST(file, random_edits_equal_a_naive_model_and_its_replay)
{
    for (uint64_t seed = 1; seed <= test_count(3, 30); seed++) {
        model *m = (model *)(void *)test_bytes(sizeof *m);
        const char *id, *out;
        loci_str answer;
        facts other;

        memset(m, 0, sizeof *m);
        m->rng = test_random(seed);
        open_here(&m->f);
        for (int i = 0; i < STEPS; i++) {
            step(m);
            if (!m->files[0].exists)
                continue;
            answer = facts_call(&m->f, "file.get", "{'path':'%s'}", m->files[0].path);
            m->version_count = (int)test_member_int(answer, "version");
            m->versions[m->version_count] = test_format("%s", m->files[0].text);
        }
        check_model(m);
        id = text_of(facts_call(&m->f, "file.get", "{'path':'%s'}", m->files[0].path), "id");
        CHECK_LT(LC_FILE_WHOLE_EVERY / 2, m->version_count);
        for (int version = 1; version <= m->version_count; version++) {
            answer = facts_call(&m->f, "file.get", "{'id':'%s','version':%d}", id, version);
            CHECK_STR_EQ(text_of(answer, "content"), m->versions[version]);
        }
        check_rebuilds(&m->f);
        check_model(m);
        /* The log alone gives the same files elsewhere. */
        out = test_path(test_tmpdir(), "log.ndjson");
        (void)facts_call(&m->f, "store.export", "{'path':'%s'}", out);
        facts_close(&m->f);
        open_here(&other);
        (void)facts_call(&other, "store.import", "{'path':'%s'}", out);
        m->f = other;
        check_model(m);
        facts_close(&m->f);
    }
}

/* An edit is stored as what was typed, not as the file: 100 edits of a file of 90 KB. */
TEST(file, edits_take_the_room_of_what_was_written)
{
    const char *out = test_path(test_tmpdir(), "log.ndjson");
    facts f;

    open_here(&f);
    (void)create(&f, "/memories/big", letters(90000));
    for (int i = 0; i < 100; i++)
        (void)facts_call(&f, "file.insert",
                         "{'path':'/memories/big','insert_line':0,'insert_text':'line %d'}", i);
    (void)facts_call(&f, "store.export", "{'path':'%s'}", out);
    CHECK_LT(test_read_file(out).len, 2 * 90000 + 100 * 500 + 10000);
    facts_close(&f);
}

/* ---- Many writers ---------------------------------------------------------------------------- */

#define WRITERS 4
#define EACH 20

typedef struct writer {
    loci_engine *engine;
    pthread_t thread;
    int number, done;
} writer;

/* Each adds lines to one file, and replaces a mark that all want: one of them gets it. */
static void *write_lines(void *ctx)
{
    writer *w = ctx;

    for (int i = 0; i < EACH; i++) {
        char args[160];
        int bytes = snprintf(args, sizeof args,
                             "{\"path\":\"/memories/log\",\"insert_line\":0,"
                             "\"insert_text\":\"line %d of %d\"}",
                             i, w->number);
        loci_answer *answer = NULL;
        loci_error err;

        if (loci_call(w->engine, "file.insert", (loci_str){args, (size_t)bytes}, NULL, &answer,
                      &err) == LOCI_OK)
            w->done++;
        loci_answer_free(answer);
        answer = NULL;
        bytes = snprintf(args, sizeof args,
                         "{\"path\":\"/memories/log\",\"old_str\":\"[mark %d]\","
                         "\"new_str\":\"taken by %d\"}",
                         i, w->number);
        if (loci_call(w->engine, "file.str_replace", (loci_str){args, (size_t)bytes}, NULL, &answer,
                      &err) == LOCI_OK)
            w->done += 1000;
        else if (err.status != LOCI_ECONFLICT)
            w->done += 1000000;
        loci_answer_free(answer);
    }
    return NULL;
}

TEST(file, edits_of_many_writers_are_serialised)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    loci_engine *engines[] = {test_open_threads(store), test_open_threads(store)};
    writer writers[WRITERS];
    const char *marks = "";
    loci_str answer;
    int done = 0;

    for (int i = 0; i < EACH; i++)
        marks = test_format("%s[mark %d]\\n", marks, i);
    /* Without the brackets "mark 1" would be in "mark 10", too. */
    test_call(engines[0], "file.create", "{'path':'/memories/log','file_text':'%s'}", marks);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){.engine = engines[i % 2], .number = i};
        CHECK_EQ(pthread_create(&writers[i].thread, NULL, write_lines, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        CHECK_EQ(pthread_join(writers[i].thread, NULL), 0);
        done += writers[i].done;
    }
    CHECK_EQ(done % 1000, WRITERS * EACH);
    answer = test_call(engines[1], "file.history", "{'path':'/memories/log','limit':1}");
    CHECK_EQ(test_member_int(answer, "versions.0.version"), 1 + done % 1000 + done / 1000);
    CHECK_EQ(done / 1000, EACH);
    test_close(engines[1]);
    test_close(engines[0]);
}

/* ---- Forgetting ------------------------------------------------------------------------------ */

TEST(file, what_is_forgotten_is_gone_with_its_versions)
{
    facts f;
    const char *id;
    loci_str answer;

    open_here(&f);
    (void)facts_call(&f, "file.create",
                     "{'path':'/memories/d/CANARY.md','file_text':'CANARY one','request_id':'r1'}");
    (void)facts_call(&f, "file.str_replace",
                     "{'path':'/memories/d/CANARY.md','old_str':'one','new_str':'CANARY two'}");
    (void)facts_call(&f, "file.rename",
                     "{'old_path':'/memories/d/CANARY.md','new_path':'/memories/d/CANARY2.md',"
                     "'request_id':'r2'}");
    id = create(&f, "/memories/d/CANARY3", "CANARY three");
    (void)facts_call(&f, "file.delete", "{'path':'/memories/d/CANARY3','request_id':'r3'}");
    (void)create(&f, "/memories/e", "kept");
    facts_fail(&f, LOCI_ENOTFOUND, "no file is or was", "file.forget",
               "{'path':'/memories/d/CANARY.md'}"); /* It moved. */
    answer = facts_call(&f, "file.forget", "{'path':'/memories/d','dry_run':true}");
    CHECK_EQ(test_member_int(answer, "removed.file"), 2);
    CHECK_STR_EQ(content_of(&f, "/memories/d/CANARY2.md"), "CANARY CANARY two");
    answer = facts_call(&f, "file.forget", "{'path':'/memories/d','wait':true}");
    CHECK_EQ(test_member_int(answer, "removed.file"), 2);
    CHECK_EQ(test_member_int(answer, "removed.event"), 5);
    CHECK_EQ(test_member_int(answer, "removed.answer"), 3);
    CHECK_STR_EQ(test_member(answer, "scrubbed"), "true");
    CHECK(!facts_is_stored(&f, "CANARY"));
    facts_fail(&f, LOCI_ENOTFOUND, id, "file.forget", test_format("{'id':'%s'}", id));
    facts_fail(&f, LOCI_ENOTFOUND, "does not exist", "file.view", "{'path':'/memories/d'}");
    CHECK_STR_EQ(test_member(facts_call(&f, "file.history", "{'path':'/memories/d'}"), "versions"),
                 "[]");
    CHECK_STR_EQ(content_of(&f, "/memories/e"), "kept");
    check_rebuilds(&f);
    (void)create(&f, "/memories/d", "new");
    facts_close(&f);
}

TEST(file, forgetting_is_for_what_the_caller_sees)
{
    facts f;
    const char *id;
    loci_str answer;

    open_here(&f);
    id = text_of(facts_call(&f, "file.create",
                            "{'path':'/memories/a','file_text':'of ann','persona_id':'ann'}"),
                 "file.id");
    (void)create(&f, "/memories/b", "CANARY");
    facts_fail(&f, LOCI_ENOTFOUND, "/memories/a", "file.forget",
               "{'path':'/memories/a','persona_id':'bob'}");
    facts_fail(&f, LOCI_ENOTFOUND, id, "file.forget",
               test_format("{'id':'%s','persona_id':'bob'}", id));
    facts_fail(&f, LOCI_ENOTFOUND, id, "file.get",
               test_format("{'id':'%s','persona_id':'bob'}", id));
    answer = facts_call(&f, "user.forget", "{'dry_run':true}");
    CHECK_EQ(test_member_int(answer, "removed.file"), 2);
    (void)facts_call(&f, "file.forget", "{'path':'/memories','wait':true}");
    CHECK(!facts_is_stored(&f, "CANARY"));
    answer = facts_call(&f, "file.get", "{'id':'%s','persona_id':'ann'}", id);
    CHECK_STR_EQ(text_of(answer, "content"), "of ann");
    facts_close(&f);
}
