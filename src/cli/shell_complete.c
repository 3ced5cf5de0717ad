/* shell_complete.c - the words before the last one say which table the last one comes from:
 *
 *     (nothing)            commands and nouns
 *     NOUN                 verbs
 *     COMMAND              its own words ("list|get|set")
 *     … --option           values of the option, if they are a list
 *     … -                  options of the operation or command, and those of all
 *     NOUN VERB …          values of the parameter at this place, if they are a list, or keys
 */
#include "cli/shell_complete.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/link.h"
#include "cli/operation.h"
#include "cli/shell_words.h"

#define KEYS_MAX 200
#define KEYS_MS 200 /* A key press must not wait longer. */

typedef struct context {
    lc_cli *cli;
    lc_completions *out;
    loci_str typed;            /* The last word so far, without quotes. */
    const lc_command *command; /* Of the words before; or NULL. */
    const lc_op *op;           /* Or NULL. */
    const char *noun;          /* A noun whose verb is missing; or NULL. */
    const char *last_option;   /* The word before, if it is an option without '='; or NULL. */
    size_t place;              /* Words of the operation before this one, options left out. */
} context;

/* ---- Candidates ------------------------------------------------------------------------------ */

static void offer(context *c, loci_str text)
{
    lc_completions *out = c->out;
    loci_status status;
    lc_buf quoted;

    if (!lc_str_starts(text, c->typed) || out->count == LC_COMPLETIONS_MAX)
        return;
    lc_buf_init(&quoted, c->cli->heap, LOCI_MEM_REQUESTS, LC_LINE_BYTES_MAX);
    lc_shell_words_quote(&quoted, text);
    text = lc_arena_copy(out->arena, lc_buf_str(&quoted));
    status = lc_buf_status(&quoted, NULL);
    lc_buf_clear(&quoted);
    for (size_t i = 0; i < out->count; i++) {
        if (lc_str_eq(out->items[i], text))
            return;
    }
    if (status == LOCI_OK && text.ptr != NULL)
        out->items[out->count++] = text;
}

static void offer_list(context *c, const char *list) /* "a|b|c" */
{
    loci_str rest = loci_str_of(list);

    while (rest.ptr != NULL)
        offer(c, lc_str_split(rest, '|', &rest));
}

/* "--user-id" for the parameter user_id. */
static void offer_option(context *c, const char *name)
{
    char text[128] = "--";
    size_t len = 2;

    for (; *name != '\0' && len + 1 < sizeof text; name++)
        text[len++] = *name == '_' ? '-' : *name;
    offer(c, (loci_str){text, len});
}

static void offer_options(context *c, const lc_option *options)
{
    for (; options != NULL && options->name != NULL; options++)
        offer_option(c, options->name);
}

static void offer_first(context *c)
{
    for (const lc_command *command = lc_command_table(); command->name != NULL; command++)
        offer(c, loci_str_of(command->name));
    for (size_t i = 0; i < lc_op_count(); i++)
        offer(c, lc_noun_of(lc_op_at(i)));
    offer(c, LC_STR("exit"));
}

static void offer_verbs(context *c)
{
    for (size_t i = 0; i < lc_op_count(); i++) {
        if (lc_str_is(lc_noun_of(lc_op_at(i)), c->noun))
            offer(c, lc_verb_of(lc_op_at(i)));
    }
}

/* Keys of the user's facts. */
static void offer_keys(context *c)
{
    lc_cli *cli = c->cli;
    lc_operation operation = {.name = "fact.list", .args = LC_STR("{\"limit\":200}")};
    lc_link *kept = cli->kept;
    lc_link link = {.cli = cli};
    const lc_json *json = NULL, *facts, *key;
    lc_buf answer;

    if (kept == NULL || (kept->engine == NULL && kept->remote == NULL))
        return;
    link.engine = kept->engine;
    link.remote = kept->remote;
    link.is_borrowed = true;
    link.deadline_us = lc_clock_monotonic_us() + KEYS_MS * 1000;
    operation.in_project = true;
    lc_buf_init(&answer, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    if (lc_operation_call(cli, &link, &operation, &answer, NULL) == LOCI_OK &&
        lc_json_parse(c->out->arena, lc_arena_copy(c->out->arena, lc_buf_str(&answer)), 0, &json,
                      NULL) == LOCI_OK &&
        (facts = lc_json_find(json, "facts", LC_JSON_ARRAY)) != NULL) {
        for (const lc_json *fact = lc_json_first(facts); fact != NULL; fact = lc_json_next(fact)) {
            key = lc_json_find(fact, "key", LC_JSON_STRING);
            if (key != NULL)
                offer(c, lc_json_str(key));
        }
    }
    lc_buf_clear(&answer);
}

/* ---- The words before ------------------------------------------------------------------------ */

/* The parameter of an option, or NULL. */
static const lc_param *param_of(const lc_op *op, const char *option)
{
    const lc_param *param;

    for (size_t i = 0; op != NULL && (param = lc_op_param(op, i)) != NULL; i++) {
        if (lc_arguments_name_is(loci_str_of(option + 2), param->name))
            return param;
    }
    return NULL;
}

static bool takes_value(const lc_option *options, const char *name)
{
    for (; options != NULL && options->name != NULL; options++) {
        if (lc_arguments_name_is(loci_str_of(name + 2), options->name))
            return options->value != NULL;
    }
    return false;
}

/* Whether the next word is the value of this one. */
static bool has_value(const context *c, const char *word)
{
    const lc_param *param;

    if (strncmp(word, "--", 2) != 0 || strchr(word, '=') != NULL)
        return false;
    param = param_of(c->op, word);
    if (param != NULL)
        return param->kind != LC_PARAM_BOOL;
    return takes_value(lc_cli_global_options(), word) ||
           (c->command != NULL && takes_value(c->command->options, word));
}

/* A word that is no option: the command, the verb, or an argument. */
static void take_word(context *c, const char *word)
{
    loci_str text = loci_str_of(word);
    const lc_op *op;

    if (c->op != NULL) {
        c->place++;
    } else if (c->noun != NULL) {
        c->op = lc_noun_verb_find(loci_str_of(c->noun), text);
        c->noun = NULL;
    } else if (c->command == NULL) {
        c->command = lc_command_find(text);
        op = lc_op_find(c->command != NULL ? loci_str_of(c->command->operation) : text);
        c->op = op;
        if (op == NULL)
            c->noun = c->command == NULL ? word : c->command->noun;
    }
}

static void offer_place(context *c)
{
    const lc_param *param;
    size_t place = 0;

    for (size_t i = 0; (param = lc_op_param(c->op, i)) != NULL; i++) {
        if ((param->flags & LC_PARAM_POSITIONAL) == 0 || place++ != c->place)
            continue;
        if (param->choices != NULL)
            offer_list(c, param->choices);
        else if (strcmp(param->name, "key") == 0 && lc_str_is(lc_noun_of(c->op), "fact"))
            offer_keys(c);
        return;
    }
}

static void offer_all(context *c, bool is_first)
{
    const lc_param *param;

    if (c->last_option != NULL) {
        param = param_of(c->op, c->last_option);
        if (param != NULL && param->choices != NULL)
            offer_list(c, param->choices);
        return;
    }
    if (c->typed.len > 0 && c->typed.ptr[0] == '-') {
        for (size_t i = 0; c->op != NULL && (param = lc_op_param(c->op, i)) != NULL; i++)
            offer_option(c, param->name);
        if (c->command != NULL)
            offer_options(c, c->command->options);
        offer_options(c, lc_cli_global_options());
        return;
    }
    if (is_first)
        offer_first(c);
    else if (c->noun != NULL && c->command != NULL && c->command->words != NULL)
        offer_list(c, c->command->words);
    else if (c->noun != NULL)
        offer_verbs(c);
    else if (c->op != NULL)
        offer_place(c);
    else if (c->command != NULL && strcmp(c->command->name, "help") == 0)
        offer_first(c);
    else if (c->command != NULL && c->command->words != NULL)
        offer_list(c, c->command->words);
}

void lc_shell_complete(lc_cli *cli, loci_str before, lc_completions *out)
{
    context c = {.cli = cli, .out = out};
    size_t first = 0, count;
    lc_shell_words words = {0};

    /* An open quote is fine here. */
    if (lc_shell_words_split(out->arena, before, &words, NULL) != LOCI_OK && words.items == NULL)
        return;
    count = words.is_in_word ? words.count - 1 : words.count;
    c.typed = words.is_in_word ? loci_str_of(words.items[count]) : LC_STR("");
    out->start = words.is_in_word ? words.last_start : before.len;
    if (count > 0 && strcmp(words.items[0], "loci") == 0)
        first = 1;
    for (size_t i = first; i < count; i++) {
        c.last_option = NULL;
        if (has_value(&c, words.items[i]) && i + 1 < count)
            i++;
        else if (has_value(&c, words.items[i]))
            c.last_option = words.items[i];
        else if (words.items[i][0] != '-')
            take_word(&c, words.items[i]);
    }
    offer_all(&c, c.command == NULL && c.op == NULL && c.noun == NULL && c.last_option == NULL &&
                      count == first);
}
