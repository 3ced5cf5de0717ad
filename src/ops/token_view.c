#include "ops/token_view.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"

static const struct {
    const char *name;
    unsigned mask; /* What it includes. */
} scope_names[] = {
    {"read", LC_SCOPE_READ},
    {"write", LC_SCOPE_WRITE},
    {"admin", LC_SCOPE_READ | LC_SCOPE_WRITE | LC_SCOPE_ADMIN},
};

#define SCOPE_COUNT (sizeof scope_names / sizeof scope_names[0])

unsigned lc_scope_find(loci_str name)
{
    for (size_t i = 0; i < SCOPE_COUNT; i++) {
        if (lc_str_is(name, scope_names[i].name))
            return scope_names[i].mask;
    }
    return 0;
}

static void write_text_or_null(lc_json_writer *w, const char *name, const char *text)
{
    lc_jw_member_text(w, name, text[0] != '\0' ? text : NULL);
}

static void write_time_or_null(lc_json_writer *w, const char *name, int64_t us)
{
    if (us != LC_TOKEN_NO_TIME)
        lc_jw_member_time(w, name, us);
    else
        lc_jw_member_null(w, name);
}

static const char *status_of(const lc_token *token)
{
    if (token->revoked_at != LC_TOKEN_NO_TIME)
        return "revoked";
    return lc_token_is_good(token, lc_clock_system_us(NULL)) ? "active" : "expired";
}

void lc_token_write_members(lc_json_writer *w, const lc_token *token)
{
    lc_jw_member_text(w, "id", token->id.text);
    lc_jw_member_text(w, "name", token->name);
    lc_jw_member_text(w, "status", status_of(token));
    lc_jw_name(w, "scopes");
    lc_jw_array(w);
    for (size_t i = 0; i < SCOPE_COUNT; i++) {
        if ((token->scopes & scope_names[i].mask) == scope_names[i].mask)
            lc_jw_text(w, scope_names[i].name);
    }
    lc_jw_end(w);
    write_text_or_null(w, "user_id", token->user_id);
    write_text_or_null(w, "persona_id", token->persona_id);
    write_text_or_null(w, "authority", token->authority_max);
    write_text_or_null(w, "trust", token->trust_max);
    lc_jw_member_time(w, "created_at", token->created_at);
    write_time_or_null(w, "expires_at", token->expires_at);
    write_time_or_null(w, "revoked_at", token->revoked_at);
    write_text_or_null(w, "replaced_by", token->replaced_by.text);
}

/* A token that was just made, and what it replaced, if anything; `text` NULL: for a repeat. */
static void write_made(lc_json_writer *w, const lc_token *token, const char *text,
                       const lc_token *replaced)
{
    lc_jw_object(w);
    lc_jw_member_text(w, "token", text);
    lc_token_write_members(w, token);
    if (replaced != NULL) {
        lc_jw_member_text(w, "replaces", replaced->id.text);
        write_time_or_null(w, "replaced_expires_at", replaced->expires_at);
    }
    lc_jw_member_text(w, "note",
                      text != NULL
                          ? "Keep the token now: it is not stored and cannot be shown again"
                          : "The secret was shown once; token.rotate makes another");
    lc_jw_end(w);
}

loci_status lc_token_answer_made(lc_call *call, const lc_token *token, const char *text,
                                 const lc_token *replaced, loci_error *err)
{
    lc_json_writer w;
    loci_status status;
    lc_buf repeat;

    write_made(&call->out, token, text, replaced);
    lc_buf_init(&repeat, call->arena->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_init(&w, &repeat);
    write_made(&w, token, NULL, replaced);
    status = lc_buf_status(&repeat, err);
    if (status == LOCI_OK) {
        call->repeat_answer = lc_arena_copy(call->arena, lc_buf_str(&repeat));
        if (call->repeat_answer.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&repeat);
    return status;
}
