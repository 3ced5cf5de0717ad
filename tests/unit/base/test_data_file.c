#include "base/data_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "lib/test.h"

static const lc_data_kind colours = {"colours", 3};

static lc_data_header header_of(size_t body_bytes)
{
    lc_data_header header = {.kind = "colours", .version = 3, .body_bytes = body_bytes};

    memcpy(header.magic, "lociDATA", sizeof header.magic);
    return header;
}

static const char *write_file(const char *dir, const lc_data_header *header, size_t body_bytes)
{
    const char *path = test_path(dir, "x.loci");
    FILE *file = fopen(path, "wb");

    CHECK(file != NULL);
    CHECK_EQ(fwrite(header, sizeof *header, 1, file), 1);
    for (size_t i = 0; i < body_bytes; i++)
        CHECK(fputc((int)('a' + i), file) != EOF);
    CHECK_EQ(fclose(file), 0);
    return path;
}

TEST(data_file, a_whole_one_is_read)
{
    lc_data_header header = header_of(5);
    const char *path = write_file(test_tmpdir(), &header, 5);
    lc_data_file file = {0};
    loci_error err;

    CHECK_OK(lc_data_file_open(&colours, path, &file, &err), err);
    CHECK_EQ(file.body_bytes, 5);
    CHECK(memcmp(file.body, "abcde", 5) == 0);
    lc_data_file_close(&file);
    lc_data_file_close(&file);
    CHECK(file.body == NULL);
}

static void check_refused(const lc_data_header *header, size_t body_bytes, const char *words)
{
    lc_data_file file = {0};
    loci_error err;

    CHECK_STATUS(
        LOCI_ECORRUPT,
        lc_data_file_open(&colours, write_file(test_tmpdir(), header, body_bytes), &file, &err));
    CHECK_CONTAINS(err.message, words);
    CHECK(file.header == NULL);
}

TEST(data_file, what_is_not_right_is_refused)
{
    lc_data_header header = header_of(5);
    lc_data_file file = {0};
    loci_error err;

    check_refused(&header, 4, "cut or too long");
    check_refused(&header, 6, "cut or too long");
    header.version = 2;
    check_refused(&header, 5, "version 2 where 3");
    header = header_of(5);
    header.kind[0] = 'C';
    check_refused(&header, 5, "no colours file");
    header = header_of(5);
    header.magic[7] = 'B';
    check_refused(&header, 5, "no colours file");
    CHECK_STATUS(LOCI_ENOTFOUND,
                 lc_data_file_open(&colours, test_path(test_tmpdir(), "none"), &file, &err));
    CHECK_STATUS(LOCI_ECORRUPT, lc_data_file_open(&colours, test_tmpdir(), &file, &err));
    CHECK_STATUS(LOCI_ECORRUPT, lc_data_file_open(&colours, "/dev/null", &file, &err));
}

/* A daemon uses a file for weeks: an update, a full disk or a person may cut it meanwhile. A mapped
 * file would be a SIGBUS here. */
TEST(data_file, what_happens_to_the_file_later_makes_no_difference)
{
    lc_data_header header = header_of(20), peeked;
    const char *dir = test_tmpdir();
    const char *path = write_file(dir, &header, 20);
    lc_data_file file = {0}, again = {0};
    loci_error err;

    CHECK_OK(lc_data_file_open(&colours, path, &file, &err), err);
    CHECK_EQ(truncate(path, 0), 0);
    CHECK(memcmp(file.body, "abcdefghijklmnopqrst", 20) == 0);
    CHECK_STATUS(LOCI_ECORRUPT, lc_data_file_open(&colours, path, &again, &err));
    (void)write_file(dir, &header, 20);
    CHECK_OK(lc_data_file_open(&colours, path, &again, &err), err);
    CHECK(!lc_data_identity_eq(&file.identity, &again.identity));
    lc_data_file_close(&again);
    lc_data_file_close(&file);
    CHECK_OK(lc_data_file_peek(&colours, path, &peeked, &err), err);
    CHECK_EQ(peeked.body_bytes, 20);
}

TEST(data_file, it_is_found_where_the_setting_says)
{
    lc_data_header header = header_of(1);
    const char *dir = test_tmpdir();
    const char *path = write_file(dir, &header, 1);
    char found[LC_DATA_PATH_BYTES];
    loci_error err;

    CHECK_OK(lc_data_file_find(loci_str_of(dir), "x.loci", found, &err), err);
    CHECK_STR_EQ(loci_str_of(found), path);
    CHECK_STATUS(LOCI_ENOTFOUND, lc_data_file_find(loci_str_of(dir), "y.loci", found, &err));
    CHECK_CONTAINS(err.message, "data.dir");
    CHECK_STATUS(LOCI_ENOTFOUND, lc_data_file_find(LC_STR(""), "y.loci", found, &err));
    CHECK_CONTAINS(err.message, "install the package loci-data or run script/data");
}
