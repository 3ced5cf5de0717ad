/* findings.h - results of checks: collected, then printed as a list or as JSON. */
#ifndef LC_CLI_FINDINGS_H
#define LC_CLI_FINDINGS_H

#include "cli/cli.h"

typedef enum lc_finding_kind {
    LC_GOOD,
    LC_NOTE, /* Worth knowing; not a failure. */
    LC_BAD
} lc_finding_kind;

typedef struct lc_finding {
    lc_finding_kind kind;
    const char *name;    /* "disk" */
    const char *detail;  /* The result. */
    const char *advice;  /* The next step, or NULL. */
    const char *subject; /* The checked object, or NULL; set from lc_findings. */
} lc_finding;

#define LC_FINDINGS_MAX 160 /* Further ones are dropped; failures are still counted. */

typedef struct lc_findings {
    lc_cli *cli;
    const char *subject; /* Of the findings that follow: a heading, such as a client; or NULL. */
    lc_finding items[LC_FINDINGS_MAX];
    size_t count;
    bool is_any_bad;
} lc_findings;

/* `advice` is what to do about it, or NULL; a format and its arguments follow. */
#define lc_find(findings, kind, name, advice, ...)                                                 \
    lc_findings_add(findings, &(lc_finding){kind, name, NULL, advice, NULL}, __VA_ARGS__)

void lc_findings_add(lc_findings *findings, const lc_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends all findings to the output, as JSON with --json. */
void lc_findings_print(lc_findings *findings);

/* Checks the store that the global options name, its directory, its data files and the settings
 * (doctor.c). */
void lc_doctor_check_store(lc_findings *findings);

#endif /* LC_CLI_FINDINGS_H */
