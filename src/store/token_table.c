/* token_table.c - one row a token. It is found by its id alone, before anybody knows which tenant
 * is calling, so the id is the key; the second index is for the tenant's own list. What would let a
 * reader of the file act as the bearer, the secret, is not in it: only its hash is. */
#include "store/token_table.h"

static const lc_column columns[] = {
    LC_COLUMN("id", 't'),
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("name", 't'),
    LC_COLUMN("secret_hash", 'b'),
    LC_COLUMN("scopes", 'i'), /* LC_SCOPE_... */
    LC_COLUMN_OR_NULL("user_id", 't'),
    LC_COLUMN_OR_NULL("persona_id", 't'),
    LC_COLUMN_OR_NULL("authority_max", 't'),
    LC_COLUMN_OR_NULL("trust_max", 't'),
    LC_COLUMN("created_at", 'i'), /* This and the other times: the system's clock. */
    LC_COLUMN_OR_NULL("expires_at", 'i'),
    LC_COLUMN_OR_NULL("revoked_at", 'i'),
    LC_COLUMN_OR_NULL("replaced_by", 't'), /* The token that a rotation put in its place. */
    {0},
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
