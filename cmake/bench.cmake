# bench.cmake - every bench/*.c is one program, build/<preset>/bench/<name>; bench/lib/*.c is linked
# into each. script/bench runs them.

if(LOCI_FUZZ)
    return()
endif()

file(GLOB LOCI_BENCH_SOURCES CONFIGURE_DEPENDS bench/*.c)
file(GLOB LOCI_BENCH_LIB_SOURCES CONFIGURE_DEPENDS bench/lib/*.c)
foreach(source IN LISTS LOCI_BENCH_SOURCES)
    get_filename_component(name ${source} NAME_WE)
    add_executable(bench_${name} ${source} ${LOCI_BENCH_LIB_SOURCES})
    target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR}/bench)
    target_link_libraries(
        bench_${name} PRIVATE loci_static loci_flags PkgConfig::MICROHTTPD PkgConfig::PQ)
    # The peers: a benchmark asks with `#if HAVE_JANSSON`.
    foreach(peer JANSSON CJSON)
        if(${peer}_FOUND)
            target_link_libraries(bench_${name} PRIVATE PkgConfig::${peer})
            target_compile_definitions(bench_${name} PRIVATE HAVE_${peer}=1)
        else()
            target_compile_definitions(bench_${name} PRIVATE HAVE_${peer}=0)
        endif()
    endforeach()
    set_target_properties(
        bench_${name} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endforeach()
