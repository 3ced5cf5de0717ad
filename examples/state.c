/* state.c - writes a fact, reads it back and shows an error.
 *
 *     cc state.c $(pkg-config --cflags --libs loci) -o state && ./state agent.db
 */
#include <loci.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine;
    loci_answer *answer;
    loci_error err;

    options.store = argc > 1 ? argv[1] : "agent.db";
    if (loci_open(&options, &engine, &err) != LOCI_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    /* The answer is not needed: the call says whether the fact is durable. */
    if (loci_call(engine, "fact.write", loci_str_of("{\"key\":\"city\",\"value\":\"Oslo\"}"), NULL,
                  NULL, &err) != LOCI_OK)
        fprintf(stderr, "%s\n", err.message);
    if (loci_call(engine, "fact.current", loci_str_of("{\"key\":\"city\"}"), NULL, &answer, &err) ==
        LOCI_OK) {
        printf("%s\n", loci_answer_json(answer).ptr);
        loci_answer_free(answer);
    }
    if (loci_call(engine, "fact.write", loci_str_of("{}"), NULL, NULL, &err) != LOCI_OK)
        printf("%s: %s\n", loci_status_name(err.status), err.message);
    loci_close(engine);
    return 0;
}
