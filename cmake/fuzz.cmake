# fuzz.cmake - every tests/fuzz/*.c is one target, build/<preset>/tests/<name>.
#
# In the fuzz preset libFuzzer drives it. In all others tests/lib/fuzz_replay.c does: it runs the
# corpus in tests/fuzz/corpus/<name>/ and mutations of it that are the same in every run.

file(GLOB LOCI_FUZZ_SOURCES CONFIGURE_DEPENDS tests/fuzz/*.c)
foreach(source IN LISTS LOCI_FUZZ_SOURCES)
    get_filename_component(name ${source} NAME_WE)
    set(target fuzz_target_${name})
    if(LOCI_FUZZ)
        add_executable(${target} ${source})
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    else()
        add_executable(${target} ${source} tests/lib/fuzz_replay.c)
        loci_ctest(fuzz.${name} fuzz ${target} tests/fuzz/corpus/${name})
    endif()
    target_link_libraries(${target} PRIVATE loci_testlib loci_server loci_flags)
    set_target_properties(
        ${target} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endforeach()
