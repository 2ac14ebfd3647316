import ReaderSimulator
import TestRig
import Testing
@testable import LibNFCReaderTests

@testable import ReaderLink

/// Helpers for tests of reader sessions.
extension ReaderRig {
  /// A rig that waits for a ready reader and begins a session.
  static func inSession(
    _ options: ReaderSessionOptions = ReaderSessionOptions(number: 1), timing: TimingModel = .immediate
  ) async throws -> ReaderRig {
    let rig = try await ReaderRig(timing: timing)
    try await rig.isReady()
    try await rig.begin(options)
    return rig
  }

  func begin(_ options: ReaderSessionOptions) async throws {
    await beginSession(options)
    try await expect(.sessionBegan(options.number))
  }

  func end(_ number: UInt64 = 1) async throws {
    await endSession(number)
    try await expect(.sessionEnded(number))
  }

  func sessionTag() async throws -> SessionTag {
    try await next("a tag of a session") { if case .sessionTag(_, let tag) = $0 { tag } else { nil } }
  }

  /// The tags that a session reports until the end of a round.
  func round() async throws -> [SessionTag] {
    let start = seen.count
    try await next("the end of a round") { if case .sessionRoundEnded = $0 { true } else { nil } }
    return seen[start...].compactMap { if case .sessionTag(_, let tag) = $0 { tag } else { nil } }
  }

  /// The number of the next placement in the session that ends.
  func sessionRemoval() async throws -> UInt64 {
    try await next("a removal") { if case .sessionTagRemoved(_, let number) = $0 { number } else { nil } }
  }

  func ask(
    _ operation: ReaderOperation, _ tag: SessionTag, request: UInt64 = 1, session: UInt64 = 1
  ) async {
    await process.perform(operation, request: request, placement: tag.placement.number, session: session)
  }

  /// Performs an operation on a tag and returns its result.
  func perform(
    _ operation: ReaderOperation, _ tag: SessionTag, request: UInt64 = 1, session: UInt64 = 1
  ) async throws -> ReaderOperationResult {
    await ask(operation, tag, request: request, session: session)
    return try await result(request)
  }

  func result(_ request: UInt64 = 1) async throws -> ReaderOperationResult {
    try await next("an answer") { if case .performed(request, let result) = $0 { result } else { nil } }
  }

  /// Sends a raw command and returns the answer.
  func transceive(
    _ command: [UInt8], _ tag: SessionTag, timeout: UInt32 = 1000
  ) async throws -> [UInt8] {
    let result = try await perform(.transceive(command, timeout: timeout), tag)
    guard case .answer(let bytes) = result else { throw RigError("expected an answer, got \(result)") }
    return bytes
  }

  /// Scans until the chip has received `commands` commands. Returns the announced tags.
  func announcements(in commands: Int = 60) async throws -> [TagReport] {
    await setScanning(true)
    try await expect(.scanning(true))
    try await self.commands(commands)
    let start = seen.count
    await setScanning(false)
    try await expect(.scanning(false))
    return seen[start...].compactMap { if case .tag(let report, _) = $0 { report } else { nil } }
  }
}

extension ReaderOperationResult {
  var failure: ReaderOperationFailure? { if case .failed(let failure, _) = self { failure } else { nil } }
}

/// The kinds of tags.
enum SessionKind: CaseIterable {
  case type1, type2, type3, type4A, type4B, mifareClassic

  /// Whether the specification has a flag for an unfinished write.
  var saysDamaged: Bool { self == .type3 }

  func make(_ message: [UInt8]) throws -> SimulatedTag {
    var options = Type4Options()
    options.containerIsWritable = true
    return switch self {
    case .type1: try .type1(.topaz96, message: message)
    case .type2: try .type2(.ntag213, message: message)
    case .type3: try .type3(message: message)
    case .type4A: try .type4(message: message, options: options)
    case .type4B: try .type4B(message: message, options: options)
    case .mifareClassic: try .mifareClassic(.classic1K, message: message)
    }
  }
}
