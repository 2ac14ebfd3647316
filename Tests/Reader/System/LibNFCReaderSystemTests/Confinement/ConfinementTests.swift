import CShims
import Daemon
import EventLoop
import Glibc
import Journal
import ReaderProtocol
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReaderTests

@testable import LibNFCReader
@testable import ReaderKit

/// The privileges that a running reader process has given up, as the kernel reports them.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ConfinementTests {
  @Test func `the process cannot gain privileges and leaves no core dump`() async throws {
    let directory = try TemporaryDirectory()
    // If a process cannot be dumped, root owns its files in /proc. For a process of root there is no difference. If the
    // test runs as root, the process therefore runs as another user.
    let lowered = getuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups" : ""
    let program = try directory.write(
      "#!/bin/sh\nexec \(lowered) \(try BuiltProducts.program("tagroute-reader")) \"$@\"\n", to: "reader", mode: 0o755)
    let process = ReaderProcess(
      ReaderProcess.Configuration(
        program: program, device: "pn532_uart:\(directory.file("none"))", environment: ["PATH=/usr/bin:/bin"]),
      on: EventLoop(label: "daemon"))
    await process.start()
    // The process reports an absent device long after it has confined itself.
    for await event in process.events {
      if case .phase(.absent, _) = event { break }
      // The restrictions that are in force, and those that are not.
      if case .log(.debug, _) = event { continue }
      if case .log(.notice, let line) = event, !hasLandlock, line.contains("Landlock") { continue }
      Issue.record("\(event)")
    }
    let child = try #require(await process.processID)
    let status = try lines("/proc/\(child)/status")
    #expect(status.contains("NoNewPrivs:\t1"))
    #expect(status.contains("Seccomp:\t2"))
    let cores = try #require(try lines("/proc/\(child)/limits").first { $0.hasPrefix("Max core file size") })
    #expect(cores.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
    var information = stat()
    #expect(stat("/proc/\(child)/environ", &information) == 0)
    #expect(information.st_uid == 0, "the process can be dumped")
    #expect(status.first { $0.hasPrefix("Uid:") } != "Uid:\t0\t0\t0\t0", "a process of root shows no difference")
    await process.stop()
  }

  /// A process is confined to one device. If the device is plugged in again, another process takes over.
  @Test func `a device that is plugged in again is opened by another process`() async throws {
    let rig = try await ReaderRig.scanning()
    let first = try #require(await rig.process.processID)
    #expect(try lines("/proc/\(first)/status").contains("Seccomp:\t2"))
    await rig.simulator.unplug()
    try await rig.next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
    try await rig.simulator.plug()
    try await rig.isReady()
    let second = try #require(await rig.process.processID)
    #expect(try lines("/proc/\(second)/status").contains("Seccomp:\t2"))
    // Without Landlock, the first process may open any file with that name.
    #expect((second != first) == (tagroute_landlock_version() > 0))
    #expect(!rig.seen.contains { $0.isCrash })
  }

  /// The kernel updates the change time of a USB device at each transfer. udev and logind update it when they set the
  /// owner.
  @Test(.enabled(if: hasLandlock, noLandlock))
  func `a device stays the same when its permissions or times change`() async throws {
    let directory = try TemporaryDirectory()
    let port = try directory.write("", to: "port")
    await #expect(processExitsWith: .exitCode(7)) { [port = port as String] in
      // Without root, Landlock requires this first.
      _ = tagroute_set_no_new_privileges()
      let files = FileConfinement([ConfinementPlan.FileRule(path: port, use: .device)])
      guard files.version != nil, files.newDevice == nil else { _exit(1) }
      guard chmod(port, 0o660) == 0, files.newDevice == nil else { _exit(2) }
      var times = [timespec(tv_sec: 1, tv_nsec: 1), timespec(tv_sec: 2, tv_nsec: 2)]
      guard utimensat(AT_FDCWD, port, &times, 0) == 0, files.newDevice == nil else { _exit(3) }
      // The process may open this device.
      guard open(port, O_RDWR) >= 0 else { _exit(4) }
      _exit(7)
    }
  }

  /// Runs in a separate process, without a daemon. The remaining time of an alarm depends on when the test reads it, so
  /// the test only tells an hour from seconds. The tests of `ReaderTiming.secondsUntilAlarm` check the exact number.
  @Test func `a promise postpones the alarm of a signal, and sets none without a signal`() async {
    await #expect(processExitsWith: .success) {
      // Ignored, so that an alarm that is due early does not end the process.
      signal(SIGALRM, SIG_IGN)
      let daemon = DaemonConnection(DaemonChannel(descriptor: -1), ReaderTiming(device: "acr122_usb"))
      try? daemon.promise(.seconds(12))
      #expect(alarm(0) == 0)
      alarm(3600)
      try? daemon.promise(.seconds(12))
      #expect(alarm(3600) < 1800)
      try? daemon.beat()
      #expect(alarm(0) < 1800)
      // Also to a later time than before.
      alarm(1800)
      try? daemon.promise(.seconds(7200))
      #expect(alarm(0) > 1800)
    }
  }

  private func lines(_ path: String) throws -> [String] {
    String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
