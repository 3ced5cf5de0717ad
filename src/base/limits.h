/* limits.h - the maximum of everything that can grow, in one place.
 *
 * Each is tested at N-1, N and N+1. A limit that an operator may want to change is a setting
 * (engine/settings); the code relies on these.
 */
#ifndef LC_BASE_LIMITS_H
#define LC_BASE_LIMITS_H

#define LC_JSON_DEPTH_MAX 64                          /* Nesting of arrays and objects. */
#define LC_JSON_BYTES_MAX (16u * 1024 * 1024)         /* One document read. */
#define LC_ARGS_BYTES_MAX (4u * 1024 * 1024)          /* The arguments of one call. */
#define LC_ANSWER_BYTES_MAX (64u * 1024 * 1024)       /* The answer of one call. */
#define LC_EVENT_BYTES_MAX (1024u * 1024)             /* The payload of one event. */
#define LC_SNAPSHOT_PART_BYTES_MAX (3u * 1024 * 1024) /* Its payload (store/snapshot.h). */
#define LC_ID_BYTES_MAX 256                      /* tenant, user, persona, session, request ids. */
#define LC_KEY_BYTES_MAX 512                     /* A fact's key. */
#define LC_METADATA_BYTES_MAX (16 * 1024)        /* Metadata of one thing, as JSON. */
#define LC_CALLS_PER_BATCH_MAX 100               /* loci_call_many. */
#define LC_WRITES_PER_COMMIT_MAX 256             /* Group commit: calls, */
#define LC_WRITE_BYTES_PER_COMMIT_MAX (4u << 20) /* argument bytes, */
#define LC_WRITE_US_PER_COMMIT_MAX 5000          /* and time spent in bodies. */
#ifndef LC_READ_TX_MS_MAX      /* Sanitized builds, which are many times slower, define it. */
#define LC_READ_TX_MS_MAX 1000 /* An open snapshot keeps the WAL from shrinking. */
#endif
#define LC_PROBLEMS_MAX 20    /* Listed by verify; the rest is counted. */
#define LC_PAGE_ROWS_MAX 1000 /* Maximum number of rows that a list returns. */
#define LC_TOKENS_MAX 10000   /* Tokens of one tenant, without those that ended long ago. */

#define LC_FILE_BYTES_MAX (100 * 1024) /* Content of one file (memory/file.h). */
#define LC_FILE_PATH_BYTES_MAX 1024    /* Its path, */
#define LC_FILE_PATH_SEGMENTS_MAX 20   /* and the names in it below /memories. */
#define LC_FILES_PER_USER_MAX 2000     /* Files of one user that are not deleted. */

#define LC_INDEX_IDS_MAX ((1 << 24) - 64) /* Document numbers of one index are below it. */
#define LC_QUERY_TERMS_MAX 4096           /* Terms of one search. */

#define LC_GUARD_NAME_BYTES_MAX 128    /* Name of a component, cache or pipeline. */
#define LC_GUARD_COMPONENTS_MAX 4096   /* Reported by name. */
#define LC_GUARD_CACHES_MAX 64         /* Registered with one guard, */
#define LC_GUARD_PIPELINES_MAX 1024    /* and its pipelines. */
#define LC_GUARD_IN_FLIGHT_MAX 4096    /* Admitted work. */
#define LC_GUARD_QUEUE_MAX 4096        /* Work that waits for admission. */
#define LC_GUARD_BYTES_MAX (1ll << 50) /* One charge or report: keeps sums within 64 bits. */

#define LC_AGENT_NAME_BYTES_MAX 48  /* Name of an agent, */
#define LC_AGENT_ITEM_BYTES_MAX 64  /* of its pipelines and of its components. */
#define LC_AGENTS_MAX 256           /* Known to one guard, */
#define LC_AGENTS_PER_TENANT_MAX 64 /* and of one tenant. */
#define LC_AGENT_PIPELINES_MAX 16   /* Registered by one agent, */
#define LC_AGENT_COMPONENTS_MAX 32  /* and components that it reports. */

#endif /* LC_BASE_LIMITS_H */
