/* session_find.c - which session is meant, and reading sessions.
 *
 * Only active rows are searched by a caller's string or by persona, through partial indexes: how
 * many sessions have ended does not matter. An active row may be idle for too long; it has then
 * ended in the eyes of everybody, and the next write says so in the log.
 */
#include "session/session.h"

#include "base/error.h"
#include "base/str.h"
#include "session/session_event.h"

#define TOUCH_US INT64_C(1000000) /* The last activity is kept to the second. */

#define COLUMNS                                                                                    \
    "s.id, s.external_id, s.persona_id, s.seq, s.opened_at, a.last_at, s.state, s.ended_at,"       \
    " s.end_reason, s.user_name, s.authority, s.department, s.organization, s.permissions"
#define KINDS                                                                                      \
    "tttiiiti"                                                                                     \
    "tttttt"
#define FROM                                                                                       \
    " from sessions s left join session_activity a on a.tenant_id = s.tenant_id"                   \
    " and a.user_id = s.user_id and a.session_id = s.id"                                           \
    " where s.tenant_id = $1 and s.user_id = $2"

static const lc_sql by_id_sql = {
    "select " COLUMNS FROM " and s.id = $3 and s.persona_id in ('', $4)", "tttt", KINDS};

/* The newest first: usually that one is open. */
static const lc_sql of_persona_sql = {"select " COLUMNS FROM " and s.persona_id = $3"
                                      " and s.state = 'active' order by s.seq desc limit 16",
                                      "ttt", KINDS};

/* The persona's own before everybody's. */
static const lc_sql external_sql = {"select " COLUMNS FROM " and s.external_id = $3"
                                    " and s.persona_id in ('', $4) and s.state = 'active'"
                                    " order by s.persona_id desc, s.seq desc limit 16",
                                    "tttt", KINDS};

static const lc_sql last_sql = {"select " COLUMNS FROM " and s.persona_id = $3"
                                " order by s.seq desc limit 1",
                                "ttt", KINDS};

static const lc_sql page_sql = {"select " COLUMNS FROM " and s.persona_id in ('', $3)"
                                " and s.seq < $4 order by s.seq desc limit $5",
                                "tttii", KINDS};

static const char *const state_names[LC_SESSION_STATES] = {"none", "active", "ended"};

static const bool moves[LC_SESSION_STATES][LC_SESSION_STATES] = {
    [LC_SESSION_NONE] = {[LC_SESSION_ACTIVE] = true},
    [LC_SESSION_ACTIVE] = {[LC_SESSION_ENDED] = true},
};

const char *lc_session_state_name(lc_session_state state)
{
    return state_names[state];
}

bool lc_session_may_move(lc_session_state from, lc_session_state to)
{
    return moves[from][to];
}

static loci_str or_empty(loci_str text)
{
    return text.ptr == NULL ? LC_STR("") : text;
}

static lc_session from_row(const lc_rows *rows, int64_t now_us, int64_t idle_us)
{
    lc_session session = {
        .id = lc_rows_str(rows, 0),
        .external_id = lc_rows_str(rows, 1),
        .persona_id = lc_rows_str(rows, 2),
        .seq = lc_rows_i64(rows, 3),
        .opened_at = lc_rows_i64(rows, 4),
        .last_activity = lc_rows_i64(rows, 4),
        .ended_at = lc_rows_i64(rows, 7),
        .end_reason = lc_rows_str(rows, 8),
        .identity = {.user_name = lc_rows_str(rows, 9),
                     .authority = lc_rows_str(rows, 10),
                     .department = lc_rows_str(rows, 11),
                     .organization = lc_rows_str(rows, 12),
                     .permissions = lc_rows_str(rows, 13)},
    };

    if (!lc_rows_is_null(rows, 5) && lc_rows_i64(rows, 5) > session.last_activity)
        session.last_activity = lc_rows_i64(rows, 5);
    if (lc_str_is(lc_rows_str(rows, 6), "active")) {
        session.is_open = now_us - session.last_activity < idle_us;
        if (!session.is_open) {
            session.ended_at = session.last_activity + idle_us;
            session.end_reason = LC_STR("idle");
        }
    }
    return session;
}

static bool copy_text(lc_arena *arena, loci_str *text)
{
    if (text->ptr == NULL)
        return true;
    *text = lc_arena_copy(arena, *text);
    return text->ptr != NULL;
}

static bool copy_texts(lc_arena *arena, lc_session *session)
{
    lc_identity *identity = &session->identity;

    return copy_text(arena, &session->id) && copy_text(arena, &session->external_id) &&
           copy_text(arena, &session->persona_id) && copy_text(arena, &session->end_reason) &&
           copy_text(arena, &identity->user_name) && copy_text(arena, &identity->authority) &&
           copy_text(arena, &identity->department) && copy_text(arena, &identity->organization) &&
           copy_text(arena, &identity->permissions);
}

/* A query that looks for one session. */
typedef struct search {
    const lc_sql *sql;
    const lc_arg *args;
    int64_t idle_us;
} search;

/* The first open one, else the first; `*found` is false when there is none. */
static loci_status find_one(lc_tx *tx, const search *s, lc_arena *arena, lc_session *out,
                            bool *found, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, s->sql, s->args, &rows, err);

    *found = false;
    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        lc_session session = from_row(&rows, tx->now_us, s->idle_us);

        if (*found && !session.is_open)
            continue;
        *found = true;
        *out = session;
        if (!copy_texts(arena, out))
            status = lc_fail_memory(err);
        if (status != LOCI_OK || session.is_open)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status find_by_id(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                              lc_session *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(ref->session_id),
                           LC_T(or_empty(ref->persona_id))};
    bool found;
    loci_status status = find_one(tx, &(search){&by_id_sql, args, ref->idle_us}, arena, out, &found,
                                  err);

    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND, "no session %.*s", LC_STR_ARG(ref->session_id));
    return status;
}

static loci_status find_external(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                                 lc_session *out, bool *found, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(ref->session_id),
                           LC_T(or_empty(ref->persona_id))};

    return find_one(tx, &(search){&external_sql, args, ref->idle_us}, arena, out, found, err);
}

#define PERSONA_ARGS(tx, ref)                                                                      \
    (lc_arg[])                                                                                     \
    {                                                                                              \
        LC_T((tx)->tenant_id), LC_T((tx)->user_id), LC_T(or_empty((ref)->persona_id))              \
    }

/* ---- The cached one --------------------------------------------------------------------------
 *
 * Nearly every write of a group asks for the same session: the user's open one that belongs to no
 * persona and has neither a name nor an identity. The room's state in the transaction holds it. */

typedef struct cached_session {
    lc_id id;
    int64_t seq, opened_at, last_activity;
} cached_session;

void lc_session_drop_cached(lc_tx *tx)
{
    *lc_tx_room_state(tx, &lc_session_room) = NULL;
}

static void cache_session(lc_tx *tx, const lc_session *session)
{
    cached_session *cached;

    if (!session->is_open || session->external_id.ptr != NULL || session->persona_id.len > 0 ||
        session->identity.user_name.ptr != NULL || session->id.len >= sizeof cached->id.text)
        return;
    cached = lc_arena_zalloc_array(&tx->db->tx_memory, 1, sizeof *cached);
    if (cached == NULL)
        return; /* The next body reads the session again. */
    cached->seq = session->seq;
    cached->opened_at = session->opened_at;
    cached->last_activity = session->last_activity;
    memcpy(cached->id.text, session->id.ptr, session->id.len);
    *lc_tx_room_state(tx, &lc_session_room) = cached;
}

/* False if there is none, or if it has been idle for too long. */
static bool find_cached(lc_tx *tx, int64_t idle_us, lc_session *out)
{
    const cached_session *cached = *lc_tx_room_state(tx, &lc_session_room);

    if (cached == NULL || tx->now_us - cached->last_activity >= idle_us)
        return false;
    *out = (lc_session){.id = lc_id_str(&cached->id),
                        .persona_id = LC_STR(""),
                        .seq = cached->seq,
                        .opened_at = cached->opened_at,
                        .last_activity = cached->last_activity,
                        .is_open = true};
    return true;
}

static loci_status find_of_persona(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                                   lc_session *out, bool *found, loci_error *err)
{
    bool may_cache = tx->is_write && ref->persona_id.len == 0;
    loci_status status;

    *found = may_cache && find_cached(tx, ref->idle_us, out);
    if (*found)
        return copy_texts(arena, out) ? LOCI_OK : lc_fail_memory(err);
    status = find_one(tx, &(search){&of_persona_sql, PERSONA_ARGS(tx, ref), ref->idle_us}, arena,
                      out, found, err);
    if (status == LOCI_OK && may_cache && *found)
        cache_session(tx, out);
    return status;
}

loci_status lc_session_find(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena, lc_session *out,
                            bool *found, loci_error *err)
{
    if (ref->session_id.len == 0)
        return find_of_persona(tx, ref, arena, out, found, err);
    if (!lc_id_is(ref->session_id, "ses"))
        return find_external(tx, ref, arena, out, found, err);
    *found = true;
    return find_by_id(tx, ref, arena, out, err);
}

loci_status lc_session_find_last(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                                 lc_session *out, bool *found, loci_error *err)
{
    return find_one(tx, &(search){&last_sql, PERSONA_ARGS(tx, ref), ref->idle_us}, arena, out,
                    found, err);
}

/* ---- For writing ----------------------------------------------------------------------------- */

/* `found` is what there is, or NULL. When it is not open, a new one takes its place. */
static loci_status choose(lc_tx *tx, const lc_session_ref *ref, const lc_session *found,
                          lc_session_use *out, loci_error *err)
{
    loci_status status;

    *out = (lc_session_use){0};
    if (found != NULL && found->is_open) {
        out->session = *found;
        out->needs_touch = tx->now_us - found->last_activity >= TOUCH_US;
        return LOCI_OK;
    }
    if (found != NULL && lc_str_is(found->end_reason, "idle")) {
        memcpy(out->stale_id.text, found->id.ptr, found->id.len);
        out->stale_ended_at = found->ended_at;
    }
    status = lc_tx_make_id(tx, "ses", &out->new_id, err);
    out->is_new = true;
    out->session = (lc_session){.id = lc_id_str(&out->new_id),
                                .external_id = ref->session_id,
                                .persona_id = or_empty(ref->persona_id),
                                .opened_at = tx->now_us,
                                .last_activity = tx->now_us,
                                .is_open = true};
    return status;
}

loci_status lc_session_choose(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                              lc_session_use *out, loci_error *err)
{
    lc_session_ref next = *ref;
    lc_session session;
    bool found;
    loci_status status = lc_session_find(tx, ref, arena, &session, &found, err);

    if (status == LOCI_OK && lc_id_is(ref->session_id, "ses") && !session.is_open) {
        next.session_id = session.external_id;
        status = lc_session_find(tx, &next, arena, &session, &found, err);
    }
    return status == LOCI_OK ? choose(tx, &next, found ? &session : NULL, out, err) : status;
}

loci_status lc_session_choose_new(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                                  lc_session_use *out, loci_error *err)
{
    lc_session session;
    bool found = false;
    loci_status status = LOCI_OK;

    if (ref->session_id.len > 0)
        status = find_external(tx, ref, arena, &session, &found, err);
    return status == LOCI_OK ? choose(tx, ref, found ? &session : NULL, out, err) : status;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

loci_status lc_session_each(lc_tx *tx, const lc_session_page *page, lc_session_visit *visit,
                            void *ctx, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &page_sql,
                                     (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                                LC_T(or_empty(page->persona_id)),
                                                LC_I(page->before_seq), LC_I(page->limit)},
                                     &rows, err);

    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        lc_session session = from_row(&rows, tx->now_us, page->idle_us);

        status = visit(ctx, &session, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

static void put_text(lc_json_writer *out, const char *name, loci_str text)
{
    if (text.len > 0)
        lc_jw_member_str(out, name, text);
}

void lc_identity_put(lc_json_writer *out, const lc_identity *identity)
{
    lc_jw_object(out);
    lc_jw_member_str(out, "user_name", identity->user_name);
    lc_jw_member_str(out, "authority", identity->authority);
    put_text(out, "department", identity->department);
    put_text(out, "organization", identity->organization);
    lc_jw_member_raw(out, "permissions",
                     identity->permissions.len > 0 ? identity->permissions : LC_STR("[]"));
    lc_jw_end(out);
}

void lc_session_put(lc_json_writer *out, const lc_session *session)
{
    lc_jw_object(out);
    lc_jw_member_str(out, "id", session->id);
    put_text(out, "external_id", session->external_id);
    put_text(out, "persona_id", session->persona_id);
    lc_jw_member_text(
        out, "state",
        lc_session_state_name(session->is_open ? LC_SESSION_ACTIVE : LC_SESSION_ENDED));
    lc_jw_member_time(out, "opened_at", session->opened_at);
    lc_jw_member_time(out, "last_activity", session->last_activity);
    if (!session->is_open)
        lc_jw_member_time(out, "ended_at", session->ended_at);
    put_text(out, "end_reason", session->end_reason);
    if (session->identity.user_name.ptr != NULL) {
        lc_jw_name(out, "identity");
        lc_identity_put(out, &session->identity);
    }
    lc_jw_end(out);
}
