/* import.h - statements from files of other programs.
 *
 *     markdown  list items and lines of paragraphs; headings and fenced code are skipped
 *     jsonl     one JSON string or object per line: {text | memory | content | fact, type?,
 *               importance?, observed_at? | valid_at? | created_at?, metadata? | tags?}
 *     mem0      an export of mem0: an array of such objects, or {"results": [...]}
 *     mcp       the file of the MCP server "memory": lines {"type":"entity", name, entityType,
 *               observations[]} and {"type":"relation", from, to, relationType}
 *     zep       edges of a graph of Zep as its API lists them: {fact, valid_at, invalid_at,
 *               expired_at, source_node_uuid, target_node_uuid …} in an array, or in `edges` beside
 *               `nodes`, or in `items`; and `messages` {role, content, created_at}
 *     letta     an agent file (.af) of Letta: the lines of its memory blocks, except those of the
 *               agent's own persona; passages of the archival memory as its API lists them
 *
 * A statement with invalid_at, expired_at or expiration_date is history from then on. Storing
 * deduplicates: importing a file twice changes only the number of mentions.
 */
#ifndef LC_MEMORY_IMPORT_H
#define LC_MEMORY_IMPORT_H

#include "memory/memory.h"

#define LC_IMPORT_FORMATS "auto|markdown|jsonl|mem0|mcp|zep|letta"
#define LC_IMPORT_MEMORIES_MAX 1000

typedef struct lc_memory_import {
    lc_memory_input
        *items; /* In the arena; their members that a file does not have are unset. Those
                 * that ended come last, so that each meets what took its place. */
    size_t count;
    int64_t skipped; /* Lines or objects without a statement. */
} lc_memory_import;

/* Reads a file. `format` auto: decided by its structure. LOCI_EINVAL names the line or item;
 * LOCI_ELIMIT for more than LC_IMPORT_MEMORIES_MAX statements. `like` has the members that all of
 * them share. */
loci_status lc_memory_import_read(lc_arena *arena, loci_str text, loci_str format,
                                  const lc_memory_input *like, lc_memory_import *out,
                                  loci_error *err);

#endif /* LC_MEMORY_IMPORT_H */
