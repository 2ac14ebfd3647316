import EventLoop
import Glibc
import ReaderLink
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
      if case .state(.absent) = event { break }
      Issue.record("\(event)")
    }
    let child = try #require(await process.processID)
    let status = try lines("/proc/\(child)/status")
    #expect(status.contains("NoNewPrivs:\t1"))
    let cores = try #require(try lines("/proc/\(child)/limits").first { $0.hasPrefix("Max core file size") })
    #expect(cores.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
    var information = stat()
    #expect(stat("/proc/\(child)/environ", &information) == 0)
    #expect(information.st_uid == 0, "it may be dumped")
    #expect(status.first { $0.hasPrefix("Uid:") } != "Uid:\t0\t0\t0\t0", "this shows nothing of root's process")
    await process.stop()
  }

  /// In a process of its own, which has no daemon to speak to.
  @Test func aSignalsAlarmIsPutOffByWhatIsBegunAndNoneIsSetWithoutASignal() async {
    await #expect(processExitsWith: .success) {
      let daemon = DaemonConnection(DaemonLink(descriptor: -1), ReaderTiming(device: "acr122_usb"))
      try? daemon.promise(.seconds(12))
      #expect(alarm(0) == 0)
      alarm(3)
      try? daemon.promise(.seconds(12))
      #expect(alarm(3) == 13)
      try? daemon.beat()
      #expect(alarm(0) == 8)
    }
  }

  private func lines(_ path: String) throws -> [String] {
    String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
