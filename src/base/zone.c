/* zone.c - see zone.h. A zone file is read each time: it has a few KB, and few messages name a
 * date. */
#include "base/zone.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define SECOND_US INT64_C(1000000)
#define MINUTE_US (60 * SECOND_US)
#define FILE_BYTES_MAX 8192
#define NAME_BYTES_MAX 64

static int64_t big_endian(const unsigned char *bytes, int count)
{
    uint64_t value = count == 8 || bytes[0] < 0x80 ? 0 : UINT64_MAX;

    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return (int64_t)value;
}

/* RFC 8536: the second part of the file has 64-bit times. */
static bool read_zone(const unsigned char *file, size_t bytes, int64_t at_s, int64_t *out_s)
{
    const unsigned char *head = file, *times, *types, *infos;
    int64_t counts[6], skip, type = 0;

    for (int part = 0; part < 2; part++) {
        if ((size_t)(head - file) + 44 > bytes || memcmp(head, "TZif", 4) != 0 || head[4] < '2')
            return false;
        for (int i = 0; i < 6; i++)
            counts[i] = big_endian(head + 20 + 4 * i, 4);
        for (int i = 0; i < 6; i++)
            if (counts[i] < 0 || counts[i] > 4096)
                return false;
        /* isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt */
        skip = 44 + counts[3] * 5 + counts[4] * 6 + counts[5] + counts[2] * 8 + counts[1] +
               counts[0];
        if (part == 0)
            head += skip;
        if ((size_t)(head - file) > bytes)
            return false;
    }
    times = head + 44;
    types = times + 8 * counts[3];
    infos = types + counts[3];
    if ((size_t)(infos - file) + (size_t)(6 * counts[4]) > bytes || counts[4] == 0)
        return false;
    for (int64_t i = 0; i < counts[3] && big_endian(times + 8 * i, 8) <= at_s; i++)
        type = types[i];
    if (type >= counts[4])
        return false;
    *out_s = big_endian(infos + 6 * type, 4);
    return *out_s > -86400 && *out_s < 86400;
}

static bool read_zone_file(loci_str zone, int64_t at_us, int64_t *out_us)
{
    unsigned char bytes[FILE_BYTES_MAX];
    char path[128];
    int64_t offset_s = 0;
    size_t count;
    FILE *file;

    for (size_t i = 0; i < zone.len; i++)
        if (!((zone.ptr[i] >= 'A' && zone.ptr[i] <= 'Z') ||
              (zone.ptr[i] >= 'a' && zone.ptr[i] <= 'z') ||
              (i > 0 && strchr("/_-+0123456789", zone.ptr[i]) != NULL)))
            return false;
    if (zone.len == 0 || zone.len > NAME_BYTES_MAX)
        return false;
    (void)snprintf(path, sizeof path, "/usr/share/zoneinfo/%.*s", (int)zone.len, zone.ptr);
    file = fopen(path, "rbe");
    if (file == NULL)
        return false;
    count = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file); /* It was only read. */
    if (!read_zone(bytes, count, at_us / SECOND_US, &offset_s))
        return false;
    *out_us = offset_s * SECOND_US;
    return true;
}

/* "+02:00", "-5", "+0530". */
static bool read_offset(loci_str text, int64_t *out_us)
{
    int64_t hours = 0, minutes = 0;
    size_t digits = 0;

    if (text.len < 2 || (text.ptr[0] != '+' && text.ptr[0] != '-'))
        return false;
    for (size_t i = 1; i < text.len; i++) {
        if (text.ptr[i] == ':' && digits <= 2)
            continue;
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || digits == 4)
            return false;
        if (digits < 2)
            hours = 10 * hours + (text.ptr[i] - '0');
        else
            minutes = 10 * minutes + (text.ptr[i] - '0');
        digits++;
    }
    *out_us = (hours * 60 + minutes) * MINUTE_US * (text.ptr[0] == '-' ? -1 : 1);
    return hours <= 14 && minutes < 60;
}

bool lc_zone_offset(loci_str zone, int64_t at_us, int64_t *out_us)
{
    zone = lc_str_trim(zone);
    if (lc_str_is(zone, "UTC") || lc_str_is(zone, "Z") || lc_str_is(zone, "GMT")) {
        *out_us = 0;
        return true;
    }
    if (zone.len > 3 && (lc_str_starts(zone, LC_STR("UTC")) || lc_str_starts(zone, LC_STR("GMT"))))
        zone = (loci_str){zone.ptr + 3, zone.len - 3};
    return read_offset(zone, out_us) || read_zone_file(zone, at_us, out_us);
}
