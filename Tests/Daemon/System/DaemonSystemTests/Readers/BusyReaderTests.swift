import Bus
import Glibc
import ReaderProtocol
import TestKit
import Testing

@testable import DaemonTests

/// The real `tagrouted`: the scan conditions change hundreds of times while its reader is busy.
@Suite(.timeLimit(.minutes(5))) struct BusyReaderTests {
  enum End: CaseIterable { case answer, death }

  @Test(arguments: End.allCases)
  func `scanning resumes once a busy reader process replies or dies`(end: End) async throws {
    let rig = try await DaemonRig(starter: "`scanning resumes once a busy reader process replies or dies`_\(end)")
    let agent = try await rig.startScanning()
    try await rig.holdReader()
    try await agent.report(["display-off": true])
    try await rig.scanning(false)
    // More reports than the number of events that the daemon buffers for a reader process.
    try await agent.report((0..<300).map { ["display-off": !$0.isMultiple(of: 2)] } + [[:]])
    switch end {
    case .answer: await rig.reader.catchesUp()
    case .death:
      await rig.reader.answersOrders(true)
      for child in try rig.daemon.children() { child.signal(SIGKILL) }
      try await rig.daemon.line(containing: "ended: killed by signal 9")
      await rig.reader.becomeReady()
    }
    try await rig.scanning(true)
    await rig.reader.tap(.message(Samples.message))
    #expect(try await agent.taps.nextMessage() == Samples.message)
  }
}
