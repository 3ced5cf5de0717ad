# install.cmake - what `cmake --install` puts where: program, libraries, header, pkg-config file,
# CMake package, man page, completion scripts, systemd unit, its user and its directory.
# debian/*.install says which Debian package has which of them.
#
# Components: loci (program), libloci (shared library), dev (everything to build with it), data.

install(TARGETS loci COMPONENT loci)
install(
    TARGETS loci_shared EXPORT loci
    LIBRARY COMPONENT libloci NAMELINK_COMPONENT dev)
install(TARGETS loci_static ARCHIVE COMPONENT dev)
install(FILES include/loci.h TYPE INCLUDE COMPONENT dev)

# pkg-config: paths are relative to the file, so that a tree can be moved.
file(RELATIVE_PATH LOCI_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/loci.pc.in loci.pc @ONLY)
install(
    FILES ${PROJECT_BINARY_DIR}/loci.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT dev)

# find_package(loci): the shared library as loci::loci.
include(CMakePackageConfigHelpers)
set(LOCI_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/loci)
install(
    EXPORT loci NAMESPACE loci:: FILE lociConfig.cmake DESTINATION ${LOCI_CMAKE_DIR}
    COMPONENT dev)
write_basic_package_version_file(lociConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
    FILES ${PROJECT_BINARY_DIR}/lociConfigVersion.cmake DESTINATION ${LOCI_CMAKE_DIR}
    COMPONENT dev)

# The program writes its own completion scripts.
set(LOCI_COMPLETIONS ${PROJECT_BINARY_DIR}/completions)
set(LOCI_BASH ${LOCI_COMPLETIONS}/loci)
set(LOCI_ZSH ${LOCI_COMPLETIONS}/_loci)
set(LOCI_FISH ${LOCI_COMPLETIONS}/loci.fish)
file(MAKE_DIRECTORY ${LOCI_COMPLETIONS})
add_custom_command(
    OUTPUT ${LOCI_BASH} ${LOCI_ZSH} ${LOCI_FISH}
    COMMAND loci completion bash > ${LOCI_BASH}
    COMMAND loci completion zsh > ${LOCI_ZSH}
    COMMAND loci completion fish > ${LOCI_FISH}
    DEPENDS loci
    VERBATIM)
add_custom_target(loci_completions ALL DEPENDS ${LOCI_BASH} ${LOCI_ZSH} ${LOCI_FISH})
set(LOCI_SHARE ${CMAKE_INSTALL_DATADIR})
install(FILES ${LOCI_BASH} DESTINATION ${LOCI_SHARE}/bash-completion/completions COMPONENT loci)
install(FILES ${LOCI_ZSH} DESTINATION ${LOCI_SHARE}/zsh/site-functions COMPONENT loci)
install(FILES ${LOCI_FISH} DESTINATION ${LOCI_SHARE}/fish/vendor_completions.d COMPONENT loci)
install(FILES docs/loci.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT loci)

# The unit names the installed program.
configure_file(packaging/loci.service.in loci.service @ONLY)
install(
    FILES ${PROJECT_BINARY_DIR}/loci.service DESTINATION lib/systemd/system COMPONENT loci)
install(FILES packaging/loci.sysusers DESTINATION lib/sysusers.d RENAME loci.conf COMPONENT loci)
install(FILES packaging/loci.tmpfiles DESTINATION lib/tmpfiles.d RENAME loci.conf COMPONENT loci)
install(FILES packaging/loci.json DESTINATION ${LOCI_SHARE}/doc/loci/examples COMPONENT loci)
