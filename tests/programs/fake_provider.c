/* fake_provider.c - a provider of models for the scripts in tests/e2e: says where it listens,
 * answers well, and ends with its standard input. fake_provider [DIMENSIONS [SCRIPT]]
 *
 * A line of SCRIPT is "WORDS<tab>ANSWER": a chat about a message with these words gets this answer;
 * the first such line counts, and without one it is what a good provider says. The answer !hang is
 * none at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/provider.h"

typedef struct host {
    provider_good good;
    const char *script;
    char line[65536];
} host;

/* The answer of the first line whose words are in the message that is asked about (in JSON in a
 * JSON string, behind everything else), or NULL. */
static const char *find_line(host *h, loci_str request)
{
    static const char mark[] = "\\\"message\\\":";
    const char *message = memmem(request.ptr, request.len, mark, sizeof mark - 1);
    FILE *file = h->script != NULL && message != NULL ? fopen(h->script, "r") : NULL;
    size_t bytes = message != NULL ? request.len - (size_t)(message - request.ptr) : 0;
    const char *found = NULL;

    while (file != NULL && found == NULL && fgets(h->line, sizeof h->line, file) != NULL) {
        char *tab = strchr(h->line, '\t');

        h->line[strcspn(h->line, "\n")] = '\0';
        if (tab != NULL && memmem(message, bytes, h->line, (size_t)(tab - h->line)) != NULL)
            found = tab + 1;
    }
    if (file != NULL)
        (void)fclose(file);
    return found;
}

static void answer(void *ctx, const provider_request *request, provider_reply *reply)
{
    host *h = ctx;
    const char *said = find_line(h, request->body);

    if (said == NULL)
        provider_answer_well(&h->good, request, reply);
    else if (strcmp(said, "!hang") == 0)
        reply->hangs = true;
    else
        provider_say(&h->good, said, reply);
}

int main(int argc, char **argv)
{
    static host h;
    provider *p;

    h.good.dimensions = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 8;
    h.script = argc > 2 ? argv[2] : NULL;
    p = provider_start(answer, &h);
    (void)printf("%s\n", provider_url(p));
    (void)fflush(stdout);
    while (getchar() != EOF)
        continue;
    provider_stop(p);
    provider_good_clear(&h.good);
    return 0;
}
