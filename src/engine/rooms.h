/* rooms.h - the lists of rooms, kinds of jobs and sources of texts to embed. */
#ifndef LC_ENGINE_ROOMS_H
#define LC_ENGINE_ROOMS_H

#include "engine/job_kind.h"
#include "recall/recall.h"
#include "store/catalogue.h"

extern const lc_room *const lc_engine_rooms[];         /* Ends with NULL; the store's own first. */
extern const lc_job_kind *const lc_engine_job_kinds[]; /* Ends with NULL. */
extern const lc_recall_source *const lc_engine_embed_sources[]; /* Ends with NULL. */

#endif /* LC_ENGINE_ROOMS_H */
