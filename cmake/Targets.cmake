# How this project's own targets are made.

add_library(opensandbox_flags INTERFACE)
target_compile_features(opensandbox_flags INTERFACE cxx_std_20)
target_compile_options(opensandbox_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                                    -Wno-missing-field-initializers)  # designated initialisers
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on "text" + std::string (GCC bug 105651).
  target_compile_options(opensandbox_flags INTERFACE -Wno-restrict -Wno-array-bounds
                                                      -Wno-stringop-overflow)
endif()
if(OPENSANDBOX_WERROR)
  target_compile_options(opensandbox_flags INTERFACE -Werror)
endif()
if(OPENSANDBOX_SANITIZE)
  # vptr: that check opens a pipe to look at the object, so it gives false alarms where a test uses up the descriptors.
  target_compile_options(opensandbox_flags INTERFACE -fsanitize=${OPENSANDBOX_SANITIZE} -fno-sanitize=vptr
                                                    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(opensandbox_flags INTERFACE -fsanitize=${OPENSANDBOX_SANITIZE})
endif()

# opensandbox_precompiled_json(): nlohmann's header costs more to read than most files here; it is read once, by this
# target, for all libraries that name JSON.
function(opensandbox_precompiled_json)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/precompiled_json.cc CONTENT "\n")
  add_library(precompiled_json STATIC ${CMAKE_CURRENT_BINARY_DIR}/precompiled_json.cc)
  set_target_properties(precompiled_json PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(precompiled_json PRIVATE nlohmann_json::nlohmann_json opensandbox_flags)
  target_precompile_headers(precompiled_json PRIVATE <nlohmann/json.hpp> <functional> <map> <memory> <optional> <string>
                                                     <vector>)
endfunction()

# opensandbox_library(NAME [JSON] DIR folder [DIR folder...] [PUBLIC libs...] [PRIVATE libs...])
# A static library of every .cc file in the folders (not below them). JSON: its .cc files may include nlohmann's header.
function(opensandbox_library name)
  cmake_parse_arguments(ARG "JSON" "" "DIR;PUBLIC;PRIVATE" ${ARGN})
  set(sources)
  foreach(dir IN LISTS ARG_DIR)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cc)
    list(APPEND sources ${found})
  endforeach()
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:opensandbox_flags>)
  if(ARG_JSON)
    target_link_libraries(${name} PRIVATE nlohmann_json::nlohmann_json)
    target_precompile_headers(${name} REUSE_FROM precompiled_json)
  endif()
endfunction()

# opensandbox_test(NAME DIR folder LABEL label [LIBS libs...])
# One test program of every .cc file in the folder; each of its cases is a CTest test.
function(opensandbox_test name)
  cmake_parse_arguments(ARG "" "DIR;LABEL" "LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_DIR}/*.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  # The test frameworks' headers cost more to compile than most tests: read them once. Test code itself need not be fast.
  target_precompile_headers(${name} REUSE_FROM test_pch)
  target_compile_options(${name} PRIVATE -O0)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} test_support GTest::gmock GTest::gtest GTest::gtest_main
                                        opensandbox_flags)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE OPENSANDBOX_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  file(RELATIVE_PATH prefix ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_DIR})
  gtest_discover_tests(${name} TEST_PREFIX "${prefix}/" DISCOVERY_MODE PRE_TEST
                       PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 120)
endfunction()
