/* job_reembed.h - the job that gives every text a vector of the embedder in use. */
#ifndef LC_ENGINE_JOB_REEMBED_H
#define LC_ENGINE_JOB_REEMBED_H

#include "engine/job_kind.h"

/* "model.reembed" (store/embed_source.h): args {}, result {generation, users, texts, embedded,
 * deleted}. Of a user: its texts; of the store itself: those of all users. Texts that have their
 * vector are passed over, so doing it again costs little; vectors of other generations are deleted
 * behind it. */
extern const lc_job_kind lc_job_reembed;

/* A text is cut to this: a token is at least a byte, and models that take less than 8192 tokens cut
 * by themselves. The vector is still kept under the hash of the whole. */
#define LC_REEMBED_TEXT_BYTES_MAX 8192

/* The text, so cut. */
loci_str lc_reembed_cut(loci_str text);

#endif /* LC_ENGINE_JOB_REEMBED_H */
