#!/usr/bin/env python3
"""Proves that every rule of tests/check_layers fires, on small trees made for it."""

import contextlib
import importlib.util
import io
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

sys.dont_write_bytecode = True
SCRIPT = Path(__file__).with_name("check_layers")
LOADER = SourceFileLoader("check_layers", str(SCRIPT))
check_layers = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", LOADER))
sys.modules["check_layers"] = check_layers
LOADER.exec_module(check_layers)


class TreeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def add(self, name, *lines):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def breaches(self):
        return check_layers.Checker(self.root).run()

    def expect_clean(self):
        self.assertEqual(self.breaches(), [])

    def expect_breach(self, text):
        found = self.breaches()
        self.assertEqual(len(found), 1, found)
        self.assertIn(text, found[0])


class RoomTable(TreeTest):
    def includes(self, room, other):
        self.add(f"include/rocio/{other}/thing.hpp", "#pragma once")
        self.add(f"src/{room}/body.cpp", f"#include <rocio/{other}/thing.hpp>")

    def test_a_room_may_include_what_the_table_lists(self):
        self.includes("soft", "transport")
        self.expect_clean()

    def test_may_include_is_transitive(self):
        self.includes("stream", "device")
        self.expect_clean()

    def test_types_is_open_to_all(self):
        for room in check_layers.ROOMS:
            self.includes(room, "types")
        self.expect_clean()

    def test_a_room_not_listed_is_a_breach_with_file_and_line(self):
        self.add("include/rocio/soft/thing.hpp", "#pragma once")
        self.add("src/io/body.cpp", "", "#include <rocio/soft/thing.hpp>")
        self.assertEqual(self.breaches(), ["src/io/body.cpp:2: io may not include soft (<rocio/soft/thing.hpp>)"])

    def test_a_public_header_is_held_to_the_table_too(self):
        self.add("include/rocio/wire/thing.hpp", "#pragma once")
        self.add("include/rocio/types/other.hpp", "#include <rocio/wire/thing.hpp>")
        self.expect_breach("types may not include wire")

    def test_never_wins_over_may_include(self):
        # open may include soft and verbs; io is refused although nothing else would say so.
        self.includes("open", "io")
        self.expect_breach("open may not include io")

    def test_every_entry_of_never_is_refused(self):
        for room, entry in check_layers.ROOMS.items():
            for other in entry.never:
                with self.subTest(room=room, other=other):
                    self.assertFalse(check_layers.may_include(room, other))

    def test_async_and_device_do_not_know_each_other(self):
        self.includes("async", "device")
        self.expect_breach("async may not include device")

    def test_rpc_sees_neither_device_nor_io(self):
        self.includes("rpc", "io")
        self.expect_breach("rpc may not include io")

    def test_a_header_that_does_not_exist_is_still_judged_by_its_name(self):
        self.add("src/wire/body.cpp", "#include <rocio/io/gone.hpp>")
        self.expect_breach("wire may not include io")

    def test_the_c_interface_may_include_every_public_header(self):
        self.includes("capi", "ring")
        self.expect_clean()

    def test_an_unknown_room_is_a_breach(self):
        self.add("src/cellar/body.cpp", "int x;")
        self.expect_breach("'cellar' is no room")

    def test_a_file_outside_the_rooms_is_a_breach(self):
        self.add("src/stray.cpp", "int x;")
        self.expect_breach("is no room")

    def test_status_takes_snapshot_headers_of_any_room(self):
        self.add("include/rocio/soft/soft_snapshot.hpp", "#pragma once")
        self.add("src/status/body.cpp", "#include <rocio/soft/soft_snapshot.hpp>")
        self.expect_clean()

    def test_status_takes_no_live_object(self):
        self.includes("status", "stream")
        self.expect_breach("status may not include stream")


class PrivateHeaders(TreeTest):
    def setUp(self):
        super().setUp()
        self.add("src/transport/window.hpp", "#pragma once")

    def test_a_room_includes_its_own_in_both_spellings(self):
        self.add("src/transport/a.cpp", '#include "window.hpp"')
        self.add("src/transport/b.cpp", '#include "transport/window.hpp"')
        self.expect_clean()

    def test_another_room_may_not(self):
        self.add("src/soft/body.cpp", '#include "transport/window.hpp"')
        self.expect_breach("soft includes the private header transport/window.hpp of transport")

    def test_a_relative_path_is_no_way_around(self):
        self.add("src/soft/body.cpp", '#include "../transport/window.hpp"')
        self.expect_breach("soft includes the private header")

    def test_tools_may_not(self):
        self.add("tools/lib/body.cpp", '#include "transport/window.hpp"')
        self.expect_breach("tools includes the private header")

    def test_examples_may_not(self):
        self.add("examples/01_first.cpp", '#include "transport/window.hpp"')
        self.expect_breach("examples includes the private header")

    def test_a_public_header_may_not(self):
        self.add("include/rocio/transport/queue.hpp", '#include "transport/window.hpp"')
        self.expect_breach("public header includes the private header")

    def test_the_room_s_own_tests_may(self):
        self.add("tests/unit/transport/window_test.cpp", '#include "transport/window.hpp"')
        self.expect_clean()

    def test_another_room_s_tests_may_not(self):
        self.add("tests/unit/soft/window_test.cpp", '#include "transport/window.hpp"')
        self.expect_breach("test of soft includes the private header")

    def test_the_library_includes_neither_tests_nor_tools(self):
        self.add("tests/support/scripted.hpp", "#pragma once")
        self.add("src/io/body.cpp", '#include "scripted.hpp"')
        self.expect_breach("io may not include scripted.hpp of tests/")

    def test_tools_do_not_include_tests(self):
        self.add("tests/support/scripted.hpp", "#pragma once")
        self.add("tools/main.cpp", '#include "scripted.hpp"')
        self.expect_breach("tools may not include scripted.hpp of tests/")

    def test_the_bench_includes_tests_and_tools(self):
        self.add("tests/support/allocation_counter.hpp", "#pragma once")
        self.add("tools/lib/prbs.hpp", "#pragma once")
        self.add("tools/bench/bench.cpp", '#include "allocation_counter.hpp"', '#include "lib/prbs.hpp"')
        self.expect_clean()

    def test_the_bench_compares_with_plain_libibverbs(self):
        self.add("tools/bench/plain.cpp", "#include <infiniband/verbs.h>")
        self.expect_clean()
        self.add("tools/bench/plain.cpp", "#include <rdma/rdma_cma.h>")
        self.expect_breach("rdma-core only in verbs")

    def test_other_tools_see_no_libibverbs(self):
        self.add("tools/commands/bench.cpp", "#include <infiniband/verbs.h>")
        self.expect_breach("the plain loop of bench")

    def test_the_bench_may_not_include_a_private_header(self):
        self.add("tools/bench/bench.cpp", '#include "transport/window.hpp"')
        self.expect_breach("bench includes the private header")

    def test_tests_and_tools_include_tools(self):
        self.add("tools/lib/prbs.hpp", "#pragma once")
        self.add("tools/main.cpp", '#include "lib/prbs.hpp"')
        self.add("tests/integration/demo_test.cpp", '#include "tools/lib/prbs.hpp"')
        self.expect_clean()


class OutsideLibraries(TreeTest):
    ALLOWED = (
        ("src/wire", "isa-l/crc.h"),
        ("src/wire", "isa-l.h"),
        ("src/soft", "sys/socket.h"),
        ("src/soft", "netinet/udp.h"),
        ("src/connect", "netinet/tcp.h"),
        ("tools/bench", "sys/socket.h"),
        ("tools/bench", "netinet/udp.h"),
        ("tools/bench", "infiniband/verbs.h"),
        ("src/soft", "arpa/inet.h"),
        ("src/types", "arpa/inet.h"),
        ("src/soft", "pcap/pcap.h"),
        ("tools", "pcap.h"),
        ("src/verbs", "infiniband/verbs.h"),
        ("src/verbs", "rdma/rdma_cma.h"),
        ("src/verbs", "ifaddrs.h"),
        ("src/verbs", "netinet/in.h"),
        ("include/rocio/async", "boost/asio/post.hpp"),
        ("include/rocio/stream", "boost/asio.hpp"),
        ("tools", "boost/asio.hpp"),
        ("examples", "boost/asio.hpp"),
        ("src/status", "boost/beast/http.hpp"),
        ("src/status", "boost/json.hpp"),
        ("tools", "boost/json.hpp"),
        ("src/status", "prometheus/registry.h"),
        ("src/fpga", "zmq.hpp"),
        ("tools", "CLI/CLI.hpp"),
        ("tools", "spdlog/spdlog.h"),
        ("examples", "spdlog/spdlog.h"),
        ("tests/unit/io", "gtest/gtest.h"),
        ("tests/unit/soft", "sys/socket.h"),
        ("src/device", "boost/system/error_code.hpp"),
    )
    REFUSED = (
        ("src/transport", "isa-l/crc.h", "ISA-L only in wire"),
        ("src/io", "sys/socket.h", "sockets only in soft"),
        ("src/types", "netinet/in.h", "sockets only in soft"),
        ("src/connect", "netinet/udp.h", "sockets only in soft"),
        ("tools/lib", "sys/socket.h", "sockets only in soft"),
        ("src/connect", "ifaddrs.h", "sockets only in soft"),
        ("src/verbs", "sys/socket.h", "sockets only in soft"),
        ("src/verbs", "netinet/tcp.h", "sockets only in soft"),
        ("src/open", "infiniband/verbs.h", "rdma-core only in verbs"),
        ("tools", "infiniband/verbs.h", "rdma-core only in verbs"),
        ("src/connect", "arpa/inet.h", "inet_pton only in types, soft"),
        ("src/status", "pcap/pcap.h", "libpcap only in soft, tools"),
        ("src/soft", "infiniband/verbs.h", "rdma-core only in verbs"),
        ("include/rocio/verbs", "infiniband/verbs.h", "native handles belong in rocio/verbs/native.hpp"),
        ("include/rocio/io", "rdma/rdma_cma.h", "native handles belong in rocio/verbs/native.hpp"),
        ("src/types", "boost/asio/buffer.hpp", "Asio only in async and the rooms that include it"),
        ("src/soft", "boost/asio.hpp", "Asio only in async"),
        ("src/open", "boost/asio.hpp", "Asio only in async"),
        ("src/stream", "boost/beast.hpp", "Beast only in status"),
        ("tools", "boost/beast/http.hpp", "Beast only in status"),
        ("src/stream", "boost/json.hpp", "JSON only in status, tools"),
        ("src/stream", "prometheus/registry.h", "prometheus-cpp only in status"),
        ("src/connect", "zmq.h", "libzmq only in fpga"),
        ("src/open", "CLI/CLI.hpp", "CLI11 only in tools"),
        ("src/stream", "spdlog/spdlog.h", "spdlog only in tools"),
        ("include/rocio/types", "spdlog/logger.h", "spdlog only in tools"),
        ("include/rocio", "spdlog/spdlog.h", "spdlog only in tools"),
        ("src/io", "gtest/gtest_prod.h", "GoogleTest only in tests"),
    )

    def test_each_library_in_its_rooms(self):
        for number, (folder, header) in enumerate(self.ALLOWED):
            self.add(f"{folder}/file_{number}.cpp", f"#include <{header}>")
        self.expect_clean()

    def test_no_library_elsewhere(self):
        for folder, header, rule in self.REFUSED:
            with self.subTest(folder=folder, header=header):
                name = f"{folder}/file.hpp"
                self.add(name, f"#include <{header}>")
                self.expect_breach(rule)
                (self.root / name).unlink()

    def test_native_handles_have_one_public_header(self):
        self.add("include/rocio/verbs/native.hpp", "#include <infiniband/verbs.h>")
        self.expect_clean()

    def test_the_spdlog_adapter_is_one_public_header(self):
        self.add("include/rocio/spdlog_sink.hpp", "#include <spdlog/logger.h>")
        self.add("tools/lib/x.cpp", "#include <rocio/spdlog_sink.hpp>")
        self.add("examples/01_x.cpp", "#include <rocio/spdlog_sink.hpp>")
        self.expect_clean()

    def test_no_room_includes_the_spdlog_adapter(self):
        self.add("include/rocio/spdlog_sink.hpp", "#include <spdlog/logger.h>")
        for name in ("src/capi/x.cpp", "include/rocio/all.hpp"):
            with self.subTest(name=name):
                self.add(name, "#include <rocio/spdlog_sink.hpp>")
                self.expect_breach("may not include <rocio/spdlog_sink.hpp>: it needs spdlog")
                (self.root / name).unlink()


class Tokens(TreeTest):
    REFUSED = (
        ("src/io/engine.cpp", "std::thread worker;", "no thread outside busy_poll_* files"),
        ("include/rocio/stream/x.hpp", "std::jthread worker;", "no thread outside"),
        ("src/status/x.cpp", "boost::asio::thread_pool pool;", "no thread outside"),
        ("tools/lib/x.cpp", "pthread_create(&t, nullptr, run, nullptr);", "no thread outside"),
        ("src/stream/x.cpp", "pthread_setname_np(pthread_self(), name);", "no pthread outside"),
        ("src/transport/x.cpp", "auto now = std::chrono::steady_clock::now();", "reads a clock"),
        ("src/transport/x.cpp", "std::random_device seed;", "draws random numbers"),
        ("src/transport/x.cpp", "std::cerr << 1;", "logs"),
        ("src/wire/x.cpp", "printf(text);", "logs"),
        ("src/stream/x.cpp", "std::cout << 1;", "prints"),
        ("src/io/x.cpp", "std::clog << 1;", "prints"),
        ("include/rocio/status/x.hpp", "#include <iostream>", "prints"),
        ("src/connect/x.cpp", 'std::fprintf(stderr, "x");', "prints"),
        ("src/soft/x.cpp", 'std::printf("x");', "prints"),
        ("src/verbs/x.cpp", 'perror("x");', "prints"),
        ("src/fpga/x.cpp", 'write(STDERR_FILENO, "x", 1);', "prints"),
        ("src/open/x.cpp", "syslog(LOG_ERR, text);", "prints"),
        ("src/transport/x.cpp", "#include <mutex>", "uses threads"),
        ("src/wire/x.cpp", "#include <chrono>", "knows no time"),
        ("include/rocio/wire/x.hpp", "#include <vector>", "allocates nothing"),
        ("src/wire/x.cpp", "auto* p = new int;", "allocates nothing"),
    )

    def test_each_is_refused_where_it_does_not_belong(self):
        for name, line, rule in self.REFUSED:
            with self.subTest(name=name, line=line):
                self.add(name, line)
                self.expect_breach(rule)
                (self.root / name).unlink()

    def test_a_thread_of_its_own_belongs_to_busy_poll_files(self):
        self.add("include/rocio/io/busy_poll_thread.hpp", "std::thread thread_;")
        self.add("src/io/busy_poll_thread.cpp", "pthread_setname_np(t, name);")
        self.add("src/io/thread_clock.cpp", "pthread_getcpuclockid(pthread_self(), &id);")
        self.expect_clean()

    def test_a_tool_may_pin_the_thread_it_runs_on(self):
        self.add("tools/commands/x.cpp", "#include <pthread.h>", "pthread_setaffinity_np(pthread_self(), n, &set);")
        self.expect_clean()

    def test_writing_into_a_string_prints_nothing(self):
        self.add("src/types/x.cpp", "std::snprintf(text, sizeof text, format);", "std::ostringstream out;")
        self.expect_clean()

    def test_the_c_interface_tools_examples_and_tests_may_print(self):
        self.add("src/capi/x.cpp", 'std::fprintf(stderr, "x");')
        for name in ("tools/commands/x.cpp", "examples/01_x.cpp", "tests/unit/io/x_test.cpp"):
            self.add(name, "#include <iostream>", "std::cout << 1;")
        self.expect_clean()

    def test_naming_the_calling_thread_is_no_thread(self):
        self.add("src/io/engine.cpp", "std::thread::id owner;", "std::this_thread::yield();", "int thread = 1;")
        self.expect_clean()

    def test_tests_examples_and_the_bench_may_start_threads(self):
        self.add("tests/unit/io/x_test.cpp", "std::thread other;")
        self.add("examples/01_x.cpp", "std::thread other;")
        self.add("tools/bench/x.cpp", "std::thread other;")
        self.expect_clean()

    def test_comments_and_strings_do_not_count(self):
        self.add(
            "src/transport/x.cpp",
            "// std::cerr and steady_clock::now()",
            "/* #include <mutex>",
            "   std::random_device */",
            'auto text = "std::thread t;";',
            'auto raw = R"(#include <rocio/io/engine.hpp>)";',
            "auto quote = '\"'; // \"",
        )
        self.expect_clean()

    def test_code_after_a_character_literal_counts(self):
        self.add("src/transport/x.cpp", "char c = '\"'; std::random_device d;", "int big = 1'000'000;")
        self.expect_breach("draws random numbers")


class Command(TreeTest):
    def run_main(self):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = check_layers.main([str(self.root)])
        return status, out.getvalue() + err.getvalue()

    def test_a_clean_tree_ends_with_0(self):
        self.add("src/types/x.cpp", "int x;")
        self.assertEqual(self.run_main(), (0, "check_layers: 1 files, 0 breaches\n"))

    def test_a_breach_is_printed_and_ends_with_1(self):
        self.add("src/types/x.cpp", "#include <boost/asio.hpp>")
        status, printed = self.run_main()
        self.assertEqual(status, 1)
        self.assertIn("src/types/x.cpp:1: types may not include <boost/asio.hpp>", printed)

    def test_an_empty_tree_is_an_error_not_a_success(self):
        status, printed = self.run_main()
        self.assertEqual(status, 2)
        self.assertIn("no source file", printed)


if __name__ == "__main__":
    unittest.main()
