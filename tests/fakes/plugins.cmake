# Plugins as shared objects, in TEST_PLUGINS: good ones, older and newer ones, and one per thing that can be wrong.
set(TEST_PLUGINS ${CMAKE_BINARY_DIR}/test-plugins)

function(lt_test_plugin name source)
  add_library(plugin_${name} MODULE ${CMAKE_SOURCE_DIR}/tests/fakes/${source})
  target_link_libraries(plugin_${name} PRIVATE lt_flags)
  target_compile_options(plugin_${name} PRIVATE -fvisibility=hidden)
  target_compile_definitions(plugin_${name} PRIVATE ${ARGN})
  set_target_properties(plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
                        LIBRARY_OUTPUT_DIRECTORY ${TEST_PLUGINS})
  set_property(GLOBAL APPEND PROPERTY LT_TEST_PLUGINS plugin_${name})
endfunction()

lt_test_plugin(good plugin_good.c)
lt_test_plugin(old plugin_old.c)
lt_test_plugin(new plugin_new.c)
lt_test_plugin(mode plugin_mode.c)
lt_test_plugin(mode_on_loop plugin_mode.c FLAGS=LATHE_ON_LOOP)
foreach(bad no_entry null_entry small huge_size bad_id flags bad_schema setup_fails setup_hangs tool_twice tool_schema
        unresolved no_id ready_fails)
  string(TOUPPER ${bad} BAD)
  lt_test_plugin(${bad} plugin_bad.c BAD=${BAD})
endforeach()

find_program(LT_CXX NAMES c++ g++ clang++)
if(LT_CXX AND NOT LT_SANITIZE)
  add_custom_command(OUTPUT ${TEST_PLUGINS}/cpp.so
    COMMAND ${CMAKE_COMMAND} -E make_directory ${TEST_PLUGINS}
    COMMAND ${LT_CXX} -std=c++17 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden -I${CMAKE_SOURCE_DIR}/include
            -o ${TEST_PLUGINS}/cpp.so ${CMAKE_SOURCE_DIR}/tests/fakes/plugin_cpp.cc
    DEPENDS ${CMAKE_SOURCE_DIR}/tests/fakes/plugin_cpp.cc ${CMAKE_SOURCE_DIR}/include/lathe_plugin.h)
  add_custom_target(plugin_cpp DEPENDS ${TEST_PLUGINS}/cpp.so)
  set_property(GLOBAL APPEND PROPERTY LT_TEST_PLUGINS plugin_cpp)
endif()
