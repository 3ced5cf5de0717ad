/* import.h - statements from files of other programs.
 *
 *     markdown  list items and lines of paragraphs; headings and fenced code are skipped
 *     jsonl     one JSON string or object per line: {text | memory | content, type?, importance?,
 *               observed_at? | created_at?, metadata?}
 *     mem0      an export of mem0: an array of such objects, or {"results": [...]}
 *     mcp       the file of the MCP server "memory": lines {"type":"entity", name, entityType,
 *               observations[]} and {"type":"relation", from, to, relationType}
 *
 * Everything is deduplicated by storing it: importing a file twice changes counts only.
 */
#ifndef LC_MEMORY_IMPORT_H
#define LC_MEMORY_IMPORT_H

#include "memory/memory.h"

#define LC_IMPORT_FORMATS "auto|markdown|jsonl|mem0|mcp"
#define LC_IMPORT_MEMORIES_MAX 1000

typedef struct lc_memory_import {
    lc_memory_input *items; /* In the arena; their members that a file does not have are unset. */
    size_t count;
    int64_t skipped; /* Lines or objects without a statement. */
} lc_memory_import;

/* Reads a file. `format` auto: decided by its first characters. LOCI_EINVAL names the line;
 * LOCI_ELIMIT for more than LC_IMPORT_MEMORIES_MAX statements. `like` has the members that all of
 * them share. */
loci_status lc_memory_import_read(lc_arena *arena, loci_str text, loci_str format,
                                  const lc_memory_input *like, lc_memory_import *out,
                                  loci_error *err);

#endif /* LC_MEMORY_IMPORT_H */
