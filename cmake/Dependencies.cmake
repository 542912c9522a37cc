# System packages first; what is missing is fetched at a pinned commit. To take a fetched one from a local folder, set
# FETCHCONTENT_SOURCE_DIR_<NAME>. OPENSANDBOX_FETCH lists dependencies to fetch although the system has them, e.g.
#   cmake -DOPENSANDBOX_FETCH=googletest -DFETCHCONTENT_SOURCE_DIR_GOOGLETEST=/usr/src/googletest ...

include(FetchContent)
set(OPENSANDBOX_FETCH "" CACHE STRING
    "Dependencies to fetch in any case: cpp-httplib;nlohmann_json;googletest;benchmark")

find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)

# --- cpp-httplib -------------------------------------------------------------------------------------------------------
# One target for all: a program compiled with other CPPHTTPLIB_* macros than the packaged library links, then crashes.
add_library(opensandbox_httplib INTERFACE)
target_link_libraries(opensandbox_httplib INTERFACE OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
set(opensandbox_httplib_found FALSE)
if(NOT "cpp-httplib" IN_LIST OPENSANDBOX_FETCH)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(CPP_HTTPLIB QUIET IMPORTED_TARGET cpp-httplib)
  endif()
  if(CPP_HTTPLIB_FOUND)
    target_link_libraries(opensandbox_httplib INTERFACE PkgConfig::CPP_HTTPLIB)
    set(opensandbox_httplib_found TRUE)
    set(OPENSANDBOX_HTTPLIB_FROM "pkg-config")
  else()
    find_package(httplib QUIET)
    if(httplib_FOUND)
      target_link_libraries(opensandbox_httplib INTERFACE httplib::httplib)
      set(opensandbox_httplib_found TRUE)
      set(OPENSANDBOX_HTTPLIB_FROM "package")
    endif()
  endif()
endif()
if(NOT opensandbox_httplib_found)
  FetchContent_Declare(cpp-httplib GIT_REPOSITORY https://github.com/yhirose/cpp-httplib.git
                       GIT_TAG 7992b148969fbf8093230b37a6a36c2f61135937)  # v0.11.4
  set(HTTPLIB_REQUIRE_OPENSSL ON)
  set(HTTPLIB_USE_BROTLI_IF_AVAILABLE OFF)
  set(HTTPLIB_USE_ZLIB_IF_AVAILABLE OFF)
  set(HTTPLIB_COMPILE OFF)
  FetchContent_MakeAvailable(cpp-httplib)
  target_link_libraries(opensandbox_httplib INTERFACE $<BUILD_INTERFACE:httplib::httplib>)
  set(OPENSANDBOX_HTTPLIB_FROM "source")  # header-only: all of it is in our own objects
endif()

# --- nlohmann/json -----------------------------------------------------------------------------------------------------
if(NOT "nlohmann_json" IN_LIST OPENSANDBOX_FETCH)
  find_package(nlohmann_json 3.10 QUIET)
endif()
if(NOT TARGET nlohmann_json::nlohmann_json)
  FetchContent_Declare(nlohmann_json GIT_REPOSITORY https://github.com/nlohmann/json.git
                       GIT_TAG 9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03)  # v3.11.3
  FetchContent_MakeAvailable(nlohmann_json)
endif()

# --- Boost.Program_options ---------------------------------------------------------------------------------------------
if(OPENSANDBOX_BUILD_EMULATOR)
  find_package(Boost 1.71 REQUIRED COMPONENTS program_options)
endif()

# --- GoogleTest and GoogleMock -----------------------------------------------------------------------------------------
if(OPENSANDBOX_BUILD_TESTS)
  include(GoogleTest)
  if(NOT "googletest" IN_LIST OPENSANDBOX_FETCH)
    find_package(GTest QUIET)
  endif()
  if(NOT TARGET GTest::gmock)
    FetchContent_Declare(googletest GIT_REPOSITORY https://github.com/google/googletest.git
                         GIT_TAG f8d7d77c06936315286eb55f8de22cd23c188571)  # v1.14.0
    FetchContent_MakeAvailable(googletest)
    foreach(target gtest gtest_main gmock gmock_main)
      if(NOT TARGET GTest::${target})
        add_library(GTest::${target} ALIAS ${target})
      endif()
    endforeach()
  endif()
endif()

# --- Google Benchmark --------------------------------------------------------------------------------------------------
if(OPENSANDBOX_BUILD_BENCH)
  if(NOT "benchmark" IN_LIST OPENSANDBOX_FETCH)
    find_package(benchmark QUIET)
  endif()
  if(NOT TARGET benchmark::benchmark)
    FetchContent_Declare(benchmark GIT_REPOSITORY https://github.com/google/benchmark.git
                         GIT_TAG 344117638c8ff7e239044fd0fa7085839fc03021)  # v1.8.3
    set(BENCHMARK_ENABLE_TESTING OFF)
    FetchContent_MakeAvailable(benchmark)
  endif()
endif()
