/* frame_pack.c - choosing a level and packing at it.
 *
 * Whether everything fits at a level is first added up from the parts, which ends as soon as the
 * budget is exceeded: so a level that is not used costs at most the counting of one budget, however
 * long the texts are. Counts are kept per form, because levels share forms.
 */
#include "context/frame_pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "context/build.h"
#include "context/frame_material.h"
#include "pack/excerpt.h"

#define TOKEN_BYTES_MAX 16   /* Useful text never has tokens of this length on average. */
#define CRUMBS_CRITICAL 1    /* Frames above beside the root at the level critical. */
#define BREADCRUMB_BYTES 160 /* Of a goal. */
#define BLOCK_BYTES_MAX (2 * LC_CONTEXT_BYTES_MAX)

enum { BRIEF, BREADCRUMBS, SEGMENTS, SECTION_COUNT };

static const lc_pack_section sections[SECTION_COUNT] = {
    [BRIEF] = {"brief", NULL, NULL, 1000},
    [BREADCRUMBS] = {"breadcrumbs", "Part of, from the root:", "- ", 1000},
    [SEGMENTS] = {"segments", "Material:", NULL, 1000},
};

static const char *const level_names[] = {"none", "light", "moderate", "aggressive", "critical"};
static const char *const form_names[] = {"full", "trimmed", "shortened", "shortened"};

lc_compaction lc_compaction_of(loci_str name)
{
    int level = LC_COMPACTION_NONE;

    while (level < LC_COMPACTION_CRITICAL && !lc_str_is(name, level_names[level]))
        level++;
    return (lc_compaction)level;
}

typedef struct packing {
    const lc_frame_pack_input *input;
    lc_arena *arena;
    lc_frame_material material;
    int64_t budget; /* Of the caller and of the frame. */
    lc_compaction level;
    lc_pack_item brief;
    lc_pack_item crumbs[LC_FRAME_NEAR + 2];          /* One of them may say how many are elided. */
    const lc_frame *crumb_frames[LC_FRAME_NEAR + 2]; /* NULL = it is that one. */
    size_t crumb_count;
    lc_pack_item **items;
    lc_segment **by_time;
    lc_pack pack;
    int64_t section_tokens[SECTION_COUNT];
    lc_buf text;
} packing;

/* ---- Breadcrumbs ----------------------------------------------------------------------------- */

/* One line: a goal may be long. */
static loci_status add_crumb(packing *p, const lc_frame *frame, loci_error *err)
{
    lc_pack_item *to = &p->crumbs[p->crumb_count];

    *to = (lc_pack_item){
        .section = BREADCRUMBS,
        .place = (int64_t)p->crumb_count,
        .text = lc_excerpt_cut(p->arena, lc_str_trim(frame->goal), BREADCRUMB_BYTES),
        .is_mandatory = p->level < LC_COMPACTION_CRITICAL};
    p->crumb_frames[p->crumb_count++] = frame;
    return to->text.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status add_gap(packing *p, size_t count, loci_error *err)
{
    lc_buf text;
    lc_pack_item *to = &p->crumbs[p->crumb_count];

    lc_buf_init(&text, p->arena->heap, LOCI_MEM_REQUESTS, 64);
    lc_buf_append_format(&text, "(%zu more)", count);
    *to = (lc_pack_item){.section = BREADCRUMBS,
                         .place = (int64_t)p->crumb_count,
                         .text = lc_arena_copy(p->arena, lc_buf_str(&text)),
                         .is_mandatory = p->level < LC_COMPACTION_CRITICAL};
    p->crumb_frames[p->crumb_count++] = NULL;
    lc_buf_clear(&text);
    return to->text.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* The root and the last ones; the middle is elided. */
static loci_status set_crumbs(packing *p, loci_error *err)
{
    const lc_frame_list *above = &p->material.above;
    size_t depth = (size_t)p->material.frame.depth;
    size_t last = p->level < LC_COMPACTION_CRITICAL ? LC_FRAME_NEAR : CRUMBS_CRITICAL;
    loci_status status = LOCI_OK;

    p->crumb_count = 0;
    for (size_t i = 0; i < above->count && status == LOCI_OK; i++) {
        if (i == 1 && depth > last + 1)
            status = add_gap(p, depth - last - 1, err);
        if (status == LOCI_OK && (i == 0 || i + last >= above->count))
            status = add_crumb(p, &above->items[i], err);
    }
    return status;
}

/* ---- Segments -------------------------------------------------------------------------------- */

/* The form of a segment at the level. */
static lc_segment_form form_of(const packing *p, const lc_segment *segment)
{
    if (p->level == LC_COMPACTION_NONE)
        return LC_SEGMENT_FULL;
    if (segment->is_mandatory || p->level == LC_COMPACTION_LIGHT)
        return LC_SEGMENT_TRIMMED;
    if (p->level == LC_COMPACTION_MODERATE)
        return segment->is_recent ? LC_SEGMENT_TRIMMED : LC_SEGMENT_SHORTENED;
    return LC_SEGMENT_GIST;
}

/* Whether there is anything of the segment to show, at some level. */
static bool is_usable(const lc_segment *segment)
{
    return segment->missing == NULL && segment->dropped == NULL;
}

/* Whether the level keeps the segment, if there is room. */
static bool is_kept(const packing *p, const lc_segment *segment)
{
    if (segment->is_mandatory || p->level < LC_COMPACTION_AGGRESSIVE)
        return true;
    return p->level == LC_COMPACTION_AGGRESSIVE && segment->handle.priority < LC_PRIORITY_LOW;
}

/* Makes the block of the form, with its line break, unless it is there. */
static loci_status make_block(packing *p, lc_segment *segment, lc_segment_form form,
                              loci_error *err)
{
    lc_buf text;
    loci_status status;

    /* A form that is the same text as a longer one shares its block and count. */
    for (int i = 0; i < (int)form && segment->blocks[form].ptr == NULL; i++)
        if (segment->texts[i].ptr == segment->texts[form].ptr && segment->blocks[i].ptr != NULL) {
            segment->blocks[form] = segment->blocks[i];
            segment->tokens[form] = segment->tokens[i];
        }
    if (segment->blocks[form].ptr != NULL)
        return LOCI_OK;
    lc_buf_init(&text, p->arena->heap, LOCI_MEM_REQUESTS, BLOCK_BYTES_MAX);
    lc_excerpt_append(&text, "- ", segment->label, segment->texts[form]);
    lc_buf_append_byte(&text, '\n');
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        segment->blocks[form] = lc_arena_copy(p->arena, lc_buf_str(&text));
        if (segment->blocks[form].ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

static int64_t count_tokens(const packing *p, loci_str text)
{
    return p->input->counter.count(p->input->counter.ctx, text);
}

/* Whether everything that the level keeps fits, by the sum of its parts. */
static loci_status check_fits(packing *p, bool *out, loci_error *err)
{
    lc_frame_material *m = &p->material;
    int64_t left = p->budget - count_tokens(p, m->brief);
    loci_status status = LOCI_OK;

    *out = false;
    for (size_t i = 0; i < p->crumb_count; i++)
        left -= count_tokens(p, p->crumbs[i].text);
    for (size_t i = 0; i < m->count && status == LOCI_OK; i++) {
        lc_segment *segment = m->order[i];
        lc_segment_form form = form_of(p, segment);

        if (!is_usable(segment) || !is_kept(p, segment))
            continue;
        if (left <= 0 || segment->texts[form].ptr == NULL ||
            (int64_t)segment->texts[form].len > TOKEN_BYTES_MAX * left)
            return LOCI_OK;
        status = make_block(p, segment, form, err);
        if (status == LOCI_OK && segment->tokens[form] == 0)
            segment->tokens[form] = count_tokens(p, segment->blocks[form]);
        left -= segment->tokens[form];
    }
    *out = left >= 0;
    return status;
}

/* ---- Packing --------------------------------------------------------------------------------- */

static loci_status set_items(packing *p, loci_error *err)
{
    lc_frame_material *m = &p->material;
    size_t count = 0;
    loci_status status = LOCI_OK;

    p->brief = (lc_pack_item){
        .section = BRIEF, .text = m->brief, .is_mandatory = true, .is_block = true};
    p->items[count++] = &p->brief;
    for (size_t i = 0; i < p->crumb_count; i++)
        p->items[count++] = &p->crumbs[i];
    for (size_t i = 0; i < m->count && status == LOCI_OK; i++) {
        lc_segment *segment = m->order[i];

        segment->form = form_of(p, segment);
        segment->item = (lc_pack_item){0};
        if (!is_usable(segment) || !is_kept(p, segment) ||
            segment->texts[segment->form].ptr == NULL)
            continue;
        status = make_block(p, segment, segment->form, err);
        segment->item = (lc_pack_item){.id = segment->handle.id,
                                       .text = segment->blocks[segment->form],
                                       .section = SEGMENTS,
                                       .place = segment->handle.seq,
                                       .is_mandatory = segment->is_mandatory,
                                       .is_block = true,
                                       .known_tokens = segment->tokens[segment->form]};
        if (status == LOCI_OK)
            segment->item.text.len--; /* The packer adds the line break. */
        p->items[count++] = &segment->item;
    }
    p->pack = (lc_pack){.sections = sections,
                        .section_count = SECTION_COUNT,
                        .items = p->items,
                        .item_count = count,
                        .budget = p->budget,
                        .counter = p->input->counter,
                        .section_tokens = p->section_tokens};
    return status;
}

static bool has_all(const packing *p)
{
    for (size_t i = 0; i < p->pack.item_count; i++)
        if (!p->items[i]->is_included)
            return false;
    return true;
}

/* Packs at one level; `*done` is false if the next one has to be tried. */
static loci_status try_level(packing *p, bool *done, loci_error *err)
{
    bool fits = true;
    loci_status status = set_crumbs(p, err);

    *done = p->level == LC_COMPACTION_CRITICAL;
    if (status == LOCI_OK && p->level < LC_COMPACTION_AGGRESSIVE)
        status = check_fits(p, &fits, err);
    if (status != LOCI_OK || !fits)
        return status;
    status = set_items(p, err);
    if (status == LOCI_OK)
        status = lc_pack_run(&p->pack, &p->text, err);
    if (status == LOCI_EBUDGET && !*done)
        return LOCI_OK;
    if (status == LOCI_OK && (p->level == LC_COMPACTION_AGGRESSIVE || has_all(p)))
        *done = true;
    return status;
}

static loci_status run_levels(packing *p, loci_error *err)
{
    bool done = false;
    loci_error last = {0};
    loci_status status = LOCI_OK;

    for (int level = (int)p->input->min_level; !done && status == LOCI_OK; level++) {
        p->level = (lc_compaction)level;
        status = try_level(p, &done, &last);
    }
    if (status != LOCI_OK)
        *err = last;
    return status;
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void put_metadata(const packing *p, lc_json_writer *out)
{
    const lc_frame *frame = &p->material.frame;
    size_t shown = 0;

    for (size_t i = 0; i < p->crumb_count; i++)
        shown += p->crumb_frames[i] != NULL && p->crumbs[i].is_included;
    lc_jw_name(out, "metadata");
    lc_jw_object(out);
    lc_jw_member_str(out, "frame_id", frame->id);
    lc_jw_member_str(out, "goal", frame->goal);
    lc_jw_member_text(out, "status", lc_frame_status_name(frame->status));
    lc_jw_member_int(out, "depth", frame->depth);
    lc_jw_member_int(out, "handles", frame->handles);
    lc_jw_member_int(out, "elided", frame->depth - (int64_t)shown);
    if (frame->context_hash.ptr != NULL)
        lc_jw_member_str(out, "context_hash", frame->context_hash);
    lc_jw_end(out);
    lc_jw_member_str(out, "brief", p->material.brief);
}

static void put_breadcrumbs(const packing *p, lc_json_writer *out)
{
    lc_jw_name(out, "breadcrumbs");
    lc_jw_array(out);
    for (size_t i = 0; i < p->crumb_count; i++) {
        const lc_frame *frame = p->crumb_frames[i];

        if (frame == NULL || !p->crumbs[i].is_included)
            continue;
        lc_jw_object(out);
        lc_jw_member_str(out, "frame_id", frame->id);
        lc_jw_member_str(out, "goal", p->crumbs[i].text);
        lc_jw_member_text(out, "status", lc_frame_status_name(frame->status));
        lc_jw_member_int(out, "depth", frame->depth);
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

static const char *priority_name(lc_priority priority)
{
    static const char *const names[] = {"critical", "high", "medium", "low", "background"};

    return names[priority];
}

static int compare_time(const void *a, const void *b)
{
    const lc_segment *x = *(lc_segment *const *)a, *y = *(lc_segment *const *)b;

    return x->handle.seq < y->handle.seq ? -1 : x->handle.seq > y->handle.seq;
}

static void put_segments(const packing *p, lc_json_writer *out)
{
    const lc_frame_material *m = &p->material;

    lc_jw_name(out, "segments");
    lc_jw_array(out);
    for (size_t i = 0; i < m->count; i++) {
        const lc_segment *segment = p->by_time[i];
        lc_segment_form form = segment->form;

        if (!segment->item.is_included)
            continue;

        /* A text that was as short before is not called shortened. */
        while (form > LC_SEGMENT_FULL && segment->texts[form - 1].ptr != NULL &&
               segment->texts[form - 1].len == segment->texts[form].len)
            form--;
        lc_jw_object(out);
        lc_jw_member_str(out, "id", segment->handle.id);
        lc_jw_member_str(out, "frame_id", segment->handle.frame_id);
        lc_jw_member_str(out, "type", segment->handle.type);
        lc_jw_member_text(out, "priority", priority_name(segment->handle.priority));
        lc_jw_member_str(out, "label", segment->label);
        lc_jw_member_str(out, "text", segment->texts[segment->form]);
        lc_jw_member_text(out, "form", form_names[form]);
        lc_jw_member_int(out, "tokens", segment->item.tokens);
        lc_jw_end(out);
    }
    lc_jw_end(out);
    lc_jw_member_str(out, "text", lc_buf_str(&p->text));
}

static void put_tokens(const packing *p, lc_json_writer *out)
{
    const lc_frame_limits *limits = &p->material.frame.limits;

    lc_jw_name(out, "tokens");
    lc_jw_object(out);
    lc_jw_member_int(out, "budget", p->budget);
    lc_jw_member_int(out, "requested", p->input->budget);
    if (limits->max_context_tokens != LC_FRAME_NO_LIMIT)
        lc_jw_member_int(out, "max_context_tokens", limits->max_context_tokens);
    lc_jw_member_int(out, "used", p->pack.tokens);
    lc_jw_member_int(out, "remaining", p->budget - p->pack.tokens);
    lc_jw_name(out, "breakdown");
    lc_jw_object(out);
    for (size_t i = 0; i < SECTION_COUNT; i++)
        lc_jw_member_int(out, sections[i].name, p->section_tokens[i]);
    lc_jw_end(out);
    lc_jw_member_text(out, "compaction_level", level_names[p->level]);
    lc_jw_member_bool(out, "estimated", p->input->is_estimated);
    lc_jw_end(out);
}

/* Why a segment that has a text is not in the pack. */
static const char *drop_reason(const packing *p, const lc_segment *segment)
{
    if (segment->dropped != NULL)
        return segment->dropped;
    return is_kept(p, segment) ? "budget" : "compaction";
}

static void put_losses(const packing *p, lc_json_writer *out)
{
    const lc_frame_material *m = &p->material;

    lc_jw_name(out, "dropped");
    lc_jw_array(out);
    for (size_t i = 0; i < m->count; i++) {
        const lc_segment *segment = m->order[i];

        if (segment->missing != NULL || segment->item.is_included)
            continue;
        lc_jw_object(out);
        lc_jw_member_str(out, "id", segment->handle.id);
        lc_jw_member_text(out, "reason", drop_reason(p, segment));
        lc_jw_end(out);
    }
    lc_jw_end(out);
    lc_jw_name(out, "missing");
    lc_jw_array(out);
    for (size_t i = 0; i < m->count; i++) {
        const lc_segment *segment = m->order[i];

        if (segment->missing == NULL)
            continue;
        lc_jw_object(out);
        lc_jw_member_str(out, "id", segment->handle.id);
        lc_jw_member_str(out, "ref", segment->handle.ref);
        lc_jw_member_text(out, "reason", segment->missing);
        lc_jw_end(out);
    }
    for (size_t i = 0; i < m->unknown_count; i++) {
        lc_jw_object(out);
        lc_jw_member_str(out, "id", m->unknown[i]);
        lc_jw_member_text(out, "reason", "unknown");
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

/* Maximum size of full texts: more than the budget could hold is never used. */
static size_t bytes_max_of(int64_t budget)
{
    return budget < LC_CONTEXT_BYTES_MAX / TOKEN_BYTES_MAX ? (size_t)(TOKEN_BYTES_MAX * budget)
                                                           : LC_CONTEXT_BYTES_MAX;
}

/* Reads the material; `p->text` is to be cleared whatever it returns. */
static loci_status open_packing(packing *p, lc_tx *tx, const lc_frame_pack_input *input,
                                loci_error *err)
{
    lc_frame_material *m = &p->material;
    const lc_frame_material_request request = {.persona_id = input->persona_id,
                                               .frame_id = input->frame_id,
                                               .include = input->include,
                                               .exclude = input->exclude,
                                               .bytes_max = bytes_max_of(input->budget),
                                               .arena = input->arena};
    loci_status status;

    *p = (packing){.input = input, .arena = input->arena, .budget = input->budget};
    lc_buf_init(&p->text, p->arena->heap, LOCI_MEM_REQUESTS, LC_CONTEXT_BYTES_MAX);
    status = lc_frame_material_read(tx, &request, m, err);
    if (status != LOCI_OK)
        return status;
    if (m->frame.limits.max_context_tokens != LC_FRAME_NO_LIMIT &&
        m->frame.limits.max_context_tokens < p->budget)
        p->budget = m->frame.limits.max_context_tokens;
    p->items = lc_arena_zalloc_array(p->arena, m->count + LC_FRAME_NEAR + 3, sizeof *p->items);
    p->by_time = lc_arena_zalloc_array(p->arena, m->count + 1, sizeof *p->by_time);
    if (p->items == NULL || p->by_time == NULL)
        return lc_fail_memory(err);
    if (m->count > 0)
        memcpy(p->by_time, m->order, m->count * sizeof *p->by_time);
    qsort(p->by_time, m->count, sizeof *p->by_time, compare_time);
    return LOCI_OK;
}

loci_status lc_context_pack_frame(lc_tx *tx, const lc_frame_pack_input *input, lc_json_writer *out,
                                  loci_error *err)
{
    packing p;
    loci_status status = open_packing(&p, tx, input, err);

    if (status == LOCI_OK)
        status = run_levels(&p, err);
    if (status == LOCI_OK) {
        put_metadata(&p, out);
        put_breadcrumbs(&p, out);
        put_segments(&p, out);
        put_tokens(&p, out);
        put_losses(&p, out);
    }
    lc_buf_clear(&p.text);
    return status;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* "Part of: Fix the timeout > (2 more) > Read the pool" in the arena. */
static loci_status join_crumbs(const packing *p, loci_str *out, loci_error *err)
{
    lc_buf line, text;
    loci_status status;

    lc_buf_init(&line, p->arena->heap, LOCI_MEM_REQUESTS, BLOCK_BYTES_MAX);
    lc_buf_init(&text, p->arena->heap, LOCI_MEM_REQUESTS, BLOCK_BYTES_MAX);
    for (size_t i = 0; i < p->crumb_count; i++) {
        lc_buf_append(&line, i > 0 ? LC_STR(" > ") : LC_STR(""));
        lc_buf_append(&line, p->crumbs[i].text);
    }
    status = lc_buf_status(&line, err);
    lc_excerpt_append(&text, "", LC_STR("Part of"), lc_buf_str(&line));
    if (status == LOCI_OK)
        status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(p->arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&line);
    lc_buf_clear(&text);
    return status;
}

static void add_part(const packing *p, const lc_segment *segment, lc_frame_parts *out)
{
    lc_frame_part *to = &out->items[out->count++];

    *to = (lc_frame_part){.id = segment->handle.id,
                          .block = segment->item.text,
                          .rank = segment->rank,
                          .is_mandatory = segment->is_mandatory && segment->missing == NULL};
    if (segment->missing != NULL)
        to->reason = segment->missing;
    else if (!segment->item.is_included)
        to->reason = drop_reason(p, segment);
}

loci_status lc_context_pack_parts(lc_tx *tx, const lc_frame_pack_input *input, lc_frame_parts *out,
                                  loci_error *err)
{
    packing p;
    loci_status status = open_packing(&p, tx, input, err);

    *out = (lc_frame_parts){0};
    if (status == LOCI_OK)
        status = run_levels(&p, err);
    /* Then the last level, critical, has marked the mandatory ones. */
    if (status == LOCI_EBUDGET)
        status = LOCI_OK;
    if (status == LOCI_OK)
        out->items = lc_arena_zalloc_array(p.arena, p.material.count + 2, sizeof *out->items);
    if (status == LOCI_OK && out->items == NULL)
        status = lc_fail_memory(err);
    if (status == LOCI_OK) {
        out->items[out->count++] = (lc_frame_part){.block = p.material.brief, .is_mandatory = true};
        if (p.crumb_count > 0)
            status = join_crumbs(&p, &out->items[out->count++].block, err);
    }
    for (size_t i = 0; i < p.material.count && status == LOCI_OK; i++)
        add_part(&p, p.by_time[i], out);
    lc_buf_clear(&p.text);
    return status;
}
