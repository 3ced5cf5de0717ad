/* rooms.c - the lists; a new room, kind of job or source of texts is one line here. */
#include "engine/rooms.h"

#include <stddef.h>

#include "engine/job_purge.h"
#include "engine/job_rebuild.h"
#include "engine/job_reembed.h"
#include "fact/fact.h"
#include "fact/fact_embed.h"
#include "session/message_corpus.h"
#include "session/session.h"

const lc_room *const lc_engine_rooms[] = {
    &lc_store_room,
    &lc_fact_room,
    &lc_session_room,
    NULL,
};

const lc_job_kind *const lc_engine_job_kinds[] = {
    &lc_job_purge,
    &lc_job_rebuild,
    &lc_job_reembed,
    NULL,
};

const lc_embed_source *const lc_engine_embed_sources[] = {
    &lc_fact_embed_source,
    &lc_message_embed_source,
    NULL,
};
