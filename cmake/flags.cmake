# Flags of every variant. A preset (CMakePresets.json) chooses FERRY_SANITIZE and the build type.
set(FERRY_SANITIZE "" CACHE STRING "address, thread, fuzzer or empty")
option(FERRY_TESTS "build the tests" ON)
option(FERRY_WERROR "warnings are errors" OFF)
option(FERRY_FAULTS "tests can make the n-th allocation or system call fail; parking is checked" ON)
option(FERRY_COVERAGE "count the lines that tests run" OFF)

add_library(ferry_flags INTERFACE)
target_compile_definitions(ferry_flags INTERFACE _GNU_SOURCE FERRY_VERSION="${PROJECT_VERSION}")
target_include_directories(ferry_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(ferry_flags INTERFACE
    -fno-omit-frame-pointer -fPIE -fstack-clash-protection
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wvla
    -Walloca -Wformat=2 -Wundef -Wcast-qual -Wwrite-strings -Wimplicit-fallthrough -Wswitch-enum
    -Wnull-dereference -Wdouble-promotion -Wpointer-arith -Wredundant-decls)
target_link_options(ferry_flags INTERFACE -pie -Wl,-z,relro,-z,now)
target_link_libraries(ferry_flags INTERFACE Threads::Threads)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(ferry_flags INTERFACE -Wduplicated-cond -Wduplicated-branches
        -Wlogical-op -Wjump-misses-init -Wtrampolines)
else()
    target_compile_options(ferry_flags INTERFACE -Wcomma)
endif()
if(FERRY_WERROR)
    target_compile_options(ferry_flags INTERFACE -Werror)
endif()
if(FERRY_FAULTS)
    target_compile_definitions(ferry_flags INTERFACE FERRY_FAULTS)
endif()

if(FERRY_SANITIZE STREQUAL "address")
    target_compile_options(ferry_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all)
    target_link_options(ferry_flags INTERFACE -fsanitize=address,undefined)
elseif(FERRY_SANITIZE STREQUAL "thread")
    target_compile_options(ferry_flags INTERFACE -fsanitize=thread)
    target_link_options(ferry_flags INTERFACE -fsanitize=thread)
elseif(FERRY_SANITIZE STREQUAL "fuzzer")
    target_compile_options(ferry_flags INTERFACE
        -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
    target_link_options(ferry_flags INTERFACE -fsanitize=address,undefined)
endif()
if(FERRY_SANITIZE STREQUAL "")
    # Of src alone. A task's stack is 64 KB; sanitizers make frames larger and get larger stacks.
    set(FERRY_FRAME_OPTION -Wframe-larger-than=2048)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(ferry_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
        -fstack-protector-strong -fcf-protection=branch # no shadow stack: src/task/context.c
        -Wno-null-dereference) # what an assert says is not known here
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        target_compile_options(ferry_flags INTERFACE -ftrivial-auto-var-init=zero)
    endif()
endif()
if(FERRY_COVERAGE)
    target_compile_options(ferry_flags INTERFACE --coverage)
    target_link_options(ferry_flags INTERFACE --coverage)
endif()

# Lengths from a peer are where the bugs are: every conversion is written down.
set(FERRY_STRICT_LAYERS base codec vfs ftp/wire ssh/wire sftp/wire scp/wire)

find_package(PkgConfig REQUIRED)
