/* rooms.h - the lists of all rooms and all kinds of jobs of loci. */
#ifndef LC_ENGINE_ROOMS_H
#define LC_ENGINE_ROOMS_H

#include "engine/job_kind.h"
#include "recall/recall.h"
#include "store/catalogue.h"

extern const lc_room *const lc_engine_rooms[];         /* Ends with NULL; the store's own first. */
extern const lc_job_kind *const lc_engine_job_kinds[]; /* Ends with NULL. */
/* What to do for each user when a daemon ends; NULL = nothing, by the settings. */
const lc_sweep *lc_engine_shutdown_sweep(loci_engine *engine);
/* The texts of the rooms that want vectors; NULL behind the last. */
const lc_recall_source *lc_engine_texts_at(size_t index);

#endif /* LC_ENGINE_ROOMS_H */
