/* context_fixture.c - see context_fixture.h. */
#include "contract/context_fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"

/* An answer as a tree, until close_tree(). */
typedef struct tree {
    lc_heap heap;
    lc_arena arena;
    const lc_json *root;
} tree;

static void open_tree(tree *t, loci_str answer)
{
    loci_error err;

    lc_heap_init(&t->heap, (loci_allocator){0});
    lc_arena_init(&t->arena, &t->heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_json_parse(&t->arena, answer, 0, &t->root, &err), err);
}

static void close_tree(tree *t)
{
    lc_arena_clear(&t->arena);
}

static loci_str text_of(const lc_json *object, const char *name)
{
    return lc_json_str(lc_json_member(object, loci_str_of(name)));
}

/* The member `name` of the entry of a list that has this id; "" when there is none. */
static const char *find(loci_str answer, const char *list, const char *id, const char *name)
{
    const char *found = "";
    tree t;

    open_tree(&t, answer);
    for (const lc_json *item = lc_json_first(lc_json_member(t.root, loci_str_of(list)));
         item != NULL; item = lc_json_next(item))
        if (lc_str_is(text_of(item, "id"), id))
            found = test_format("%.*s", LC_STR_ARG(text_of(item, name)));
    close_tree(&t);
    return found;
}

const char *context_section(loci_str answer, const char *id)
{
    return find(answer, "included", id, "section");
}

const char *context_reason(loci_str answer, const char *id)
{
    return find(answer, "excluded", id, "reason");
}

const char *context_text(loci_str answer)
{
    return test_member_text(answer, "text").ptr;
}

bool context_shows(loci_str answer, const char *part)
{
    return strstr(context_text(answer), part) != NULL;
}

int64_t context_count(loci_str answer, const char *reason)
{
    loci_str count = test_member(answer, test_format("excluded_counts.%s", reason));

    return count.len > 0 ? test_member_int(answer, test_format("excluded_counts.%s", reason)) : 0;
}

int context_in(loci_str answer, const char *section)
{
    int count = 0;
    tree t;

    open_tree(&t, answer);
    for (const lc_json *item = lc_json_first(lc_json_member(t.root, LC_STR("included")));
         item != NULL; item = lc_json_next(item))
        count += lc_str_is(text_of(item, "section"), section);
    close_tree(&t);
    return count;
}

int context_facts_in(loci_str answer)
{
    return context_in(answer, "facts") + context_in(answer, "constraints");
}

/* ---- What always holds ----------------------------------------------------------------------- */

static void check_tokens(const lc_json *answer)
{
    const lc_json *tokens = lc_json_member(answer, LC_STR("tokens"));
    int64_t total = lc_json_int(lc_json_member(tokens, LC_STR("total")));
    int64_t sum = 0;

    for (const lc_json *part = lc_json_first(tokens); part != NULL; part = lc_json_next(part))
        if (!lc_str_is(lc_json_name(part), "total"))
            sum += lc_json_int(part);
    CHECK_EQ(sum, total);
    CHECK_LE(total, lc_json_int(lc_json_member(answer, LC_STR("budget"))));
}

/* Notes and signals are named by their keys, so that one of each may have the same. */
static bool is_named_before(const lc_json *list, const lc_json *item)
{
    for (const lc_json *other = lc_json_first(list); other != NULL && other != item;
         other = lc_json_next(other))
        if (lc_str_eq(text_of(other, "id"), text_of(item, "id")) &&
            lc_str_eq(text_of(other, "section"), text_of(item, "section")))
            return true;
    return false;
}

static void check_lists(const lc_json *answer)
{
    static const char *const reasons = " superseded retracted restricted scope expired"
                                       " needs_review claim duplicate irrelevant budget ";
    const lc_json *in = lc_json_member(answer, LC_STR("included"));
    const lc_json *out = lc_json_member(answer, LC_STR("excluded"));
    const lc_json *tokens = lc_json_member(answer, LC_STR("tokens"));
    int named = 0;

    for (const lc_json *item = lc_json_first(in); item != NULL; item = lc_json_next(item)) {
        CHECK_LT(0, lc_json_int(lc_json_member(item, LC_STR("tokens"))));
        CHECK(lc_json_member(tokens, text_of(item, "section")) != NULL);
        CHECK(!is_named_before(in, item));
    }
    for (const lc_json *item = lc_json_first(out); item != NULL; item = lc_json_next(item)) {
        loci_str reason = text_of(item, "reason");

        CHECK_CONTAINS(reasons, test_format(" %.*s ", LC_STR_ARG(reason)));
        CHECK(lc_json_member(lc_json_member(answer, LC_STR("excluded_counts")), reason) != NULL);
        CHECK(!is_named_before(out, item));
        CHECK(lc_json_member(item, LC_STR("key")) == NULL);
        named++;
    }
    CHECK_LE(named, 50);
}

static void check_answer(facts *f, loci_str answer)
{
    loci_str counted = LC_STR_NONE;
    tree t;

    open_tree(&t, answer);
    check_tokens(t.root);
    check_lists(t.root);
    close_tree(&t);
    CHECK_OK(facts_try(f, "text.count", &counted,
                       test_format("{\"text\":%s}", test_member(answer, "text").ptr)),
             f->err);
    CHECK_EQ(test_member_int(counted, "tokens"), test_member_int(answer, "tokens.total"));
}

loci_str context_build(facts *f, const char *args_format, ...)
{
    char args[8192];
    loci_str answer = LC_STR_NONE;
    loci_status status;
    va_list list;

    va_start(list, args_format);
    CHECK_LT(vsnprintf(args, sizeof args, test_json(args_format), list), (int)sizeof args);
    va_end(list);
    status = facts_try(f, "context.build", &answer, args);
    CHECK_OK(status, f->err);
    check_answer(f, answer);
    return answer;
}
