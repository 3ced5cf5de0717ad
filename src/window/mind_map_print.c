/* mind_map_print.c - The three formats of an arranged map.
 *
 * Level 1 is Markdown with one field per line, levels 2 and 3 look like this:
 *
 *     @state|ctx:42K/200K|reserve:8K|pressure:low|policy:lru|time:13:35
 *     ## Active
 *     code: ◆engine.c 14K a2; ✓!store.c 11K; +7 31K
 *     ## Indexed
 *     daily: ●2026-11-17.md 2.4K "Fixed the WAL test"
 *     ## Links
 *     engine.c>store.c:uses; design.md
 *     +2
 *     ## Notes
 *     engine.c: check the lock order
 *
 *     @MM1.0|42K/200K:low|13:35|lru
 *     @A ◆engine !store +code:7/31K
 *     @I 2026-11-17
 *     @L engine>store engine>design +2
 *     @N engine store:3 +2
 *
 * Level 3 names the resources that have notes, with the number if it is not 1.
 * "!" marks a stale resource, "~" one that is active with its summary only, "+" resources, links
 * and notes that are counted instead of listed. Sections without content are left out. Numbers of
 * levels 2 and 3 are rounded to two or three digits; printing a rounded number again gives the same
 * text.
 *
 * Escapes are \\, \n, \r, \t, \ before a character that would end the field, and \uXXXX for other
 * control characters and for those that change the direction of text or break lines: a reader who
 * splits lines by the Unicode rules sees the same lines as the parser.
 */
#include "window/mind_map_private.h"

#include <math.h>

#include "base/assert.h"
#include "base/number.h"
#include "base/time.h"

#define MINUTE_US (INT64_C(60) * 1000000)
#define DAY_MINUTES (24 * 60)

const char *const lc_mind_map_headings[LC_REGIONS] = {"Active", "Indexed", "Cold", "Offline"};
const char lc_mind_map_letters[LC_REGIONS] = {'A', 'I', 'C', 'X'};

lc_resource_state lc_mind_map_usual_state(lc_resource_region region)
{
    static const lc_resource_state usual[LC_REGIONS] = {LC_RESOURCE_LOADED, LC_RESOURCE_INDEXED,
                                                        LC_RESOURCE_COLD, LC_RESOURCE_OFFLINE};

    return usual[region];
}

/* ---- Fields ---------------------------------------------------------------------------------- */

static void put(lc_buf *out, const char *text)
{
    lc_buf_append(out, loci_str_of(text));
}

/* The code point at `at` if it must be written as \uXXXX, else 0. All of them have at most three
 * bytes. */
static uint32_t hidden_character(const char *at, size_t bytes_left)
{
    const unsigned char *c = (const unsigned char *)at;
    uint32_t code = c[0];

    if (code < 0x20 || code == 0x7f)
        return code;
    if (bytes_left >= 2 && code == 0xc2 && c[1] < 0xa0) /* C1 controls, with NEL. */
        return c[1];
    if (bytes_left < 3 || (code != 0xe2 && code != 0xef))
        return 0;
    code = (code & 0xfu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
    if (code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
        (code >= 0x2066 && code <= 0x2069) || code == 0xfeff)
        return code;
    return 0;
}

static void put_text(lc_buf *out, loci_str text, const char *ends)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        uint32_t hidden = hidden_character(text.ptr + i, text.len - i);

        if (c == '\\' || (c != 0 && strchr(ends, c) != NULL)) {
            lc_buf_append_byte(out, '\\');
            lc_buf_append_byte(out, c);
        } else if (c == '\n' || c == '\r' || c == '\t') {
            put(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        } else if (hidden != 0 || c == 0) {
            lc_buf_append_format(out, "\\u%04x", hidden);
            i += hidden < 0x80 ? 0 : hidden < 0x800 ? 1 : 2;
        } else {
            lc_buf_append_byte(out, c);
        }
    }
}

/* A name must not begin like a symbol, a mark, a heading or a count. */
static void put_name(lc_buf *out, loci_str name)
{
    if (name.len > 0 && name.ptr[0] != 0 && strchr(LC_MIND_MAP_NAME_MARKS, name.ptr[0]) != NULL) {
        lc_buf_append_byte(out, '\\');
        lc_buf_append_byte(out, name.ptr[0]);
        name = (loci_str){name.ptr + 1, name.len - 1};
    }
    for (unsigned state = 0; state < LC_RESOURCE_STATES; state++) {
        loci_str symbol = loci_str_of(lc_resource_state_symbol((lc_resource_state)state));
        const unsigned char *s = (const unsigned char *)symbol.ptr;

        if (lc_str_starts(name, symbol)) {
            lc_buf_append_format(out, "\\u%04x",
                                 (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu));
            name = (loci_str){name.ptr + symbol.len, name.len - symbol.len};
            break;
        }
    }
    put_text(out, name, LC_MIND_MAP_NAME_ENDS);
}

/* 999, 1K, 1.5K, 42K, 3M … */
static void put_rounded(lc_buf *out, int64_t amount)
{
    static const char units[] = "KMGTPE";
    uint64_t n = amount < 0 ? 0 : (uint64_t)amount, unit = 1000;
    size_t i = 0;

    if (n < 1000) {
        lc_buf_append_format(out, "%llu", (unsigned long long)n);
        return;
    }
    while (i + 2 < sizeof units && (n + unit / 2) / unit >= 1000) {
        unit *= 1000;
        i++;
    }
    if ((n + unit / 20) / (unit / 10) < 100 && (n + unit / 20) / (unit / 10) % 10 != 0)
        lc_buf_append_format(out, "%.1f%c", (double)((n + unit / 20) / (unit / 10)) / 10, units[i]);
    else
        lc_buf_append_format(out, "%llu%c", (unsigned long long)((n + unit / 2) / unit), units[i]);
}

static void put_count(lc_buf *out, int64_t count)
{
    lc_buf_append_format(out, "%lld", (long long)(count < 0 ? 0 : count));
}

static void put_attention(lc_buf *out, double attention)
{
    char text[LC_NUMBER_BYTES_MAX];
    double shown = attention >= 0 && attention <= 1000 ? attention : 0;

    if (floor(shown) == shown)
        put_count(out, (int64_t)shown);
    else
        lc_buf_append(out, (loci_str){text, lc_number_format_f64(shown, text)});
}

static void put_time(lc_buf *out, int64_t us)
{
    char text[LC_TIME_BYTES_MAX];

    lc_buf_append(out, (loci_str){text, lc_time_format(us, text)});
}

static void put_time_of_day(lc_buf *out, int64_t us)
{
    int64_t minutes = us / MINUTE_US - (us % MINUTE_US < 0);

    minutes = (minutes % DAY_MINUTES + DAY_MINUTES) % DAY_MINUTES;
    lc_buf_append_format(out, "%02d:%02d", (int)(minutes / 60), (int)(minutes % 60));
}

static void put_marks(lc_buf *out, const lc_mind_map_resource *resource)
{
    put(out, resource->is_stale ? "!" : "");
    put(out, resource->is_summary ? "~" : "");
}

static bool is_in(const lc_mind_map *map, const lc_mind_map_resource *resource,
                  lc_resource_region section)
{
    return lc_mind_map_section(map->level, lc_resource_region_of(resource->state)) == section;
}

/* ---- Level 1 --------------------------------------------------------------------------------- */

static void print_resource(const lc_mind_map_resource *resource, lc_buf *out)
{
    lc_buf_append_format(out, "\n### %s ", lc_resource_state_symbol(resource->state));
    put_text(out, resource->uri, "");
    put(out, "\n- id: ");
    put_text(out, resource->id, "");
    lc_buf_append_format(out, "\n- kind: %s\n- state: %s", lc_resource_kind_name(resource->kind),
                         lc_resource_state_name(resource->state));
    put(out, resource->is_stale ? ", stale" : "");
    put(out, resource->is_summary ? ", summary only" : "");
    if (resource->size_tokens > 0) {
        put(out, "\n- size: ");
        put_count(out, resource->size_tokens);
        put(out, " tokens");
    }
    put(out, "\n- attention: ");
    put_attention(out, resource->attention);
    if (resource->last_accessed_us != 0) {
        put(out, "\n- last access: ");
        put_time(out, resource->last_accessed_us);
    }
    if (resource->summary.len > 0) {
        put(out, "\n- summary: ");
        put_text(out, resource->summary, "");
    }
    for (size_t i = 0; i < resource->tags.count; i++) {
        put(out, i == 0 ? "\n- tags: " : ", ");
        put_text(out, resource->tags.items[i], ",");
    }
    for (size_t i = 0; i < resource->link_count; i++) {
        put(out, "\n- link: ");
        put_text(out, resource->links[i].target, " ");
        if (resource->links[i].label.len > 0) {
            put(out, " ");
            put_text(out, resource->links[i].label, "");
        }
    }
    for (size_t i = 0; i < resource->annotations.count; i++) {
        put(out, "\n- note: ");
        put_text(out, resource->annotations.items[i], "");
    }
    put(out, "\n");
}

static void print_left(lc_buf *out, const char *what, int64_t count)
{
    if (count > 0)
        lc_buf_append_format(out, "- %s not listed: %lld\n", what, (long long)count);
}

static void print_verbose(const lc_mind_map *map, lc_buf *out)
{
    put(out, "# Mind map\n\n- context: ");
    put_count(out, map->used_tokens);
    put(out, " of ");
    put_count(out, map->context_max);
    put(out, " tokens, ");
    put_count(out, map->reserve_output);
    lc_buf_append_format(out, " reserved for output\n- pressure: %s\n- policy: %s\n- time: ",
                         lc_ladder_window.names[map->pressure], lc_window_policy_name(map->policy));
    put_time(out, map->time_us);
    put(out, "\n");
    print_left(out, "links", map->links_left);
    print_left(out, "notes", map->annotations_left);
    for (unsigned section = 0; section < LC_REGIONS; section++) {
        const char *heading = lc_mind_map_headings[section];
        bool is_first = true;

        for (size_t i = 0; i < map->resource_count; i++)
            if (is_in(map, &map->resources[i], (lc_resource_region)section)) {
                if (is_first)
                    lc_buf_append_format(out, "\n## %s\n", heading);
                is_first = false;
                print_resource(&map->resources[i], out);
            }
        for (size_t i = 0, counted = 0; i < map->group_count; i++) {
            const lc_mind_map_group *group = &map->groups[i];

            if (group->region != (lc_resource_region)section)
                continue;
            if (is_first)
                lc_buf_append_format(out, "\n## %s\n", heading);
            is_first = false;
            lc_buf_append_format(out, "%s- %lld more of kind %s: %lld tokens\n",
                                 counted++ == 0 ? "\n" : "", (long long)group->resource_count,
                                 lc_resource_kind_name(group->kind), (long long)group->size_tokens);
        }
    }
}

/* ---- Level 2 --------------------------------------------------------------------------------- */

static void print_item(const lc_mind_map_resource *resource, lc_buf *out)
{
    put(out, lc_resource_state_symbol(resource->state));
    put_marks(out, resource);
    put_name(out, resource->name);
    if (resource->size_tokens > 0) {
        put(out, " ");
        put_rounded(out, resource->size_tokens);
    }
    if (resource->attention != 1) {
        put(out, " a");
        put_attention(out, resource->attention);
    }
    if (resource->summary.len > 0) {
        put(out, " \"");
        put_text(out, resource->summary, "\"");
        put(out, "\"");
    }
}

/* One line: the resources of a kind in a section, then those that are counted. */
static void print_kind(const lc_mind_map *map, lc_resource_region section, lc_resource_kind kind,
                       bool *has_heading, lc_buf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < map->resource_count + map->group_count; i++) {
        const lc_mind_map_resource *resource = NULL;
        const lc_mind_map_group *group = NULL;

        if (i < map->resource_count)
            resource = &map->resources[i];
        else
            group = &map->groups[i - map->resource_count];
        if (resource != NULL ? resource->kind != kind || !is_in(map, resource, section)
                             : group->kind != kind || group->region != section)
            continue;
        if (!*has_heading)
            lc_buf_append_format(out, "## %s\n", lc_mind_map_headings[section]);
        *has_heading = true;
        if (count++ == 0)
            lc_buf_append_format(out, "%s: ", lc_resource_kind_name(kind));
        else
            put(out, "; ");
        if (resource != NULL) {
            print_item(resource, out);
        } else {
            lc_buf_append_format(out, "+%lld ", (long long)group->resource_count);
            put_rounded(out, group->size_tokens);
        }
    }
    if (count > 0)
        put(out, "\n");
}

static void print_links(const lc_mind_map *map, lc_buf *out)
{
    size_t listed = 0;

    for (size_t i = 0; i < map->resource_count; i++) {
        const lc_mind_map_resource *resource = &map->resources[i];

        for (size_t k = 0; k < resource->link_count; k++) {
            put(out, listed++ == 0 ? "## Links\n" : "");
            if (k == 0)
                put_name(out, resource->name);
            put(out, k == 0 ? ">" : "; ");
            put_name(out, resource->links[k].target);
            if (resource->links[k].label.len > 0) {
                put(out, ":");
                put_name(out, resource->links[k].label);
            }
        }
        put(out, resource->link_count > 0 ? "\n" : "");
    }
    if (map->links_left > 0)
        lc_buf_append_format(out, "%s+%lld\n", listed == 0 ? "## Links\n" : "",
                             (long long)map->links_left);
}

static void print_dense(const lc_mind_map *map, lc_buf *out)
{
    size_t listed = 0;

    put(out, "@state|ctx:");
    put_rounded(out, map->used_tokens);
    put(out, "/");
    put_rounded(out, map->context_max);
    put(out, "|reserve:");
    put_rounded(out, map->reserve_output);
    lc_buf_append_format(out, "|pressure:%s|policy:%s|time:", lc_ladder_window.names[map->pressure],
                         lc_window_policy_name(map->policy));
    put_time_of_day(out, map->time_us);
    put(out, "\n");
    for (unsigned section = 0; section <= LC_REGION_COLD; section++) {
        bool has_heading = false;

        for (unsigned kind = 0; kind < LC_KINDS; kind++)
            print_kind(map, (lc_resource_region)section, (lc_resource_kind)kind, &has_heading, out);
    }
    print_links(map, out);
    for (size_t i = 0; i < map->resource_count; i++)
        for (size_t k = 0; k < map->resources[i].annotations.count; k++) {
            put(out, listed++ == 0 ? "## Notes\n" : "");
            put_name(out, map->resources[i].name);
            put(out, ": ");
            put_text(out, map->resources[i].annotations.items[k], "");
            put(out, "\n");
        }
    if (map->annotations_left > 0)
        lc_buf_append_format(out, "%s+%lld\n", listed == 0 ? "## Notes\n" : "",
                             (long long)map->annotations_left);
}

/* ---- Level 3 --------------------------------------------------------------------------------- */

/* Begins the line `letter`, or separates the next item from the one before. */
static void begin_item(lc_buf *out, char letter, size_t *count)
{
    if ((*count)++ == 0)
        lc_buf_append_format(out, "@%c", letter);
    put(out, " ");
}

static void end_line(lc_buf *out, char letter, size_t count, int64_t left)
{
    if (left > 0) {
        begin_item(out, letter, &count);
        lc_buf_append_format(out, "+%lld", (long long)left);
    }
    put(out, count > 0 ? "\n" : "");
}

static void print_region(const lc_mind_map *map, lc_resource_region section, lc_buf *out)
{
    char letter = lc_mind_map_letters[section];
    size_t count = 0;

    for (size_t i = 0; i < map->resource_count; i++) {
        const lc_mind_map_resource *resource = &map->resources[i];

        if (!is_in(map, resource, section))
            continue;
        begin_item(out, letter, &count);
        if (resource->state != lc_mind_map_usual_state(section))
            put(out, lc_resource_state_symbol(resource->state));
        put_marks(out, resource);
        put_name(out, resource->name);
    }
    for (size_t i = 0; i < map->group_count; i++) {
        const lc_mind_map_group *group = &map->groups[i];

        if (group->region != section)
            continue;
        begin_item(out, letter, &count);
        put(out, "+");
        if (group->kind < LC_KINDS)
            lc_buf_append_format(out, "%s:", lc_resource_kind_name(group->kind));
        lc_buf_append_format(out, "%lld/", (long long)group->resource_count);
        put_rounded(out, group->size_tokens);
    }
    end_line(out, letter, count, 0);
}

static void print_ultra_dense(const lc_mind_map *map, lc_buf *out)
{
    size_t count = 0;

    put(out, "@MM1.0|");
    put_rounded(out, map->used_tokens);
    put(out, "/");
    put_rounded(out, map->context_max);
    lc_buf_append_format(out, ":%s|", lc_ladder_window.names[map->pressure]);
    put_time_of_day(out, map->time_us);
    lc_buf_append_format(out, "|%s\n", lc_window_policy_name(map->policy));
    for (unsigned section = 0; section <= LC_REGION_COLD; section++)
        print_region(map, (lc_resource_region)section, out);
    for (size_t i = 0; i < map->resource_count; i++)
        for (size_t k = 0; k < map->resources[i].link_count; k++) {
            begin_item(out, 'L', &count);
            put_name(out, map->resources[i].name);
            put(out, ">");
            put_name(out, map->resources[i].links[k].target);
        }
    end_line(out, 'L', count, map->links_left);
    count = 0;
    for (size_t i = 0; i < map->resource_count; i++) {
        int64_t annotation_count = map->resources[i].annotations_left;

        if (annotation_count <= 0)
            continue;
        begin_item(out, 'N', &count);
        put_name(out, map->resources[i].name);
        if (annotation_count > 1)
            lc_buf_append_format(out, ":%lld", (long long)annotation_count);
    }
    end_line(out, 'N', count, map->annotations_left);
}

void lc_mind_map_print(const lc_mind_map *map, lc_buf *out)
{
    static void (*const levels[])(const lc_mind_map *, lc_buf *) = {print_verbose, print_dense,
                                                                    print_ultra_dense};

    LC_ASSERT(map->level >= 1);
    LC_ASSERT(map->level <= 3);
    levels[map->level - 1](map, out);
}
