/* statement.h - sentences of plain English that give something a value.
 *
 * A few forms are recognised; any other sentence is not a statement:
 *
 *     [the|my|our] SUBJECT is [now] VALUE          SUBJECT: VALUE
 *     SUBJECT [has been] moved to VALUE            VALUE is our new SUBJECT
 *     move SUBJECT to VALUE                        we've changed SUBJECT to VALUE
 *     it's now VALUE    make it VALUE              no wait, VALUE          I meant VALUE
 *     let's go with VALUE [for SUBJECT]            we've settled on VALUE
 *     I moved to VALUE (and other implications of the lexicon)
 *     remember that SUBJECT is VALUE               we use VALUE for SUBJECT
 *
 * In real conversations words such as "change" are common and actual changes are rare, so a
 * sentence that asks, supposes, wishes, denies, reports, quotes or speaks of the past gives no
 * statement at all, nor does one of more than LC_STATEMENT_WORDS_MAX words or with code. The effect
 * of a statement is decided elsewhere (talk/propose.h). Reading is linear in the text.
 */
#ifndef LC_TALK_STATEMENT_H
#define LC_TALK_STATEMENT_H

#include "talk/term.h"

#define LC_STATEMENT_WORDS_MAX 30
/* Of one text; the last ones are kept, because they correct the others. */
#define LC_STATEMENTS_MAX 8

/* How a statement names what it is about. */
typedef enum lc_statement_form {
    LC_STATES_SUBJECT,  /* `subject` names it. */
    LC_STATES_BACK,     /* "it", or nothing: what was said last. */
    LC_STATES_IMPLIED,  /* `implication` has the keys. */
    LC_STATES_REMEMBER, /* The speaker asks to remember it. `subject` names it. */
    LC_STATES_USE       /* "we use VALUE for SUBJECT" */
} lc_statement_form;

typedef struct lc_statement {
    lc_statement_form form;
    lc_terms sentence; /* All of it. */
    lc_terms subject;  /* Without its article. */
    lc_terms value;
    const lc_implication *implication;
    bool is_correction; /* "actually", "no wait": takes something back. */
    bool is_news;       /* Says that it is so from now on, or that it was changed. */
    bool is_own;        /* Of the speaker: "my", "our". */
    bool is_mine;       /* Of the speaker alone: "my", "I". */
    bool leans_on_rank; /* "Per the CEO, ..." */
} lc_statement;

typedef struct lc_statements {
    lc_statement items[LC_STATEMENTS_MAX];
    size_t count;
} lc_statements;

/* The statements of a text, in its order. */
void lc_statements_read(lc_terms text, lc_statements *out);

/* The clause that begins at term `first` of the text: up to the end of the sentence, a semicolon,
 * or a comma before a word that begins another one. */
lc_terms lc_clause_at(lc_terms text, size_t first);

#endif /* LC_TALK_STATEMENT_H */
