/* answers.h - checks every answer against the type that its operation declares.
 *
 * Tests are linked with --wrap, so that their calls of loci_call(), loci_call_many(),
 * loci_call_stream() and loci_submit() pass through here. An answer with a member that is not
 * declared, without one that is required, or with a value of another type fails the test.
 */
#ifndef LC_TESTS_LIB_ANSWERS_H
#define LC_TESTS_LIB_ANSWERS_H

#include "loci.h"

#include "ops/op.h"

/* The first mistake in `answer`, as "facts.0.id: …" in memory of the test library, or NULL. */
const char *test_answer_fault(const lc_op *op, loci_str answer);

#endif /* LC_TESTS_LIB_ANSWERS_H */
