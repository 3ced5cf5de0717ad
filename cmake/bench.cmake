# bench.cmake - every bench/*.c is one program, build/<preset>/bench/<name>; they share
# bench/lib/*.c. script/bench runs them, and executable scripts of bench/ too.

if(LOCI_FUZZ)
    return()
endif()

file(GLOB LOCI_BENCH_SOURCES CONFIGURE_DEPENDS bench/*.c)
if(LOCI_SANITIZE)
    # Nothing is measured there; tests run these.
    list(FILTER LOCI_BENCH_SOURCES INCLUDE REGEX "/(statebench|talk)\\.c$")
endif()
file(GLOB LOCI_BENCH_LIB_SOURCES CONFIGURE_DEPENDS bench/lib/*.c)
add_library(loci_benchlib STATIC ${LOCI_BENCH_LIB_SOURCES})
target_include_directories(loci_benchlib PUBLIC ${PROJECT_SOURCE_DIR}/bench)
target_compile_definitions(loci_benchlib PRIVATE BENCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(loci_benchlib PUBLIC loci_static PkgConfig::MICROHTTPD PkgConfig::PQ
                      PRIVATE loci_flags)
# The peers: a benchmark asks with `#if HAVE_JANSSON`.
foreach(peer JANSSON CJSON)
    if(${peer}_FOUND)
        target_link_libraries(loci_benchlib PUBLIC PkgConfig::${peer})
        target_compile_definitions(loci_benchlib PUBLIC HAVE_${peer}=1)
    else()
        target_compile_definitions(loci_benchlib PUBLIC HAVE_${peer}=0)
    endif()
endforeach()

foreach(source IN LISTS LOCI_BENCH_SOURCES)
    get_filename_component(name ${source} NAME_WE)
    add_executable(bench_${name} ${source})
    target_link_libraries(bench_${name} PRIVATE loci_benchlib loci_flags)
    set_target_properties(
        bench_${name} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endforeach()

# Short runs of some, which only show that they work: bare loops repeat statements of src/ by hand,
# growth, users, memory_users and pressure call internal functions.
set(LOCI_BENCH_TESTED writes rebuild growth users recall memory_users guard pressure)
if(LOCI_TEST_ALL)
    list(APPEND LOCI_BENCH_TESTED postgres)
endif()
foreach(name IN LISTS LOCI_BENCH_TESTED)
    if(TARGET bench_${name})
        loci_ctest(bench.${name} "bench" bench_${name})
        set_property(
            TEST bench.${name} APPEND PROPERTY ENVIRONMENT "BENCH_SMALL=1" "BENCH_ROUNDS=1")
    endif()
endforeach()
if(TARGET loci AND NOT LOCI_SANITIZE)
    loci_ctest(bench.start "bench" ${PROJECT_SOURCE_DIR}/bench/start)
    set_property(TEST bench.start APPEND PROPERTY
                 ENVIRONMENT "BENCH_ROUNDS=1" "LOCI=$<TARGET_FILE:loci>")
    loci_ctest(bench.frame_state "bench" ${PROJECT_SOURCE_DIR}/bench/frame_state)
    set_property(TEST bench.frame_state APPEND PROPERTY
                 ENVIRONMENT "BENCH_SMALL=1" "BENCH_ROUNDS=1" "LOCI=$<TARGET_FILE:loci>")
endif()
