# SPDX-License-Identifier: MIT OR Apache-2.0
# Thin wrappers: one call per folder, every direct dependency named.

include(CMakeParseArguments)

find_program(RLX_CCACHE ccache)
if(RLX_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${RLX_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RLX_CCACHE})
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  find_program(RLX_LLD ld.lld-22)
  if(RLX_LLD)
    add_link_options(--ld-path=${RLX_LLD})
  endif()
endif()

add_library(rlx_options INTERFACE)
target_include_directories(rlx_options INTERFACE
  ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
target_compile_options(rlx_options INTERFACE -Wall -Wextra -Wno-unused-parameter
  $<$<CXX_COMPILER_ID:Clang>:-Wno-nullability-extension>)
if(RLX_ENABLE_ASSERTIONS)
  string(REGEX REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  string(REGEX REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
  string(REGEX REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
  string(REGEX REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
endif()
if(RLX_SANITIZE)
  add_compile_options(-fsanitize=${RLX_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
                      # libLLVM.so carries no type information for the checks below.
                      -fno-sanitize=vptr,function)
  add_link_options(-fsanitize=${RLX_SANITIZE})
endif()

# rlx_add_sanitizer_defaults(NAME): for programs; does nothing without RLX_SANITIZE.
function(rlx_add_sanitizer_defaults name)
  if(RLX_SANITIZE)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/SanitizerDefaults.c)
  endif()
endfunction()

# rlx_add_subdirectories(parent folder...): those of the folders that exist.
function(rlx_add_subdirectories parent)
  foreach(folder IN LISTS ARGN)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${parent}/${folder}/CMakeLists.txt)
      add_subdirectory(${parent}/${folder})
    endif()
  endforeach()
endfunction()

# rlx_add_runtime_library(NAME sources... [LINK_LIBS PUBLIC ...]): C++17 without LLVM.
function(rlx_add_runtime_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC rlx_options ${ARG_LINK_LIBS})
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
                        VISIBILITY_INLINES_HIDDEN ON)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# rlx_add_library(NAME sources... [DEPENDS targets] [LINK_LIBS PUBLIC ...]): a compiler library.
# Uses libMLIR.so and libLLVM.so: one MLIR per process for tools, plugins and hosts.
function(rlx_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC rlx_options rlx_llvm_options ${ARG_LINK_LIBS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# rlx_add_tool(NAME sources... [LINK_LIBS PRIVATE ...]): an executable of the compiler in bin/.
function(rlx_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  rlx_add_sanitizer_defaults(${name})
  target_link_libraries(${name} PRIVATE rlx_options rlx_llvm_options ${ARG_LINK_LIBS})
endfunction()

# rlx_add_unittest(NAME sources... [LLVM] [LINK_LIBS ...] [DEFINITIONS ...]): a GoogleTest program
# in unittests/, run by ctest. LLVM: built as the compiler's libraries are.
function(rlx_add_unittest name)
  cmake_parse_arguments(ARG "LLVM" "" "LINK_LIBS;DEFINITIONS;DEPENDS" ${ARGN})
  if(NOT GTest_FOUND)
    message(FATAL_ERROR "the tests need GoogleTest (libgtest-dev libgmock-dev); "
                        "-DRLX_BUILD_TESTS=OFF builds without them")
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  rlx_add_sanitizer_defaults(${name})
  target_link_libraries(${name} PRIVATE rlx_options ${ARG_LINK_LIBS} GTest::gmock GTest::gtest_main)
  if(ARG_LLVM)
    target_link_libraries(${name} PRIVATE rlx_llvm_options)
  endif()
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINITIONS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unittests)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
