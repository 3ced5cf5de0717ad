/* call.c - loci_call(), and the code that all ways of calling share.
 *
 * Everything that can be slow or wrong about the text of a call happens in the caller's thread;
 * inside the transaction are only the stored answer, the expected seq and the operation itself. The
 * answer is complete in memory before COMMIT, so nothing can fail after it.
 */
#include "ops/call.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"
#include "base/utf8.h"
#include "engine/meaning.h"
#include "ops/check.h"
#include "store/event.h"
#include "store/token.h"

#define HOUR_US INT64_C(3600000000)

#define CHUNK_BYTES_MAX (LC_ANSWER_BYTES_MAX + 64u)
#define ADMISSION_MS_MAX 5000 /* In the queue of the guard. */
#define TIMEOUT_MS_MAX (INT64_C(1000) * 86400 * 365)

/* ---- A call on its way ----------------------------------------------------------------------- */

bool lc_call_is_given_up(const lc_call *call)
{
    /* Set by another thread, perhaps of a host that knows no C11 atomics. */
    return call->cancel != NULL && __atomic_load_n(call->cancel, __ATOMIC_RELAXED) != 0;
}

static loci_status fail_cancelled(const lc_call *call, loci_error *err)
{
    return lc_fail(err, LOCI_ECANCELLED, "%s was cancelled by its caller", call->op->name);
}

/* Hands `chunk` to the listener and frees it. */
static loci_status send_chunk(lc_call *call, lc_buf *chunk, loci_error *err)
{
    loci_status status = lc_buf_status(chunk, err);

    if (status == LOCI_OK && call->sink(call->sink_ctx, lc_buf_str(chunk)) != 0)
        status = fail_cancelled(call, err);
    lc_buf_clear(chunk);
    return status;
}

loci_status lc_call_progress(lc_call *call, const char *what, int64_t done, int64_t total,
                             loci_error *err)
{
    lc_json_writer writer;
    lc_buf chunk;

    if (lc_call_is_given_up(call))
        return fail_cancelled(call, err);
    if (call->sink == NULL)
        return LOCI_OK;

    lc_buf_init(&chunk, call->arena->heap, LOCI_MEM_REQUESTS, CHUNK_BYTES_MAX);
    lc_jw_init(&writer, &chunk);
    lc_jw_object(&writer);
    lc_jw_name(&writer, "progress");
    lc_jw_object(&writer);
    lc_jw_member_int(&writer, "done", done);
    lc_jw_member_int(&writer, "total", total);
    lc_jw_member_text(&writer, "what", what);
    lc_jw_end(&writer);
    lc_jw_end(&writer);
    return send_chunk(call, &chunk, err);
}

loci_status lc_call_line(lc_call *call, loci_str json, loci_error *err)
{
    lc_json_writer writer;
    lc_buf chunk;

    if (lc_call_is_given_up(call))
        return fail_cancelled(call, err);
    if (call->sink == NULL)
        return LOCI_OK;

    lc_buf_init(&chunk, call->arena->heap, LOCI_MEM_REQUESTS, CHUNK_BYTES_MAX);
    lc_jw_init(&writer, &chunk);
    lc_jw_object(&writer);
    lc_jw_member_raw(&writer, "line", json);
    lc_jw_end(&writer);
    return send_chunk(call, &chunk, err);
}

void lc_call_put_warning(lc_call *call, loci_str warning)
{
    if (warning.ptr == NULL)
        return;
    lc_jw_name(&call->out, "warnings");
    lc_jw_array(&call->out);
    lc_jw_str(&call->out, warning);
    lc_jw_end(&call->out);
}

loci_status lc_call_pause_point(const lc_call *call, loci_error *err)
{
    if (lc_call_is_given_up(call))
        return fail_cancelled(call, err);
    /* 0 is before any process started: a call without a deadline. */
    if (call->deadline_us > 0 && lc_clock_monotonic_us() >= call->deadline_us)
        return lc_fail(err, LOCI_EDEADLINE, "%s did not end before its deadline", call->op->name);
    return LOCI_OK;
}

/* ---- The caller ------------------------------------------------------------------------------ */

static loci_status check_name(const char *what, const char *text, loci_error *err)
{
    loci_str name = loci_str_of(text);
    bool is_good = name.len > 0 && name.len <= LC_ID_BYTES_MAX && lc_utf8_is_valid(name);

    for (size_t i = 0; is_good && i < name.len; i++)
        is_good = (unsigned char)name.ptr[i] >= 0x20 && name.ptr[i] != 0x7F;
    if (is_good)
        return LOCI_OK;
    return lc_fail(err, LOCI_EINVAL,
                   "%s: expected 1 to %d bytes of UTF-8 without control characters", what,
                   LC_ID_BYTES_MAX);
}

/* The names come from the C code of the host and have not been checked yet. An empty name is no
 * restriction. */
static loci_status check_principal(const loci_principal *principal, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (principal == NULL)
        return LOCI_OK;
    if (loci_str_of(principal->tenant).len > 0)
        status = check_name("tenant", principal->tenant, err);
    if (status == LOCI_OK && loci_str_of(principal->user).len > 0)
        status = check_name("user", principal->user, err);
    if (status == LOCI_OK && loci_str_of(principal->persona).len > 0)
        status = check_name("persona", principal->persona, err);
    return status;
}

loci_status lc_caller_set_time(lc_caller *caller, int64_t at_us, loci_error *err)
{
    int64_t now_us = at_us != LOCI_AT_CLOCK ? at_us : lc_env_now_us(lc_engine_env(caller->engine));

    if (now_us < LC_TIME_MIN_US || now_us > LC_TIME_MAX_US)
        return lc_fail(err, LOCI_EINVAL, "the time of the call is not within the years 1 to 9999");
    caller->now_us = now_us;
    return LOCI_OK;
}

static bool is_of_main_store(const lc_op *op)
{
    return op != NULL && (op->flags & (LC_OP_ADMIN | LC_OP_MAIN | LC_OP_PROCESS)) != 0;
}

loci_status lc_call_route(loci_engine **engine, const char *operation,
                          const loci_call_options *options, loci_error *err)
{
    const loci_principal *principal = options != NULL ? options->principal : NULL;
    loci_engine *routed = *engine;
    loci_status status = lc_engine_of_tenant(*engine, lc_engine_tenant_of(*engine, principal),
                                             &routed, err);

    if ((status != LOCI_OK || routed != *engine) && operation != NULL &&
        is_of_main_store(lc_op_find(loci_str_of(operation))))
        return LOCI_OK;
    *engine = routed;
    return status;
}

loci_status lc_caller_init(lc_caller *out, loci_engine *engine, const loci_call_options *options,
                           loci_error *err)
{
    static const loci_call_options none = LOCI_CALL_OPTIONS_INIT;
    const loci_call_options *o = options != NULL ? options : &none;
    int64_t timeout_ms = o->timeout_ms < TIMEOUT_MS_MAX ? o->timeout_ms : TIMEOUT_MS_MAX;
    loci_status status = lc_engine_check(engine, err);

    /* Zeroed options would be taken for a call in 1970. Those of a host that was built before
     * `client` was added end there. */
    if (status == LOCI_OK && o->size != sizeof *o && o->size != offsetof(loci_call_options, client))
        status = lc_fail(err, LOCI_EINVAL,
                         "loci_call_options has %u bytes, this libloci expects %zu: begin with "
                         "LOCI_CALL_OPTIONS_INIT",
                         o->size, sizeof *o);
    if (status == LOCI_OK)
        status = check_principal(o->principal, err);
    if (status == LOCI_OK && o->request_id != NULL)
        status = check_name("request_id", o->request_id, err);
    if (status != LOCI_OK)
        return status;
    if (timeout_ms <= 0)
        timeout_ms = lc_settings_i64(lc_engine_settings(engine), &lc_setting_call_timeout_ms,
                                     lc_engine_tenant_of(engine, o->principal));
    *out = (lc_caller){
        .engine = engine,
        .principal = o->principal,
        .is_remote = (o->flags & LOCI_CALL_REMOTE) != 0,
        .deadline_us = lc_clock_monotonic_us() + timeout_ms * 1000,
        .cancel = o->cancel,
        .request_id = loci_str_of(o->request_id),
        .client = loci_str_of(o->size == sizeof *o ? o->client : NULL),
    };
    return lc_caller_set_time(out, o->at_us, err);
}

void lc_run_init(lc_run *run, loci_engine *engine)
{
    lc_heap *heap = &lc_engine_env(engine)->heap;

    lc_arena_init(&run->arena, heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&run->answer, heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    run->call.engine = engine;
    run->call.arena = &run->arena;
    run->call.answer = &run->answer;
}

void lc_run_end(lc_run *run)
{
    lc_arena_clear(&run->arena);
    lc_buf_clear(&run->answer);
    loci_answer_free(run->out);
    run->out = NULL;
}

const char *lc_principal_permissions(const loci_principal *principal)
{
    return principal->size >= offsetof(loci_principal, permissions) + sizeof principal->permissions
               ? principal->permissions
               : NULL;
}

const char *lc_principal_token(const loci_principal *principal)
{
    return principal->size >= offsetof(loci_principal, token) + sizeof principal->token
               ? principal->token
               : NULL;
}

static bool is_whole(const loci_principal *principal)
{
    return principal == NULL ||
           (loci_str_of(principal->user).len == 0 && loci_str_of(principal->persona).len == 0 &&
            loci_str_of(principal->authority).len == 0 && loci_str_of(principal->trust).len == 0 &&
            loci_str_of(lc_principal_permissions(principal)).len == 0);
}

void lc_call_set_caller(lc_call *call, const lc_caller *caller)
{
    const loci_principal *principal = caller->principal;

    call->tenant_id = lc_engine_tenant_of(caller->engine, principal);
    call->is_whole = is_whole(principal);
    call->is_admin = principal == NULL ||
                     ((principal->flags & LOCI_PRINCIPAL_ADMIN) != 0 && call->is_whole);
    call->is_tenant_admin = principal == NULL ||
                            (principal->flags &
                             (LOCI_PRINCIPAL_ADMIN | LOCI_PRINCIPAL_TENANT_ADMIN)) != 0;
    if (principal != NULL) {
        call->user_id = loci_str_of(principal->user);
        call->is_of_persona = principal->persona != NULL && principal->persona[0] != '\0';
        call->persona_id = loci_str_of(principal->persona);
        call->authority_max = loci_str_of(principal->authority);
        call->trust_max = loci_str_of(principal->trust);
        call->token_id = loci_str_of(lc_principal_token(principal));
        call->permissions_max = loci_str_of(lc_principal_permissions(principal));
        if (call->permissions_max.len == 0)
            call->permissions_max = call->authority_max.len > 0 || call->trust_max.len > 0
                                        ? LC_STR("[]")
                                        : LC_STR_NONE;
    }
    call->is_remote = caller->is_remote;
    call->now_us = caller->now_us;
    call->deadline_us = caller->deadline_us;
    call->cancel = caller->cancel;
    call->sink = caller->sink;
    call->sink_ctx = caller->sink_ctx;
}

/* The same call spelt differently (order of members, white space, the request_id as an option) is
 * the same request. One of another persona is not, even when the persona comes from its principal:
 * the answer would be the first one's. */
static loci_status hash_args(lc_run *run, const lc_json *args, loci_error *err)
{
    const lc_call *call = &run->call;
    const lc_param *params[LC_PARAMS_MAX];
    size_t count = lc_op_params(call->op, params);
    lc_hash128 hash = lc_hash128_of(loci_str_of(call->op->name));
    loci_status status = LOCI_OK;
    lc_buf text;

    hash = lc_hash128_chain(hash, call->persona_id);
    /* An operation without a user may still be narrowed to one by its principal. */
    if ((call->op->flags & LC_OP_USER) == 0 && call->user_id.len > 0)
        hash = lc_hash128_chain(hash, call->user_id);
    lc_buf_init(&text, run->arena.heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    for (size_t i = 0; status == LOCI_OK && i < count; i++) {
        const lc_json *given = lc_json_member(args, loci_str_of(params[i]->name));

        if ((call->given >> i & 1) == 0 || strcmp(params[i]->name, "request_id") == 0)
            continue;
        if (given == NULL || lc_json_kind_of(given) == LC_JSON_NULL)
            given = params[i]->alias == NULL ? given
                                             : lc_json_member(args, loci_str_of(params[i]->alias));
        lc_buf_reset(&text);
        status = lc_json_canonical(&run->arena, given, &text, err);
        hash = lc_hash128_chain(hash, loci_str_of(params[i]->name));
        hash = lc_hash128_chain(hash, lc_buf_str(&text));
    }
    lc_buf_clear(&text);
    run->request.args_hash = hash;
    return status;
}

/* Appends a digest of everything that a principal may and may not do. Cryptographic, because an
 * administrator chooses the names that its tokens are narrowed to. */
static loci_status append_rights(lc_buf *out, const loci_principal *principal, loci_error *err)
{
    unsigned char digest[LC_SHA256_BYTES];
    lc_json_writer w;
    loci_status status;
    lc_buf rights;

    lc_buf_init(&rights, out->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&w, &rights);
    lc_jw_array(&w);
    lc_jw_int(&w, principal->flags);
    lc_jw_str(&w, loci_str_of(principal->user));
    lc_jw_str(&w, loci_str_of(principal->persona));
    lc_jw_str(&w, loci_str_of(principal->authority));
    lc_jw_str(&w, loci_str_of(principal->trust));
    lc_jw_str(&w, loci_str_of(lc_principal_permissions(principal)));
    lc_jw_end(&w);
    status = lc_buf_status(&rights, err);
    if (status == LOCI_OK)
        lc_sha256(rights.ptr, rights.len, digest);
    for (size_t i = 0; status == LOCI_OK && i < sizeof digest; i++)
        lc_buf_append_format(out, "%02x", digest[i]);
    lc_buf_clear(&rights);
    return status;
}

/* A caller with all rights uses the id itself as the key. The separator is a control character,
 * which no id contains: no caller can spell the key of another. */
loci_status lc_request_init(lc_request *out, const lc_caller *caller, loci_str request_id,
                            lc_arena *arena, loci_error *err)
{
    const loci_principal *principal = caller->principal;
    lc_settings *settings = lc_engine_settings(caller->engine);
    loci_str tenant = lc_engine_tenant_of(caller->engine, principal);
    loci_status status;
    lc_buf key;

    *out = (lc_request){
        .request_id = request_id,
        .key = request_id,
        .keep_us = HOUR_US * lc_settings_i64(settings, &lc_setting_request_keep_hours, tenant),
        .bytes_max = lc_settings_i64(settings, &lc_setting_request_user_bytes_max, tenant),
    };
    if (request_id.ptr == NULL || principal == NULL ||
        ((principal->flags & LOCI_PRINCIPAL_ADMIN) != 0 && is_whole(principal)))
        return LOCI_OK;
    lc_buf_init(&key, arena->heap, LOCI_MEM_REQUESTS, LC_ID_BYTES_MAX + 2 * LC_SHA256_BYTES + 1);
    lc_buf_append(&key, request_id);
    lc_buf_append(&key, LC_STR("\x1f"));
    status = append_rights(&key, principal, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&key, err);
    if (status == LOCI_OK) {
        out->key = lc_arena_copy(arena, lc_buf_str(&key));
        if (out->key.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&key);
    return status;
}

static loci_status read_idempotency(lc_run *run, const lc_caller *caller, const lc_json *args,
                                    loci_error *err)
{
    lc_call *call = &run->call;
    loci_str given;
    loci_status status;

    run->expected_seq = -1;
    if ((call->op->flags & LC_OP_MUTATES) == 0)
        return LOCI_OK;
    if ((call->op->flags & LC_OP_USER) != 0 && call->implied.expected_seq != LC_ABSENT)
        run->expected_seq = call->implied.expected_seq;
    given = call->implied.request_id;
    if (given.ptr != NULL && caller->request_id.ptr != NULL &&
        !lc_str_eq(given, caller->request_id))
        return lc_fail(err, LOCI_EINVAL, "request_id was given twice and differs");
    if (given.ptr == NULL)
        given = caller->request_id;
    if (given.ptr == NULL || !lc_op_may_replay(call->op))
        return LOCI_OK;
    run->has_request = true;
    call->request = &run->request;
    status = lc_request_init(&run->request, caller, given, &run->arena, err);
    return status == LOCI_OK ? hash_args(run, args, err) : status;
}

static loci_status parse_args(lc_run *run, loci_str args, const lc_json **out, loci_error *err)
{
    loci_str trimmed = lc_str_trim(args);
    loci_status status;

    if (args.len > LC_ARGS_BYTES_MAX)
        return lc_fail(err, LOCI_ELIMIT, "the arguments have %zu bytes; at most %u are allowed",
                       args.len, LC_ARGS_BYTES_MAX);
    status = lc_json_parse(&run->arena, trimmed.len == 0 ? LC_STR("{}") : trimmed, 0, out, err);
    if (status == LOCI_OK && lc_json_kind_of(*out) != LC_JSON_OBJECT)
        status = lc_fail(err, LOCI_EINVAL, "the arguments must be one JSON object, not %s",
                         lc_json_kind_name(lc_json_kind_of(*out)));
    return status;
}

/* Takes secrets out of the texts of a call, before they are checked, hashed or prepared. A value is
 * called what its key says: {"key": "db_password", "value": "hunter2"}. */
static loci_status screen_secrets(lc_call *call, const lc_json *args, loci_error *err)
{
    lc_secrets_scan scan = {.arena = call->arena};
    const lc_json *key = lc_json_find(args, "key", LC_JSON_STRING);
    loci_status status = LOCI_OK;

    call->secrets = (lc_secrets_found){0};
    scan.policy = (lc_secrets_policy)lc_settings_choice(
        lc_engine_settings(call->engine), &lc_setting_secrets_policy, call->tenant_id);
    for (const lc_json *given = lc_json_first(args); given != NULL && status == LOCI_OK;
         given = lc_json_next(given)) {
        size_t index;
        const lc_param *param = lc_op_find_param(call->op, lc_json_name(given), &index);

        if (param == NULL || (param->flags & LC_PARAM_SAID) == 0)
            continue;
        scan.parameter = param->name;
        scan.name = strcmp(param->name, "value") == 0 && key != NULL ? lc_json_str(key)
                                                                     : LC_STR_NONE;
        status = lc_secrets_screen(&scan, given, &call->secrets, err);
    }
    return status;
}

static loci_status check_quota(const lc_call *call, loci_error *err)
{
    unsigned flags = call->op->flags;

    /* Those who can raise a quota must be able to. */
    if ((flags & (LC_OP_ADMIN | LC_OP_TENANT_ADMIN)) != 0)
        return LOCI_OK;
    return lc_engine_check_quota(call->engine, call->tenant_id,
                                 (flags & LC_OP_DESTROYS) != 0  ? LC_QUOTA_FREES
                                 : (flags & LC_OP_MUTATES) != 0 ? LC_QUOTA_WRITES
                                                                : LC_QUOTA_READS,
                                 err);
}

loci_status lc_run_begin(lc_run *run, const lc_caller *caller, const char *operation, loci_str args,
                         loci_error *err)
{
    lc_call *call = &run->call;
    const lc_json *parsed;
    loci_status status;

    if (call->engine == NULL)
        lc_run_init(run, caller->engine);
    lc_call_set_caller(call, caller);
    run->args_bytes = args.len;
    status = lc_op_load(loci_str_of(operation), &call->op, err);
    if (status == LOCI_OK && lc_engine_is_routed(caller->engine) && is_of_main_store(call->op))
        status = lc_fail(err, LOCI_EUNSUPPORTED,
                         "%s works in the main store, but this batch runs in the database of its "
                         "tenant: call it alone",
                         operation);
    if (status == LOCI_OK)
        status = parse_args(run, args, &parsed, err);
    if (status == LOCI_OK)
        status = screen_secrets(call, parsed, err);
    if (status == LOCI_OK)
        status = lc_op_check(call, parsed, err);
    if (status == LOCI_OK && caller->client.len > 0)
        status = lc_client_read(&run->arena, caller->client, &call->client, err);
    if (status == LOCI_OK)
        status = read_idempotency(run, caller, parsed, err);
    if (status == LOCI_OK)
        status = check_quota(call, err);
    if (status == LOCI_OK && (call->op->flags & LC_OP_STARTS) != 0)
        status = lc_engine_check_admission(call->engine, err);
    if (status == LOCI_OK && call->op->prepare != NULL)
        status = call->op->prepare(call, err);
    if (status == LOCI_OK)
        run->prepared = lc_arena_get_mark(&run->arena);
    return status;
}

/* Runs once per call, at the first of several places; in a batch that is the transaction. */
static loci_status compute(lc_run *run, loci_error *err)
{
    loci_status status;

    if (run->is_computed || run->call.op->compute == NULL)
        return LOCI_OK;
    status = run->call.op->compute(&run->call, err);
    run->is_computed = status == LOCI_OK;
    run->prepared = lc_arena_get_mark(&run->arena);
    return status;
}

/* Ready to write the answer from its beginning, also for the second time. */
static void start_answer(lc_run *run)
{
    lc_arena_rewind(&run->arena, run->prepared);
    lc_buf_reset(&run->answer);
    lc_jw_init(&run->call.out, &run->answer);
}

/* The answer that is stored for a repetition of the request. A secret is never stored. */
static loci_str answer_to_keep(const lc_run *run)
{
    if ((run->call.op->flags & LC_OP_SECRET) == 0)
        return lc_buf_str(&run->answer);
    LC_ASSERT(run->call.repeat_answer.ptr != NULL);
    return run->call.repeat_answer;
}

/* The answer is one object: its last brace makes room for one more member. */
static void add_member(lc_buf *answer, loci_str member)
{
    if (answer->failure != LOCI_OK)
        return;
    answer->len--;
    lc_buf_append(answer, answer->len > 1 ? LC_STR(",") : LC_STR(""));
    lc_buf_append(answer, member);
    lc_buf_append_byte(answer, '}');
}

/* Not stored: the first answer had no such member. */
static void mark_replayed(lc_run *run)
{
    if (run->is_replayed)
        add_member(&run->answer, LC_STR("\"replayed\":true"));
}

static void add_warnings(lc_run *run)
{
    lc_buf *answer = &run->answer;
    lc_json_writer member;
    lc_buf text;

    if (run->call.secrets.count == 0 || answer->failure != LOCI_OK)
        return;
    lc_buf_init(&text, run->arena.heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&member, &text);
    lc_jw_object(&member);
    lc_secrets_put(&run->call.secrets, &member);
    lc_jw_end(&member);
    if (lc_buf_status(&text, NULL) == LOCI_OK)
        add_member(answer, (loci_str){text.ptr + 1, text.len - 2}); /* Without its braces. */
    else
        answer->failure = text.failure;
    lc_buf_clear(&text);
}

/* Adds the writes of this run to its tenant's, once if the body runs again. */
static void count_written(lc_run *run, const lc_tx *tx, int64_t seq_before)
{
    lc_quota_written now = {.users = seq_before == 0 && tx->head.seq > 0,
                            .events = tx->head.seq - seq_before};
    lc_quota_written more;

    now.bytes = now.events > 0 ? (int64_t)run->args_bytes : 0;
    more = (lc_quota_written){.users = now.users - run->written.users,
                              .events = now.events - run->written.events,
                              .bytes = now.bytes - run->written.bytes};
    run->written = now;
    lc_engine_count_written(run->call.engine, run->call.tenant_id, &more);
}

/* The operation of a tenant that may have quotas. */
static loci_status run_counted(lc_run *run, lc_tx *tx, loci_error *err)
{
    lc_head before = {0};
    loci_status status = lc_tx_head(tx, &before, err);

    if (status == LOCI_OK && before.seq == 0)
        status = lc_engine_check_new_user(run->call.engine, run->call.tenant_id, err);
    if (status == LOCI_OK)
        status = run->call.op->run(&run->call, tx, err);
    if (status == LOCI_OK)
        count_written(run, tx, before.seq);
    return status;
}

static loci_status run_operation(lc_run *run, lc_tx *tx, loci_error *err)
{
    const lc_op *op = run->call.op;
    bool is_counted = tx->is_write && (op->flags & LC_OP_USER) != 0 &&
                      lc_engine_has_quotas(run->call.engine);
    loci_status status = LOCI_OK;

    if (run->expected_seq >= 0)
        status = lc_tx_expect_seq(tx, run->expected_seq, err);
    if (status == LOCI_OK)
        status = is_counted ? run_counted(run, tx, err) : op->run(&run->call, tx, err);
    if (status == LOCI_OK)
        add_warnings(run);
    if (status == LOCI_OK)
        status = lc_buf_status(&run->answer, err);
    if (status != LOCI_OK)
        return status;
    LC_ASSERT(lc_jw_is_done(&run->call.out));
    if (run->has_request)
        status = lc_request_store(tx, &run->request, answer_to_keep(run), err);
    return status;
}

loci_status lc_run_in_tx(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_run *run = ctx;
    loci_str stored;
    bool was_answered = false;
    /* The call may have waited in a queue: its caller may have cancelled it. */
    loci_status status = lc_call_pause_point(&run->call, err);

    if (status == LOCI_OK)
        status = compute(run, err);
    start_answer(run);
    if (!tx->is_write) { /* A write has its user already, and keeps it after this call. */
        tx->tenant_id = run->call.tenant_id;
        tx->user_id = run->call.user_id;
        tx->now_us = run->call.now_us;
    } else {
        tx->states = &lc_private_states;
        tx->client = run->call.client;
        tx->source = LC_STR_NONE; /* Calls of a batch share a body. */
    }
    if (status == LOCI_OK && run->has_request)
        status = lc_request_find(tx, &run->request, &run->arena, &stored, &was_answered, err);
    run->is_replayed = was_answered;
    if (status != LOCI_OK)
        return status;
    if (was_answered) {
        lc_buf_append(&run->answer, stored);
        mark_replayed(run);
        return lc_buf_status(&run->answer, err);
    }
    status = run_operation(run, tx, err);
    run->enqueued_job = tx->enqueued_job;
    return status;
}

static loci_status make_answer(lc_run *run, loci_error *err)
{
    loci_answer_free(run->out);
    run->out = lc_answer_new(run->arena.heap, lc_buf_str(&run->answer));
    if (run->out == NULL)
        return lc_fail_memory(err);
    run->out->is_replayed = run->is_replayed;
    return LOCI_OK;
}

loci_status lc_run_and_answer(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_status status = lc_run_in_tx(tx, ctx, err);

    return status == LOCI_OK ? make_answer(ctx, err) : status;
}

lc_write lc_run_write(lc_run *run)
{
    bool is_of_user = (run->call.op->flags & LC_OP_USER) != 0;

    return (lc_write){
        .tenant_id = run->call.tenant_id,
        .user_id = is_of_user ? run->call.user_id : LC_STR(""), /* "": the tenant itself. */
        .now_us = run->call.now_us,
        .deadline_us = run->call.deadline_us,
        .bytes = run->args_bytes,
        .reads_own = (run->call.op->flags & LC_OP_READS_OWN) != 0,
        .body = lc_run_and_answer,
        .ctx = run,
    };
}

void lc_start_jobs(loci_engine *engine, int64_t deadline_us)
{
    loci_error err;

    if (!lc_engine_is_inline(engine))
        lc_engine_wake_workers(engine);
    else if (lc_engine_run_jobs(engine, deadline_us, &err) != LOCI_OK)
        lc_log_write(&lc_engine_env(engine)->log, LOCI_LOG_WARN, "jobs.not_run",
                     LC_LOG_TEXT("why", err.message));
}

void lc_run_committed(lc_run *run)
{
    loci_engine *engine = run->call.engine;

    if (run->call.op->committed != NULL)
        run->call.op->committed(engine);
    if (run->enqueued_job)
        lc_start_jobs(engine, run->call.deadline_us);
}

/* Milliseconds that bulk work may wait for its place. */
static int64_t patience_ms(const lc_call *call)
{
    int64_t left_ms = (call->deadline_us - lc_clock_monotonic_us()) / 1000;

    return left_ms < 1 ? 1 : left_ms < ADMISSION_MS_MAX ? left_ms : ADMISSION_MS_MAX;
}

static loci_status run_alone(lc_run *run, loci_error *err)
{
    lc_call *call = &run->call;
    uint64_t ticket = 0;
    loci_status status = LOCI_OK;

    start_answer(run);
    if ((call->op->flags & LC_OP_BULK) != 0)
        status = lc_engine_begin_bulk(call->engine, patience_ms(call), &ticket, err);
    if (status == LOCI_OK)
        status = call->op->run_alone(call, err);
    lc_engine_end_bulk(call->engine, ticket);
    run->is_replayed = call->is_replayed;
    if (status == LOCI_OK)
        mark_replayed(run);
    if (status == LOCI_OK)
        status = lc_buf_status(&run->answer, err);
    if (status == LOCI_OK)
        LC_ASSERT(lc_jw_is_done(&run->call.out));
    return status == LOCI_OK ? make_answer(run, err) : status;
}

static loci_status read_and_answer(lc_run *run, loci_error *err)
{
    const lc_call *call = &run->call;
    bool is_of_user = (call->op->flags & LC_OP_USER) != 0;

    return lc_engine_read(call->engine,
                          &(lc_read){.tenant_id = is_of_user ? call->tenant_id : LC_STR_NONE,
                                     .user_id = call->user_id,
                                     .deadline_us = call->deadline_us,
                                     .body = lc_run_and_answer,
                                     .ctx = run,
                                     .is_call = (call->op->flags & LC_OP_ADMIN) == 0},
                          err);
}

static bool look(void *ctx, const void *state)
{
    lc_run *run = ctx;

    start_answer(run);
    return run->call.op->peek(&run->call, state) && make_answer(run, NULL) == LOCI_OK;
}

bool lc_run_peek(lc_run *run)
{
    const lc_call *call = &run->call;

    return call->op->peek != NULL &&
           lc_engine_peek(call->engine, &(lc_peek){.tenant_id = call->tenant_id,
                                                   .user_id = call->user_id,
                                                   .kind = call->op->peek_kind,
                                                   .look = look,
                                                   .ctx = run});
}

typedef struct keeping {
    lc_run *run;
    size_t read_bytes; /* Of the answer that the snapshot gave. */
} keeping;

/* Others may have written since the snapshot: kept rows name the seq that they were read at. */
static loci_status keep_and_answer(lc_tx *tx, void *ctx, loci_error *err)
{
    const keeping *k = ctx;
    lc_buf *answer = &k->run->answer;
    loci_status status;

    lc_buf_truncate(answer, k->read_bytes - 1); /* Its closing brace is written again. */
    status = k->run->call.op->keep(&k->run->call, tx, err);
    lc_buf_append_byte(answer, '}');
    if (status == LOCI_OK)
        status = lc_buf_status(answer, err);
    return status == LOCI_OK ? make_answer(k->run, err) : status;
}

static loci_status keep(lc_run *run, loci_error *err)
{
    keeping k = {run, run->answer.len};
    lc_write write = lc_run_write(run);
    loci_status status;

    write.body = keep_and_answer;
    write.ctx = &k;
    status = lc_engine_write(run->call.engine, &write);
    if (status != LOCI_OK && err != NULL)
        *err = write.error;
    return status;
}

/* The call is committed: if memory runs out, the answer from before the wait is given. */
static void wait_for_effect(lc_run *run)
{
    loci_answer *before = run->out;

    lc_buf_reset(&run->answer);
    lc_jw_init(&run->call.out, &run->answer);
    if (!run->call.op->wait(&run->call))
        return;
    mark_replayed(run);
    if (lc_buf_status(&run->answer, NULL) != LOCI_OK)
        return;
    run->out = lc_answer_new(run->arena.heap, lc_buf_str(&run->answer));
    if (run->out == NULL) {
        run->out = before;
        return;
    }
    run->out->is_replayed = run->is_replayed;
    loci_answer_free(before);
}

loci_status lc_run_wait(lc_run *run, loci_error *err)
{
    const lc_op *op = run->call.op;
    loci_status status = lc_call_pause_point(&run->call, err);

    if (status != LOCI_OK)
        return status;
    if ((op->flags & LC_OP_ALONE) != 0)
        return run_alone(run, err);
    status = compute(run, err);
    if (status != LOCI_OK)
        return status;
    if (lc_run_peek(run))
        return LOCI_OK;
    if (op->cost != LC_COST_WRITE) {
        status = read_and_answer(run, err);
        if (status == LOCI_OK && run->call.wants_vectors &&
            lc_meaning_make_vectors(run->call.engine, run->call.tenant_id, run->call.user_id,
                                    run->call.deadline_us) == LOCI_OK)
            status = read_and_answer(run, err);
        if (status == LOCI_OK && run->call.kept != NULL)
            status = keep(run, err);
        return status;
    }

    lc_write write = lc_run_write(run);

    status = lc_engine_write(run->call.engine, &write);
    if (status != LOCI_OK && err != NULL)
        *err = write.error;
    if (status == LOCI_OK)
        lc_run_committed(run);
    if (status == LOCI_OK && op->wait != NULL)
        wait_for_effect(run);
    return status;
}

/* ---- The public form
 * ----------------------------------------------------------------------------- */

typedef struct plain_call {
    lc_caller caller;
    const char *operation;
    loci_str args;
    lc_run run;
} plain_call;

static loci_status run_plain(void *ctx, loci_error *err)
{
    plain_call *plain = ctx;
    loci_status status = lc_run_begin(&plain->run, &plain->caller, plain->operation, plain->args,
                                      err);

    return status == LOCI_OK ? lc_run_wait(&plain->run, err) : status;
}

loci_status loci_call_stream(loci_engine *engine, const char *operation, loci_str args,
                             const loci_call_options *options, loci_sink_fn *sink, void *ctx,
                             loci_answer **out, loci_error *err)
{
    plain_call plain = {.operation = operation, .args = args};
    loci_status status = lc_call_route(&engine, operation, options, err);

    if (status == LOCI_OK)
        status = lc_caller_init(&plain.caller, engine, options, err);

    if (status != LOCI_OK)
        return status;
    plain.caller.sink = sink;
    plain.caller.sink_ctx = ctx;
    status = lc_engine_guard(engine, run_plain, &plain, err);
    if (status == LOCI_OK && out != NULL) {
        *out = plain.run.out;
        plain.run.out = NULL;
    }
    lc_run_end(&plain.run);
    return status;
}

loci_status loci_call(loci_engine *engine, const char *operation, loci_str args,
                      const loci_call_options *options, loci_answer **out, loci_error *err)
{
    return loci_call_stream(engine, operation, args, options, NULL, NULL, out, err);
}
