/* salvage.c - see salvage.h; the formats are those of sqlite.org/fileformat2.html.
 *
 * A leaf page of a table, all numbers big-endian:
 *
 *     0x0D | first free block: 2 | cells: 2 | their start: 2 | fragments: 1 | pointers: 2 each
 *
 * behind the header of the file on page 1. A cell is a varint with the size of the record, a varint
 * with the rowid, as much of the record as fits, and the number of the first overflow page. A
 * record is a varint with the size of its header, one varint per column, and the values.
 *
 * A page comes from the write-ahead log if a commit there has it, else from the file. Only the
 * undamaged beginning of the log is used, as by SQLite: a later page without the ones before it
 * could bring back forgotten rows. Free pages are empty (secure_delete), so rows that were deleted
 * do not reappear.
 */
#include "store/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/publish.h"

#define PAGE_BYTES 4096u /* Of every store: see claim_file() in sqlite.c. */
#define PAGES_MAX (UINT32_C(1) << 30)
#define FILE_HEADER_BYTES 100u /* On page 1, before the page's own. */
#define LEAF_HEADER_BYTES 8u
#define LEAF_OF_TABLE 0x0D
#define RECORD_BYTES_MAX (8u * 1024 * 1024) /* More than an event with names can take. */

/* How much of a record is on its page, for pages without reserved bytes. */
#define LOCAL_MAX (PAGE_BYTES - 35)
#define LOCAL_MIN ((PAGE_BYTES - 12) * 32 / 255 - 23)
#define OVERFLOW_BYTES (PAGE_BYTES - 4)

#define WAL_HEADER_BYTES 32u
#define WAL_FRAME_BYTES (24u + PAGE_BYTES)
#define WAL_MAGIC 0x377F0682u /* Its last bit: checksums of big-endian words. */
#define WAL_VERSION 3007000u

struct lc_salvage {
    lc_heap *heap;
    int fd;
    int wal_fd; /* -1 = none. */
    uint32_t page_count;
    uint32_t *frames; /* By page: number of its frame in the log, from 1; 0 = in the file. */
    uint32_t frame_count;
    int64_t wal_commits;
    bool wal_is_damaged;
    uint32_t page; /* The one in `bytes`; 0 = none. */
    unsigned char bytes[PAGE_BYTES];
    unsigned char overflow[PAGE_BYTES];
    lc_buf record;
    int64_t
        overflow_left; /* Pages that may still be read, so that damaged chains come to an end. */
    bool has_no_memory;
};

/* ---- Bytes ----------------------------------------------------------------------------------- */

static uint32_t big_endian(const unsigned char *at, size_t bytes)
{
    uint32_t value = 0;

    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

/* Reads as many bytes as it can and sets the rest to 0: a block of the disk may be unreadable. */
static size_t read_at(int fd, unsigned char *out, size_t bytes, int64_t offset)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t got = pread(fd, out + done, bytes - done, (off_t)offset + (off_t)done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    memset(out + done, 0, bytes - done);
    return done;
}

/* A cursor over bytes that may be anything: behind a failure it stays at the end. */
typedef struct scan {
    const unsigned char *at;
    const unsigned char *end;
    bool has_failed;
} scan;

static uint64_t take_varint(scan *s)
{
    uint64_t value = 0;

    for (int i = 0; i < 9 && s->at < s->end; i++) {
        unsigned char byte = *s->at++;

        if (i == 8)
            return value << 8 | byte;
        value = value << 7 | (byte & 0x7F);
        if ((byte & 0x80) == 0)
            return value;
    }
    s->has_failed = true;
    return 0;
}

/* ---- The write-ahead log --------------------------------------------------------------------- */

typedef struct wal_sum {
    bool is_big_endian;
    uint32_t a, b;
} wal_sum;

static uint32_t sum_word(const wal_sum *sum, const unsigned char *at)
{
    uint32_t word = big_endian(at, 4);

    return sum->is_big_endian ? word : __builtin_bswap32(word);
}

static void add_to_sum(wal_sum *sum, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i + 8 <= count; i += 8) {
        sum->a += sum_word(sum, bytes + i) + sum->b;
        sum->b += sum_word(sum, bytes + i + 4) + sum->a;
    }
}

static bool has_sum(const wal_sum *sum, const unsigned char *at)
{
    return sum->a == big_endian(at, 4) && sum->b == big_endian(at + 4, 4);
}

/* The undamaged beginning of the log. */
typedef struct wal_walk {
    unsigned char salts[8]; /* Frames with others are left over from before the last checkpoint. */
    wal_sum sum;
    uint32_t frame_count; /* Up to the last commit. */
    uint32_t page_count;  /* Of the store after it. */
    int64_t commits;
    bool is_damaged;
} wal_walk;

static int64_t frame_offset(uint32_t number)
{
    return WAL_HEADER_BYTES + (int64_t)(number - 1) * WAL_FRAME_BYTES;
}

static bool begin_wal(const lc_salvage *s, wal_walk *walk)
{
    unsigned char header[WAL_HEADER_BYTES];

    if (s->wal_fd < 0 || read_at(s->wal_fd, header, sizeof header, 0) != sizeof header)
        return false; /* None, or empty as after a checkpoint. */
    walk->sum.is_big_endian = (header[3] & 1) != 0;
    add_to_sum(&walk->sum, header, 24);
    memcpy(walk->salts, header + 16, sizeof walk->salts);
    walk->is_damaged = (big_endian(header, 4) & ~1u) != WAL_MAGIC ||
                       big_endian(header + 4, 4) != WAL_VERSION ||
                       big_endian(header + 8, 4) != PAGE_BYTES || !has_sum(&walk->sum, header + 24);
    return !walk->is_damaged;
}

/* Each checksum includes those before it, so the first wrong one ends the walk. */
static void walk_wal(lc_salvage *s, wal_walk *walk)
{
    unsigned char head[24];

    if (!begin_wal(s, walk))
        return;
    for (uint32_t number = 1; number < PAGES_MAX; number++) {
        uint32_t page_count;

        if (read_at(s->wal_fd, head, sizeof head, frame_offset(number)) != sizeof head ||
            memcmp(head + 8, walk->salts, sizeof walk->salts) != 0)
            return;
        (void)read_at(s->wal_fd, s->bytes, PAGE_BYTES,
                      frame_offset(number) + (int64_t)sizeof head); /* Checked below. */
        add_to_sum(&walk->sum, head, 8);
        add_to_sum(&walk->sum, s->bytes, PAGE_BYTES);
        if (!has_sum(&walk->sum, head + 16)) {
            walk->is_damaged = true;
            return;
        }
        page_count = big_endian(head + 4, 4); /* 0 = the commit goes on. */
        if (page_count == 0)
            continue;
        walk->frame_count = number;
        walk->page_count = page_count;
        walk->commits++;
    }
}

/* Notes where each page is. A later frame of a page replaces an earlier one. */
static loci_status find_pages(lc_salvage *s, loci_error *err)
{
    struct stat info;
    wal_walk walk = {.frame_count = 0};
    unsigned char number[4];
    int64_t pages;

    walk_wal(s, &walk);
    s->wal_commits = walk.commits;
    s->wal_is_damaged = walk.is_damaged;
    if (fstat(s->fd, &info) != 0)
        return lc_fail(err, LOCI_EUNAVAILABLE, "cannot read the size of the file: %s",
                       strerror(errno));
    /* A commit in the log says how large the store is. Pages behind that are not part of it. */
    pages = walk.commits > 0 ? (int64_t)walk.page_count
                             : ((int64_t)info.st_size + PAGE_BYTES - 1) / PAGE_BYTES;
    s->page_count = (uint32_t)(pages < PAGES_MAX ? pages : PAGES_MAX);
    s->overflow_left = (int64_t)s->page_count * 16 + 1000;
    s->frame_count = walk.frame_count;
    if (s->frame_count == 0)
        return LOCI_OK;
    s->frames = lc_heap_zalloc(s->heap, ((size_t)s->page_count + 1) * sizeof *s->frames,
                               LOCI_MEM_REQUESTS);
    if (s->frames == NULL)
        return lc_fail_memory(err);
    for (uint32_t i = 1; i <= s->frame_count; i++) {
        uint32_t page;

        (void)read_at(s->wal_fd, number, sizeof number, frame_offset(i)); /* Was read before. */
        page = big_endian(number, 4);
        if (page >= 1 && page <= s->page_count)
            s->frames[page] = i;
    }
    return LOCI_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* -1: there is no such file, or it cannot be read; then the store is only the main file. */
static int open_wal(const char *path)
{
    char wal[LC_PATH_BYTES_MAX + 8];

    if (strlen(path) >= LC_PATH_BYTES_MAX)
        return -1;
    (void)snprintf(wal, sizeof wal, "%s-wal", path); /* Fits. */
    return open(wal, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

loci_status lc_salvage_open(lc_heap *heap, const char *path, lc_salvage **out, loci_error *err)
{
    lc_salvage *s;
    struct stat info;
    loci_status status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return lc_fail_path(err, path, errno);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)close(fd); /* Only its type was checked. */
        return lc_fail(err, LOCI_EINVAL, "%s is not a regular file", path);
    }
    s = lc_heap_zalloc(heap, sizeof *s, LOCI_MEM_REQUESTS);
    if (s == NULL) {
        (void)close(fd);
        return lc_fail_memory(err);
    }
    s->heap = heap;
    s->fd = fd;
    s->wal_fd = open_wal(path);
    lc_buf_init(&s->record, heap, LOCI_MEM_REQUESTS, RECORD_BYTES_MAX);
    status = find_pages(s, err);
    if (status == LOCI_OK)
        *out = s;
    else
        lc_salvage_close(s);
    return status;
}

void lc_salvage_close(lc_salvage *s)
{
    if (s == NULL)
        return;
    (void)close(s->fd); /* Both were only read. */
    if (s->wal_fd >= 0)
        (void)close(s->wal_fd);
    lc_buf_clear(&s->record);
    if (s->frames != NULL)
        lc_heap_free(s->heap, s->frames, ((size_t)s->page_count + 1) * sizeof *s->frames,
                     LOCI_MEM_REQUESTS);
    lc_heap_free(s->heap, s, sizeof *s, LOCI_MEM_REQUESTS);
}

uint32_t lc_salvage_page_count(const lc_salvage *s)
{
    return s->page_count;
}

int64_t lc_salvage_wal_commits(const lc_salvage *s)
{
    return s->wal_commits;
}

bool lc_salvage_wal_is_damaged(const lc_salvage *s)
{
    return s->wal_is_damaged;
}

loci_status lc_salvage_status(const lc_salvage *s, loci_error *err)
{
    return s->has_no_memory ? lc_fail_memory(err) : LOCI_OK;
}

/* ---- Pages and rows -------------------------------------------------------------------------- */

static void read_page(const lc_salvage *s, uint32_t page, unsigned char out[PAGE_BYTES])
{
    uint32_t frame = s->frames != NULL ? s->frames[page] : 0;

    if (frame != 0)
        (void)read_at(s->wal_fd, out, PAGE_BYTES,
                      frame_offset(frame) + (int64_t)(WAL_FRAME_BYTES - PAGE_BYTES));
    else /* Missing bytes are read as 0. */
        (void)read_at(s->fd, out, PAGE_BYTES, (int64_t)(page - 1) * PAGE_BYTES);
}

static size_t header_offset(const lc_salvage *s)
{
    return s->page == 1 ? FILE_HEADER_BYTES : 0;
}

int lc_salvage_turn_to(lc_salvage *s, uint32_t page)
{
    const unsigned char *header;
    size_t room;
    int count;

    if (page < 1 || page > s->page_count)
        return 0;
    if (s->page != page)
        read_page(s, page, s->bytes);
    s->page = page;
    header = s->bytes + header_offset(s);
    if (header[0] != LEAF_OF_TABLE)
        return 0;
    count = (int)big_endian(header + 3, 2);
    room = (PAGE_BYTES - header_offset(s) - LEAF_HEADER_BYTES) / 2;
    return (size_t)count < room ? count : (int)room;
}

/* How many bytes of a record of `bytes` are on its page. */
static size_t local_bytes(size_t bytes)
{
    size_t some = LOCAL_MIN + (bytes - LOCAL_MIN) % OVERFLOW_BYTES;

    if (bytes <= LOCAL_MAX)
        return bytes;
    return some <= LOCAL_MAX ? some : LOCAL_MIN;
}

/* The bytes of a value of this type in a record, or false: no column has this type. */
static bool size_of_type(uint64_t type, size_t *out)
{
    static const unsigned char sizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};

    if (type >= 12 && (type - 12) / 2 <= RECORD_BYTES_MAX)
        *out = (size_t)((type - 12) / 2);
    else if (type < sizeof sizes)
        *out = sizes[type];
    else
        return false;
    return true;
}

static bool is_of_kind(uint64_t type, char kind)
{
    if (kind == 'i')
        return (type >= 1 && type <= 6) || type == 8 || type == 9;
    return type >= 12 && type % 2 == (kind == 't' ? 1 : 0);
}

static int64_t integer_of(uint64_t type, const unsigned char *at, size_t bytes)
{
    uint64_t value = bytes > 0 && (at[0] & 0x80) != 0 ? UINT64_MAX : 0;

    if (type >= 8)
        return (int64_t)type - 8;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return (int64_t)value;
}

typedef struct record {
    size_t bytes;       /* All of it. */
    scan local;         /* The part on the page. */
    uint32_t next_page; /* First page of the rest; 0 = none. */
    uint64_t types[LC_SALVAGE_COLUMNS_MAX];
    size_t header_bytes;
} record;

/* Finds the record of a cell, within the page. */
static bool find_record(const lc_salvage *s, int index, record *out)
{
    const unsigned char *end = s->bytes + PAGE_BYTES;
    size_t pointer = header_offset(s) + LEAF_HEADER_BYTES + (size_t)index * 2;
    size_t offset = big_endian(s->bytes + pointer, 2);
    scan cell = {.end = end};
    uint64_t bytes;
    size_t local;

    if (offset >= PAGE_BYTES) /* The page only looks like a leaf. */
        return false;
    cell.at = s->bytes + offset;
    bytes = take_varint(&cell);
    (void)take_varint(&cell); /* The rowid means nothing to loci. */
    if (cell.has_failed || bytes == 0 || bytes > RECORD_BYTES_MAX)
        return false;
    local = local_bytes((size_t)bytes);
    if (local > (size_t)(end - cell.at))
        return false;
    *out = (record){.bytes = (size_t)bytes, .local = {.at = cell.at, .end = cell.at + local}};
    if (local == bytes)
        return true;
    if ((size_t)(end - out->local.end) < 4)
        return false;
    out->next_page = big_endian(out->local.end, 4);
    return true;
}

/* Whether the columns are of these kinds, and their values as long as the record says. */
static bool has_shape(record *r, const char *kinds)
{
    scan header = r->local;
    uint64_t header_bytes = take_varint(&header);
    size_t total = (size_t)header_bytes, size = 0;

    if (header.has_failed || header_bytes > (size_t)(r->local.end - r->local.at))
        return false;
    header.end = r->local.at + header_bytes;
    for (size_t i = 0; kinds[i] != '\0'; i++) {
        r->types[i] = take_varint(&header);
        if (header.has_failed || !is_of_kind(r->types[i], kinds[i]) ||
            !size_of_type(r->types[i], &size))
            return false;
        total += size;
    }
    r->header_bytes = (size_t)header_bytes;
    return header.at == header.end && total == r->bytes;
}

/* Puts the record together from its page and the overflow pages. */
static bool collect(lc_salvage *s, const record *r)
{
    uint32_t next = r->next_page;

    lc_buf_reset(&s->record);
    lc_buf_append(&s->record,
                  (loci_str){(const char *)r->local.at, (size_t)(r->local.end - r->local.at)});
    while (s->record.failure == LOCI_OK && s->record.len < r->bytes) {
        size_t left = r->bytes - s->record.len;

        if (next < 2 || next > s->page_count || s->overflow_left == 0)
            return false;
        s->overflow_left--;
        read_page(s, next, s->overflow);
        next = big_endian(s->overflow, 4);
        lc_buf_append(&s->record, (loci_str){(const char *)s->overflow + 4,
                                             left < OVERFLOW_BYTES ? left : OVERFLOW_BYTES});
    }
    s->has_no_memory = s->has_no_memory || s->record.failure != LOCI_OK;
    return s->record.failure == LOCI_OK && next == 0; /* Else the chain of another row. */
}

bool lc_salvage_row(lc_salvage *s, int index, const char *kinds, lc_cell *out)
{
    const unsigned char *at;
    record r;

    LC_ASSERT(strlen(kinds) <= LC_SALVAGE_COLUMNS_MAX);
    if (!find_record(s, index, &r) || !has_shape(&r, kinds) || !collect(s, &r))
        return false;
    at = (const unsigned char *)s->record.ptr + r.header_bytes;
    for (size_t i = 0; kinds[i] != '\0'; i++) {
        size_t size = 0;

        (void)size_of_type(r.types[i], &size); /* Was checked before. */
        out[i] = (lc_cell){.kind = kinds[i]};
        if (kinds[i] == 'i')
            out[i].as.i64 = integer_of(r.types[i], at, size);
        else
            out[i].as.str = (loci_str){(const char *)at, size};
        at += size;
    }
    return true;
}
