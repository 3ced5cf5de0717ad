# dashboard.cmake - the dashboard of web/ becomes a C file of the daemon. It is made again only when
# something in web/ has changed. Without Node.js or npm the file says so, and the build goes on;
# `cmake --build DIR --target dashboard` tries again.
set(LOCI_DASHBOARD_SOURCE ${PROJECT_BINARY_DIR}/dashboard_files.c)
file(GLOB_RECURSE LOCI_DASHBOARD_FILES CONFIGURE_DEPENDS web/src/*)
add_custom_command(
    OUTPUT ${LOCI_DASHBOARD_SOURCE}
    COMMAND ${PROJECT_SOURCE_DIR}/tools/build_dashboard ${LOCI_DASHBOARD_SOURCE}
    DEPENDS ${LOCI_DASHBOARD_FILES} tools/build_dashboard web/build.mjs web/package.json
            web/package-lock.json
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "Bundling the dashboard"
    VERBATIM)
target_sources(loci_server PRIVATE ${LOCI_DASHBOARD_SOURCE})
add_custom_target(
    dashboard
    COMMAND ${PROJECT_SOURCE_DIR}/tools/build_dashboard ${LOCI_DASHBOARD_SOURCE}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    VERBATIM)
