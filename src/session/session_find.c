/* session_find.c - finding sessions, and reading sessions and messages.
 *
 * Only active rows are searched by external_id or by persona, through partial indexes, so the
 * number of ended sessions does not matter. An active row that has been idle for too long is
 * treated as ended; the next write appends the event that ends it.
 */
#include "session/session.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "session/session_event.h"

#define TOUCH_US INT64_C(1000000) /* The last activity is kept to the second. */

#define SELECT                                                                                     \
    "select {s.row}, a.last_at from sessions s left join session_activity a"                       \
    " on a.tenant_id = s.tenant_id and a.user_id = s.user_id and a.session_id = s.id"              \
    " where s.tenant_id = $1 and s.user_id = $2"

static const lc_sql by_id_sql = {SELECT " and s.id = $3 and s.persona_id in ('', $4)", "tttt", "i",
                                 &lc_session_row};

/* The newest session first, because usually that one is open. */
static const lc_sql of_persona_sql = {SELECT " and s.persona_id = $3"
                                             " and s.state = 'active' order by s.seq desc limit 16",
                                      "ttt", "i", &lc_session_row};

/* The persona's own sessions before those shared by all personas. */
static const lc_sql external_sql = {SELECT " and s.external_id = $3"
                                           " and s.persona_id in ('', $4) and s.state = 'active'"
                                           " order by s.persona_id desc, s.seq desc limit 16",
                                    "tttt", "i", &lc_session_row};

static const lc_sql last_sql = {SELECT " and s.persona_id = $3"
                                       " order by s.seq desc limit 1",
                                "ttt", "i", &lc_session_row};

static const lc_sql last_named_sql = {SELECT " and s.external_id = $3 and s.persona_id in ('', $4)"
                                             " order by s.persona_id desc, s.seq desc limit 1",
                                      "tttt", "i", &lc_session_row};

static const lc_sql named_page_sql = {SELECT " and s.external_id = $3 and s.persona_id in ('', $4)"
                                             " and s.seq < $5 order by s.seq desc limit $6",
                                      "ttttii", "i", &lc_session_row};

static const lc_sql page_sql = {SELECT " and s.persona_id in ('', $3)"
                                       " and s.seq < $4 order by s.seq desc limit $5",
                                "tttii", "i", &lc_session_row};

/* Reads the session of the current row. One that was idle for too long gets the state `ended`,
 * although only the next write will record that. */
static loci_status read_session(const lc_rows *rows, int64_t idle_us, lc_session *out,
                                loci_error *err)
{
    int64_t last_at = lc_rows_i64(rows, rows->row_columns);
    loci_status status = lc_row_read(rows, out, err);

    if (status != LOCI_OK)
        return status;
    out->last_activity = last_at > out->opened_at ? last_at : out->opened_at;
    if (out->state == LC_SESSION_ACTIVE && rows->tx->now_us - out->last_activity >= idle_us) {
        out->state = LC_SESSION_ENDED;
        out->ended_at = out->last_activity + idle_us;
        out->end_reason = LC_STR("idle");
    }
    return LOCI_OK;
}

/* A query that looks for one session. */
typedef struct search {
    const lc_sql *sql;
    const lc_arg *args;
    int64_t idle_us;
} search;

/* Finds the first open session, else the first one; `*found` is false if there is none. */
static loci_status find_one(lc_tx *tx, const search *s, lc_arena *arena, lc_session *out,
                            bool *found, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, s->sql, s->args, &rows, err);

    *found = false;
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        lc_session session;

        status = read_session(&rows, s->idle_us, &session, err);
        if (status != LOCI_OK || (*found && session.state != LC_SESSION_ACTIVE))
            continue;
        *found = true;
        *out = session;
        if (!lc_row_keep(&lc_session_row, arena, out))
            status = lc_fail_memory(err);
        if (session.state == LC_SESSION_ACTIVE)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status find_by_id(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                              lc_session *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(ref->session_id),
                           LC_T_OR_EMPTY(ref->persona_id)};
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
                           LC_T_OR_EMPTY(ref->persona_id)};

    return find_one(tx, &(search){&external_sql, args, ref->idle_us}, arena, out, found, err);
}

#define PERSONA_ARGS(tx, ref)                                                                      \
    (lc_arg[])                                                                                     \
    {                                                                                              \
        LC_T((tx)->tenant_id), LC_T((tx)->user_id), LC_T_OR_EMPTY((ref)->persona_id)               \
    }

/* ---- The cached session ---------------------------------------------------------------------
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

    if (session->state != LC_SESSION_ACTIVE || session->external_id.ptr != NULL ||
        session->persona_id.len > 0 || session->identity.user_name.ptr != NULL ||
        session->id.len >= sizeof cached->id.text)
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

/* Returns false if no session is cached, or if it has been idle for too long. */
static bool find_cached(lc_tx *tx, int64_t idle_us, lc_session *out)
{
    const cached_session *cached = *lc_tx_room_state(tx, &lc_session_room);

    if (cached == NULL || tx->now_us - cached->last_activity >= idle_us)
        return false;
    *out = (lc_session){.id = lc_id_str(&cached->id),
                        .state = LC_SESSION_ACTIVE,
                        .persona_id = LC_STR(""),
                        .seq = cached->seq,
                        .opened_at = cached->opened_at,
                        .last_activity = cached->last_activity};
    return true;
}

static loci_status find_of_persona(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                                   lc_session *out, bool *found, loci_error *err)
{
    bool may_cache = tx->is_write && ref->persona_id.len == 0;
    loci_status status;

    *found = may_cache && find_cached(tx, ref->idle_us, out);
    if (*found)
        return lc_row_keep(&lc_session_row, arena, out) ? LOCI_OK : lc_fail_memory(err);
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

loci_status lc_session_find_past(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                                 lc_session *out, bool *found, loci_error *err)
{
    const lc_arg named[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(ref->session_id),
                            LC_T_OR_EMPTY(ref->persona_id)};
    loci_status status = lc_session_find(tx, ref, arena, out, found, err);

    if (status != LOCI_OK || *found)
        return status;
    if (ref->session_id.len > 0)
        return find_one(tx, &(search){&last_named_sql, named, ref->idle_us}, arena, out, found,
                        err);
    return find_one(tx, &(search){&last_sql, PERSONA_ARGS(tx, ref), ref->idle_us}, arena, out,
                    found, err);
}

static const lc_sql id_sql = {
    "select id from sessions where tenant_id = $1 and user_id = $2 and id = $3", "ttt", "t"};

static const lc_sql named_id_sql = {
    "select id from sessions where tenant_id = $1 and user_id = $2 and external_id = $3"
    " order by seq desc limit 1",
    "ttt", "t"};

loci_status lc_session_find_id(lc_tx *tx, loci_str name, lc_id *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(name)};
    lc_rows rows = {0};
    bool found = false;
    loci_status status = lc_tx_find(tx, lc_id_is(name, "ses") ? &id_sql : &named_id_sql, args,
                                    &rows, &found, err);

    if (status == LOCI_OK && found) {
        loci_str id = lc_rows_str(&rows, 0);

        LC_ASSERT(id.len < sizeof out->text);
        *out = (lc_id){0};
        memcpy(out->text, id.ptr, id.len);
    }
    lc_rows_end(&rows);
    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND, "no session %.*s", LC_STR_ARG(name));
    return status;
}

/* ---- For writing ----------------------------------------------------------------------------- */

/* `found` is the session that was found, or NULL. If it is not open, a new one is chosen. */
static loci_status choose(lc_tx *tx, const lc_session_ref *ref, const lc_session *found,
                          lc_session_use *out, loci_error *err)
{
    loci_status status;

    *out = (lc_session_use){0};
    if (found != NULL && found->state == LC_SESSION_ACTIVE) {
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
                                .state = LC_SESSION_LOADING,
                                .external_id = ref->session_id,
                                .persona_id = ref->persona_id.ptr != NULL ? ref->persona_id
                                                                          : LC_STR(""),
                                .opened_at = tx->now_us,
                                .last_activity = tx->now_us};
    return status;
}

loci_status lc_session_choose(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                              lc_session_use *out, loci_error *err)
{
    lc_session_ref next = *ref;
    lc_session session;
    bool found;
    loci_status status = lc_session_find(tx, ref, arena, &session, &found, err);

    if (status == LOCI_OK && lc_id_is(ref->session_id, "ses") &&
        session.state != LC_SESSION_ACTIVE) {
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
    const lc_arg all[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(page->persona_id),
                          LC_I(page->before_seq), LC_I(page->limit)};
    const lc_arg named[] = {LC_T(tx->tenant_id),     LC_T(tx->user_id),
                            LC_T(page->external_id), LC_T_OR_EMPTY(page->persona_id),
                            LC_I(page->before_seq),  LC_I(page->limit)};
    bool is_named = page->external_id.len > 0;
    lc_rows rows;
    lc_session session;
    loci_status status = lc_tx_query(tx, is_named ? &named_page_sql : &page_sql,
                                     is_named ? named : all, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        status = read_session(&rows, page->idle_us, &session, err);
        if (status == LOCI_OK)
            status = visit(ctx, &session, err);
    }
    lc_rows_end(&rows);
    return status;
}

static void put(lc_json_writer *out, const lc_row_type *type, const void *row)
{
    lc_jw_object(out);
    lc_row_put(type, row, out);
    lc_jw_end(out);
}

void lc_identity_put(lc_json_writer *out, const lc_identity *identity)
{
    put(out, &lc_identity_row, identity);
}

void lc_session_put(lc_json_writer *out, const lc_session *session)
{
    put(out, &lc_session_row, session);
}

void lc_message_put(lc_json_writer *out, const lc_message *message)
{
    lc_jw_object(out);
    lc_row_put(&lc_message_row, message, out);
    if (message->client.len > 0)
        lc_jw_member_raw(out, "client", message->client);
    lc_jw_end(out);
}

static const lc_sql named_sql = {
    "select 1 from sessions where tenant_id = $1 and user_id = $2 and id = $3"
    " and external_id = $4",
    "tttt", "i"};

loci_status lc_session_is_named(lc_tx *tx, loci_str id, loci_str name, bool *out, loci_error *err)
{
    lc_rows rows = {0};
    loci_status status = LOCI_OK;

    *out = lc_str_eq(id, name);
    if (!*out)
        status = lc_tx_find(
            tx, &named_sql,
            (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(id), LC_T(name)}, &rows, out,
            err);
    lc_rows_end(&rows);
    return status;
}

/* ---- Data about all sessions ----------------------------------------------------------------- */

static const lc_sql record_sql = {
    "select c.message_count, m.recorded_at, m.body from message_counts c left join messages m"
    " on m.tenant_id = c.tenant_id and m.user_id = c.user_id and m.seq = c.last_seq"
    " where c.tenant_id = $1 and c.user_id = $2 and c.persona_id = $3",
    "ttt", "iit"};

loci_status lc_session_read_record(lc_tx *tx, loci_str persona_id, lc_arena *arena,
                                   lc_session_record *out, loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(
        tx, &record_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(persona_id)}, &rows,
        &found, err);

    *out = (lc_session_record){0};
    if (status == LOCI_OK && found) {
        loci_str text = lc_rows_str(&rows, 2);

        out->message_count = lc_rows_i64(&rows, 0);
        out->last_at = lc_rows_i64(&rows, 1);
        text.len = lc_utf8_cut(text, LC_LAST_MESSAGE_BYTES_MAX);
        if (text.ptr != NULL) {
            out->last_message = lc_arena_copy(arena, text);
            if (out->last_message.ptr == NULL)
                status = lc_fail_memory(err);
        }
    }
    lc_rows_end(&rows);
    return status;
}

/* ---- Messages -------------------------------------------------------------------------------- */

#define MESSAGES "select {row} from messages where tenant_id = $1 and user_id = $2"

/* Also reads the refs of the events, which name the clients. */
static const lc_sql messages_sql = {
    "select {m.row}, e.refs from messages m left join events e on e.tenant_id = m.tenant_id"
    " and e.user_id = m.user_id and e.seq = m.seq where m.tenant_id = $1 and m.user_id = $2"
    " and m.session_id = $3 and m.seq > $4 and m.persona_id in ('', $5) order by m.seq limit $6",
    "tttiti", "t", &lc_message_row};

static const lc_sql last_of_session_sql = {
    MESSAGES " and session_id = $3 and persona_id in ('', $4) and seq < $5 order by seq desc"
             " limit $6",
    "ttttii", "", &lc_message_row};

static const lc_sql last_messages_sql = {
    MESSAGES " and persona_id in ('', $3) and seq < $4 order by seq desc limit $5", "tttii", "",
    &lc_message_row};

static loci_status each_message(lc_tx *tx, const lc_query *query, lc_message_visit *visit,
                                void *ctx, loci_error *err)
{
    lc_arena *scratch = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(scratch);
    lc_rows rows;
    lc_message message = {0};
    loci_status status = lc_tx_query(tx, query->sql, query->args, &rows, err);

    while (lc_row_next(&rows, &message, &status, err)) {
        if (query->sql == &messages_sql)
            status = lc_event_client_of(lc_rows_str(&rows, rows.row_columns), scratch,
                                        &message.client, err);
        if (status == LOCI_OK)
            status = visit(ctx, &message, err);
        lc_arena_rewind(scratch, mark);
    }
    lc_rows_end(&rows);
    return status;
}

loci_status lc_session_each_message(lc_tx *tx, const lc_message_page *page, lc_message_visit *visit,
                                    void *ctx, loci_error *err)
{
    lc_arg args[] = {LC_T(tx->tenant_id),
                     LC_T(tx->user_id),
                     LC_T(page->session_id),
                     LC_I(page->after_seq),
                     LC_T_OR_EMPTY(page->persona_id),
                     LC_I(page->limit)};

    return each_message(tx, &(lc_query){&messages_sql, args}, visit, ctx, err);
}

loci_status lc_session_each_last_message(lc_tx *tx, const lc_message_page *page,
                                         lc_message_visit *visit, void *ctx, loci_error *err)
{
    int64_t before_seq = page->before_seq > 0 ? page->before_seq : INT64_MAX;
    lc_arg of_session[] = {LC_T(tx->tenant_id),    LC_T(tx->user_id),
                           LC_T(page->session_id), LC_T_OR_EMPTY(page->persona_id),
                           LC_I(before_seq),       LC_I(page->limit)};
    lc_arg of_all[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(page->persona_id),
                       LC_I(before_seq), LC_I(page->limit)};

    if (page->session_id.len > 0)
        return each_message(tx, &(lc_query){&last_of_session_sql, of_session}, visit, ctx, err);
    return each_message(tx, &(lc_query){&last_messages_sql, of_all}, visit, ctx, err);
}
