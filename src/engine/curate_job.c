/* curate_job.c - reads all memories of the user on snapshots, then applies the actions in slices,
 * one commit each. A job that was interrupted reads the memories again: the actions that it has
 * applied are then not needed any more, so only the rest is left. */
#include "engine/curate_job.h"

#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/settings.h"
#include "memory/curate.h"

#define SLICE_ACTIONS 50
#define DAY_US INT64_C(86400000000)

typedef struct work {
    lc_job_run *run;
    lc_curator curator;
    bool is_read;
    const lc_curation *at; /* The next action. */
    const lc_curation *slice_end;
    int64_t done;      /* Actions that are over, */
    int64_t total;     /* of this number. */
    int64_t counts[3]; /* Applied by committed slices, by kind. */
    int64_t slice_counts[3];
} work;

static loci_status read_page(lc_tx *tx, void *ctx, loci_error *err)
{
    work *w = ctx;

    tx->tenant_id = w->run->job.tenant_id;
    tx->user_id = w->run->job.user_id;
    return lc_curator_read(&w->curator, tx, &w->is_read, err);
}

static loci_status read_all(work *w, loci_error *err)
{
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && !w->is_read) {
        status = lc_job_run_keep(w->run, &(lc_job_progress){0}, err);
        if (status == LOCI_OK)
            status = lc_engine_read(
                w->run->engine, &(lc_read){.deadline_us = INT64_MAX, .body = read_page, .ctx = w},
                err);
    }
    w->at = lc_curator_first(&w->curator);
    for (const lc_curation *at = w->at; at != NULL; at = lc_curation_next(at))
        w->total++;
    return status;
}

/* May run again after a conflict, so it starts with counts of its own. */
static loci_status apply_slice(lc_tx *tx, void *ctx, loci_error *err)
{
    work *w = ctx;
    lc_arena_mark mark = lc_arena_get_mark(w->run->arena);
    loci_status status = LOCI_OK;
    int actions = 0;

    for (int kind = 0; kind < 3; kind++)
        w->slice_counts[kind] = 0;
    for (w->slice_end = w->at; w->slice_end != NULL && actions < SLICE_ACTIONS && status == LOCI_OK;
         w->slice_end = lc_curation_next(w->slice_end), actions++) {
        bool is_done;

        status = lc_curation_apply(tx, w->slice_end, w->run->arena, &is_done, err);
        w->slice_counts[w->slice_end->kind] += status == LOCI_OK && is_done;
    }
    lc_arena_rewind(w->run->arena, mark);
    return status;
}

static loci_status apply_all(work *w, loci_error *err)
{
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && w->at != NULL) {
        lc_job_progress progress = {.done = w->done, .total = w->total};

        status = lc_job_run_pause_point(w->run, err);
        if (status == LOCI_OK)
            status = lc_job_run_commit(w->run, apply_slice, w, &progress, err);
        if (status != LOCI_OK)
            break;
        for (int kind = 0; kind < 3; kind++)
            w->counts[kind] += w->slice_counts[kind];
        w->at = w->slice_end;
        w->done += SLICE_ACTIONS;
    }
    return status;
}

static void count_all(work *w)
{
    for (const lc_curation *at = w->at; at != NULL; at = lc_curation_next(at))
        w->counts[at->kind]++;
}

static void put_actions(const work *w, lc_json_writer *out)
{
    static const char *const names[] = {"fold", "archive", "raise"};
    int left = LC_CURATE_ACTIONS_MAX;

    lc_jw_name(out, "actions");
    lc_jw_array(out);
    for (const lc_curation *at = lc_curator_first(&w->curator); at != NULL && left-- > 0;
         at = lc_curation_next(at)) {
        lc_jw_object(out);
        lc_jw_member_text(out, "action", names[at->kind]);
        lc_jw_name(out, "memories");
        lc_jw_array(out);
        for (const lc_curation_part *part = &at->first; part != NULL; part = part->next)
            lc_jw_str(out, part->id);
        lc_jw_end(out);
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

static loci_status note_run(lc_tx *tx, void *ctx, loci_error *err)
{
    const work *w = ctx;

    return lc_curation_note(tx, w->curator.seen_count, err);
}

static loci_status finish(work *w, bool is_dry, loci_error *err)
{
    lc_json_writer out;
    lc_buf result;
    loci_status status;

    lc_buf_init(&result, w->run->arena->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_init(&out, &result);
    lc_jw_object(&out);
    lc_jw_member_bool(&out, "dry_run", is_dry);
    lc_jw_member_int(&out, "memories", w->curator.seen_count);
    lc_jw_member_int(&out, "folded", w->counts[LC_CURATE_FOLD]);
    lc_jw_member_int(&out, "archived", w->counts[LC_CURATE_ARCHIVE]);
    lc_jw_member_int(&out, "raised", w->counts[LC_CURATE_RAISE]);
    put_actions(w, &out);
    lc_jw_end(&out);
    status = lc_buf_status(&result, err);
    if (status == LOCI_OK)
        status = lc_job_run_finish(w->run, is_dry ? NULL : note_run, w, lc_buf_str(&result), err);
    lc_buf_clear(&result);
    return status;
}

static loci_status run(lc_job_run *job_run, loci_error *err)
{
    work w = {.run = job_run};
    bool is_dry = memmem(job_run->job.args.ptr, job_run->job.args.len, "true", 4) != NULL;
    int64_t days = lc_settings_i64(lc_engine_settings(job_run->engine),
                                   &lc_setting_memory_stale_days, job_run->job.tenant_id);
    loci_status status = lc_curator_init(&w.curator, job_run->arena, days * DAY_US, err);

    if (status == LOCI_OK)
        status = read_all(&w, err);
    if (status == LOCI_OK && is_dry)
        count_all(&w);
    else if (status == LOCI_OK)
        status = apply_all(&w, err);
    if (status == LOCI_OK)
        status = finish(&w, is_dry, err);
    lc_curator_clear(&w.curator);
    return status;
}

#define KIND "memory.curate"

const lc_job_kind lc_job_curate = {
    .name = KIND, .help = "Folds near-duplicates and archives stale memories", .run = run};

loci_status lc_curate_enqueue(lc_tx *tx, lc_id *out, loci_error *err)
{
    return lc_job_enqueue(tx, &(lc_job_new){.kind = LC_STR(KIND), .unique = LC_STR("curate")}, out,
                          err);
}

loci_status lc_curate_enqueue_dry(lc_tx *tx, lc_id *out, loci_error *err)
{
    return lc_job_enqueue(
        tx, &(lc_job_new){.kind = LC_STR(KIND), .args = LC_STR("{\"dry_run\":true}")}, out, err);
}
