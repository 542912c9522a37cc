# How this project's own targets are made.

add_library(opensandbox_flags INTERFACE)
target_compile_features(opensandbox_flags INTERFACE cxx_std_20)
target_compile_options(opensandbox_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                                    -Wno-missing-field-initializers)  # designated initialisers
# GCC 12 warns of "literal" + std::string where nothing overlaps (its bug 105651).
target_compile_options(opensandbox_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on "text" + std::string (GCC bug 105651).
  target_compile_options(opensandbox_flags INTERFACE -Wno-restrict)
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

# opensandbox_library(NAME DIR folder [DIR folder...] [PUBLIC libs...] [PRIVATE libs...])
# A static library of every .cc file in the folders (not below them).
function(opensandbox_library name)
  cmake_parse_arguments(ARG "" "" "DIR;PUBLIC;PRIVATE" ${ARGN})
  set(sources)
  foreach(dir IN LISTS ARG_DIR)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cc)
    list(APPEND sources ${found})
  endforeach()
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:opensandbox_flags>)
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
