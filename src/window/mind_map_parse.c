/* mind_map_parse.c - Reads the three formats of mind_map_print.c.
 *
 * The reader knows the fields, not the layout: it takes lines by how they begin, in any order that
 * makes sense. At the end the map is printed again and compared with the text. So there is one
 * description of the layout, the printer, and no text can be accepted that does not come back the
 * same.
 *
 * A map lists at most LC_MIND_MAP_NAMED_MAX_1 resources, each with a fixed number of annotations,
 * links and tags; more than that is refused, so the time is linear in the length of the text.
 */
#include "window/mind_map_private.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/number.h"
#include "base/time.h"
#include "base/utf8.h"

#define MINUTE_US (INT64_C(60) * 1000000)

/* A resource with room for its lists. */
typedef struct node {
    lc_mind_map_resource resource;
    loci_str annotations[LC_MIND_MAP_ANNOTATIONS_MAX];
    loci_str tags[LC_MIND_MAP_TAGS_MAX];
    lc_mind_map_link links[LC_MIND_MAP_LINKS_MAX];
} node;

/* The first failure sticks: everything after it returns false. */
typedef struct parser {
    lc_arena *arena;
    loci_error *err;
    loci_status status;
    loci_str rest; /* Lines that are not read yet, */
    loci_str line; /* and what is left of the current one, without its end. */
    size_t line_number;
    lc_mind_map map;
    node *nodes; /* LC_MIND_MAP_NAMED_MAX_1 of them. */
    lc_mind_map_group groups[LC_MIND_MAP_GROUPS_MAX];
} parser;

/* ---- Pieces of a line ------------------------------------------------------------------------ */

static bool fail(parser *p, const char *expected)
{
    if (p->status == LOCI_OK)
        p->status = lc_fail(p->err, LOCI_EINVAL, "mind map line %zu: expected %s", p->line_number,
                            expected);
    return false;
}

static bool fail_memory(parser *p)
{
    if (p->status == LOCI_OK)
        p->status = lc_fail_memory(p->err);
    return false;
}

/* Goes to the next line; false at the end of the text. */
static bool next_line(parser *p)
{
    const char *end;

    if (p->status != LOCI_OK || p->rest.len == 0)
        return false;
    p->line_number++;
    end = memchr(p->rest.ptr, '\n', p->rest.len);
    if (end == NULL)
        return fail(p, "a line break at the end of the text");
    p->line = (loci_str){p->rest.ptr, (size_t)(end - p->rest.ptr)};
    p->rest.ptr += p->line.len + 1;
    p->rest.len -= p->line.len + 1;
    return true;
}

static bool eat(parser *p, const char *literal)
{
    loci_str prefix = loci_str_of(literal);

    if (p->status != LOCI_OK || !lc_str_starts(p->line, prefix))
        return false;
    p->line.ptr += prefix.len;
    p->line.len -= prefix.len;
    return true;
}

static bool expect(parser *p, const char *literal)
{
    char quoted[64];

    if (eat(p, literal))
        return true;
    (void)snprintf(quoted, sizeof quoted, "\"%s\"", literal); /* All of them fit. */
    return fail(p, quoted);
}

static bool expect_line(parser *p, const char *literal)
{
    if (!next_line(p))
        return fail(p, "another line");
    return expect(p, literal);
}

static bool end_line(parser *p)
{
    return p->status == LOCI_OK && (p->line.len == 0 || fail(p, "the end of the line"));
}

static bool read_count(parser *p, int64_t *out)
{
    size_t digits = 0;

    while (digits < p->line.len && p->line.ptr[digits] >= '0' && p->line.ptr[digits] <= '9')
        digits++;
    if (p->status != LOCI_OK || !lc_str_to_i64((loci_str){p->line.ptr, digits}, out))
        return fail(p, "a number");
    p->line.ptr += digits;
    p->line.len -= digits;
    return true;
}

/* 999, 1.5K, 42K … */
static bool read_rounded(parser *p, int64_t *out)
{
    static const char units[] = "KMGTPE";
    int64_t whole = 0, tenth = 0, unit = 1;
    const char *at;

    if (!read_count(p, &whole))
        return false;
    if (eat(p, ".") && (!read_count(p, &tenth) || tenth > 9))
        return fail(p, "one digit after the point");
    at = p->line.len == 0 || p->line.ptr[0] == 0 ? NULL : strchr(units, p->line.ptr[0]);
    if (at != NULL) {
        for (const char *u = units; u <= at; u++)
            unit *= 1000;
        p->line.ptr++;
        p->line.len--;
    }
    if (__builtin_mul_overflow(whole, unit, out) ||
        __builtin_add_overflow(*out, unit / 10 * tenth, out))
        return fail(p, "a number of at most 64 bits");
    return true;
}

static bool read_attention(parser *p, double *out)
{
    lc_number number = lc_number_read(p->line);

    if (p->status != LOCI_OK || (number.kind != LC_NUMBER_INT && number.kind != LC_NUMBER_REAL))
        return fail(p, "a number");
    *out = number.kind == LC_NUMBER_INT ? (double)number.integer : number.real;
    p->line.ptr += number.bytes;
    p->line.len -= number.bytes;
    return true;
}

static bool read_time_of_day(parser *p, int64_t *out_us)
{
    int64_t hours, minutes;

    if (!read_count(p, &hours) || !expect(p, ":") || !read_count(p, &minutes))
        return false;
    if (hours > 23 || minutes > 59)
        return fail(p, "a time of day, 00:00 to 23:59");
    *out_us = (hours * 60 + minutes) * MINUTE_US;
    return true;
}

static bool read_time(parser *p, int64_t *out_us)
{
    if (p->status != LOCI_OK || !lc_time_parse(p->line, out_us))
        return fail(p, "a time such as 2026-11-18T13:35:00Z");
    p->line = LC_STR_NONE;
    return true;
}

/* The letters, digits and underscores at the beginning. */
static loci_str read_word(parser *p)
{
    size_t bytes = 0;

    while (bytes < p->line.len &&
           (p->line.ptr[bytes] == '_' || (p->line.ptr[bytes] >= 'a' && p->line.ptr[bytes] <= 'z')))
        bytes++;
    p->line.ptr += bytes;
    p->line.len -= bytes;
    return (loci_str){p->line.ptr - bytes, bytes};
}

static bool read_pressure(parser *p, lc_pressure *out)
{
    loci_str word = read_word(p);

    for (unsigned i = 0; i < LC_PRESSURES; i++)
        if (lc_str_is(word, lc_ladder_window.names[i])) {
            *out = (lc_pressure)i;
            return p->status == LOCI_OK;
        }
    return fail(p, "a pressure: low, medium, high or critical");
}

static bool read_policy(parser *p, lc_window_policy *out)
{
    return lc_window_policy_find(read_word(p), out) || fail(p, "a policy: " LC_POLICY_CHOICES);
}

static bool read_kind(parser *p, lc_resource_kind *out)
{
    return lc_resource_kind_find(read_word(p), out) || fail(p, "a kind: " LC_KIND_CHOICES);
}

static bool read_symbol(parser *p, lc_resource_state *out)
{
    for (unsigned i = 0; i < LC_RESOURCE_STATES; i++)
        if (eat(p, lc_resource_state_symbol((lc_resource_state)i))) {
            *out = (lc_resource_state)i;
            return true;
        }
    return false;
}

/* ---- Texts with escapes ---------------------------------------------------------------------- */

/* Reads the rest of an escape, after its backslash; returns the bytes written, or 0. */
static size_t read_escape(parser *p, char out[4])
{
    char c = p->line.ptr[0];
    uint32_t code = 0;

    p->line.ptr++;
    p->line.len--;
    out[0] = c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
    if (c != 'u')
        return c == 'n' || c == 'r' || c == 't' || (c >= ' ' && c < '0') || (c > '9' && c <= '@') ||
               c == '\\' || c == '~';
    for (int i = 0; i < 4; i++, p->line.ptr++, p->line.len--) {
        char digit = p->line.len == 0 ? 0 : p->line.ptr[0];

        if (digit >= '0' && digit <= '9')
            code = code * 16 + (uint32_t)(digit - '0');
        else if (digit >= 'a' && digit <= 'f')
            code = code * 16 + (uint32_t)(digit - 'a' + 10);
        else
            return 0;
    }
    return code == 0 || (code >= 0xd800 && code < 0xe000) ? 0 : lc_utf8_encode(code, out);
}

/* A text up to one of `ends` or the end of the line. */
static bool read_text(parser *p, const char *ends, loci_str *out)
{
    char *copy = p->status == LOCI_OK ? lc_arena_alloc(p->arena, p->line.len + 1) : NULL;
    size_t bytes = 0;

    if (copy == NULL)
        return fail_memory(p);
    while (p->line.len > 0) {
        char c = p->line.ptr[0];

        if (c != 0 && strchr(ends, c) != NULL)
            break;
        p->line.ptr++;
        p->line.len--;
        if (c == '\\') {
            char decoded[4];
            size_t written = p->line.len == 0 ? 0 : read_escape(p, decoded);

            if (written == 0)
                return fail(p, "\\\\, \\n, \\r, \\t, \\uXXXX or a punctuation mark after \\");
            memcpy(copy + bytes, decoded, written);
            bytes += written;
        } else {
            copy[bytes++] = c;
        }
    }
    *out = (loci_str){copy, bytes};
    return true;
}

static bool read_name(parser *p, loci_str *out)
{
    return read_text(p, LC_MIND_MAP_NAME_ENDS, out) && (out->len > 0 || fail(p, "a name"));
}

/* ---- Parts of a map -------------------------------------------------------------------------- */

static node *add_node(parser *p)
{
    if (p->map.resource_count == LC_MIND_MAP_NAMED_MAX_1) {
        (void)fail(p, "no further resource: a map names at most 100");
        return NULL;
    }
    p->nodes[p->map.resource_count].resource.attention = 1;
    return &p->nodes[p->map.resource_count++];
}

static bool add_group(parser *p, lc_mind_map_group group)
{
    for (size_t i = 0; i < p->map.group_count; i++)
        if (p->groups[i].region == group.region && p->groups[i].kind == group.kind)
            return fail(p, "a kind that this section has not counted before");
    LC_ASSERT(p->map.group_count < LC_MIND_MAP_GROUPS_MAX);
    p->groups[p->map.group_count++] = group;
    return true;
}

static bool add_annotation(parser *p, node *of, loci_str text)
{
    if (of->resource.annotations.count == LC_MIND_MAP_ANNOTATIONS_MAX)
        return fail(p, "no further note: a map shows at most 10 per resource");
    of->annotations[of->resource.annotations.count++] = text;
    return true;
}

static bool add_link(parser *p, node *of, lc_mind_map_link link)
{
    if (of->resource.link_count == LC_MIND_MAP_LINKS_MAX)
        return fail(p, "no further link: a map shows at most 10 per resource");
    of->links[of->resource.link_count++] = link;
    return true;
}

/* The resource that was listed under a name, or NULL. */
static node *find_node(parser *p, loci_str name)
{
    for (size_t i = 0; i < p->map.resource_count; i++)
        if (lc_str_eq(p->nodes[i].resource.name, name))
            return &p->nodes[i];
    return NULL;
}

static node *read_node_name(parser *p)
{
    loci_str name;
    node *found = read_name(p, &name) ? find_node(p, name) : NULL;

    if (found == NULL)
        (void)fail(p, "the name of a resource that is listed above");
    return found;
}

/* Marks and the name of a new resource of level 2 or 3. */
static bool read_new_name(parser *p, node *to)
{
    loci_str name;

    to->resource.is_stale = eat(p, "!");
    to->resource.is_summary = eat(p, "~");
    if (!read_name(p, &name))
        return false;
    if (find_node(p, name) != NULL)
        return fail(p, "a name that no other resource has");
    to->resource.name = name;
    return true;
}

/* ---- Level 1 --------------------------------------------------------------------------------- */

static bool read_verbose_head(parser *p)
{
    lc_mind_map *map = &p->map;

    return end_line(p) && expect_line(p, "") && end_line(p) && expect_line(p, "- context: ") &&
           read_count(p, &map->used_tokens) && expect(p, " of ") &&
           read_count(p, &map->context_max) && expect(p, " tokens, ") &&
           read_count(p, &map->reserve_output) && expect(p, " reserved for output") &&
           end_line(p) && expect_line(p, "- pressure: ") && read_pressure(p, &map->pressure) &&
           end_line(p) && expect_line(p, "- policy: ") && read_policy(p, &map->policy) &&
           end_line(p) && expect_line(p, "- time: ") && read_time(p, &map->time_us);
}

static bool read_tags(parser *p, node *of)
{
    do {
        if (of->resource.tags.count == LC_MIND_MAP_TAGS_MAX)
            return fail(p, "no further tag: a map shows at most 20 per resource");
        if (!read_text(p, ",", &of->tags[of->resource.tags.count]))
            return false;
        of->resource.tags.count++;
    } while (eat(p, ", "));
    return true;
}

static bool read_field(parser *p, node *of)
{
    lc_mind_map_resource *resource = &of->resource;
    lc_mind_map_link link = {0};
    loci_str text;

    if (eat(p, "- id: "))
        return read_text(p, "", &resource->id);
    if (eat(p, "- kind: "))
        return read_kind(p, &resource->kind);
    if (eat(p, "- state: ")) {
        if (!lc_resource_state_find(read_word(p), &resource->state))
            return fail(p, "a state: " LC_RESOURCE_STATE_CHOICES);
        resource->is_stale = eat(p, ", stale");
        resource->is_summary = eat(p, ", summary only");
        return true;
    }
    if (eat(p, "- size: "))
        return read_count(p, &resource->size_tokens) && expect(p, " tokens");
    if (eat(p, "- attention: "))
        return read_attention(p, &resource->attention);
    if (eat(p, "- last access: "))
        return read_time(p, &resource->last_accessed_us);
    if (eat(p, "- summary: "))
        return read_text(p, "", &resource->summary);
    if (eat(p, "- tags: "))
        return read_tags(p, of);
    if (eat(p, "- link: "))
        return read_text(p, " ", &link.target) && (!eat(p, " ") || read_text(p, "", &link.label)) &&
               add_link(p, of, link);
    if (eat(p, "- note: "))
        return read_text(p, "", &text) && add_annotation(p, of, text);
    return fail(p, "a field of a resource, such as \"- kind: \", or a blank line");
}

static bool read_verbose(parser *p)
{
    lc_mind_map_group group = {.region = LC_REGIONS};
    node *current = NULL;

    if (!read_verbose_head(p))
        return false;
    while (next_line(p)) {
        lc_resource_state state;

        if (p->line.len == 0) {
            current = NULL;
        } else if (group.region == LC_REGIONS && eat(p, "- links not listed: ")) {
            (void)read_count(p, &p->map.links_left);
        } else if (group.region == LC_REGIONS && eat(p, "- notes not listed: ")) {
            (void)read_count(p, &p->map.annotations_left);
        } else if (eat(p, "## ")) {
            unsigned region = 0;

            while (region < LC_REGIONS && !eat(p, lc_mind_map_headings[region]))
                region++;
            if (region == LC_REGIONS)
                return fail(p, "Active, Indexed, Cold or Offline");
            group.region = (lc_resource_region)region;
        } else if (eat(p, "### ")) {
            if (!read_symbol(p, &state) || !expect(p, " "))
                return fail(p, "the symbol of a state: — ○ ✓ ◆ ● ✗");
            current = add_node(p);
            if (current != NULL)
                (void)read_text(p, "", &current->resource.uri);
        } else if (current != NULL) {
            (void)read_field(p, current);
        } else if (group.region < LC_REGIONS && eat(p, "- ")) {
            if (read_count(p, &group.resource_count) && expect(p, " more of kind ") &&
                read_kind(p, &group.kind) && expect(p, ": ") && read_count(p, &group.size_tokens) &&
                expect(p, " tokens"))
                (void)add_group(p, group);
        } else {
            return fail(p, "a section such as \"## Active\"");
        }
        if (!end_line(p))
            return false;
    }
    return p->status == LOCI_OK;
}

/* ---- Level 2 --------------------------------------------------------------------------------- */

static bool read_item(parser *p, lc_mind_map_group *group)
{
    lc_resource_state state;
    bool has_size;
    node *to;

    if (eat(p, "+"))
        return read_count(p, &group->resource_count) && expect(p, " ") &&
               read_rounded(p, &group->size_tokens) && add_group(p, *group);
    if (!read_symbol(p, &state))
        return fail(p, "the symbol of a state: — ○ ✓ ◆ ● ✗");
    to = &p->nodes[p->map.resource_count]; /* Counted once its name is known to be new. */
    if (p->map.resource_count == LC_MIND_MAP_NAMED_MAX_1 || !read_new_name(p, to) ||
        add_node(p) == NULL)
        return fail(p, "no further resource: a map names at most 100");
    to->resource.kind = group->kind;
    to->resource.state = state;
    /* Names are escaped, so a space and a digit are the size, if it was counted. */
    has_size = p->line.len > 1 && p->line.ptr[0] == ' ' && p->line.ptr[1] >= '0' &&
               p->line.ptr[1] <= '9';
    return (!has_size || (expect(p, " ") && read_rounded(p, &to->resource.size_tokens))) &&
           (!eat(p, " a") || read_attention(p, &to->resource.attention)) &&
           (!eat(p, " \"") || (read_text(p, "\"", &to->resource.summary) && expect(p, "\"")));
}

static bool read_links(parser *p)
{
    node *from = read_node_name(p);
    lc_mind_map_link link;

    if (from == NULL || !expect(p, ">"))
        return false;
    do {
        link = (lc_mind_map_link){0};
        if (!read_name(p, &link.target) || (eat(p, ":") && !read_name(p, &link.label)) ||
            !add_link(p, from, link))
            return false;
    } while (eat(p, "; "));
    return true;
}

static bool read_note(parser *p)
{
    node *about = read_node_name(p);
    loci_str text;

    return about != NULL && expect(p, ": ") && read_text(p, "", &text) &&
           add_annotation(p, about, text);
}

static bool read_dense(parser *p)
{
    enum { LINKS = LC_REGIONS, NOTES, NOTHING };
    lc_mind_map *map = &p->map;
    lc_mind_map_group group = {0};
    unsigned section = NOTHING;

    if (!read_rounded(p, &map->used_tokens) || !expect(p, "/") ||
        !read_rounded(p, &map->context_max) || !expect(p, "|reserve:") ||
        !read_rounded(p, &map->reserve_output) || !expect(p, "|pressure:") ||
        !read_pressure(p, &map->pressure) || !expect(p, "|policy:") ||
        !read_policy(p, &map->policy) || !expect(p, "|time:") ||
        !read_time_of_day(p, &map->time_us) || !end_line(p))
        return false;
    while (next_line(p)) {
        if (eat(p, "## ")) {
            section = eat(p, "Active")    ? LC_REGION_ACTIVE
                      : eat(p, "Indexed") ? LC_REGION_INDEXED
                      : eat(p, "Cold")    ? LC_REGION_COLD
                      : eat(p, "Links")   ? (unsigned)LINKS
                      : eat(p, "Notes")   ? (unsigned)NOTES
                                          : (unsigned)NOTHING;
            if (section == NOTHING)
                return fail(p, "Active, Indexed, Cold, Links or Notes");
        } else if (section == NOTHING) {
            return fail(p, "a section such as \"## Active\"");
        } else if (section == LINKS) {
            (void)(eat(p, "+") ? read_count(p, &map->links_left) : read_links(p));
        } else if (section == NOTES) {
            (void)(eat(p, "+") ? read_count(p, &map->annotations_left) : read_note(p));
        } else if (read_kind(p, &group.kind) && expect(p, ": ")) {
            group.region = (lc_resource_region)section;
            while (read_item(p, &group) && eat(p, "; "))
                ;
        }
        if (!end_line(p))
            return false;
    }
    return p->status == LOCI_OK;
}

/* ---- Level 3 --------------------------------------------------------------------------------- */

static bool read_short_item(parser *p, lc_resource_region region)
{
    lc_mind_map_group group = {.region = region, .kind = LC_KINDS};
    node *to;

    if (eat(p, "+")) {
        if (p->line.len > 0 && p->line.ptr[0] > '9' &&
            (!read_kind(p, &group.kind) || !expect(p, ":")))
            return false;
        return read_count(p, &group.resource_count) && expect(p, "/") &&
               read_rounded(p, &group.size_tokens) && add_group(p, group);
    }
    if (p->map.resource_count == LC_MIND_MAP_NAMED_MAX_1)
        return add_node(p) != NULL;
    to = &p->nodes[p->map.resource_count]; /* Counted once its name is known to be new. */
    to->resource.kind = LC_KIND_OTHER;
    to->resource.state = lc_mind_map_usual_state(region);
    (void)read_symbol(p, &to->resource.state);
    return read_new_name(p, to) && add_node(p) != NULL;
}

static bool read_short_link(parser *p)
{
    node *from = eat(p, "+") ? NULL : read_node_name(p);
    lc_mind_map_link link = {0};

    if (from == NULL)
        return read_count(p, &p->map.links_left);
    return expect(p, ">") && read_name(p, &link.target) && add_link(p, from, link);
}

static bool read_note_count(parser *p)
{
    node *about = eat(p, "+") ? NULL : read_node_name(p);

    if (about == NULL)
        return read_count(p, &p->map.annotations_left);
    about->resource.annotations_left = 1;
    return !eat(p, ":") || read_count(p, &about->resource.annotations_left);
}

static bool read_ultra_dense(parser *p)
{
    lc_mind_map *map = &p->map;

    if (!read_rounded(p, &map->used_tokens) || !expect(p, "/") ||
        !read_rounded(p, &map->context_max) || !expect(p, ":") ||
        !read_pressure(p, &map->pressure) || !expect(p, "|") ||
        !read_time_of_day(p, &map->time_us) || !expect(p, "|") || !read_policy(p, &map->policy) ||
        !end_line(p))
        return false;
    while (next_line(p)) {
        unsigned region = 0;

        if (eat(p, "@L ")) {
            while (read_short_link(p) && eat(p, " "))
                ;
        } else if (eat(p, "@N ")) {
            while (read_note_count(p) && eat(p, " "))
                ;
        } else {
            while (region <= LC_REGION_COLD &&
                   !eat(p, (char[]){'@', lc_mind_map_letters[region], ' ', 0}))
                region++;
            if (region > LC_REGION_COLD)
                return fail(p, "a line that begins with @A, @I, @C, @L or @N");
            while (read_short_item(p, (lc_resource_region)region) && eat(p, " "))
                ;
        }
        if (!end_line(p))
            return false;
    }
    return p->status == LOCI_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Fails at the first line that the printer would have written otherwise. */
static bool check_text(parser *p, loci_str text)
{
    lc_buf again;
    size_t same = 0;

    lc_buf_init(&again, p->arena->heap, LOCI_MEM_REQUESTS, 8 * (size_t)LC_MIND_MAP_BYTES_MAX);
    lc_mind_map_print(&p->map, &again);
    p->status = lc_buf_status(&again, p->err);
    if (p->status == LOCI_OK && !lc_str_eq(lc_buf_str(&again), text)) {
        while (same < text.len && same < again.len && text.ptr[same] == again.ptr[same])
            same++;
        p->line_number = 1;
        for (size_t i = 0; i < same; i++)
            p->line_number += text.ptr[i] == '\n';
        (void)fail(p, "the order, spelling and spacing of window.map; copy its text unchanged");
    }
    lc_buf_clear(&again);
    return p->status == LOCI_OK;
}

/* Points the resources of the map to their lists. */
static bool finish(parser *p)
{
    lc_mind_map_resource *resources = lc_arena_zalloc_array(p->arena, p->map.resource_count,
                                                            sizeof *resources);
    lc_mind_map_group *groups = lc_arena_zalloc_array(p->arena, p->map.group_count, sizeof *groups);

    if (resources == NULL || groups == NULL)
        return fail_memory(p);
    for (size_t i = 0; i < p->map.resource_count; i++) {
        node *from = &p->nodes[i];

        resources[i] = from->resource;
        resources[i].annotations.items = from->annotations;
        resources[i].tags.items = from->tags;
        resources[i].links = from->links;
    }
    memcpy(groups, p->groups, p->map.group_count * sizeof *groups);
    p->map.resources = resources;
    p->map.groups = groups;
    return true;
}

loci_status lc_mind_map_parse(loci_str text, lc_arena *arena, lc_mind_map *out, loci_error *err)
{
    parser p = {.arena = arena, .err = err, .rest = text};

    if (text.len > LC_MIND_MAP_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "mind map: the text has %zu bytes, the maximum is %d",
                       text.len, LC_MIND_MAP_BYTES_MAX);
    if (!lc_utf8_is_valid(text))
        return lc_fail(err, LOCI_EINVAL, "mind map: the text is not valid UTF-8");
    p.nodes = lc_arena_zalloc_array(arena, LC_MIND_MAP_NAMED_MAX_1, sizeof *p.nodes);
    if (p.nodes == NULL)
        return lc_fail_memory(err);

    if (!next_line(&p))
        (void)fail(&p, "a mind map; the text is empty");
    p.map.level = eat(&p, "# Mind map")    ? 1
                  : eat(&p, "@state|ctx:") ? 2
                  : eat(&p, "@MM1.0|")     ? 3
                                           : 0;
    if (p.map.level == 0)
        (void)fail(&p, "\"# Mind map\", \"@state|ctx:\" or \"@MM1.0|\"");
    if (p.status == LOCI_OK &&
        (p.map.level == 1   ? read_verbose(&p)
         : p.map.level == 2 ? read_dense(&p)
                            : read_ultra_dense(&p)) &&
        finish(&p) && check_text(&p, text))
        *out = p.map;
    return p.status;
}
