/* prompt.c - prompts: texts that a person can request by name, made from the content of the store.
 *
 * A prompt runs a few operations, one after the other, and puts their texts below headings, between
 * an opening sentence that introduces the text and a closing one with instructions. The kinds
 * follow the parts of a conversation that are protected when the budget is small: people and
 * preferences (relational), rules, values and code (technical), or nothing but the idea (creative);
 * bootstrap is the least to begin with.
 */
#include "base/assert.h"
#include "base/str.h"
#include "mcp/own.h"
#include "ops/tool.h"

#define STEPS_MAX 3
#define SECTION_BYTES_MAX 12000 /* Of texts in one section. */
#define ARGUMENT_BYTES_MAX 4096 /* A longer text is not a topic. */

/* One operation of a prompt. */
typedef struct step {
    const char *heading;
    const char *operation;
    const char *members; /* Its arguments, beside the query. */
    const char *query;   /* If the argument is missing; NULL = it takes no query. */
    const char *shows;
} step;

typedef struct prompt {
    const char *name, *title, *description;
    const char *argument, *argument_help;
    bool is_required;
    const char *opening;
    const char *closing;
    step steps[STEPS_MAX]; /* Ends with a NULL operation. */
} prompt;

#define CONTEXT(budget, query_)                                                                    \
    {                                                                                              \
        "Relevant context", "context.build", "\"budget\":" budget, query_, "text!"                 \
    }
#define RECALL(heading, types, query_)                                                             \
    {                                                                                              \
        heading, "memory.recall", "\"limit\":12,\"types\":" types, query_,                         \
            "results(text observed_at id trust)"                                                   \
    }
#define TODOS                                                                                      \
    {                                                                                              \
        "Open todos", "todo.list", "\"limit\":30", NULL, "todos(text due_at id kind)"              \
    }

static const prompt prompts[] = {
    {
        .name = "bootstrap",
        .title = "Start a session",
        .description = "Begin with the least that you must know: rules, facts, open todos",
        .argument = "focus",
        .argument_help = "Topic of the session",
        .opening = "This is what loci knows at the start of our session.",
        .closing = "Take it into account. Do not repeat it to me; if something in it matters for "
                   "my next question, use it, and look up more with the tools of loci.",
        .steps = {CONTEXT("1200", ""), TODOS},
    },
    {
        .name = "relational",
        .title = "Talk as someone who knows me",
        .description = "Add everything known about me and the people around me",
        .argument = "person",
        .argument_help = "Person it is about, such as person:ann (default: me)",
        .opening = "This is what loci knows about me and the people around me.",
        .closing = "Talk with me as someone who knows this. Technical details can wait. Remember "
                   "what you learn about me or others with whose: \"person\".",
        .steps = {RECALL("People and preferences", "[\"profile\",\"people\"]",
                         "who the user is, what the user likes, family, friends, colleagues"),
                  CONTEXT("1200", "the user as a person, people and relationships")},
    },
    {
        .name = "technical",
        .title = "Work on a task",
        .description = "Bring rules, values, decisions and todos for a technical task",
        .argument = "task",
        .argument_help = "Task or problem in a sentence",
        .is_required = true,
        .opening = "This is what loci knows for the task below.",
        .closing = "Keep to the rules and the current values; what is in history is outdated. Save "
                   "decisions with set_fact or remember as they are made.",
        .steps = {CONTEXT("3000", ""), RECALL("About the project", "[\"project\"]", ""), TODOS},
    },
    {
        .name = "creative",
        .title = "Explore an idea",
        .description = "Add inspiring memories, and keep ideas apart from facts",
        .argument = "idea",
        .argument_help = "Idea or theme",
        .is_required = true,
        .opening = "This is what loci knows around the idea below.",
        .closing = "Explore freely. Ideas are not facts: save none of them with set_fact before I "
                   "decide; remember what I like or dislike.",
        .steps = {RECALL("Inspiration", "[\"profile\",\"people\",\"project\"]", ""),
                  CONTEXT("1000", "")},
    },
    {
        .name = "handoff",
        .title = "Hand over",
        .description = "Write a note with which another agent or session can continue",
        .argument = "work",
        .argument_help = "Work to hand over (default: the current work)",
        .opening = "Write a handoff for the agent or person who continues this work. This is what "
                   "loci has.",
        .closing = "Write: the goal; what is done and how it was checked; what is open, next step "
                   "first; decisions with reasons; what was tried and failed. Name keys and ids. "
                   "Before that, save what loci lacks: set_fact for values, todo for open work.",
        .steps = {CONTEXT("2000", "current work, decisions and open problems"), TODOS},
    },
};

#define PROMPT_COUNT (sizeof prompts / sizeof prompts[0])

static const prompt *find_prompt(loci_str name)
{
    for (size_t i = 0; i < PROMPT_COUNT; i++) {
        if (lc_str_is(name, prompts[i].name))
            return &prompts[i];
    }
    return NULL;
}

bool lc_mcp_prompt_has(loci_str name, loci_str argument)
{
    const prompt *of = find_prompt(name);

    return of != NULL && lc_str_is(argument, of->argument);
}

void lc_mcp_write_prompts(lc_json_writer *out)
{
    lc_jw_array(out);
    for (const prompt *p = prompts; p < prompts + PROMPT_COUNT; p++) {
        lc_jw_object(out);
        lc_jw_member_text(out, "name", p->name);
        lc_jw_member_text(out, "title", p->title);
        lc_jw_member_text(out, "description", p->description);
        lc_jw_name(out, "arguments");
        lc_jw_array(out);
        lc_jw_object(out);
        lc_jw_member_text(out, "name", p->argument);
        lc_jw_member_text(out, "description", p->argument_help);
        lc_jw_member_bool(out, "required", p->is_required);
        lc_jw_end(out);
        lc_jw_end(out);
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

/* ---- Making one ------------------------------------------------------------------------------ */

typedef struct making {
    const lc_mcp_own *own;
    const prompt *prompt;
    loci_str argument; /* Empty = it was not given. */
    size_t step;       /* That is being run. */
    loci_str sections[STEPS_MAX];
} making;

static void run_step(making *m, lc_mcp_exchange *exchange);

static void finish_prompt(const making *m, lc_mcp_exchange *exchange)
{
    const prompt *p = m->prompt;
    lc_buf text, result;
    lc_json_writer w;

    lc_buf_init(&text, m->own->heap, LOCI_MEM_REQUESTS, LC_MCP_RESULT_BYTES_MAX);
    lc_buf_append_format(&text, "%s\n", p->opening);
    for (size_t i = 0; i < m->step; i++) {
        lc_buf_append_format(&text, "\n## %s\n\n", p->steps[i].heading);
        lc_buf_append(&text, m->sections[i]);
        if (m->sections[i].len > 0 && m->sections[i].ptr[m->sections[i].len - 1] != '\n')
            lc_buf_append_byte(&text, '\n');
    }
    lc_buf_append_byte(&text, '\n');
    if (m->argument.len > 0) {
        lc_buf_append_format(&text, "%s: ", p->argument);
        lc_jw_init(&w, &text);
        lc_jw_str(&w, m->argument); /* In quotes, so that it cannot be a heading. */
        lc_buf_append_byte(&text, '\n');
    }
    lc_buf_append_format(&text, "%s\n", p->closing);
    lc_buf_init(&result, m->own->heap, LOCI_MEM_REQUESTS, 2 * (size_t)LC_MCP_RESULT_BYTES_MAX);
    if (lc_buf_status(&text, NULL) != LOCI_OK)
        result.failure = text.failure;
    lc_jw_init(&w, &result);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "description", p->description);
    lc_jw_name(&w, "messages");
    lc_jw_array(&w);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "role", "user");
    lc_jw_name(&w, "content");
    lc_jw_object(&w);
    lc_jw_member_text(&w, "type", "text");
    lc_jw_member_str(&w, "text", lc_buf_str(&text));
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_buf_clear(&text);
    lc_mcp_finish_buf(exchange, &result);
}

/* lc_mcp_then_fn. */
static void step_done(void *ctx, lc_mcp_exchange *exchange, loci_status status, loci_str answer,
                      const loci_error *err)
{
    making *m = ctx;
    const step *s = &m->prompt->steps[m->step];
    lc_arena *arena = lc_mcp_arena(exchange);
    lc_mcp_view view = {lc_op_find(loci_str_of(s->operation))->answer, loci_str_of(s->shows),
                        SECTION_BYTES_MAX};
    loci_str *section = &m->sections[m->step];
    const lc_json *json;
    lc_buf text;

    if (status != LOCI_OK) {
        lc_mcp_fail_status(exchange, status, err);
        return;
    }
    lc_buf_init(&text, m->own->heap, LOCI_MEM_REQUESTS, LC_MCP_RESULT_BYTES_MAX);
    if (lc_json_parse(arena, answer, 0, &json, NULL) == LOCI_OK) {
        lc_mcp_show(&view, json, &text, NULL);
        if (lc_buf_status(&text, NULL) == LOCI_OK)
            *section = lc_arena_copy(arena, lc_buf_str(&text));
    }
    lc_buf_clear(&text);
    if (section->ptr == NULL) {
        lc_mcp_fail_memory(exchange);
        return;
    }
    m->step++;
    run_step(m, exchange);
}

static void run_step(making *m, lc_mcp_exchange *exchange)
{
    const step *s = &m->prompt->steps[m->step];
    lc_json_writer w;
    lc_buf members;

    if (m->step == STEPS_MAX || s->operation == NULL) {
        finish_prompt(m, exchange);
        return;
    }
    lc_buf_init(&members, m->own->heap, LOCI_MEM_REQUESTS, 64u * 1024);
    lc_buf_append(&members, loci_str_of(s->members));
    if (s->query != NULL) {
        lc_buf_append(&members, LC_STR(",\"query\":"));
        lc_jw_init(&w, &members);
        lc_jw_str(&w, m->argument.len > 0 ? m->argument : loci_str_of(s->query));
    }
    if (lc_buf_status(&members, NULL) == LOCI_OK)
        lc_mcp_run_op(m->own, exchange, s->operation, lc_buf_str(&members), step_done, m);
    else
        lc_mcp_fail_memory(exchange);
    lc_buf_clear(&members);
}

void lc_mcp_get_prompt(void *ctx, lc_mcp_exchange *exchange, loci_str name,
                       const lc_json *arguments)
{
    making *m = lc_arena_zalloc_array(lc_mcp_arena(exchange), 1, sizeof *m);

    if (m == NULL) {
        lc_mcp_fail_memory(exchange);
        return;
    }
    m->own = ctx;
    m->prompt = find_prompt(name);
    LC_ASSERT(m->prompt != NULL); /* The dispatcher knows the list. */
    for (const lc_json *at = lc_json_first(arguments); at != NULL; at = lc_json_next(at)) {
        bool is_text = lc_json_kind_of(at) == LC_JSON_STRING;

        if (!lc_str_is(lc_json_name(at), m->prompt->argument) || !is_text ||
            lc_json_str(at).len > ARGUMENT_BYTES_MAX) {
            lc_mcp_fail(exchange, LC_MCP_INVALID_PARAMS,
                        "arguments: expected a string of at most 4096 bytes for the argument that "
                        "prompts/list shows, and nothing else",
                        LC_STR_NONE);
            return;
        }
        m->argument = lc_str_trim(lc_json_str(at));
    }
    if (m->prompt->is_required && m->argument.len == 0) {
        lc_mcp_fail(exchange, LC_MCP_INVALID_PARAMS,
                    "arguments: the required argument is empty; prompts/list describes it",
                    LC_STR_NONE);
        return;
    }
    run_step(m, exchange);
}
