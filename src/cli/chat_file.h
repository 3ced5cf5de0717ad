/* chat_file.h - the conversations in a transcript: reads the formats in which programs export them.
 *
 *     jsonl        one object {role, text|content, at|timestamp?, speaker?, session?, id?} per line
 *     markdown     messages below role headings: ## User, **User:** or User:
 *     chatgpt      conversations.json of ChatGPT; of each tree of messages the current path is read
 *     claude       conversations.json of Claude
 *     claude-code  a session of Claude Code (transcript.h)
 *
 * The content decides which one it is, not the name. Messages are handed out in pieces of one
 * conversation each, in the order of the file, so a caller can check a whole file before it stores
 * the first message, without having all of it in memory twice. Pure: reads no files.
 *
 * Every message has an external id that is the same each time the file is read: its own id, or
 * SESSION#NUMBER-HASH with its number in the conversation or file and a hash of its text. The hash
 * keeps another file with the same name from being taken for this one.
 */
#ifndef LC_CLI_CHAT_FILE_H
#define LC_CLI_CHAT_FILE_H

#include "base/arena.h"
#include "base/str.h"

#define LC_CHAT_PIECE_MESSAGES_MAX 100
#define LC_CHAT_PIECE_BYTES_MAX (600u * 1024) /* Of texts; as JSON at most six times as many. */
#define LC_CHAT_MESSAGE_BYTES_MAX (512u * 1024)
#define LC_CHAT_NO_TIME INT64_MIN

typedef struct lc_chat_message {
    const char *role;     /* user, assistant, tool, system */
    loci_str text;        /* Not blank, no U+0000. */
    loci_str external_id; /* At most 256 bytes. */
    loci_str speaker;     /* None = not said. */
    int64_t at_us;        /* Or LC_CHAT_NO_TIME. */
} lc_chat_message;

/* Messages of one conversation that follow each other. A conversation may have several pieces. */
typedef struct lc_chat_piece {
    const char *format; /* jsonl, markdown, chatgpt, claude or claude-code. */
    loci_str session;   /* Id of the conversation, or the name of the file. */
    lc_chat_message messages[LC_CHAT_PIECE_MESSAGES_MAX];
    size_t count;
    size_t bytes;
} lc_chat_piece;

typedef struct lc_chat_file {
    loci_str name; /* Without directories: for errors and as the id of a conversation without. */
    loci_str text;
    size_t tool_bytes_max; /* claude-code: what a tool answered is cut to this. */
} lc_chat_file;

/* The piece is borrowed for the call. Non-OK stops. */
typedef loci_status lc_chat_visit(void *ctx, const lc_chat_piece *piece, loci_error *err);

/* LOCI_EINVAL: the format is unknown, or the file is broken; the message says where: "chat.jsonl:
 * line 3: …". Memory of `arena` is given back. */
loci_status lc_chat_file_read(lc_arena *arena, const lc_chat_file *file, lc_chat_visit *visit,
                              void *ctx, loci_error *err);

#endif /* LC_CLI_CHAT_FILE_H */
