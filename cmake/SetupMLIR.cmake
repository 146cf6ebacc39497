# SPDX-License-Identifier: MIT OR Apache-2.0
# Finds the packaged LLVM/MLIR 22 and sets what its CMake functions expect.
# The package's version file accepts an equal major.minor only, hence the check by hand.
find_package(MLIR CONFIG QUIET HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "RLX needs MLIR 22 (libmlir-22-dev mlir-22-tools); "
                      "scripts/check installs it, -DMLIR_DIR= points elsewhere, "
                      "-DRLX_BUILD_COMPILER=OFF builds the runtime alone")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "RLX needs LLVM/MLIR 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
endif()
find_package(LLD CONFIG REQUIRED HINTS /usr/lib/llvm-22/lib/cmake/lld)

set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# As LLVM itself is built: RTTI on, exceptions off. Applied by rlx_add_library and
# rlx_add_tool to the compiler's targets only; HandleLLVMOptions would change the runtime's too.
add_library(rlx_llvm_options INTERFACE)
target_include_directories(rlx_llvm_options SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(rlx_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(rlx_llvm_options INTERFACE
  ${rlx_llvm_definitions} -fno-exceptions $<$<NOT:$<BOOL:${LLVM_ENABLE_RTTI}>>:-fno-rtti>)
