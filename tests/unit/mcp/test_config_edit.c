#include "mcp/config_edit.h"

#include "lib/test.h"

static const char *const own[] = {"type", "command", "args", "url", NULL};
static const lc_config_place servers = {{LC_STR("mcpServers"), LC_STR("loci")}, 2};
static const lc_config_place tables = {{LC_STR("mcp_servers"), LC_STR("loci")}, 2};
static const lc_config_place hooks = {{LC_STR("hooks"), LC_STR("Stop")}, 2};

#define ENTRY "{\"command\":\"/bin/loci\",\"args\":[\"mcp\"]}"

/* The result of an edit of a text. */
typedef struct result {
    loci_status status;
    loci_str text; /* Until the test ends. */
    bool exists;
    loci_error err;
} result;

typedef struct edit {
    lc_config_format format;
    const lc_config_place *place;
    const char *value; /* NULL: remove. */
    bool is_element;
} edit;

/* Elements of the array at `place`. */
static size_t count_elements(lc_arena *arena, const lc_config_file *file,
                             const lc_config_place *place)
{
    const lc_json *json = NULL;

    CHECK_EQ(lc_config_find(arena, file, place, &json, NULL), LOCI_OK);
    return json != NULL ? lc_json_count(json) : 0;
}

static result apply(loci_str text, bool exists, edit e)
{
    lc_config_file file = {.format = e.format, .text = text, .exists = exists};
    lc_config_entry entry = {loci_str_of(e.value), own};
    result r = {.exists = true};
    lc_heap heap;
    lc_arena arena;
    lc_buf out;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    if (e.is_element && e.value != NULL)
        r.status = lc_config_add_element(&arena, &file, e.place, entry.value, &out, &r.err);
    else if (e.is_element)
        r.status = lc_config_remove_element(
            &arena, &file,
            &(lc_config_element){*e.place, count_elements(&arena, &file, e.place) - 1}, &out,
            &r.exists, &r.err);
    else if (e.value != NULL)
        r.status = lc_config_put(&arena, &file, e.place, &entry, &out, &r.err);
    else
        r.status = lc_config_remove(&arena, &file, e.place, &out, &r.exists, &r.err);
    r.text = loci_str_of(test_format("%.*s", (int)out.len, out.len > 0 ? out.ptr : ""));
    lc_buf_clear(&out);
    lc_arena_clear(&arena);
    return r;
}

static result put_json(const char *text)
{
    return apply(loci_str_of(text), true, (edit){LC_CONFIG_JSON, &servers, ENTRY, false});
}

static result put_toml(const char *text)
{
    return apply(loci_str_of(text), true, (edit){LC_CONFIG_TOML, &tables, ENTRY, false});
}

/* The value as canonical JSON, or "none". */
static loci_str find(lc_config_format format, loci_str text, const lc_config_place *place)
{
    lc_config_file file = {.format = format, .text = text, .exists = true};
    const lc_json *json = NULL;
    loci_error err;
    loci_str found = LC_STR("none");
    lc_heap heap;
    lc_arena arena;
    lc_buf out;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    CHECK_OK(lc_config_find(&arena, &file, place, &json, &err), err);
    if (json != NULL) {
        CHECK_OK(lc_json_canonical(&arena, json, &out, &err), err);
        found = loci_str_of(test_format("%.*s", (int)out.len, out.ptr));
    }
    lc_buf_clear(&out);
    lc_arena_clear(&arena);
    return found;
}

#define CANONICAL "{\"args\":[\"mcp\"],\"command\":\"/bin/loci\"}"

/* ---- JSON: how it looks ---------------------------------------------------------------------- */

TEST(config_json, a_new_file_is_indented)
{
    result r = apply(LC_STR(""), false, (edit){LC_CONFIG_JSON, &servers, ENTRY, false});

    CHECK_STR_EQ(r.text,
                 "{\n  \"mcpServers\": {\n    \"loci\": {\n      \"command\": \"/bin/loci\",\n"
                 "      \"args\": [\"mcp\"]\n    }\n  }\n}\n");
    r = apply(r.text, true, (edit){LC_CONFIG_JSON, &servers, NULL, false});
    CHECK_OK(r.status, r.err);
    CHECK(!r.exists);
}

/* The members of others, their comments and their indentation are as they were. */
TEST(config_json, an_entry_goes_behind_the_last_one)
{
    result r = put_json("// mine\n{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // first\n"
                        "\t\t\"b\": {} // second\n\t},\n\t\"theme\": 1,\n}\n");

    CHECK_OK(r.status, r.err);
    CHECK_STR_EQ(r.text,
                 "// mine\n{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // first\n"
                 "\t\t\"b\": {}, // second\n\t\t\"loci\": {\n"
                 "\t\t\t\"command\": \"/bin/loci\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t},\n"
                 "\t\"theme\": 1,\n}\n");
}

TEST(config_json, trailing_commas_and_crlf_are_kept)
{
    result r = put_json("{\r\n  \"a\": 1,\r\n}\r\n");

    CHECK_OK(r.status, r.err);
    CHECK_STR_EQ(r.text,
                 "{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"loci\": {\r\n"
                 "      \"command\": \"/bin/loci\",\r\n      \"args\": [\"mcp\"]\r\n    }\r\n"
                 "  },\r\n}\r\n");
}

TEST(config_json, a_file_in_one_line_stays_in_one_line)
{
    result r = put_json("{\"a\": {\"b\": 1}}");

    CHECK_STR_EQ(r.text, "{\"a\": {\"b\": 1}, \"mcpServers\": { \"loci\": { \"command\": "
                         "\"/bin/loci\", \"args\": [\"mcp\"] } }}");
}

/* The user's own members of the entry, such as env, survive another installation. */
TEST(config_json, an_entry_is_changed_member_by_member)
{
    result r = put_json("{\"mcpServers\": {\n  \"loci\": {\n    \"type\": \"http\",\n"
                        "    \"command\": \"/old\", // where\n    \"env\": {\"A\": \"1\"},\n"
                        "    \"url\": \"x\"\n  }\n}}");

    CHECK_OK(r.status, r.err);
    CHECK_STR_EQ(r.text, "{\"mcpServers\": {\n  \"loci\": {\n"
                         "    \"command\": \"/bin/loci\", // where\n    \"env\": {\"A\": \"1\"},\n"
                         "    \"args\": [\"mcp\"]\n  }\n}}");
    CHECK_STR_EQ(apply(r.text, true, (edit){LC_CONFIG_JSON, &servers, ENTRY, false}).text, r.text);
}

TEST(config_json, names_are_compared_without_escapes)
{
    result r = put_json("{\"mcp\\u0053ervers\": {\"other\": 1}}");

    CHECK_OK(r.status, r.err);
    CHECK_STR_EQ(find(LC_CONFIG_JSON, r.text, &servers), CANONICAL);
    CHECK_CONTAINS(r.text, "\\u0053");
}

static void check_refused(lc_config_format format, const char *text, const char *why)
{
    result r = format == LC_CONFIG_JSON ? put_json(text) : put_toml(text);

    CHECK_EQ(r.status, LOCI_EINVAL);
    CHECK_CONTAINS(loci_str_of(r.err.message), why);
}

/* A file that cannot be read with certainty is not touched. */
TEST(config_json, broken_files_are_refused)
{
    check_refused(LC_CONFIG_JSON, "{", "line 1, column 2");
    check_refused(LC_CONFIG_JSON, "{\n  \"a\": 1\n  \"b\": 2\n}", "line 3, column 3");
    check_refused(LC_CONFIG_JSON, "{\"a\":}", "expected a value");
    check_refused(LC_CONFIG_JSON, "{\"a\": tru}", "expected a value");
    check_refused(LC_CONFIG_JSON, "{,}", "expected a name");
    check_refused(LC_CONFIG_JSON, "{\"a\": 1,, }", "expected a name");
    check_refused(LC_CONFIG_JSON, "{} x", "end of the file");
    check_refused(LC_CONFIG_JSON, "{ /* ", "comment does not end");
    check_refused(LC_CONFIG_JSON, "{\"a", "string does not end");
    check_refused(LC_CONFIG_JSON, "{\"a\nb\": 1}", "control character");
    check_refused(LC_CONFIG_JSON, "{\"\\q\": 1}", "escape");
    check_refused(LC_CONFIG_JSON, "{\"\xff\": 1}", "UTF-8");
    check_refused(LC_CONFIG_JSON, "[]", "not a JSON object");
    check_refused(LC_CONFIG_JSON, "{\"mcpServers\": []}", "expected an object");
    check_refused(LC_CONFIG_JSON, "{\"mcpServers\": null}", "expected an object");
    check_refused(LC_CONFIG_JSON, "{\"mcpServers\": {}, \"mcpServers\": {}}", "twice");
    check_refused(LC_CONFIG_JSON, "{\"mcpServers\": {\"loci\": 1, \"loci\": 2}}", "twice");
}

static const char *nested(size_t depth, const char *open, const char *close)
{
    char *text = test_bytes(depth * (strlen(open) + strlen(close)) + 1);
    size_t len = 0;

    for (size_t i = 0; i < depth; i++, len += strlen(open))
        memcpy(text + len, open, strlen(open));
    text[len++] = '1';
    for (size_t i = 0; i < depth; i++, len += strlen(close))
        memcpy(text + len, close, strlen(close));
    return text;
}

TEST(config_json, nesting_is_limited)
{
    CHECK_EQ(put_json(nested(LC_CONFIG_DEPTH_MAX - 1, "{\"a\":", "}")).status, LOCI_OK);
    CHECK_EQ(put_json(nested(LC_CONFIG_DEPTH_MAX, "{\"a\":", "}")).status, LOCI_OK);
    check_refused(LC_CONFIG_JSON, nested(LC_CONFIG_DEPTH_MAX + 1, "{\"a\":", "}"), "nested");
}

/* ---- JSON: a removal restores the original text ---------------------------------------------- */

static void check_undone(loci_str text, edit add)
{
    result added = apply(text, true, add);
    result removed;

    CHECK_OK(added.status, added.err);
    add.value = NULL;
    removed = apply(added.text, true, add);
    CHECK_OK(removed.status, removed.err);
    CHECK(removed.exists);
    CHECK_STR_EQ(removed.text, text);
}

static void check_json_undone(const char *text)
{
    check_undone(loci_str_of(text), (edit){LC_CONFIG_JSON, &servers, ENTRY, false});
    check_undone(loci_str_of(text), (edit){LC_CONFIG_JSON, &hooks, ENTRY, true});
}

TEST(config_json, removing_restores_every_byte)
{
    static const char *const texts[] = {
        "",
        " ",
        "\n",
        "// only a comment",
        "/* a */ // b\n",
        "{}",
        "{ }",
        "{\n}\n",
        "\xEF\xBB\xBF{}\r\n",
        "{ /* c */ }",
        "{// c\n}",
        "{\"a\":1}",
        "{\"a\":1,}",
        "{\"a\": 1 /* x */, /* y */ }",
        "{\n\t\"a\": 1 // x  \t\n}",
        "{\n\t\"a\": 1, // x  \t\r\n}",
        "{\n  \"mcpServers\": {},\n  \"hooks\": {}\n}\n",
        "{\n  \"mcpServers\": {\n  },\n  \"hooks\": {\"Stop\": []}\n}\n",
        "{\n  \"mcpServers\": { /* none */ },\n  \"hooks\": {\"Stop\": [ // none\n]}\n}\n",
        "{\"mcpServers\": {\"a\": [], }, \"hooks\": {\"Stop\": [1]}}",
        "{\"mcpServers\": {\n    \"a\": [] }, \"hooks\": {\"Stop\": [{}\n ,\n\n {} , ]}}\n\n",
        "{\n  \"a\": 1\n  /* over\n  lines */\n}",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_json_undone(texts[i]);
}

/* Random documents: white space and comments wherever the grammar allows them. */
typedef struct maker {
    test_rng *rng;
    char *text;
    size_t len, room;
} maker;

static void emit(maker *m, const char *piece)
{
    size_t len = strlen(piece);

    if (m->len + len < m->room) {
        memcpy(m->text + m->len, piece, len);
        m->len += len;
    }
}

static void emit_blank(maker *m)
{
    static const char *const blanks[] = {"",   "",     "",       " ",        "\n",           "\n  ",
                                         "\t", "\r\n", "/* */",  " // c \n", "/* a\n  b */", "  ",
                                         "",   "\n\n", "//\r\n", "/**/ "};

    for (uint64_t n = test_rng_below(m->rng, 3); n > 0; n--)
        emit(m, blanks[test_rng_below(m->rng, sizeof blanks / sizeof blanks[0])]);
}

static void emit_scalar(maker *m)
{
    static const char *const scalars[] = {"1",        "-2.5e7",   "true",  "null",         "\"x\"",
                                          "\"{//,\"", "\"\\\"\"", "\"é\"", "\"/* no */\"", "{}",
                                          "[]"};

    emit(m, scalars[test_rng_below(m->rng, sizeof scalars / sizeof scalars[0])]);
}

/* Lists nest at most three deep. */
static void emit_list(maker *m, unsigned depth);

static void emit_item(maker *m, bool is_object, unsigned depth, uint64_t number)
{
    static const char *const names[] = {"mcpServers", "hooks", "Stop", "other"};

    if (is_object) {
        emit(m, number < 2 && test_rng_chance(m->rng, 40)
                    ? test_format("\"%s%s\"", names[(number + depth) % 4], depth > 1 ? "x" : "")
                    : test_format("\"k%llu\"", (unsigned long long)number));
        emit_blank(m);
        emit(m, ":");
        emit_blank(m);
    }
    if (depth < 3 && test_rng_chance(m->rng, 50))
        emit_list(m, depth + 1);
    else
        emit_scalar(m);
}

static void emit_list(maker *m, unsigned depth)
{
    bool is_object = depth == 0 || test_rng_chance(m->rng, 60);
    uint64_t count = test_rng_below(m->rng, 4);

    emit(m, is_object ? "{" : "[");
    emit_blank(m);
    for (uint64_t i = 0; i < count; i++) {
        emit_item(m, is_object, depth, i);
        emit_blank(m);
        if (i + 1 < count || test_rng_chance(m->rng, 25)) {
            emit(m, ",");
            emit_blank(m);
        }
    }
    emit(m, is_object ? "}" : "]");
}

TEST(config_json, random_documents_survive)
{
    test_rng rng = test_random(14);
    uint64_t edited = 0;

    for (uint64_t i = 0; i < 4000; i++) {
        maker m = {.rng = &rng, .text = test_bytes(8192), .room = 8192};
        edit add = {LC_CONFIG_JSON, &servers, ENTRY, false};
        loci_str text;
        result r;

        if (test_rng_chance(&rng, 50))
            add = (edit){LC_CONFIG_JSON, &hooks, ENTRY, true};
        emit_blank(&m);
        emit_list(&m, 0);
        emit_blank(&m);
        text = (loci_str){m.text, m.len};
        r = apply(text, true, add);
        if (r.status == LOCI_EINVAL) { /* A list of another kind is in the way. */
            CHECK_CONTAINS(loci_str_of(r.err.message), "expected an");
            continue;
        }
        CHECK_OK(r.status, r.err);
        edited++;
        if (!add.is_element)
            CHECK_STR_EQ(find(LC_CONFIG_JSON, r.text, &servers), CANONICAL);
        check_undone(text, add);
    }
    CHECK_LT(2000, edited);
}

/* ---- TOML ------------------------------------------------------------------------------------ */

#define TABLE "[mcp_servers.loci]\ncommand = \"/bin/loci\"\nargs = [\"mcp\"]\n"

TEST(config_toml, an_entry_is_a_table_at_the_end)
{
    result r = put_toml("model = \"x\" # mine\n\n[mcp_servers.a]\ncommand = 'b'\n");

    CHECK_STR_EQ(r.text, "model = \"x\" # mine\n\n[mcp_servers.a]\ncommand = 'b'\n\n" TABLE);
    CHECK_STR_EQ(find(LC_CONFIG_TOML, r.text, &tables), CANONICAL);
    r = apply(LC_STR(""), false, (edit){LC_CONFIG_TOML, &tables, ENTRY, false});
    CHECK_STR_EQ(r.text, TABLE);
    r = apply(r.text, true, (edit){LC_CONFIG_TOML, &tables, NULL, false});
    CHECK(!r.exists);
}

TEST(config_toml, removing_restores_every_byte)
{
    static const char *const texts[] = {
        "",
        "\n",
        "# c",
        "# c\n",
        "a = 1",
        "a = 1\r\n",
        "a = 1\r\nb = 2",
        "a = 1\n\n\n",
        "a = [ # c ]\n 1, [2,\n], { b = 3, \"c d\" = '''\n]''' } ]\n[x.\"y.z\"]\n",
        "a = \"\"\"\n[mcp_servers.loci]\nb = \\\"\"\"\"\n[mcp_servers]\n",
        "d = 1979-05-27 07:32:00 # date\n[[p]]\n[[p]]\nq.r = 'x'   \n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_undone(loci_str_of(texts[i]), (edit){LC_CONFIG_TOML, &tables, ENTRY, false});
}

TEST(config_toml, an_entry_is_changed_key_by_key)
{
    result r = put_toml(
        "[mcp_servers.loci] # memory\ncommand = '/old' # where\n"
        "startup_timeout_sec = 20\nurl = \"x\"\n\n[mcp_servers.loci.env]\nA = \"1\"\n"
        "\n[other]\nb = 1\n");

    CHECK_OK(r.status, r.err);
    CHECK_STR_EQ(r.text, "[mcp_servers.loci] # memory\ncommand = \"/bin/loci\" # where\n"
                         "startup_timeout_sec = 20\nargs = [\"mcp\"]\n\n[mcp_servers.loci.env]\n"
                         "A = \"1\"\n\n[other]\nb = 1\n");
    CHECK_STR_EQ(find(LC_CONFIG_TOML, r.text, &tables),
                 "{\"args\":[\"mcp\"],\"command\":\"/bin/loci\",\"env\":{\"A\":\"1\"},"
                 "\"startup_timeout_sec\":20}");
    CHECK_STR_EQ(apply(r.text, true, (edit){LC_CONFIG_TOML, &tables, ENTRY, false}).text, r.text);
    r = apply(r.text, true, (edit){LC_CONFIG_TOML, &tables, NULL, false});
    CHECK_OK(r.status, r.err);
    CHECK_STR_EQ(r.text, "\n[other]\nb = 1\n");
}

TEST(config_toml, values_are_read)
{
    CHECK_STR_EQ(find(LC_CONFIG_TOML,
                      LC_STR("mcp_servers.loci.args = [\"a\\u00e9\\n\", 'b\\', # c\n \"\"\"\nd\\\n "
                             "e\"\"\",]\nmcp_servers.loci.env.X = \"\\\"y\\\"\"\n"),
                      &tables),
                 "{\"args\":[\"aé\\n\",\"b\\\\\",\"de\"],\"env\":{\"X\":\"\\\"y\\\"\"}}");
    CHECK_STR_EQ(
        find(LC_CONFIG_TOML, LC_STR("mcp_servers = { loci = { command = 'x' } }"), &tables),
        "{\"command\":\"x\"}");
    CHECK_STR_EQ(find(LC_CONFIG_TOML, LC_STR("mcp_servers = { b = { command = 'x' } }"), &tables),
                 "none");
}

TEST(config_toml, broken_files_and_other_forms_are_refused)
{
    check_refused(LC_CONFIG_TOML, "a", "expected '='");
    check_refused(LC_CONFIG_TOML, "a =\n", "expected a value");
    check_refused(LC_CONFIG_TOML, "a = [1", "line 1");
    check_refused(LC_CONFIG_TOML, "a = [1 2 = 3]", "expected");
    check_refused(LC_CONFIG_TOML, "a = { b }", "expected '='");
    check_refused(LC_CONFIG_TOML, "a = { b = }", "expected a value");
    check_refused(LC_CONFIG_TOML, "[a\n", "expected ']'");
    check_refused(LC_CONFIG_TOML, "a = \"x\n", "string does not end");
    check_refused(LC_CONFIG_TOML, "a = 1 b = 2\n", "expected");
    check_refused(LC_CONFIG_TOML, "# c\r", "half a line end");
    check_refused(LC_CONFIG_TOML, "mcp_servers = {}\n", "inline table");
    check_refused(LC_CONFIG_TOML, "[mcp_servers]\nloci = {command = \"x\"}\n", "inline table");
    check_refused(LC_CONFIG_TOML, "[mcp_servers]\nloci.command = \"x\"\n", "header");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static loci_status put_both(void *ctx)
{
    lc_config_entry entry = {LC_STR(ENTRY), own};
    lc_config_file files[] = {
        {LC_CONFIG_JSON, LC_STR("{\"mcpServers\": {\"loci\": {\"command\": \"x\"}}}"), true},
        {LC_CONFIG_TOML, LC_STR("[mcp_servers.loci]\ncommand = \"x\"\n"), true}};
    loci_status status = LOCI_OK;
    const lc_json *json;

    (void)ctx;
    for (size_t i = 0; i < 2 && status == LOCI_OK; i++) {
        const lc_config_place *place = i == 0 ? &servers : &tables;
        lc_heap heap;
        lc_arena arena;
        lc_buf out;

        lc_heap_init(&heap, test_heap());
        lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
        lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
        status = lc_config_put(&arena, &files[i], place, &entry, &out, NULL);
        if (status == LOCI_OK)
            status = lc_config_find(&arena, &files[i], place, &json, NULL);
        lc_buf_clear(&out);
        lc_arena_clear(&arena);
    }
    return status;
}

TEST(config_edit, out_of_memory_is_an_error)
{
    test_oom_sweep(put_both, NULL);
}
