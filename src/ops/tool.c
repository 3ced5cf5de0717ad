/* tool.c - see tool.h.
 *
 * The order of the list is the order in which a model should think of them: look first, then write,
 * then take away. A description says what the tool is for, when to use it and when not. Together
 * with the schemas they have LC_TOOLS_BYTES_MAX bytes.
 */
#include "ops/tool.h"

#include "base/assert.h"
#include "base/str.h"
#include "ops/check.h"
#include "ops/schema.h"

static const lc_tool tools[] = {
    {
        .name = "recall",
        .title = "Recall memories",
        .description =
            "Find what is remembered about a topic, person or project. Use it before you answer "
            "from the past or ask the user. For exact values use read_facts.",
        .effect = LC_EFFECT_READS,
    },
    {
        .name = "context",
        .title = "Build context",
        .description = "Get one text with all that matters for a question: rules, facts, memories, "
                       "todos, past talk. Use it when a conversation or task starts.",
        .effect = LC_EFFECT_READS,
    },
    {
        .name = "read_facts",
        .title = "Read facts and todos",
        .description = "Look up exact values that are true now, or open todos. Former values are "
                       "only in history.",
        .effect = LC_EFFECT_READS,
        .selector = "action",
        .selector_help = "claims: disputed statements",
        .takes_whose = true,
    },
    {
        .name = "search_sessions",
        .title = "Search conversations",
        .description = "Search past messages, to quote who said what and when. They may be "
                       "outdated: check values with read_facts.",
        .effect = LC_EFFECT_READS,
    },
    {
        .name = "view_window",
        .title = "View the window",
        .description = "See what is loaded in your context window, how full it is, and what to "
                       "page out first. Use it after a reset and when a result warns.",
        .effect = LC_EFFECT_READS,
        .selector = "action",
        .selector_help = "",
    },
    {
        .name = "remember",
        .title = "Remember",
        .description = "Keep one lasting statement, such as a preference or a decision, as soon as "
                       "you learn it. It replaces an older one. Not for named values (set_fact), "
                       "secrets or small talk.",
        .effect = LC_EFFECT_ADDS,
        .takes_whose = true,
    },
    {
        .name = "set_fact",
        .title = "Set a fact",
        .description = "Record the current value of something with a name, such as deadline. It "
                       "supersedes the former value. Use the existing key: see read_facts.",
        .effect = LC_EFFECT_ADDS,
        .takes_whose = true,
    },
    {
        .name = "observe",
        .title = "Observe a message",
        .description = "Store a message word for word and update the facts it plainly states. Not "
                       "if the host records the conversation.",
        .effect = LC_EFFECT_ADDS,
    },
    {
        .name = "todo",
        .title = "Write todos",
        .description = "Add, change or finish a commitment that outlives this conversation; not "
                       "steps of the current task. read_facts lists todos.",
        .effect = LC_EFFECT_ADDS,
        .selector = "action",
        .selector_help = "",
    },
    {
        .name = "page",
        .title = "Page resources",
        .description = "Load a resource of the window, take it out, weigh it against eviction, or "
                       "note something on it.",
        .effect = LC_EFFECT_ADDS,
        .selector = "action",
        .selector_help = "",
    },
    {
        .name = "frame",
        .title = "Work in frames",
        .description = "A frame is one task on your stack, kept over crashes. Push one per "
                       "subtask, record its tool calls, pop it with the result; pack gives its "
                       "text for a prompt, suspend a token for resume.",
        .effect = LC_EFFECT_ADDS,
        .selector = "action",
    },
    {
        .name = "forget",
        .title = "Forget for good",
        .description = "Erase something with its history, only if the user asks. The first call "
                       "shows what would go; with dry_run false it goes. For outdated values use "
                       "set_fact.",
        .effect = LC_EFFECT_DESTROYS,
        .selector = "action",
        .selector_help = "Kind of thing",
    },
    {
        .name = "retract_fact",
        .title = "Retract a fact",
        .description = "End a fact that is wrong and has no new value. It stays in history. With a "
                       "new value use set_fact.",
        .effect = LC_EFFECT_DESTROYS,
        .takes_whose = true,
    },
    {
        .name = "memory",
        .title = "Memory files",
        .description = "Notes in files below /memories. View the directory first; write down "
                       "progress as you go.",
        .effect = LC_EFFECT_DESTROYS,
        .selector = "command",
        .selector_help = "",
        .is_foreign = true,
    },
};

/* Help of a parameter for models, if the help for programmers is too long; "" if its name and its
 * type say enough. */
typedef struct short_help {
    const char *name, *help;
    const char *items; /* Of an array that the operation takes as any JSON: their schema. */
} short_help;

static const short_help short_helps[] = {
    {"attention", "0 to 10; above 1 stays"},
    {"budget", "Tokens"},
    {"call_id", ""},
    {"cursor", ""},
    {"dry_run", ""},
    {"due_at", ""},
    {"entity", "All memories about it"},
    {"entity_refs", "Its subjects, such as person:ann"},
    {"error", ""},
    {"file_text", ""},
    {"from", ""},
    {"goal", ""},
    {"id", ""},
    {"importance", "0 to 3 (critical)"},
    {"insert_line", "0 is the beginning"},
    {"insert_text", ""},
    {"is_constraint", "A rule to keep"},
    {"key", ""},
    {"level", "1 verbose to 3 dense"},
    {"limit", ""},
    {"message_id", "One message instead"},
    {"mode", ""},
    {"name", ""},
    {"new_path", ""},
    {"new_str", ""},
    {"observed_at", "Since when it is true"},
    {"old_path", ""},
    {"old_str", "Text that occurs once"},
    {"output", ""},
    {"parent_id", ""},
    {"path", "From /memories"},
    {"query", "In plain words"},
    {"reason", ""},
    {"result", ""},
    {"session_id", ""},
    {"speaker", "user, assistant or a name"},
    {"status", ""},
    {"text", ""},
    {"to", ""},
    {"token", ""},
    {"trust", "Source; tool, web, model: a claim"},
    {"valid_until", ""},
    {"value", ""},
    {"view_range", "First and last line", "{\"type\":\"integer\"}"},
};

#define TOOL_COUNT (sizeof tools / sizeof tools[0])

_Static_assert(TOOL_COUNT <= LC_TOOLS_MAX, "hosts limit the number of tools");

const lc_tool *lc_tool_at(size_t index)
{
    return index < TOOL_COUNT ? &tools[index] : NULL;
}

const lc_tool *lc_tool_find(loci_str name)
{
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        if (lc_str_is(name, tools[i].name))
            return &tools[i];
    }
    return NULL;
}

/* ---- The columns of operations --------------------------------------------------------------- */

const lc_op *lc_tool_op(const lc_tool *tool, size_t index)
{
    size_t bytes = strlen(tool->name);
    lc_op_cursor at = {0};
    const lc_op *op;

    while ((op = lc_op_next(&at)) != NULL) {
        if (op->mcp != NULL && strncmp(op->mcp, tool->name, bytes) == 0 &&
            (op->mcp[bytes] == ' ' || op->mcp[bytes] == '\0') && index-- == 0)
            return op;
    }
    return NULL;
}

const lc_op *lc_tool_find_op(const lc_tool *tool, loci_str action)
{
    const lc_op *op;

    for (size_t i = 0; (op = lc_tool_op(tool, i)) != NULL; i++) {
        if (lc_str_eq(lc_op_action(op), action))
            return op;
    }
    return NULL;
}

loci_str lc_op_action(const lc_op *op)
{
    loci_str action;

    (void)lc_str_split(loci_str_of(op->mcp), ' ', &action);
    return action;
}

lc_effect lc_op_effect(const lc_op *op)
{
    if ((op->flags & LC_OP_MUTATES) == 0)
        return LC_EFFECT_READS;
    return (op->flags & LC_OP_DESTROYS) != 0 ? LC_EFFECT_DESTROYS : LC_EFFECT_ADDS;
}

bool lc_tool_is_idempotent(const lc_tool *tool)
{
    const lc_op *op;

    for (size_t i = 0; (op = lc_tool_op(tool, i)) != NULL; i++) {
        if ((op->flags & LC_OP_IDEMPOTENT) == 0)
            return false;
    }
    return true;
}

/* The next word of a list; false at its end. */
static bool next_word(loci_str *rest, loci_str *out)
{
    while (rest->len > 0 && rest->ptr[0] == ' ')
        *rest = (loci_str){rest->ptr + 1, rest->len - 1};
    if (rest->len == 0)
        return false;
    *out = lc_str_split(*rest, ' ', rest);
    return true;
}

bool lc_taken_next(const lc_op *op, loci_str *rest, lc_taken *out)
{
    loci_str word;
    size_t index;

    if (!next_word(rest, &word))
        return false;
    out->name = lc_str_split(word, '=', &out->value);
    out->param = lc_op_find_param(op, out->name, &index);
    LC_ASSERT(out->param != NULL);
    return true;
}

bool lc_op_takes(const lc_op *op, loci_str name, lc_taken *out)
{
    loci_str rest = loci_str_of(op->mcp_takes);
    size_t index;
    const lc_param *param = lc_op_find_param(op, name, &index);

    while (param != NULL && lc_taken_next(op, &rest, out)) {
        if (out->param == param)
            return true;
    }
    return false;
}

/* Where the name of a part ends, and where its parentheses close. */
static size_t part_end(loci_str rest, size_t *out_name_end)
{
    size_t level = 0, at = 0;

    *out_name_end = rest.len;
    for (; at < rest.len && (level > 0 || rest.ptr[at] != ' '); at++) {
        if (rest.ptr[at] == '(' && level++ == 0)
            *out_name_end = at;
        else if (rest.ptr[at] == ')')
            level--;
    }
    if (*out_name_end > at)
        *out_name_end = at;
    return at;
}

bool lc_shown_next(loci_str *rest, lc_shown *out)
{
    loci_str name;
    size_t end, name_end;

    while (rest->len > 0 && rest->ptr[0] == ' ')
        *rest = (loci_str){rest->ptr + 1, rest->len - 1};
    if (rest->len == 0)
        return false;
    end = part_end(*rest, &name_end);
    *out = (lc_shown){.name = {rest->ptr, name_end}, .is_declared = rest->ptr[0] != '~'};
    if (!out->is_declared)
        out->name = (loci_str){rest->ptr + 1, name_end - 1};
    if (name_end < end) /* Without its parentheses. */
        out->inner = (loci_str){rest->ptr + name_end + 1, end - name_end - 2};
    *rest = (loci_str){rest->ptr + end, rest->len - end};
    out->is_verbatim = out->name.ptr[out->name.len - 1] == '!';
    out->name.len -= out->is_verbatim ? 1 : 0;
    name = lc_str_split(out->name, ':', &out->source);
    if (out->source.ptr == NULL)
        out->source = name;
    else if (lc_str_is(out->source, "*"))
        out->source = LC_STR_NONE;
    out->name = name;
    return true;
}

bool lc_shown_find(const lc_record *record, const lc_shown *shown, lc_result *out)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_record_members(record, members);

    for (size_t i = 0; shown->source.ptr != NULL && i < count; i++) {
        if (lc_str_is(shown->source, members[i].name)) {
            *out = members[i];
            return true;
        }
    }
    return false;
}

/* ---- Input ----------------------------------------------------------------------------------- */

bool lc_taken_is_required(const lc_op *op, const lc_taken *taken)
{
    if ((taken->param->flags & LC_PARAM_REQUIRED) != 0)
        return true;
    for (const lc_param_rule *rule = op->rules; rule != NULL && rule->kind != LC_RULE_END; rule++) {
        loci_str rest = loci_str_of(rule->params);
        size_t shown_count = 0;
        bool is_in_it = false;

        while (rule->kind == LC_RULE_EXACTLY_ONE && rest.ptr != NULL) {
            loci_str name = lc_str_split(rest, '|', &rest);
            lc_taken other;

            is_in_it |= lc_str_is(name, taken->param->name);
            shown_count += lc_op_takes(op, name, &other) ? 1 : 0;
        }
        if (is_in_it && shown_count == 1)
            return true;
    }
    return false;
}

/* How many operations of the tool show this parameter, and how many require it. */
static void count_takers(const lc_tool *tool, loci_str name, size_t *out_takers,
                         size_t *out_requirers)
{
    const lc_op *op;

    *out_takers = *out_requirers = 0;
    for (size_t i = 0; (op = lc_tool_op(tool, i)) != NULL; i++) {
        lc_taken taken;

        if (!lc_op_takes(op, name, &taken))
            continue;
        ++*out_takers;
        *out_requirers += lc_taken_is_required(op, &taken) ? 1 : 0;
    }
}

static const short_help *find_short(const lc_param *param)
{
    for (size_t i = 0; i < sizeof short_helps / sizeof short_helps[0]; i++) {
        if (strcmp(short_helps[i].name, param->name) == 0)
            return &short_helps[i];
    }
    return NULL;
}

static const char *help_of(const lc_param *param)
{
    const short_help *found = find_short(param);

    return found != NULL ? found->help : param->help;
}

#define DESCRIPTION_BYTES 256

static void add(char text[DESCRIPTION_BYTES], loci_str part)
{
    size_t len = strlen(text);

    LC_ASSERT(len + part.len < DESCRIPTION_BYTES); /* Of a table that a test writes whole. */
    if (part.len > 0)
        memcpy(text + len, part.ptr, part.len);
    text[len + part.len] = '\0';
}

/* The parameter's help and, if not all operations take it, which ones do or do not. */
static void put_description(lc_json_writer *out, const lc_tool *tool, const lc_taken *taken)
{
    size_t takers, requirers, op_count = 0, written = 0;
    bool names_ops = !tool->is_foreign && tool->selector_help != NULL;
    char text[DESCRIPTION_BYTES] = "";
    const lc_op *op;
    lc_taken other;

    while (lc_tool_op(tool, op_count) != NULL)
        op_count++;
    count_takers(tool, taken->name, &takers, &requirers);
    add(text, loci_str_of(help_of(taken->param)));
    for (size_t i = 0; names_ops && takers < op_count && i < op_count; i++) {
        bool names_takers = takers * 2 <= op_count;

        op = lc_tool_op(tool, i);
        if (lc_op_takes(op, taken->name, &other) != names_takers)
            continue;
        add(text, written++ > 0  ? LC_STR(", ")
                  : names_takers ? LC_STR(" (")
                                 : LC_STR(" (not for "));
        add(text, lc_op_action(op));
    }
    add(text, written > 0 ? LC_STR(")") : LC_STR(""));
    if (text[0] != '\0')
        lc_jw_member_text(out, "description", text[0] == ' ' ? text + 1 : text);
}

/* Limits are checked by the operation, which explains them; here each would cost tokens. */
static void put_default(lc_json_writer *out, const lc_taken *taken)
{
    loci_str value = taken->value.ptr != NULL ? taken->value
                                              : loci_str_of(taken->param->default_text);

    if (taken->param->kind == LC_PARAM_TIME)
        lc_jw_member_text(out, "format", "date-time");
    if (value.ptr != NULL)
        lc_jw_member_raw(out, "default", value);
}

/* The choices of a parameter in all operations of the tool, each once: "active|waiting|failed". */
static void add_choices(char text[DESCRIPTION_BYTES], const lc_tool *tool, loci_str name)
{
    const lc_op *op;

    for (size_t i = 0; (op = lc_tool_op(tool, i)) != NULL; i++) {
        lc_taken taken;
        loci_str rest = LC_STR_NONE;

        if (lc_op_takes(op, name, &taken))
            rest = loci_str_of(taken.param->choices);
        while (rest.ptr != NULL) {
            loci_str choice = lc_str_split(rest, '|', &rest);

            if (text[0] != '\0' && lc_str_is_choice(choice, text))
                continue;
            add(text, text[0] != '\0' ? LC_STR("|") : LC_STR(""));
            add(text, choice);
        }
    }
}

static void put_input(lc_json_writer *out, const lc_tool *tool, const lc_taken *taken)
{
    const short_help *found = find_short(taken->param);
    char choices[DESCRIPTION_BYTES] = "";

    lc_jw_name_str(out, taken->name);
    lc_jw_object(out);
    if (found != NULL && found->items != NULL) {
        lc_jw_member_text(out, "type", "array");
        lc_jw_member_raw(out, "items", loci_str_of(found->items));
    } else {
        add_choices(choices, tool, taken->name);
        lc_schema_plain(out, taken->param->kind, choices[0] != '\0' ? choices : NULL);
    }
    put_default(out, taken);
    put_description(out, tool, taken);
    lc_jw_end(out);
}

/* "push: goal, budget; pop: id, result" */
static void add_usage(char text[DESCRIPTION_BYTES], const lc_tool *tool)
{
    const lc_op *op;

    for (size_t i = 0; (op = lc_tool_op(tool, i)) != NULL; i++) {
        loci_str rest = loci_str_of(op->mcp_takes);
        size_t written = 0;
        lc_taken taken;

        add(text, i > 0 ? LC_STR("; ") : LC_STR(""));
        add(text, lc_op_action(op));
        while (lc_taken_next(op, &rest, &taken)) {
            add(text, written++ > 0 ? LC_STR(", ") : LC_STR(": "));
            add(text, taken.name);
        }
    }
}

static void put_selector(lc_json_writer *out, const lc_tool *tool)
{
    char help[DESCRIPTION_BYTES] = "";
    const lc_op *op;

    lc_jw_name(out, tool->selector);
    lc_jw_object(out);
    lc_jw_member_text(out, "type", "string");
    lc_jw_name(out, "enum");
    lc_jw_array(out);
    for (size_t i = 0; (op = lc_tool_op(tool, i)) != NULL; i++)
        lc_jw_str(out, lc_op_action(op));
    lc_jw_end(out);
    if (tool->selector_help != NULL)
        add(help, loci_str_of(tool->selector_help));
    else
        add_usage(help, tool);
    if (help[0] != '\0')
        lc_jw_member_text(out, "description", help);
    lc_jw_end(out);
}

/* Whether an operation before lc_tool_op(tool, index) takes it, too. */
static bool was_taken(const lc_tool *tool, size_t index, loci_str name)
{
    lc_taken taken;

    for (size_t i = 0; i < index; i++) {
        if (lc_op_takes(lc_tool_op(tool, i), name, &taken))
            return true;
    }
    return false;
}

/* Calls `put` for each parameter of the tool, once. */
static void put_each(lc_json_writer *out, const lc_tool *tool,
                     void (*put)(lc_json_writer *, const lc_tool *, const lc_taken *))
{
    const lc_op *op;

    for (size_t i = 0; (op = lc_tool_op(tool, i)) != NULL; i++) {
        loci_str rest = loci_str_of(op->mcp_takes);
        lc_taken taken;

        while (lc_taken_next(op, &rest, &taken)) {
            if (!was_taken(tool, i, taken.name))
                put(out, tool, &taken);
        }
    }
}

static void put_if_required(lc_json_writer *out, const lc_tool *tool, const lc_taken *taken)
{
    size_t takers, requirers;

    count_takers(tool, taken->name, &takers, &requirers);
    if (lc_tool_op(tool, requirers) == NULL)
        lc_jw_str(out, taken->name);
}

static void put_input_schema(lc_json_writer *out, const lc_tool *tool)
{
    lc_jw_object(out);
    lc_jw_member_text(out, "type", "object");
    lc_jw_name(out, "properties");
    lc_jw_object(out);
    if (tool->selector != NULL)
        put_selector(out, tool);
    put_each(out, tool, put_input);
    if (tool->takes_whose)
        lc_jw_member_raw(out, LC_TOOL_WHOSE,
                         LC_STR("{\"type\":\"string\",\"enum\":[\"project\",\"person\"],"
                                "\"default\":\"project\"}"));
    lc_jw_end(out);
    lc_jw_name(out, "required");
    lc_jw_array(out);
    if (tool->selector != NULL)
        lc_jw_text(out, tool->selector);
    put_each(out, tool, put_if_required); /* Never empty: every tool needs something. */
    lc_jw_end(out);
    lc_jw_end(out);
}

/* ---- Output ---------------------------------------------------------------------------------- */

static bool is_always(const lc_result *result)
{
    return (result->flags & (LC_RESULT_OPTIONAL | LC_RESULT_NULLABLE)) == 0;
}

/* Declared is what a program can rely on: members that may be missing, and values of any type, are
 * shown without being declared. */
static bool is_declared(const lc_record *record, const lc_shown *shown)
{
    lc_result result;

    if (!lc_shown_find(record, shown, &result))
        return true; /* The answer itself. */
    return shown->is_declared && (result.flags & LC_RESULT_OPTIONAL) == 0 &&
           (result.record != NULL || (result.kind != LC_PARAM_ANY && result.kind != LC_PARAM_JSON));
}

/* Writes the schema of one part. The members of an object are left out: its text shows them, and
 * models pay for every byte of the list. */
static void put_shown(lc_json_writer *out, const lc_record *record, const lc_shown *shown)
{
    lc_result result = {.flags = LC_RESULT_LIST, .record = record}; /* The answer, in a list. */
    bool is_list, is_map;

    if (shown->source.ptr != NULL)
        LC_ASSERT(lc_shown_find(record, shown, &result));
    is_list = (result.flags & LC_RESULT_LIST) != 0;
    is_map = (result.flags & LC_RESULT_MAP) != 0;
    lc_jw_name_str(out, shown->name);
    lc_jw_object(out);
    if (is_list || is_map) {
        lc_jw_member_text(out, "type", is_list ? "array" : "object");
        lc_jw_name(out, is_list ? "items" : "additionalProperties");
        lc_jw_object(out);
    }
    if (result.record != NULL)
        lc_jw_member_text(out, "type", "object");
    else
        lc_schema_plain(out, result.kind, NULL);
    if (is_list || is_map)
        lc_jw_end(out);
    lc_jw_end(out);
}

static bool op_shows(const lc_op *op, loci_str name, bool *out_is_always)
{
    loci_str rest = loci_str_of(op->mcp_shows);
    lc_shown shown;
    lc_result result;

    while (lc_shown_next(&rest, &shown)) {
        if (!lc_str_eq(shown.name, name))
            continue;
        *out_is_always = shown.source.ptr == NULL ||
                         (shown.is_declared && lc_shown_find(op->answer, &shown, &result) &&
                          is_always(&result));
        return true;
    }
    return false;
}

/* The members that operations before lc_tool_op(tool, index) do not show. */
static void put_op_output(lc_json_writer *out, const lc_tool *tool, size_t index)
{
    const lc_op *op = lc_tool_op(tool, index);
    loci_str rest = loci_str_of(op->mcp_shows);
    lc_shown shown;

    while (lc_shown_next(&rest, &shown)) {
        bool was_shown = false, is_in_all;

        for (size_t i = 0; i < index; i++)
            was_shown |= op_shows(lc_tool_op(tool, i), shown.name, &is_in_all);
        if (!was_shown && is_declared(op->answer, &shown))
            put_shown(out, op->answer, &shown);
    }
}

/* Writes the members that every operation of the tool always returns. */
static void put_required_output(lc_json_writer *out, const lc_tool *tool)
{
    const lc_op *op = lc_tool_op(tool, 0);
    loci_str rest = loci_str_of(op->mcp_shows);
    bool is_open = false;
    lc_shown shown;

    while (lc_shown_next(&rest, &shown)) {
        bool is_in_all = true;

        for (size_t i = 0; (op = lc_tool_op(tool, i)) != NULL; i++) {
            bool is_in_this = false;

            is_in_all &= op_shows(op, shown.name, &is_in_this) && is_in_this;
        }
        if (is_in_all && !is_open) {
            lc_jw_name(out, "required");
            lc_jw_array(out);
            is_open = true;
        }
        if (is_in_all)
            lc_jw_str(out, shown.name);
    }
    if (is_open)
        lc_jw_end(out);
}

/* Tools that write declare an object and no members: their result is one line of text. */
static void put_output_schema(lc_json_writer *out, const lc_tool *tool)
{
    lc_jw_object(out);
    lc_jw_member_text(out, "type", "object");
    if (tool->effect == LC_EFFECT_READS) {
        lc_jw_name(out, "properties");
        lc_jw_object(out);
        for (size_t i = 0; lc_tool_op(tool, i) != NULL; i++)
            put_op_output(out, tool, i);
        lc_jw_end(out);
        put_required_output(out, tool);
    }
    lc_jw_end(out);
}

/* ---- Definitions ----------------------------------------------------------------------------- */

void lc_tool_write(lc_json_writer *out, const lc_tool *tool)
{
    lc_jw_object(out);
    lc_jw_member_text(out, "name", tool->name);
    lc_jw_member_text(out, "title", tool->title);
    lc_jw_member_text(out, "description", tool->description);
    lc_jw_name(out, "inputSchema");
    put_input_schema(out, tool);
    lc_jw_name(out, "outputSchema");
    put_output_schema(out, tool);
    lc_jw_name(out, "annotations");
    lc_jw_object(out);
    lc_jw_member_bool(out, "readOnlyHint", tool->effect == LC_EFFECT_READS);
    lc_jw_member_bool(out, "destructiveHint", tool->effect == LC_EFFECT_DESTROYS);
    if (tool->effect != LC_EFFECT_READS && lc_tool_is_idempotent(tool))
        lc_jw_member_bool(out, "idempotentHint", true); /* False is the default of the protocol. */
    lc_jw_member_bool(out, "openWorldHint", false);
    lc_jw_end(out);
    lc_jw_end(out);
}

void lc_tools_write(lc_json_writer *out)
{
    const lc_tool *tool;

    lc_jw_array(out);
    for (size_t i = 0; (tool = lc_tool_at(i)) != NULL; i++)
        lc_tool_write(out, tool);
    lc_jw_end(out);
}
