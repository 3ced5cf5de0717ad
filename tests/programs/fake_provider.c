/* fake_provider.c - a provider of models for the scripts in tests/e2e: says where it listens,
 * answers well, and ends with its standard input. fake_provider [DIMENSIONS] */
#include <stdio.h>
#include <stdlib.h>

#include "lib/provider.h"

int main(int argc, char **argv)
{
    provider_good good = {.dimensions = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 8};
    provider *p = provider_start(provider_answer_well, &good);

    (void)printf("%s\n", provider_url(p));
    (void)fflush(stdout);
    while (getchar() != EOF)
        continue;
    provider_stop(p);
    provider_good_clear(&good);
    return 0;
}
