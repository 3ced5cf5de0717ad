/* mark.h - marks in brackets at the front of a text, and whether a reader may see it.
 *
 *     [RESTRICTED to VP+] ...   [STAFF ONLY] ...   [NOT FOR interns] ...   [TENANT: Acme] ...
 *     [INVALIDATED] ...         [SANDBOX] ...      [SCOPE: draft] ...
 *
 * A mark that restricts fails closed: a reader that is not certainly among those it names does not
 * see the text. An unknown mark says nothing. Marks are a courtesy of the text, not a lock: rights
 * are enforced by permissions and scopes of facts, whatever a text says.
 */
#ifndef LC_TALK_MARK_H
#define LC_TALK_MARK_H

#include "base/str.h"

#include <stdbool.h>

/* The weight of a title; negative for an unknown one. */
typedef int lc_ranking(loci_str title);

/* The highest rank of any word or pair of words in `text`, or -1. */
int lc_rank_in(loci_str text, lc_ranking *ranking);

/* The reader of a text. */
typedef struct lc_reader {
    int rank;                     /* lc_rank_in() of the title; -1 = not known. */
    loci_str title, organization; /* None = not known. */
    loci_str scope;               /* "[SCOPE: x] ..." is shown where this is x. */
    loci_str query;               /* The reader's question: it may name a draft. */
} lc_reader;

typedef enum lc_mark_verdict {
    LC_MARK_OPEN,       /* No mark, or none that matters to this reader. */
    LC_MARK_WITHDRAWN,  /* The mark says that the text is no longer valid. */
    LC_MARK_RESTRICTED, /* Not for this reader. */
    LC_MARK_SUPPOSED    /* A draft or of another scope, and not asked for. */
} lc_mark_verdict;

lc_mark_verdict lc_mark_judge(loci_str text, const lc_reader *reader, lc_ranking *ranking);

#endif /* LC_TALK_MARK_H */
