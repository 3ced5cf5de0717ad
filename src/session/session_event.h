/* session_event.h - the kinds of events of this room. Only session/ includes this. */
#ifndef LC_SESSION_SESSION_EVENT_H
#define LC_SESSION_SESSION_EVENT_H

#include "store/event.h"

extern const lc_event_type lc_session_opened_event;  /* {id} {external_id?, persona_id?,
                                                        metadata?} */
extern const lc_event_type lc_session_ended_event;   /* {id} {reason, ended_at} */
extern const lc_event_type lc_session_message_event; /* {id, session_id, message_name?} {role,
                                                        speaker?, text, persona_id?, external_id?,
                                                        metadata?, tokens?, estimated?,
                                                        observed_at} */
#define LC_MESSAGE_NAME "message_name"
extern const lc_event_type lc_identity_set_event; /* {session_id} {user_name, authority,
                                                     department?, organization?, permissions?} */

extern const lc_event_type lc_session_rewound_event;   /* {id, to, after, persona_id?, kept[{name,
                                                          message_id, seq}]} {} */
extern const lc_event_type lc_session_forgotten_event; /* {id, persona_id?, keeps_session?} {} */
extern const lc_event_type lc_message_forgotten_event; /* {id} {} */

/* For `apply`, after user messages were deleted and subtracted from message_counts: deletes the
 * rows whose count is 0, and finds the last message of the others again. */
loci_status lc_session_settle_counts(lc_tx *tx, const lc_event *event, loci_error *err);

/* Call it with every change of a session's row or activity, so that lc_session_find() reads it
 * again. */
void lc_session_drop_cached(lc_tx *tx);

#endif /* LC_SESSION_SESSION_EVENT_H */
