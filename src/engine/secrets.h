/* secrets.h - keeps secrets out of the store: finds them in the arguments of a call before any
 * other code reads the arguments (text/secret.h), and replaces or refuses them according to the
 * setting secrets.policy.
 *
 *     redact   the text is stored with [redacted: kind] in the secret's place, and the answer warns
 *     refuse   the call fails and names the kind
 *     keep     texts are not searched
 *
 * No message, warning or log contains the secret itself.
 */
#ifndef LC_ENGINE_SECRETS_H
#define LC_ENGINE_SECRETS_H

#include "base/arena.h"
#include "base/json.h"
#include "engine/settings.h"

extern const lc_setting lc_setting_secrets_policy;

typedef enum lc_secrets_policy {
    LC_SECRETS_REDACT,
    LC_SECRETS_REFUSE,
    LC_SECRETS_KEEP
} lc_secrets_policy;

#define LC_SECRETS_KINDS_MAX 8

/* The secrets found in the arguments of one call. */
typedef struct lc_secrets_found {
    struct {
        const char *parameter;
        const char *kind;
        int64_t count;
    } items[LC_SECRETS_KINDS_MAX]; /* The first few kinds; `count` is over all kinds. */
    size_t item_count;
    int64_t count;
} lc_secrets_found;

/* One argument to search. */
typedef struct lc_secrets_scan {
    lc_secrets_policy policy;
    const char *parameter;
    loci_str name; /* The name of an argument that is a string; none = it has no name. */
    lc_arena *arena;
} lc_secrets_scan;

/* Searches all strings of `value`, replaces secrets in place, and adds them to `found`. With
 * LC_SECRETS_REFUSE, and for a secret in the name of a member, which cannot be replaced, it fails
 * with LOCI_EINVAL with data {parameter, kind}. */
loci_status lc_secrets_screen(const lc_secrets_scan *scan, const lc_json *value,
                              lc_secrets_found *found, loci_error *err);

/* The member `warnings` of an answer, to be written into its open object. */
void lc_secrets_put(const lc_secrets_found *found, lc_json_writer *out);

#endif /* LC_ENGINE_SECRETS_H */
