# To add an entry of one of these kinds is to add a file: compressors, coders of indices and of values, transports,
# reducers, strategies, samplers, models, data sets. For each kind this writes a source that lists its entries, one call per
# <folder>/<name>.cpp, which defines `gradcomp::<Entry> gradcomp::<kind>::<name>()`.
# No self-registering statics: a linker drops them from an archive. The list is in the order of the names.

# For each kind: its header, the type of an entry, and the function that lists the entries.
set(gradcomp_registry_compressors gradcomp/core/registry.hpp Entry all_entries)
set(gradcomp_registry_index_coders gradcomp/coders/index_coding.hpp coders::IndexCoderEntry all_index_coders)
set(gradcomp_registry_value_coders gradcomp/coders/value_coder.hpp coders::ValueCoderEntry all_value_coders)
set(gradcomp_registry_transports gradcomp/comm/registry.hpp TransportEntry all_transports)
set(gradcomp_registry_reducers gradcomp/exchange/registry.hpp ReducerEntry all_reducers)
set(gradcomp_registry_strategies gradcomp/strategy/strategy.hpp StrategyEntry all_strategies)
set(gradcomp_registry_samplers gradcomp/sampling/batch_sampler.hpp SamplerEntry all_samplers)
set(gradcomp_registry_models gradcomp/nn/registry.hpp nn::ModelFamily all_models)
set(gradcomp_registry_datasets gradcomp/data/registry.hpp data::DatasetEntry all_datasets)

# gradcomp_write_registry(<kind> <output> <source>...)
function(gradcomp_write_registry names output)
  list(GET gradcomp_registry_${names} 0 header)
  list(GET gradcomp_registry_${names} 1 entry)
  list(GET gradcomp_registry_${names} 2 function)
  set(declarations "")
  set(calls "")
  list(TRANSFORM ARGN REPLACE "^.*/([^/]+)\\.cpp$" "\\1" OUTPUT_VARIABLE sorted)
  list(SORT sorted)
  foreach(name ${sorted})
    string(APPEND declarations "${entry} ${name}();\n")
    string(APPEND calls "      ${names}::${name}(),\n")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/registry.cpp.in ${output} @ONLY)
  # An object file of its own, since a program that defines the list itself (tests/walkthrough) must not link this one.
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# gradcomp_registry(<layer> <kind> <folder under src/gradcomp> [EXCEPT source...])
function(gradcomp_registry layer names folder)
  cmake_parse_arguments(arg "" "" "EXCEPT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/gradcomp/${folder}/*.cpp)
  list(REMOVE_ITEM sources ${arg_EXCEPT})
  gradcomp_write_registry(${names} ${PROJECT_BINARY_DIR}/generated/${names}.cpp ${sources})
  set_property(GLOBAL PROPERTY gradcomp_registry_sources_${names} ${sources})
  target_sources(gradcomp_${layer} PRIVATE ${PROJECT_BINARY_DIR}/generated/${names}.cpp)
endfunction()
