/* http_gzip.c - zlib at its fastest level, with its tables in the arena of the request.
 *
 * The output has no more room than the body is long, so what does not shrink fails by itself. A
 * small body gets small tables: the usual ones are 256 KiB to clear, dearer than the packing. */
#include "server/http_gzip.h"

#include <zlib.h>

#include "base/str.h"
#include "server/http_guard.h"

#define LEVEL 1
#define GZIP_WRAPPER 16 /* Added to the window's bits. */
#define SMALL_BODY_BYTES (16u * 1024)

static bool has_quality_0(loci_str parameters)
{
    loci_str rest = parameters;

    while (rest.len > 0) {
        loci_str one = lc_str_trim(lc_str_split(rest, ';', &rest));

        if (one.len < 3 || (one.ptr[0] != 'q' && one.ptr[0] != 'Q') || one.ptr[1] != '=')
            continue;
        for (size_t i = 2; i < one.len; i++) {
            if (one.ptr[i] != '0' && one.ptr[i] != '.')
                return false;
        }
        return true;
    }
    return false;
}

bool lc_gzip_is_taken(loci_str accept_encoding)
{
    loci_str rest = accept_encoding;
    bool is_any_taken = false;

    while (rest.len > 0) {
        loci_str parameters = LC_STR_NONE;
        loci_str one = lc_str_split(rest, ',', &rest);
        loci_str name = lc_str_trim(lc_str_split(one, ';', &parameters));

        if (lc_http_is_same_name(name, LC_STR("gzip")))
            return !has_quality_0(parameters);
        if (lc_str_is(name, "*"))
            is_any_taken = !has_quality_0(parameters);
    }
    return is_any_taken;
}

static voidpf take(voidpf opaque, uInt count, uInt each_bytes)
{
    return lc_arena_zalloc_array(opaque, count, each_bytes);
}

static void give_back(voidpf opaque, voidpf block)
{
    (void)opaque; /* The arena gives everything back at once. */
    (void)block;
}

bool lc_gzip_pack(lc_arena *arena, loci_str body, loci_str *out)
{
    bool is_small = body.len <= SMALL_BODY_BYTES;
    z_stream stream = {.zalloc = take, .zfree = give_back, .opaque = arena};
    char *packed;
    int answer;

    if (body.len < LC_GZIP_BYTES_MIN || body.len > UINT32_MAX / 2)
        return false;
    packed = lc_arena_alloc(arena, body.len - 1);
    if (packed == NULL ||
        deflateInit2(&stream, LEVEL, Z_DEFLATED, (is_small ? 12 : MAX_WBITS) + GZIP_WRAPPER,
                     is_small ? 5 : 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    stream.next_in = (Bytef *)(uintptr_t)body.ptr;
    stream.avail_in = (uInt)body.len;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)(body.len - 1);
    answer = deflate(&stream, Z_FINISH);
    (void)deflateEnd(&stream); /* Only complains that there would be more to write. */
    if (answer != Z_STREAM_END)
        return false;
    *out = (loci_str){packed, stream.total_out};
    return true;
}
