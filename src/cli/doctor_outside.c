/* doctor_outside.c - what can be seen without opening the store. */
#include "cli/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/setting_sources.h"
#include "cli/store_path.h"
#include "ops/check.h"
#include "ops/setting_view.h"

#define DISK_BAD_BYTES (INT64_C(64) << 20)  /* A rebuild or a checkpoint may need that at once. */
#define DISK_LOW_BYTES (INT64_C(512) << 20) /* Time to look around. */
#define CLOCK_MIN_US INT64_C(1735689600000000) /* 2025-01-01: before loci existed. */
#define CLOCK_MAX_US INT64_C(4102444800000000) /* 2100-01-01 */

static void look_at_directory(lc_doctor *doctor, const lc_store_path *path)
{
    const char *directory = lc_store_path_directory(doctor->cli, path->text);
    struct stat info;
    lc_finding finding = {.name = "directory"};

    if (stat(directory, &info) != 0 && errno == ENOENT) {
        finding.kind = path->is_default ? LC_FINDING_NOTE : LC_FINDING_BAD;
        finding.advice = path->is_default ? "`loci init` makes it"
                                          : "Make it, or choose another --store";
        lc_doctor_add(doctor, &finding, "%s does not exist", directory);
    } else if (access(directory, W_OK | X_OK) != 0) {
        finding.kind = LC_FINDING_BAD;
        finding.advice = "Make it writable for you: SQLite keeps its journal beside the store";
        lc_doctor_add(doctor, &finding, "%s: %s", directory, strerror(errno));
    } else {
        lc_doctor_add(doctor, &finding, "%s is writable", directory);
    }
}

static void look_at_file(lc_doctor *doctor, const lc_store_path *path)
{
    struct stat info;
    lc_finding finding = {.name = "permission"};

    if (stat(path->text, &info) != 0)
        return; /* look_inside says that there is none. */
    if (!S_ISREG(info.st_mode)) {
        finding.kind = LC_FINDING_BAD;
        finding.advice = "Choose a file with --store";
        lc_doctor_add(doctor, &finding, "%s is not a file", path->text);
    } else if (access(path->text, R_OK | W_OK) != 0) {
        finding.kind = LC_FINDING_BAD;
        finding.advice = "Give yourself read and write permission";
        lc_doctor_add(doctor, &finding, "%s: %s", path->text, strerror(errno));
    } else if ((info.st_mode & S_IROTH) != 0) {
        finding.kind = LC_FINDING_NOTE;
        finding.advice = "`chmod o= FILE` if what it knows is nobody else's business";
        lc_doctor_add(doctor, &finding, "everybody on this machine may read the store");
    } else {
        lc_doctor_add(doctor, &finding, "you may read and write the store");
    }
}

/* The nearest directory above that exists: the one that will be written to. */
static void look_at_disk(lc_doctor *doctor, const lc_store_path *path)
{
    const char *directory = lc_store_path_directory(doctor->cli, path->text);
    lc_finding finding = {.name = "disk"};
    struct statvfs disk;
    int64_t free_bytes;

    while (statvfs(directory, &disk) != 0) {
        if (strcmp(directory, "/") == 0 || strcmp(directory, ".") == 0)
            return;
        directory = lc_store_path_directory(doctor->cli, directory);
    }
    free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    if (free_bytes < DISK_BAD_BYTES)
        finding = (lc_finding){LC_FINDING_BAD, "disk", NULL, "Make room, or move the store"};
    else if (free_bytes < DISK_LOW_BYTES)
        finding = (lc_finding){LC_FINDING_NOTE, "disk", NULL, "Make room before it is too late"};
    lc_doctor_add(doctor, &finding, "%lld MB free", (long long)(free_bytes >> 20));
}

static void look_at_clock(lc_doctor *doctor)
{
    int64_t now_us = lc_clock_system_us(NULL);
    char text[LC_TIME_BYTES_MAX];
    int len = (int)lc_time_format(now_us - now_us % 1000000, text);
    lc_finding finding = {.name = "clock"};

    if (now_us < CLOCK_MIN_US || now_us > CLOCK_MAX_US) {
        finding.kind = LC_FINDING_BAD;
        finding.advice = "Set the clock: facts carry the time at which they were said";
    }
    lc_doctor_add(doctor, &finding, "%.*s", len, text);
}

static bool is_variable(loci_str name)
{
    static const char *const others[] = {"LOCI_STORE",  "LOCI_TENANT", "LOCI_USER",
                                         "LOCI_CONFIG", "LOCI_SOCKET", "LOCI_LISTEN"};
    char variable[LC_SETTING_VARIABLE_BYTES];

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (lc_str_is(name, others[i]))
            return true;
    }
    for (size_t i = 0; i < lc_setting_view_count(); i++) {
        lc_setting_variable(lc_setting_view_at(i).name, variable);
        if (lc_str_is(name, variable))
            return true;
    }
    return false;
}

/* The variable of ours that is nearest to `name`, in the arena, or NULL. */
static const char *nearest_variable(lc_cli *cli, loci_str name)
{
    lc_nearest nearest = lc_nearest_to(name);
    char variable[LC_SETTING_VARIABLE_BYTES];

    for (size_t i = 0; i < lc_setting_view_count(); i++) {
        lc_setting_variable(lc_setting_view_at(i).name, variable);
        lc_nearest_offer(&nearest, lc_arena_copy(cli->arena, loci_str_of(variable)));
    }
    return nearest.best.ptr;
}

/* A variable that looks like ours and is none is a slip that nothing else would notice. */
static void look_at_variables(lc_doctor *doctor)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        loci_str value;
        loci_str name = lc_str_split(loci_str_of(*entry), '=', &value);
        lc_finding finding = {LC_FINDING_NOTE, "environment", NULL, "It does nothing: unset it"};
        const char *nearest;
        char advice[160];

        if (!lc_str_starts(name, LC_STR("LOCI_")) || is_variable(name))
            continue;
        nearest = nearest_variable(doctor->cli, name);
        if (nearest != NULL) {
            (void)snprintf(advice, sizeof advice, "It does nothing: did you mean %s?", nearest);
            finding.advice = advice;
        }
        lc_doctor_add(doctor, &finding, "%.*s is no variable of loci's", LC_STR_ARG(name));
    }
}

void lc_doctor_look_outside(lc_doctor *doctor)
{
    lc_store_path path;
    loci_error err;

    if (lc_store_path_find(doctor->cli, &path, &err) != LOCI_OK) {
        lc_doctor_add(doctor, &(lc_finding){LC_FINDING_BAD, "store", NULL, NULL}, "%s",
                      err.message);
        return;
    }
    lc_doctor_add(doctor, &(lc_finding){.name = "store"}, "%s (%s)", path.label, path.origin);
    if (path.is_file) {
        look_at_directory(doctor, &path);
        look_at_file(doctor, &path);
        look_at_disk(doctor, &path);
    }
    look_at_clock(doctor);
    look_at_variables(doctor);
}
