import CShims
import EventLoop
import Glibc
import Journal
import ReaderLink
import ReaderSimulator
import Rig
import Testing

@testable import Reader

/// What the running process has given up, as the kernel sees it.
@Suite(.timeLimit(.minutes(5))) struct ConfinementTests {
  @Test func theProcessCannotGainAnythingAndLeavesNothingBehind() async throws {
    let directory = try TemporaryDirectory()
    // Whether a process may be dumped shows in whose its files in /proc are: root's, where it may not. For root itself
    // that shows nothing.
    let lowered = getuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups" : ""
    let program = try directory.write(
      "#!/bin/sh\nexec \(lowered) \(try BuiltProducts.program("tagroute-reader")) \"$@\"\n", to: "reader", mode: 0o755)
    let process = ReaderProcess(
      ReaderProcess.Configuration(
        program: program, device: "pn532_uart:\(directory.file("none"))", environment: ["PATH=/usr/bin:/bin"]),
      on: EventLoop(label: "daemon"))
    await process.start()
    // It has found its device to be absent, long after it has confined itself.
    for await event in process.events {
      if case .phase(.absent, _) = event { break }
      // What is in force, and what cannot be.
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
    #expect(information.st_uid == 0, "it may be dumped")
    #expect(status.first { $0.hasPrefix("Uid:") } != "Uid:\t0\t0\t0\t0", "this shows nothing of root's process")
    await process.stop()
  }

  /// Each device that is plugged in is one process's: the one that was confined to the last one makes room.
  @Test func aDeviceThatIsPluggedInAnewIsOpenedByAnotherProcess() async throws {
    let rig = try await ReaderRig.scanning()
    let first = try #require(await rig.process.processID)
    #expect(try lines("/proc/\(first)/status").contains("Seccomp:\t2"))
    await rig.simulator.unplug()
    try await rig.next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
    try await rig.simulator.plug()
    try await rig.isReady()
    let second = try #require(await rig.process.processID)
    #expect(try lines("/proc/\(second)/status").contains("Seccomp:\t2"))
    // Without Landlock the first one may open whatever has the name.
    #expect((second != first) == (tagroute_landlock_version() > 0))
    #expect(!rig.seen.contains { if case .crashed = $0 { true } else { false } })
    await rig.stop()
  }

  /// The kernel sets the time of change of a USB device with each transfer, and udev and logind whenever they say whose a device is.
  @Test(.enabled(if: hasLandlock, noLandlock)) func aDeviceThatWasUsedOrGivenToSomebodyIsTheSame() async throws {
    let directory = try TemporaryDirectory()
    let port = try directory.write("", to: "port")
    await #expect(processExitsWith: .exitCode(7)) { [port = port as String] in
      let files = FileConfinement([ConfinementPlan.FileRule(path: port, use: .device)])
      guard files.version != nil, files.newDevice == nil else { _exit(1) }
      guard chmod(port, 0o660) == 0, files.newDevice == nil else { _exit(2) }
      var times = [timespec(tv_sec: 1, tv_nsec: 1), timespec(tv_sec: 2, tv_nsec: 2)]
      guard utimensat(AT_FDCWD, port, &times, 0) == 0, files.newDevice == nil else { _exit(3) }
      // It is the one that may be opened.
      guard open(port, O_RDWR) >= 0 else { _exit(4) }
      _exit(7)
    }
  }

  @Test func whatIsInForceIsSaid() async throws {
    let rig = try await ReaderRig()
    try await rig.next("what is in force") { (event) -> Bool? in
      guard case .log(.debug, let line) = event, line.hasPrefix("confined: ") else { return nil }
      let hasLandlock = line.contains("Landlock") == (tagroute_landlock_version() > 0)
      return line.contains("system calls") && hasLandlock ? true : nil
    }
    await rig.stop()
  }

  /// In a process of its own, which has no daemon to speak to. How many seconds it is put off by is told of `ReaderTiming.secondsUntilAlarm`: what is
  /// left of an alarm depends on how soon it is looked at. One of an hour is told from one of seconds however long that takes.
  @Test func aSignalsAlarmIsPutOffByWhatIsBegunAndNoneIsSetWithoutASignal() async {
    await #expect(processExitsWith: .success) {
      // An alarm that is due before it is looked at ends nothing.
      signal(SIGALRM, SIG_IGN)
      let daemon = DaemonConnection(DaemonLink(descriptor: -1), ReaderTiming(device: "acr122_usb"))
      try? daemon.promise(.seconds(12))
      #expect(alarm(0) == 0)
      alarm(3600)
      try? daemon.promise(.seconds(12))
      #expect(alarm(3600) < 1800)
      try? daemon.beat()
      #expect(alarm(0) < 1800)
      // Also where that is later than it was.
      alarm(1800)
      try? daemon.promise(.seconds(7200))
      #expect(alarm(0) > 1800)
    }
  }

  private func lines(_ path: String) throws -> [String] {
    String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
