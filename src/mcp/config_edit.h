/* config_edit.h - changes one entry in the configuration file of an MCP client.
 *
 * The file belongs to its user. An edit is an insertion, a replacement or a deletion of bytes at
 * the right place: comments, order, indentation, line ends, trailing commas and unknown members
 * stay as they are, and removing an entry restores the bytes from before it was added. A file that
 * cannot be read with certainty (broken syntax, a name that occurs twice, a value of an unexpected
 * kind) is refused.
 *
 *     lc_config_file file = {.format = LC_CONFIG_JSON, .text = text, .exists = true};
 *     lc_config_place place = {{LC_STR("mcpServers"), LC_STR("loci")}, 2};
 *     status = lc_config_put(arena, &file, &place, &entry, &out, err);
 *
 * JSON may have comments and trailing commas. Of TOML, tables of strings, arrays and inline tables
 * are understood. All functions append the changed text to `out`, which must be empty; `arena` is
 * for scratch memory. Messages of LOCI_EINVAL name line and column.
 */
#ifndef LC_MCP_CONFIG_EDIT_H
#define LC_MCP_CONFIG_EDIT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

#define LC_CONFIG_BYTES_MAX (64u * 1024 * 1024) /* Clients keep histories in such files. */
#define LC_CONFIG_DEPTH_MAX 128                 /* Nesting of arrays and objects. */
#define LC_CONFIG_NAMES_MAX 3

typedef enum lc_config_format { LC_CONFIG_JSON, LC_CONFIG_TOML } lc_config_format;

typedef struct lc_config_file {
    lc_config_format format;
    loci_str text;
    bool exists; /* False: there is no such file, and `text` is empty. */
} lc_config_file;

/* Path of a member, outermost name first. */
typedef struct lc_config_place {
    loci_str names[LC_CONFIG_NAMES_MAX];
    size_t count;
} lc_config_place;

/* The intended content of an entry. */
typedef struct lc_config_entry {
    loci_str value;         /* A JSON object without white space, as lc_jw_... writes it. */
    const char *const *own; /* Members of loci, ended by NULL. Of an existing entry these are set,
                             * or removed if `value` lacks them; all other members are kept. */
} lc_config_entry;

/* The value at `place` as JSON; `*out` is NULL if there is none. */
loci_status lc_config_find(lc_arena *arena, const lc_config_file *file,
                           const lc_config_place *place, const lc_json **out, loci_error *err);

/* Adds the entry, with the objects around it that are missing, or changes the existing one. */
loci_status lc_config_put(lc_arena *arena, const lc_config_file *file, const lc_config_place *place,
                          const lc_config_entry *entry, lc_buf *out, loci_error *err);

/* Removes the value at `place`, and objects around it that lc_config_put() had added.
 * `*out_exists` is false if the file itself was added and nothing else is in it. LOCI_ENOTFOUND if
 * there is no such value. */
loci_status lc_config_remove(lc_arena *arena, const lc_config_file *file,
                             const lc_config_place *place, lc_buf *out, bool *out_exists,
                             loci_error *err);

/* The same for an element of the array at `place`; JSON only. A new element is the last one. */
loci_status lc_config_add_element(lc_arena *arena, const lc_config_file *file,
                                  const lc_config_place *place, loci_str value, lc_buf *out,
                                  loci_error *err);

typedef struct lc_config_element {
    lc_config_place array;
    size_t index;
} lc_config_element;

loci_status lc_config_remove_element(lc_arena *arena, const lc_config_file *file,
                                     const lc_config_element *element, lc_buf *out,
                                     bool *out_exists, loci_error *err);

/* ---- One format each: for config_edit's own files -------------------------------------------- */

loci_status lc_config_json_find(lc_arena *arena, const lc_config_file *file,
                                const lc_config_place *place, const lc_json **out, loci_error *err);
loci_status lc_config_json_put(lc_arena *arena, const lc_config_file *file,
                               const lc_config_place *place, const lc_config_entry *entry,
                               lc_buf *out, loci_error *err);
loci_status lc_config_json_remove(lc_arena *arena, const lc_config_file *file,
                                  const lc_config_place *place, lc_buf *out, bool *out_exists,
                                  loci_error *err);
loci_status lc_config_toml_find(lc_arena *arena, const lc_config_file *file,
                                const lc_config_place *place, const lc_json **out, loci_error *err);
loci_status lc_config_toml_put(lc_arena *arena, const lc_config_file *file,
                               const lc_config_place *place, const lc_config_entry *entry,
                               lc_buf *out, loci_error *err);
loci_status lc_config_toml_remove(lc_arena *arena, const lc_config_file *file,
                                  const lc_config_place *place, lc_buf *out, bool *out_exists,
                                  loci_error *err);

/* The line end that the text uses: that of its first line, else LF. */
loci_str lc_config_line_end(loci_str text);
/* LOCI_EINVAL with the line and column of `at`. */
loci_status lc_config_fail(loci_str text, size_t at, const char *what, loci_error *err);

#endif /* LC_MCP_CONFIG_EDIT_H */
