# EPPTOK_PLATFORM: the target as Node names it, process.platform-process.arch.

string(TOLOWER "${CMAKE_SYSTEM_NAME}" EPPTOK_OS)

string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" EPPTOK_CPU)
if(APPLE AND CMAKE_OSX_ARCHITECTURES)
  string(TOLOWER "${CMAKE_OSX_ARCHITECTURES}" EPPTOK_CPU)
endif()
if(EPPTOK_CPU MATCHES "^(x86_64|amd64)$")
  set(EPPTOK_CPU x64)
elseif(EPPTOK_CPU MATCHES "^(aarch64|arm64)$")
  set(EPPTOK_CPU arm64)
elseif(EPPTOK_CPU MATCHES "^arm")
  set(EPPTOK_CPU arm)
elseif(EPPTOK_CPU MATCHES "^i[3-6]86$")
  set(EPPTOK_CPU ia32)
elseif(EPPTOK_CPU MATCHES "^(ppc64le|powerpc64le)$")
  set(EPPTOK_CPU ppc64)
elseif(EPPTOK_CPU MATCHES "^loongarch64$")
  set(EPPTOK_CPU loong64)
endif()

set(EPPTOK_PLATFORM ${EPPTOK_OS}-${EPPTOK_CPU})
