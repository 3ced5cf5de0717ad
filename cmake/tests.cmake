# tests.cmake - every folder of tests/ is one runner, named after it; ctest runs them all.
#
#   tests/<folder>/**/*.c   -> build/<preset>/tests/<folder>, linked with tests/lib and the library
#   tests/e2e/*.sh          -> run with LOCI=<the program> and BUILD_DIR; label npm if it installs
#   tests/programs/*.c      -> build/<preset>/tests/<name>, a program that other tests start
#   tests/shims/*.c         -> build/<preset>/tests/<name>.so, to be preloaded by other tests
#   tests/tools/*.sh        -> tests of the checkers, run in the source tree
#   tests/package/*.sh      -> tests of the Debian packages, run by script/package

find_package(PkgConfig REQUIRED)
pkg_check_modules(CJSON IMPORTED_TARGET libcjson)
pkg_check_modules(PCRE2 IMPORTED_TARGET libpcre2-8)

set(LOCI_TEST_DIR ${PROJECT_BINARY_DIR}/tests)
set(LOCI_TEST_ENVIRONMENT
    "LOCI=${PROJECT_BINARY_DIR}/loci"
    "BUILD_DIR=${PROJECT_BINARY_DIR}"
    "CC=${CMAKE_C_COMPILER}"
    "ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1"
    "LSAN_OPTIONS=print_suppressions=0")

# What takes longest starts first, so that nothing long is left for the end.
set(LOCI_TEST_LONG fault contract e2e.dashboard e2e.mcp_inspector e2e.mcp_clients
    e2e.serve_openapi e2e.serve_api unit e2e.serve_life server)

# loci_ctest(NAME LABELS COMMAND...): one entry of ctest.
function(loci_ctest name labels)
    add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(
        ${name} PROPERTIES LABELS "${labels}" TIMEOUT ${LOCI_TEST_TIMEOUT_S}
        ENVIRONMENT "${LOCI_TEST_ENVIRONMENT}")
    list(FIND LOCI_TEST_LONG ${name} place)
    if(NOT place EQUAL -1)
        math(EXPR cost "100 - ${place}")
        set_tests_properties(${name} PROPERTIES COST ${cost})
    endif()
endfunction()

# What test code sees: the test library, and whatever the tests compare us with.
file(GLOB LOCI_TEST_LIB_SOURCES CONFIGURE_DEPENDS tests/lib/*.c)
list(FILTER LOCI_TEST_LIB_SOURCES EXCLUDE REGEX "/(main|fuzz_replay)\\.c$")
add_library(loci_testlib STATIC ${LOCI_TEST_LIB_SOURCES})
target_include_directories(
    loci_testlib PUBLIC ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/tests/lib)
target_compile_definitions(
    loci_testlib PUBLIC TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                        TEST_BUILD_DIR="${PROJECT_BINARY_DIR}")
target_link_libraries(loci_testlib PUBLIC loci_static PRIVATE loci_flags PkgConfig::PQ)
# Calls of tests pass through tests/lib/answers.c, which checks every answer.
foreach(function loci_call loci_call_many loci_call_stream loci_submit)
    target_link_options(loci_testlib INTERFACE -Wl,--wrap=${function})
endforeach()
target_link_libraries(loci_testlib PUBLIC PkgConfig::JANSSON)
if(PCRE2_FOUND)
    target_link_libraries(loci_testlib PUBLIC PkgConfig::PCRE2)
endif()

if(LOCI_FUZZ)
    return()
endif()

set(LOCI_NO_RUNNER lib fuzz header tools programs shims package)
# Threads live in the engine; these runners meet it, and are run under ThreadSanitizer as well.
set(LOCI_THREADED unit contract sim fault e2e server)
# These run once on files and once on a PostgreSQL server of their own (tests/lib/postgres.h), in so
# many parts that run side by side.
set(LOCI_SERVER_PARTS_contract 1 2)
set(LOCI_SERVER_PARTS_sim 1)

# loci_threaded_suites(OUT FOLDER): the suites of the files that have to do with threads.
function(loci_threaded_suites out folder)
    set(suites)
    file(GLOB_RECURSE sources tests/${folder}/*.c)
    foreach(source IN LISTS sources)
        file(STRINGS ${source} threads REGEX "pthread|test_open_threads|worker|thrd_|lc_pool")
        if(threads)
            file(STRINGS ${source} tests REGEX "^TEST\\(")
            list(TRANSFORM tests REPLACE "^TEST\\(([a-z0-9_]+),.*" "\\1.")
            list(APPEND suites ${tests})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES suites)
    set(${out} ${suites} PARENT_SCOPE)
endfunction()

file(GLOB LOCI_TEST_FOLDERS CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE
     ${PROJECT_SOURCE_DIR}/tests tests/*)
foreach(folder IN LISTS LOCI_TEST_FOLDERS)
    if(folder IN_LIST LOCI_NO_RUNNER)
        continue()
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS tests/${folder}/*.c)
    if(NOT sources)
        continue()
    endif()
    if(folder STREQUAL "unit") # Parts of the program with rules of their own.
        list(APPEND sources src/cli/chat_file.c src/cli/project.c src/cli/transcript.c
             src/cli/render.c src/cli/rows.c src/cli/sentence.c src/cli/shell_words.c
             src/cli/drawing.c src/cli/frame_draw.c src/cli/guard_draw.c src/cli/table.c
             src/cli/terminal.c src/cli/window_draw.c)
    endif()
    add_executable(test_${folder} ${sources} tests/lib/main.c)
    target_link_libraries(test_${folder} PRIVATE loci_testlib loci_server loci_flags)
    set_target_properties(
        test_${folder} PROPERTIES OUTPUT_NAME ${folder} RUNTIME_OUTPUT_DIRECTORY ${LOCI_TEST_DIR})
    if(TARGET loci)
        add_dependencies(test_${folder} loci)
    endif()

    set(labels runner ${folder})
    if(folder IN_LIST LOCI_THREADED)
        list(APPEND labels tsan)
    endif()
    set(suites)
    if(LOCI_SANITIZE STREQUAL "thread" AND NOT LOCI_TEST_ALL AND folder MATCHES "contract|unit")
        loci_threaded_suites(suites ${folder})
    endif()
    loci_ctest(${folder} "${labels}" test_${folder} ${suites})
    if(folder STREQUAL "fault") # The longest of all: two halves that run side by side.
        loci_ctest(fault.second "${labels}" test_${folder})
        set_property(TEST fault APPEND PROPERTY ENVIRONMENT "LOCI_TEST_PART=1/2")
        set_property(TEST fault.second APPEND PROPERTY ENVIRONMENT "LOCI_TEST_PART=2/2")
    endif()
    foreach(part IN LISTS LOCI_SERVER_PARTS_${folder})
        set(name ${folder}.postgresql_${part})
        list(LENGTH LOCI_SERVER_PARTS_${folder} parts)
        loci_ctest(${name} "${labels};postgresql" test_${folder})
        set_property(
            TEST ${name} APPEND PROPERTY ENVIRONMENT "LOCI_TEST_STORE=postgresql"
                                         "LOCI_TEST_PART=${part}/${parts}")
    endforeach()
endforeach()

# What only a server can do to us, and what is kept of its rows, is short enough for sanitizers;
# the rest on a server has a label of its own, "postgresql", so that it can be left out there.
if(TARGET test_contract AND LOCI_SANITIZE)
    loci_ctest(contract.server "runner;contract;tsan" test_contract postgres. read_cache. db.)
    set_property(TEST contract.server APPEND PROPERTY ENVIRONMENT "LOCI_TEST_STORE=postgresql")
endif()

file(GLOB LOCI_TEST_PROGRAMS CONFIGURE_DEPENDS tests/programs/*.c)
foreach(source IN LISTS LOCI_TEST_PROGRAMS)
    get_filename_component(name ${source} NAME_WE)
    add_executable(program_${name} ${source})
    target_link_libraries(program_${name} PRIVATE loci_server loci_testlib loci_flags)
    set_target_properties(
        program_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${LOCI_TEST_DIR})
endforeach()

file(GLOB LOCI_TEST_SHIMS CONFIGURE_DEPENDS tests/shims/*.c)
foreach(source IN LISTS LOCI_TEST_SHIMS)
    get_filename_component(name ${source} NAME_WE)
    add_library(shim_${name} MODULE ${source})
    # Without the sanitizers' runtime: a preloaded library comes before it. And with everything
    # visible: to be found by name is what a shim is for.
    target_compile_definitions(shim_${name} PRIVATE _GNU_SOURCE)
    target_compile_options(shim_${name} PRIVATE -Wall -Wextra -Werror)
    target_link_libraries(shim_${name} PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
    set_target_properties(
        shim_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} C_VISIBILITY_PRESET default
        LIBRARY_OUTPUT_DIRECTORY ${LOCI_TEST_DIR})
endforeach()

if(TARGET loci)
    file(GLOB LOCI_E2E_SCRIPTS CONFIGURE_DEPENDS tests/e2e/*.sh)
    foreach(source IN LISTS LOCI_E2E_SCRIPTS)
        get_filename_component(name ${source} NAME_WE)
        # Programs that are built without sanitizers cannot load a sanitized library.
        if(name MATCHES "^(install|docs|points|guard)$" AND LOCI_SANITIZE)
            continue()
        endif()
        if(name STREQUAL "mcp_hosts" AND (LOCI_SANITIZE OR NOT LOCI_TEST_ALL))
            continue() # It installs 1.2 GB.
        endif()
        set(labels e2e tsan)
        file(STRINGS ${source} installs REGEX "^(npm_install|install_[a-z]+)")
        if(installs)
            list(APPEND labels npm)
        endif()
        if(name MATCHES "^postgres")
            list(APPEND labels postgresql)
        endif()
        loci_ctest(e2e.${name} "${labels}" bash ${source})
    endforeach()
endif()

# The checkers on this tree, and on trees made to offend them. Both are independent of the build,
# so script/test runs them once: "static" before it builds, "tools" with the release build.
loci_ctest(check.format static tools/check_format.sh)
loci_ctest(check.layers static tools/check_layers.sh)
loci_ctest(check.tidy static tools/tidy)
loci_ctest(check.prose static tools/check_prose)
loci_ctest(header tools tests/header/run.sh)
if(NOT LOCI_SANITIZE AND NOT LOCI_COVERAGE)
    loci_ctest(check.symbols static tools/check_symbols.sh ${PROJECT_BINARY_DIR})
    loci_ctest(check.abi static tools/check_abi.sh ${PROJECT_BINARY_DIR})
endif()
file(GLOB LOCI_TOOL_TESTS CONFIGURE_DEPENDS tests/tools/test_*.sh)
foreach(source IN LISTS LOCI_TOOL_TESTS)
    get_filename_component(name ${source} NAME_WE)
    loci_ctest(tools.${name} tools bash ${source})
endforeach()
