/* postgres_library.h - libpq, loaded when the first PostgreSQL store is opened.
 *
 * It brings some thirty shared libraries along, which every start of a program that keeps its state
 * in a file would otherwise pay for. The functions are called through this table; there is one in
 * each connection, so that nothing is shared between threads.
 */
#ifndef LC_STORE_POSTGRES_LIBRARY_H
#define LC_STORE_POSTGRES_LIBRARY_H

#include <libpq-fe.h>

#include "loci.h"

#define LC_PQ_FUNCTIONS(X)                                                                         \
    X(conninfoParse)                                                                               \
    X(conninfoFree)                                                                                \
    X(connectStartParams)                                                                          \
    X(connectPoll)                                                                                 \
    X(connectionNeedsPassword)                                                                     \
    X(status)                                                                                      \
    X(finish)                                                                                      \
    X(socket)                                                                                      \
    X(errorMessage)                                                                                \
    X(parameterStatus)                                                                             \
    X(serverVersion)                                                                               \
    X(setnonblocking)                                                                              \
    X(setNoticeReceiver)                                                                           \
    X(enterPipelineMode)                                                                           \
    X(exitPipelineMode)                                                                            \
    X(pipelineSync)                                                                                \
    X(sendFlushRequest)                                                                            \
    X(sendPrepare)                                                                                 \
    X(sendQuery)                                                                                   \
    X(sendQueryPrepared)                                                                           \
    X(flush)                                                                                       \
    X(consumeInput)                                                                                \
    X(isBusy)                                                                                      \
    X(getResult)                                                                                   \
    X(putCopyData)                                                                                 \
    X(putCopyEnd)                                                                                  \
    X(clear)                                                                                       \
    X(resultStatus)                                                                                \
    X(resultErrorField)                                                                            \
    X(ntuples)                                                                                     \
    X(nfields)                                                                                     \
    X(ftype)                                                                                       \
    X(getvalue)                                                                                    \
    X(getlength)                                                                                   \
    X(getisnull)                                                                                   \
    X(cmdStatus)                                                                                   \
    X(cmdTuples)

typedef struct lc_pq {
#define LC_PQ_MEMBER(name) __typeof__(PQ##name) *name;
    LC_PQ_FUNCTIONS(LC_PQ_MEMBER)
#undef LC_PQ_MEMBER
} lc_pq;

/* LOCI_EUNSUPPORTED when the library is not installed. */
loci_status lc_pq_load(lc_pq *out, loci_error *err);

#endif /* LC_STORE_POSTGRES_LIBRARY_H */
