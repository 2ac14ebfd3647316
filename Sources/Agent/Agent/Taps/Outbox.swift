import Bus
import EventLoop
import Glibc
import Inbox
import Journal

/// Whether taps wait to be sent to other machines: they do while there is an `mqtt.conf`.
actor Outbox {
  /// As of the last look.
  private(set) var isOn = false
  /// If one of these files exists, each tap that is stored waits to be sent.
  private let files: [String]
  private let log: Log
  private nonisolated let loop: EventLoop

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(_ files: [String], on loop: EventLoop, log: Log) {
    self.files = files
    self.loop = loop
    self.log = log
  }

  /// On a separate thread: the file system may not answer.
  func look() async {
    let isThere =
      (try? await DedicatedThread.run { [files] in files.contains { access($0, F_OK) == 0 } }) ?? isOn
    guard isThere != isOn else { return }
    isOn = isThere
    log(.info, isThere ? "there is an mqtt.conf: taps wait to be sent from now on" : "there is no mqtt.conf any more")
  }
}
