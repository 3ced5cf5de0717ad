# flags.cmake - how every file is compiled (loci_flags) and how strictly src/ is (loci_strict).

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
# For a compiler that knows warnings we have not met: cmake --compile-no-warning-as-error.
set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)

# NDEBUG is never set: asserts stay on in release.
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")

add_library(loci_flags INTERFACE)
target_compile_definitions(loci_flags INTERFACE _GNU_SOURCE)
target_compile_options(
    loci_flags
    INTERFACE
        -Wall
        -Wextra
        -Wformat=2
        -Wimplicit-fallthrough
        -Wmissing-prototypes
        -Wpointer-arith
        -Wshadow
        -Wstrict-prototypes
        -Wundef
        -Wvla
        -Wwrite-strings
        # snprintf is used because it cuts; gcc's guess whether it will is only a guess.
        $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>
        # Tables of statements, columns and operations leave out trailing members that are zero: a
        # new optional member must not touch every row of every table.
        -Wno-missing-field-initializers
        # Binaries and messages name files from the root of the repository.
        -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

# A number that silently loses bits on its way to the store is damage. Signedness alone is left out:
# it would litter the code with casts that hide the ones that matter.
add_library(loci_strict INTERFACE)
target_compile_options(loci_strict INTERFACE -Wconversion -Wno-sign-conversion)

if(CMAKE_BUILD_TYPE STREQUAL "Release")
    # Level 3 also checks objects whose size is known only at run time.
    include(CheckCCompilerFlag)
    include(CheckCSourceCompiles)
    set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -Werror")
    check_c_source_compiles("#include <string.h>
        #if __USE_FORTIFY_LEVEL < 3
        #error level 3 is not supported
        #endif
        int main(void) { return 0; }" LOCI_HAS_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    set(fortify 2)
    if(LOCI_HAS_FORTIFY_3)
        set(fortify 3)
    endif()
    target_compile_options(loci_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${fortify}
                                                -fstack-protector-strong)
    foreach(flag -fstack-clash-protection -fcf-protection)
        string(MAKE_C_IDENTIFIER "LOCI_HAS${flag}" has)
        check_c_compiler_flag(${flag} ${has})
        if(${has})
            target_compile_options(loci_flags INTERFACE ${flag})
        endif()
    endforeach()
    target_link_options(loci_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()

if(LOCI_SANITIZE)
    target_compile_options(
        loci_flags INTERFACE -fsanitize=${LOCI_SANITIZE} -fno-sanitize-recover=all
                             -fno-omit-frame-pointer)
    target_compile_definitions(loci_flags INTERFACE LC_READ_TX_MS_MAX=10000)
    target_link_options(loci_flags INTERFACE -fsanitize=${LOCI_SANITIZE})
endif()

if(LOCI_FUZZ)
    target_compile_options(loci_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(LOCI_COVERAGE)
    target_compile_options(loci_flags INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(loci_flags INTERFACE --coverage)
endif()

# Executables are position independent, so that their addresses can be randomised.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
