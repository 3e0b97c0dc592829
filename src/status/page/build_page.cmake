# cmake -DPAGE=… -DUPLOT=… -DHTML=… -DCPP=… -P build_page.cmake: makes the live page of its parts, as HTML and as C++.
#
# The scripts are ES modules while they are edited and tested. In the page they stand one after the other in one
# scope: their imports and the word export are taken out.
cmake_minimum_required(VERSION 3.24)

set(scripts format json event_stream connection dom theme parts path_picture charts histogram troubles streams
  messages system event_log overview main)

function(read_part file result)
  file(READ ${file} text)
  # A closing tag inside a script or style would end it early.
  if(text MATCHES "</(script|style)")
    message(FATAL_ERROR "${file} holds a closing tag of script or style")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

read_part(${UPLOT}/uPlot.iife.min.js chart_script)
read_part(${UPLOT}/uPlot.min.css chart_style)
set(style "")
foreach(name IN ITEMS base parts narrow)
  read_part(${PAGE}/${name}.css text)
  string(APPEND style "${text}")
endforeach()
file(READ ${UPLOT}/LICENSE licence)
string(STRIP "${licence}" licence)
set(script "")
set(names "")
foreach(name IN LISTS scripts)
  read_part(${PAGE}/${name}.mjs text)
  string(REGEX REPLACE "(^|\n)import [^;]*;" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  string(REGEX MATCHALL "(^|\n)(async function|function|class|const|let) [A-Za-z0-9_]+" names_here "${text}")
  list(TRANSFORM names_here REPLACE "^.* " "")
  list(APPEND names ${names_here})
  string(APPEND script "${text}")
endforeach()

# Two functions of one name would quietly become one.
set(once ${names})
list(REMOVE_DUPLICATES once)
foreach(name IN LISTS once)
  list(REMOVE_AT names 0)
  if(name IN_LIST names)
    message(FATAL_ERROR "two scripts of the page have a ${name}")
  endif()
endforeach()

file(READ ${PAGE}/index.html page)
foreach(mark IN ITEMS script chart_script style chart_style licence)
  string(FIND "${page}" "@${mark}@" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "index.html has no @${mark}@")
  endif()
  string(REPLACE "@${mark}@" "${${mark}}" page "${page}")
endforeach()
file(WRITE ${HTML} "${page}")

# Characters instead of a string literal, whose length compilers limit.
file(READ ${HTML} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${CPP} "#include \"status/status_page.hpp\"

namespace rocio::detail {

namespace {

constexpr char page[] = {
${bytes}
};

} // namespace

std::string_view status_page() noexcept {
    return {page, sizeof page};
}

} // namespace rocio::detail
")
