/* files.c - Directories are listed until the runner ends the test; texts are kept by test_format's
 * owner, test.c. */
#include "lib/files.h"

#include "lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIRS_MAX 256

static char *dirs[DIRS_MAX];
static size_t dir_count;

const char *test_tmpdir(void)
{
    const char *base = getenv("TMPDIR");
    char *dir;

    if (base == NULL || base[0] == '\0')
        base = "/tmp";
    if (dir_count == DIRS_MAX)
        test_fail(__FILE__, __LINE__, "more than %d directories in one test", DIRS_MAX);
    dir = test_format("%s/loci-test-XXXXXX", base);
    if (mkdtemp(dir) == NULL)
        test_fail(__FILE__, __LINE__, "cannot make %s: %s", dir, strerror(errno));
    dirs[dir_count++] = dir;
    return dir;
}

const char *test_path(const char *dir, const char *name)
{
    return test_format("%s/%s", dir, name);
}

const char *test_source_path(const char *name)
{
    return name[0] == '/' ? name : test_path(TEST_SOURCE_DIR, name);
}

const char *test_build_path(const char *name)
{
    return test_path(TEST_BUILD_DIR, name);
}

loci_str test_read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    char *text;
    size_t got;

    if (file == NULL || fstat(fileno(file), &info) != 0)
        test_fail(__FILE__, __LINE__, "cannot read %s: %s", path, strerror(errno));
    text = test_bytes((size_t)info.st_size);
    got = fread(text, 1, (size_t)info.st_size, file);
    fclose(file);
    text[got] = '\0';
    return (loci_str){text, got};
}

void test_write_file(const char *path, loci_str content)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL)
        test_fail(__FILE__, __LINE__, "cannot write %s: %s", path, strerror(errno));
    if (fwrite(content.ptr, 1, content.len, file) != content.len || fclose(file) != 0)
        test_fail(__FILE__, __LINE__, "cannot write %s: %s", path, strerror(errno));
}

bool test_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

void test_files_end(bool keep)
{
    for (size_t i = 0; i < dir_count; i++) {
        if (keep)
            printf("  kept: %s\n", dirs[i]);
        else if (nftw(dirs[i], remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
            printf("  could not remove %s: %s\n", dirs[i], strerror(errno));
    }
    dir_count = 0;
}

static void print_difference(const char *expected_path, const char *actual_path)
{
    fflush(stdout);
    if (fork() == 0) {
        execlp("diff", "diff", "-u", expected_path, actual_path, (char *)NULL);
        _exit(127);
    }
    while (wait(NULL) < 0 && errno == EINTR)
        continue;
}

void test_check_golden(test_site site, const char *path, loci_str actual)
{
    const char *expected_path = test_source_path(path);
    const char *bless = getenv("LOCI_TEST_BLESS");
    const char *actual_path;
    loci_str expected = {"", 0};

    if (test_file_exists(expected_path)) {
        expected = test_read_file(expected_path);
        if (expected.len == actual.len && memcmp(expected.ptr, actual.ptr, actual.len) == 0)
            return;
    }
    if (bless != NULL && strcmp(bless, "1") == 0) {
        test_write_file(expected_path, actual);
        return;
    }
    actual_path = test_path(test_tmpdir(), "actual");
    test_write_file(actual_path, actual);
    print_difference(test_file_exists(expected_path) ? expected_path : "/dev/null", actual_path);
    test_fail(site.file, site.line, "%s: not what %s says; LOCI_TEST_BLESS=1 accepts %s", site.text,
              path, actual_path);
}
