/* sqlite_state.c - whether anything was committed, told without a lock or a system call.
 *
 * In WAL mode every connection maps the same index file. It begins with a header of 48 bytes,
 * twice, which whoever commits writes last, the second copy first; a snapshot is what the header
 * says. So the header is the state: SQLite itself keeps its pages as long as it has not changed. It
 * is laid out as sqlite.org/walformat.html says, in the machine's own order:
 *
 *     version | 0 | commits | flags, page size | frames, pages | checksums | salts | checksums
 *
 * The pages are mapped by SQLite for as long as the connection is open, and asked for through its
 * own file: a descriptor of ours, once closed, would drop every lock of this process.
 */
#include "store/sqlite.h"

#include <string.h>

#define HEADER_WORDS 12
#define HEADER_VERSION 3007000
#define REGION_BYTES 32768 /* What the index file is mapped in. */

enum { WORD_VERSION = 0, WORD_COMMITS = 2, WORD_FLAGS = 3 };

void lc_sqlite_find_state(lc_sqlite *db)
{
    sqlite3_file *file = NULL;
    void volatile *region = NULL;

    if (sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        file == NULL || file->pMethods == NULL || file->pMethods->iVersion < 2 ||
        file->pMethods->xShmMap(file, 0, REGION_BYTES, 0, &region) != SQLITE_OK)
        region = NULL;
    db->state = region;
}

static bool is_header(const uint32_t words[HEADER_WORDS])
{
    uint8_t flags[sizeof words[0]]; /* The first says whether it was written at all. */

    memcpy(flags, &words[WORD_FLAGS], sizeof flags);
    return words[WORD_VERSION] == HEADER_VERSION && flags[0] == 1;
}

/* Both copies are the same, so nobody was writing it. */
static bool read_header(const volatile uint32_t *from, uint32_t out[HEADER_WORDS])
{
    uint32_t differences = 0;

    for (int i = 0; i < HEADER_WORDS; i++)
        out[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
    for (int i = 0; i < HEADER_WORDS; i++)
        differences |= out[i] ^ __atomic_load_n(&from[HEADER_WORDS + i], __ATOMIC_ACQUIRE);
    return differences == 0;
}

/* The number of commits in the upper half, a hash of the rest of the header in the lower half: two
 * logs may have seen the same number of commits. */
uint64_t lc_sqlite_state(const lc_db *base)
{
    const volatile uint32_t *from = ((const lc_sqlite *)base)->state;
    uint32_t words[HEADER_WORDS];
    uint64_t rest = 0;

    if (from == NULL || !read_header(from, words) || !is_header(words))
        return 0;
    for (int i = WORD_FLAGS; i < HEADER_WORDS; i++)
        rest = (rest ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint64_t)words[WORD_COMMITS] << 32 | rest >> 32;
}
