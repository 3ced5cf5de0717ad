/* data_files.h - the data files that loci is better with: whether they are there, and whole.
 *
 * Opening one checks its header only, since whoever opens an engine does not wait for 38 MB to be
 * read. Whoever asks for a check does: the digest in the header is compared with the body's.
 */
#ifndef LC_ENGINE_DATA_FILES_H
#define LC_ENGINE_DATA_FILES_H

#include "base/json.h"
#include "engine/engine.h"

/* An array with an object for each: name, use, state (missing, damaged, present; whole when it was
 * read through), problem or null. */
loci_status lc_data_files_write(loci_engine *engine, bool reads_through, lc_json_writer *out,
                                loci_error *err);

#endif /* LC_ENGINE_DATA_FILES_H */
