/* manifest.c - see manifest.h. */
#include "context/manifest.h"

#include "base/assert.h"
#include "base/str.h"

static const char *const reasons[LC_MANIFEST_REASONS] = {
    "superseded",   "retracted", "restricted", "scope",      "expired",
    "needs_review", "claim",     "duplicate",  "irrelevant", "budget"};

void lc_manifest_init(lc_manifest *manifest, lc_arena *arena)
{
    memset(manifest, 0, sizeof *manifest);
    manifest->arena = arena;
}

void lc_manifest_count(lc_manifest *manifest, const char *reason, int64_t count)
{
    size_t i = 0;

    while (i < LC_MANIFEST_REASONS && strcmp(reasons[i], reason) != 0)
        i++;
    LC_ASSERT(i < LC_MANIFEST_REASONS);
    manifest->counts[i] += count;
}

void lc_manifest_exclude(lc_manifest *manifest, loci_str id, const char *reason)
{
    lc_manifest_count(manifest, reason, 1);
    lc_manifest_name(manifest, id, reason);
}

void lc_manifest_name(lc_manifest *manifest, loci_str id, const char *reason)
{
    if (id.len == 0 || manifest->excluded_count == LC_MANIFEST_EXCLUDED_MAX)
        return;
    id = lc_arena_copy(manifest->arena, id);
    if (id.ptr == NULL)
        return; /* It is counted; its name is a courtesy. */
    manifest->excluded[manifest->excluded_count].id = id;
    manifest->excluded[manifest->excluded_count++].reason = reason;
}

static void put_included(const lc_pack *pack, lc_json_writer *out)
{
    lc_jw_name(out, "included");
    lc_jw_array(out);
    for (size_t i = 0; i < pack->item_count; i++) {
        const lc_pack_item *item = &pack->items[i];

        if (!item->is_included || item->id.len == 0)
            continue;
        lc_jw_object(out);
        lc_jw_member_str(out, "id", item->id);
        lc_jw_member_text(out, "section", pack->sections[item->section].name);
        lc_jw_member_int(out, "tokens", item->tokens);
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

static void put_excluded(const lc_manifest *manifest, lc_json_writer *out)
{
    lc_jw_name(out, "excluded");
    lc_jw_array(out);
    for (size_t i = 0; i < manifest->excluded_count; i++) {
        lc_jw_object(out);
        lc_jw_member_str(out, "id", manifest->excluded[i].id);
        lc_jw_member_text(out, "reason", manifest->excluded[i].reason);
        lc_jw_end(out);
    }
    lc_jw_end(out);
    lc_jw_name(out, "excluded_counts");
    lc_jw_object(out);
    for (size_t i = 0; i < LC_MANIFEST_REASONS; i++)
        if (manifest->counts[i] > 0)
            lc_jw_member_int(out, reasons[i], manifest->counts[i]);
    lc_jw_end(out);
}

void lc_manifest_put(const lc_manifest *manifest, const lc_pack *pack, loci_str text,
                     bool is_estimated, lc_json_writer *out)
{
    lc_jw_member_str(out, "text", text);
    put_included(pack, out);
    put_excluded(manifest, out);
    lc_jw_name(out, "tokens");
    lc_jw_object(out);
    for (size_t i = 0; i < pack->section_count; i++)
        if (pack->section_tokens[i] > 0)
            lc_jw_member_int(out, pack->sections[i].name, pack->section_tokens[i]);
    lc_jw_member_int(out, "total", pack->tokens);
    lc_jw_end(out);
    lc_jw_member_int(out, "budget", pack->budget);
    lc_jw_member_bool(out, "estimated", is_estimated);
    lc_jw_member_null(out, "pressure");
    lc_jw_name(out, "warnings");
    lc_jw_array(out);
    if (is_estimated)
        lc_jw_text(out, "tokens are estimated: the data of the encoding is not installed");
    lc_jw_end(out);
}
