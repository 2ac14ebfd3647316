import EventLoop
import Glibc
import Names
import TestKit
import Testing

@testable import Daemon
@testable import ReaderProtocol
@testable import ReaderSimulator

/// A socket in pcscd's place. It answers the first message of pcsc-lite's protocol, or does not.
private struct ServiceStandIn {
  enum Manner: Sendable, CaseIterable {
    /// A pcscd that crashes, or one before 2.0 that polkit does not let this program use.
    case closes
    /// A later pcscd that polkit does not let this program use: `SCARD_W_SECURITY_VIOLATION`.
    case forbids
    /// A pcscd of another version: `SCARD_E_SERVICE_STOPPED`.
    case isAnotherVersion
    /// A pcscd that is stopped, or hangs.
    case isSilent
  }

  let directory: TemporaryDirectory
  let socket: String
  /// The number of connections so far.
  let connections = Locked(0)
  private let listener: FileDescriptor

  init(_ manner: Manner) throws {
    directory = try TemporaryDirectory()
    socket = directory.file("pcscd.comm")
    let listener = try ListeningSocket.create(at: socket, mode: 0o666)
    self.listener = listener
    guard manner != .isSilent else { return }
    try DedicatedThread.start { [connections] in
      while true {
        let client = accept(listener.rawValue, nil, nil)
        guard client >= 0 else { return }
        connections.withLock { $0 += 1 }
        Self.answer(FileDescriptor(owning: client), manner)
      }
    }
  }

  /// A header of two 32-bit numbers (length, command), and for CMD_VERSION three: major, minor, result
  /// (winscard_msg.h). The answer is the body alone.
  private static func answer(_ client: FileDescriptor, _ manner: Manner) {
    var message = [UInt8](repeating: 0, count: 20)
    let length = recv(client.rawValue, &message, message.count, Int32(MSG_WAITALL))
    let result: UInt32 = manner == .forbids ? 0x8010_006A : 0x8010_001E
    guard manner != .closes, length == message.count else { return }
    message.replaceSubrange(16..<20, with: withUnsafeBytes(of: result) { Array($0) })
    try? client.write(Array(message[8...]))
  }

  /// A call of accept(2) ends, too.
  func stop() { _ = shutdown(listener.rawValue, Int32(SHUT_RDWR)) }
}

/// Services that do not let `tagroute-reader-pcsc` in. Its reason tells the user what to do.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct UnwillingServiceTests {
  private static let reasons: [(ServiceStandIn.Manner, String)] = [
    (.closes, "pcscd closes the connection: it ends at once, or polkit does not allow it; see journalctl -u pcscd"),
    (.forbids, "pcscd refuses the connection; allow the actions org.debian.pcsc-lite.access_pcsc and access_card"),
    (.isAnotherVersion, "pcscd and libpcsclite are of different versions; restart it:"),
    (.isSilent, "pcscd does not answer; restart it:"),
  ]

  @Test(arguments: reasons)
  private func `the reader says what to do`(manner: ServiceStandIn.Manner, reason: String) async throws {
    let service = try ServiceStandIn(manner)
    let process = ReaderProcess(
      ReaderProcess.Configuration(
        program: try BuiltProducts.program(Names.Files.pcscReaderProgram),
        device: Names.PCSC.devicePrefix + "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00",
        environment: ["\(Names.PCSC.socketVariable)=\(service.socket)"]),
      on: EventLoop(label: "daemon"))
    atEndOfTest {
      await process.stop()
      service.stop()
      withExtendedLifetime(service.directory) {}
    }
    await process.start()
    for await event in process.events {
      guard case .phase(.failed(let said), _) = event else { continue }
      #expect(said.hasPrefix(reason), "\(said)")
      // pcscd logs each attempt that polkit refuses. The next one comes after a minute.
      let connections = service.connections.withLock { $0 }
      if manner == .closes || manner == .forbids { #expect(connections == 3) }
      return
    }
    Issue.record("the reader did not fail")
  }
}
