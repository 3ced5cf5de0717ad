/* token_table.c - one row a token. It is found by its id alone, before anybody knows which tenant
 * is calling, so the id is the key; the second index is for the tenant's own list. What would let a
 * reader of the file act as the bearer, the secret, is not in it: only its hash is. */
#include "store/token_table.h"

static const lc_column columns[] = {
    {"id", 't', false},
    {"tenant_id", 't', false},
    {"name", 't', false},
    {"secret_hash", 'b', false},
    {"scopes", 'i', false}, /* LC_SCOPE_... */
    {"user_id", 't', true},
    {"persona_id", 't', true},
    {"authority_max", 't', true},
    {"trust_max", 't', true},
    {"created_at", 'i', false}, /* This and the other times: the system's clock. */
    {"expires_at", 'i', true},
    {"revoked_at", 'i', true},
    {"replaced_by", 't', true}, /* The token that a rotation put in its place. */
    {NULL, 0, false},
};

static const lc_index indexes[] = {
    {"tenant", "tenant_id, id", NULL, true},
    {NULL, NULL, NULL, false},
};

const lc_table lc_tokens_table = {
    .name = "tokens",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = columns,
    .key = "id",
    .indexes = indexes,
    .is_store_wide = true,
};
