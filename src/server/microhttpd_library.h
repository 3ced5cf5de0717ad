/* microhttpd_library.h - libmicrohttpd, loaded when a server is started.
 *
 * The program is both daemon and command line. libmicrohttpd brings GnuTLS and eight more shared
 * libraries, whose loading and initialisation every command would otherwise pay for. Its functions
 * are called through this table, which each server has.
 */
#ifndef LC_SERVER_MICROHTTPD_LIBRARY_H
#define LC_SERVER_MICROHTTPD_LIBRARY_H

#include <microhttpd.h>

#define LC_MHD_FUNCTIONS(X)                                                                        \
    X(start_daemon)                                                                                \
    X(quiesce_daemon)                                                                              \
    X(stop_daemon)                                                                                 \
    X(add_connection)                                                                              \
    X(suspend_connection)                                                                          \
    X(resume_connection)                                                                           \
    X(get_connection_info)                                                                         \
    X(get_connection_values_n)                                                                     \
    X(create_response_from_buffer)                                                                 \
    X(create_response_from_callback)                                                               \
    X(add_response_header)                                                                         \
    X(queue_response)                                                                              \
    X(destroy_response)

typedef struct lc_mhd {
#define LC_MHD_MEMBER(name) __typeof__(MHD_##name) *name;
    LC_MHD_FUNCTIONS(LC_MHD_MEMBER)
#undef LC_MHD_MEMBER
} lc_mhd;

#endif /* LC_SERVER_MICROHTTPD_LIBRARY_H */
