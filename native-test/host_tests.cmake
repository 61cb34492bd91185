# The native host's own tests: the C sources with internal symbols, no Node. Included by the top CMakeLists.txt.
set(HOST_TEST_SOURCES
    native-test/host_peer.c
    src/native/clock.c src/native/descriptor.c src/native/frame.c src/native/reason.c
    src/native/host.c src/native/host_answer.c src/native/host_call.c src/native/host_connection.c
    src/native/host_direct.c src/native/host_io.c src/native/host_listen.c src/native/host_poller_epoll.c
    src/native/host_poller_poll.c src/native/host_queue.c src/native/host_receive.c src/native/host_service.c
    src/native/host_table.c src/native/host_timers.c)
list(TRANSFORM HOST_TEST_SOURCES PREPEND ${CMAKE_CURRENT_LIST_DIR}/../)
find_package(Threads REQUIRED)
