/* chat_reply.h - what /v1/chat/completions answers, read with suspicion. Pure, and fuzzed. */
#ifndef LC_MODEL_CHAT_REPLY_H
#define LC_MODEL_CHAT_REPLY_H

#include "base/json.h"

typedef struct lc_chat_reply {
    loci_str text;       /* The answer as it came: one JSON document. */
    const lc_json *json; /* The same, parsed. */
    int64_t tokens_in;   /* As the provider counts; 0 when it does not. */
    int64_t tokens_out;
} lc_chat_reply;

/* Reads `reply`. Everything in `out` lives in `arena` and in `reply`. LOCI_EUNAVAILABLE: not the
 * answer of a provider, or not JSON although it was asked for. LOCI_ELIMIT: cut off at the limit of
 * tokens. LOCI_EUNSUPPORTED: the model refuses. The tokens are set in these cases too, where the
 * reply says them: they have been paid for. */
loci_status lc_chat_reply_read(lc_arena *arena, loci_str reply, lc_chat_reply *out,
                               loci_error *err);

#endif /* LC_MODEL_CHAT_REPLY_H */
