# The names of CUDA-Q's HSB programs, which the rocio command answers to: links in hsb/ of the build, and beside the
# library of its transport where installed. The folder is what hsb_test_cpu.sh, ours and the original, takes as
# --bin-dir.
set(hsb_dir ${PROJECT_BINARY_DIR}/hsb)
set(hsb_install_dir ${CMAKE_INSTALL_DATADIR}/rocio/cudaq/bin)
file(MAKE_DIRECTORY ${hsb_dir} ${CMAKE_CURRENT_BINARY_DIR}/installed)
file(RELATIVE_PATH hsb_built_rocio ${hsb_dir} ${CMAKE_CURRENT_BINARY_DIR}/rocio)
file(RELATIVE_PATH hsb_installed_rocio
  ${CMAKE_INSTALL_FULL_DATADIR}/rocio/cudaq/bin ${CMAKE_INSTALL_FULL_BINDIR}/rocio)
foreach(name IN ITEMS hsb_bridge_cpu hsb_fpga_emulator hsb_fpga_playback)
  file(CREATE_LINK ${hsb_built_rocio} ${hsb_dir}/${name} SYMBOLIC)
  file(CREATE_LINK ${hsb_installed_rocio} ${CMAKE_CURRENT_BINARY_DIR}/installed/${name} SYMBOLIC)
  if(ROCIO_INSTALL)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/installed/${name} DESTINATION ${hsb_install_dir})
  endif()
endforeach()
file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/hsb_test_cpu.sh ${hsb_dir}/hsb_test_cpu.sh SYMBOLIC)
if(ROCIO_INSTALL)
  install(PROGRAMS hsb_test_cpu.sh DESTINATION ${hsb_install_dir})
endif()
