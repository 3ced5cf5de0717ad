/* doctor.h - findings of `loci doctor`, collected and printed. */
#ifndef LC_CLI_DOCTOR_H
#define LC_CLI_DOCTOR_H

#include "cli/cli.h"

typedef enum lc_finding_kind {
    LC_FINDING_GOOD,
    LC_FINDING_NOTE, /* Worth knowing; nothing is wrong. */
    LC_FINDING_BAD
} lc_finding_kind;

typedef struct lc_finding {
    lc_finding_kind kind;
    const char *name;   /* "disk" */
    const char *detail; /* What was seen. */
    const char *advice; /* What to do, or NULL. */
} lc_finding;

#define LC_FINDINGS_MAX 48

typedef struct lc_doctor {
    lc_cli *cli;
    lc_finding findings[LC_FINDINGS_MAX];
    size_t count;
    bool is_any_bad;
} lc_doctor;

/* Adds a finding; `advice` (may be NULL) and the formatted detail are copied. */
void lc_doctor_add(lc_doctor *doctor, const lc_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints all, in words or as JSON. */
void lc_doctor_print(lc_doctor *doctor);

/* The environment: store path, directory, permissions, disk, variables, clock, shell. */
void lc_doctor_look_outside(lc_doctor *doctor);
/* The store itself: opens, schema, verify. */
void lc_doctor_look_inside(lc_doctor *doctor);
/* A running daemon instead: lives, is ready, knows its callers, answers. `token_file` may be NULL.
 */
void lc_doctor_look_at_daemon(lc_doctor *doctor, const char *url, const char *token_file);

#endif /* LC_CLI_DOCTOR_H */
