/* fact_put.c - a fact as JSON. What a fact does not have is left out, lists are always there. */
#include "base/str.h"
#include "fact/fact.h"

static void put_text(lc_json_writer *out, const char *name, loci_str text)
{
    if (text.len > 0)
        lc_jw_member_str(out, name, text);
}

static void put_list(lc_json_writer *out, const char *name, loci_str list)
{
    lc_jw_member_raw(out, name, list.len > 0 ? list : LC_STR("[]"));
}

static void put_rights(lc_json_writer *out, const lc_fact *fact)
{
    put_text(out, "min_read_authority", fact->min_read.name);
    put_text(out, "min_write_authority", fact->min_write.name);
    put_text(out, "required_permission", fact->required_permission);
}

static void put_ending(lc_json_writer *out, const lc_fact *fact)
{
    put_text(out, "superseded_by", fact->superseded_by);
    put_text(out, "contests", fact->contests);
    if (fact->standing == LC_FACT_IS_LATE)
        lc_jw_member_bool(out, "is_late", true);
    put_text(out, "reason", fact->reason);
    if (fact->standing == LC_FACT_IS_SUPERSEDED || fact->standing == LC_FACT_IS_RETRACTED)
        lc_jw_member_time(out, "ended_at", fact->ended_at);
}

void lc_fact_put(lc_json_writer *out, const lc_fact *fact, loci_str derived, int64_t now_us)
{
    bool is_valid = fact->standing == LC_FACT_VALID && !lc_fact_is_expired(fact, now_us);

    lc_jw_object(out);
    lc_jw_member_str(out, "id", fact->id);
    lc_jw_member_str(out, "key", fact->key);
    lc_jw_member_raw(out, "value", fact->value);
    lc_jw_member_text(out, "status", lc_fact_status(fact, now_us));
    lc_jw_member_bool(out, "is_valid", is_valid);
    put_text(out, "source", fact->source);
    lc_jw_member_str(out, "authority", fact->authority.name);
    lc_jw_member_str(out, "trust", fact->trust);
    lc_jw_member_str(out, "memory_type", fact->memory_type);
    lc_jw_member_str(out, "scope", fact->scope);
    put_text(out, "scope_id", fact->scope_id);
    put_text(out, "persona_id", fact->persona_id);
    lc_jw_member_time(out, "observed_at", fact->observed_at);
    lc_jw_member_time(out, "recorded_at", fact->recorded_at);
    if (fact->valid_until != LC_FACT_NO_TIME)
        lc_jw_member_time(out, "valid_until", fact->valid_until);
    put_list(out, "supersedes", fact->supersedes);
    put_ending(out, fact);
    put_list(out, "depends_on", fact->depends_on);
    put_list(out, "derived_facts", derived);
    lc_jw_member_bool(out, "needs_review", fact->needs_review);
    lc_jw_member_bool(out, "is_constraint", fact->is_constraint);
    put_text(out, "constraint_type", fact->constraint_type);
    put_rights(out, fact);
    if (fact->is_multi)
        lc_jw_member_bool(out, "multi", true);
    lc_jw_member_int(out, "seq", fact->seq);
    lc_jw_end(out);
}
