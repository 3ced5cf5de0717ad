#include "store/postgres_library.h"

#include "base/library.h"

loci_status lc_pq_load(lc_pq *out, loci_error *err)
{
#define LC_PQ_NAME(name) "PQ" #name,
    static const char *const names[] = {LC_PQ_FUNCTIONS(LC_PQ_NAME) NULL};
#undef LC_PQ_NAME
    static const lc_library library = {"libpq.so.5", "a PostgreSQL store", "libpq5", "libpq 14",
                                       names};

    return lc_library_load(&library, out, err);
}
