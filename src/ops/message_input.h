/* message_input.h - the arguments that describe a message, and the message that they make: checked,
 * its metadata kept and its tokens counted, all before the transaction.
 */
#ifndef LC_OPS_MESSAGE_INPUT_H
#define LC_OPS_MESSAGE_INPUT_H

#include "ops/metadata.h"
#include "session/session.h"

typedef struct lc_message_input {
    loci_str role;
    loci_str text;
    loci_str speaker;
    int64_t at;
    loci_str external_id;
    const lc_json *metadata;
} lc_message_input;

#define LC_MESSAGE_BYTES_MAX (LC_EVENT_BYTES_MAX / 2) /* Its JSON must fit into an event. */

/* Fills the struct above at `m` of the input struct `T`; `flags_` of role and text. */
#define LC_MESSAGE_PARAMS(T, m, flags_)                                                            \
    {LC_ARG_STR("role", T, m.role), .flags = (flags_), .choices = LC_MESSAGE_ROLES,                \
     .help = "Role of the speaker"},                                                               \
        {LC_ARG_STR("text", T, m.text),                                                            \
         .flags = (flags_) | LC_PARAM_SAID,                                                        \
         .alias = "content",                                                                       \
         .min = 1,                                                                                 \
         .max = LC_MESSAGE_BYTES_MAX,                                                              \
         .help = "Text of the message"},                                                           \
        LC_NAME_PARAM("speaker", T, m.speaker, LC_PARAM_SAID,                                      \
                      "Name of the speaker, if the role does not say enough"),                     \
        {LC_ARG_TIME("at", T, m.at),                                                               \
         .help = "Time of the message (default: the time of the call)"},                           \
        LC_NAME_PARAM("external_id", T, m.external_id, 0,                                          \
                      "Id of your own for the message; one that was used before stores nothing"),  \
        LC_METADATA_PARAM(T, m.metadata)

/* The message of the call's persona, without a session. `estimate`: its tokens are estimated even
 * if they could be counted. */
loci_status lc_message_from_input(lc_call *call, const lc_message_input *in, bool estimate,
                                  lc_message *out, loci_error *err);

/* Where a message is in an array, for errors. */
typedef struct lc_message_place {
    size_t index;
    bool estimate;
} lc_message_place;
/* The same from an object with these arguments as members. */
loci_status lc_message_from_json(lc_call *call, const lc_json *object, lc_message_place place,
                                 lc_message *out, loci_error *err);

/* Counts the tokens of message->text. */
loci_status lc_message_count_tokens(lc_call *call, bool estimate, lc_message *message,
                                    loci_error *err);

#endif /* LC_OPS_MESSAGE_INPUT_H */
