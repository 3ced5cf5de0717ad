/* session_event.h - the kinds of events of this room. Only session/ includes this. */
#ifndef LC_SESSION_SESSION_EVENT_H
#define LC_SESSION_SESSION_EVENT_H

#include "store/event.h"

extern const lc_event_type lc_session_opened_event;  /* {id} {external_id?, persona_id?} */
extern const lc_event_type lc_session_ended_event;   /* {id} {reason, ended_at} */
extern const lc_event_type lc_session_message_event; /* {id, session_id, message_name?} {role,
                                                        speaker?, text, persona_id?, external_id?,
                                                        observed_at} */
#define LC_MESSAGE_NAME "message_name"
extern const lc_event_type lc_identity_set_event; /* {session_id} {user_name, authority,
                                                     department?, organization?, permissions?} */

extern const lc_event_type lc_session_forgotten_event; /* {id, persona_id?, keeps_session?} {} */
extern const lc_event_type lc_message_forgotten_event; /* {id} {} */

/* With every change of a session's row or activity: lc_session_find() must read it again. */
void lc_session_drop_cached(lc_tx *tx);

#endif /* LC_SESSION_SESSION_EVENT_H */
