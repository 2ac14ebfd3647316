import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader
@testable import ReaderKit

/// Tags that are torn away at each exchange of an operation.
@Suite struct TearTests {
  @Test(
    arguments: [
      (.type1(.topaz96), 30, 1...1), (.type1(.topaz512), 60, 1...1), (.type1(.topaz512), 130, 8...8),
      (.type3(.liteS), 150, 5...5), (.type3(.standardWithSeveralSystems), 150, 3...3),
    ]
      + [SimulatedType2Model.ultralight, .ntag203, .ntag215, .ntagI2C2k].flatMap { model in
        [0, 40].map { (.type2(model), $0, 1...20) }
      }
      + [0, 4, 20, 40].map { (.sectors(before: $0), 60, 5...30) }
      + [Modulation.typeA, .typeB].flatMap { modulation in
        [2, 3].map { (.type4(modulation, version: $0, read: 50), 150, 8...20) }
      }
      + [0, 20, 100].map { (.classic(.classic1K), $0, 5...20) } as [(TagSample, Int, ClosedRange<Int>)])
  func `reading yields the message or none`(tag: TagSample, size: Int, exchanges: ClosedRange<Int>) throws {
    let message = ndefMessage(ofSize: size)
    let report = try tag.walk(message).reading(message)
    #expect(report.findings == [])
    #expect(exchanges.contains(report.exchanges), "\(report.exchanges)")
  }

  static let type1: [(TagSample, Int, Int)] = [
    (.type1(.topaz96), 0, 20), (.type1(.topaz96), 20, 0), (.type1(.topaz96), 40, 12), (.type1(.topaz96), 12, 30),
    (.type1(.topaz512), 20, 0), (.type1(.topaz512), 20, 120), (.type1(.topaz512), 260, 20),
  ]
  static let type2: [(TagSample, Int, Int)] = [
    (.type2(.ultralight), 46, 46), (.type2(.ntag213, hasLockControl: true), 20, 100),
    (.type2(.ntag213, hasLockControl: true), 100, 20), (.type2(.ntag215, hasLockControl: true), 0, 37),
    (.type2(.ntag215, hasLockControl: true), 300, 0), (.type2(.ntag215, hasLockControl: true), 3, 254),
    (.type2(.ultralightC, hasLockControl: true), 60, 70), (.type2(.ntag203, hasLockControl: true), 60, 61),
    (.type2(.ntag216, hasLockControl: true), 255, 260),
  ]
  static let type4: [(TagSample, Int, Int)] = [Modulation.typeA, .typeB].flatMap { modulation in
    [(0, 150), (150, 0), (150, 220)].map { (.type4(modulation, file: 300), $0.0, $0.1) }
  }
  static let classic: [(TagSample, Int, Int)] =
    [(0, 60), (60, 0), (60, 100), (100, 12), (10, 13), (300, 40), (40, 300)].map {
      (.classic(.classic1K), $0.0, $0.1)
    } + (12...18).map { (.classic(.mini, nulls: $0), 40, 30) }
    + [12, 14, 15].map { (.classic(.classic1K, nulls: $0), 256, 270) }

  @Test(arguments: type1 + type2 + [0, 4, 20, 40].map { (.sectors(before: $0), 60, 70) } + type4 + classic)
  func `writing leaves the old message, the new one or none`(tag: TagSample, sizes old: Int, new: Int) throws {
    let before = ndefMessage(ofSize: old)
    let report = try tag.walk(before).writing(ndefMessage(ofSize: new, filledWith: 0x42), over: before)
    #expect(report.findings == [])
    #expect(report.exchanges > 1)
  }

  @Test(
    arguments: [
      (.liteS, 0, 0, 4), (.liteS, 0, 208, 17), (.liteS, 150, 0, 4), (.liteS, 150, 208, 17),
      (.standard, 150, 400, 7), (.standard, 400, 0, 3),
      (.standardWithSeveralSystems, 150, 400, 8), (.standardWithSeveralSystems, 400, 0, 4),
    ] as [(Type3Options.Model, Int, Int, Int)])
  func `writing a FeliCa card takes the fewest exchanges and leaves the old message, the new one or none`(
    model: Type3Options.Model, old: Int, new: Int, exchanges: Int
  ) throws {
    let before = ndefMessage(ofSize: old)
    let report = try TagSample.type3(model).walk(before).writing(
      ndefMessage(ofSize: new, filledWith: 0x42), over: before)
    #expect(report.findings == [])
    #expect(report.exchanges == exchanges)
  }

  /// Beyond 32 KiB, mapping 3.0 of Type 4 encodes offsets as data objects. On the 4K, the message passes the second part
  /// of the directory and reaches the large sectors.
  @Test(
    arguments: [
      (.type4(.typeA, version: 3, read: 256, write: 255, file: 34_000), 32_800, 33_200, 97),
      (.classic(.classic4K), 1_500, 1_600, 41),
    ] as [(TagSample, Int, Int, Int)])
  func `a long message is the old one, the new one or none`(
    tag: TagSample, sizes old: Int, new: Int, stride: Int
  ) throws {
    let before = ndefMessage(ofSize: old)
    let walk = tag.walk(before, stride: stride)
    let reports = [
      try walk.reading(before), try walk.writing(ndefMessage(ofSize: new, filledWith: 0x42), over: before),
    ]
    #expect(reports.flatMap(\.findings) == [])
    #expect(reports.allSatisfy { $0.exchanges > 100 })
  }

  /// A FeliCa Lite is also configured to reject writes. Of the exchanges with a Type 4 card, five read the message.
  @Test(
    arguments: [
      (.type1(.topaz96), 5...5), (.type1(.topaz512), 7...7), (.type2(.ultralight), 1...30),
      (.type2(.ultralightC), 1...30), (.type2(.ntag203), 1...30), (.type2(.ntag203, hasLockControl: true), 1...30),
      (.type2(.ntag213), 1...30), (.type2(.ntag213, hasLockControl: true), 1...30), (.type2(.ntag215), 1...30),
      (.type2(.ntagI2C2k), 1...30), (.type3(.liteS, .felica424), 7...7), (.type3(.standard, .felica424), 4...4),
      (.type3(.standardWithSeveralSystems, .felica424), 6...6), (.type3(.phone, .felica424), 4...4),
      (.type4(.typeA), 10...10), (.type4(.typeB), 10...10), (.classic(.mini, sectors: [1, 2]), 16...60),
    ] + [0, 4, 20, 40].map { (.sectors(before: $0), 1...40) } as [(TagSample, ClosedRange<Int>)])
  func `locking keeps the message and can be repeated`(tag: TagSample, exchanges: ClosedRange<Int>) throws {
    let message = ndefMessage(ofSize: 37)
    let report = try tag.walk(message).locking(message)
    #expect(report.findings == [])
    #expect(exchanges.contains(report.exchanges), "\(report.exchanges)")
  }
}

/// Runs an action with an accident at each of its exchanges, then puts the tag back and reads it. By default, the tag
/// is torn away, once before it receives the frame and once after.
///
///     let walk = TearWalk(.typeA) { try .type2(.ntag215, message: message) }
///     let report = try walk.reading(message)
///     #expect(report.findings.isEmpty)
///     #expect(report.exchanges == 3)
struct TearWalk {
  /// One thing that can go wrong.
  struct Accident: Sendable {
    /// What happened to the tag: "torn away at exchange".
    let words: String
    /// Whether the tag stays on the reader. Every failure then has to be temporary.
    let leavesTag: Bool
    let fault: @Sendable (_ exchange: Int) -> Fault

    static let tearing = [
      Accident(words: "torn away at exchange", leavesTag: false) { .removal(exchange: $0) },
      Accident(words: "torn away after it received the command at exchange", leavesTag: false) {
        .removal(exchange: $0, heard: true)
      },
    ]

    /// The faults occur once. The last one repeats until the retries of the chip and of the reader process are used up.
    static let radioFaults: [Accident] = [
      ("with a lost command", Fault.Disturbance.unheard, 1), ("with a corrupt command", .garbledCommand, 1),
      ("with a lost answer", .unanswered, 1), ("with a corrupt answer", .garbledAnswer, 1),
      ("with three corrupt answers", .garbledAnswer, 3),
    ].map { words, disturbance, times in
      Accident(words: "\(words) at exchange", leavesTag: true) {
        .radio(disturbance, exchange: $0, times: times)
      }
    }
  }

  struct Report: Sendable {
    var exchanges = 0
    /// All violations; empty if there were none.
    var findings: [String] = []
  }

  /// The state of a tag after the action. It follows from the memory alone, so each different memory is read only once.
  private struct Aftermath {
    let content: TagContent
    /// The result of a second attempt at the action, if there was one.
    let again: Again
  }

  /// The result of a second attempt.
  private enum Again {
    case notTried
    /// The second attempt had something to do, and succeeded.
    case done
    /// The first attempt had already completed the action.
    case needless
    case failed(String)

    var failure: String? { if case .failed(let words) = self { words } else { nil } }
  }

  private struct Placement {
    /// The accident that happened; nil if none did.
    let accident: Accident?
    let failure: (any Error)?
    let content: TagContent
    let again: Again
    /// Whether the tag's memory is unchanged.
    let isUntouched: Bool
    let exchanges: UInt64
  }

  /// The limit of exchanges for one action.
  static let most = 4_000

  let modulation: Modulation
  /// The problem of a tag with an unfinished write, if its specification has a flag for that.
  private let unfinished: String?
  private let accidents: [Accident]
  /// The distance between two exchanges with an accident.
  private let stride: Int
  let makeTag: () throws -> SimulatedTag

  /// `makeTag` makes the tag in its initial state, always the same. Use a `stride` of more than 1 for very many
  /// exchanges.
  init(
    _ modulation: Modulation, unfinished: String? = nil, accidents: [Accident] = Accident.tearing, stride: Int = 1,
    makeTag: @escaping () throws -> SimulatedTag
  ) {
    self.modulation = modulation
    self.unfinished = unfinished
    self.accidents = accidents
    self.stride = stride
    self.makeTag = makeTag
  }

  /// Checks that reading returns the message on the tag or none, and does not change the tag.
  func reading(_ message: [UInt8]) throws -> Report {
    try walk { channel in
      let content = try channel.tag.readNDEF(over: &channel)
      guard Self.holds(content, message) else { throw Unexpected(content: content) }
    } again: { _ in
      .notTried
    } judge: { placement in
      if let unexpected = placement.failure as? Unexpected, !isPassing(unexpected.content, placement.accident) {
        return "was read as \(unexpected.content)"
      }
      if !placement.isUntouched { return "was written to" }
      if placement.accident == nil, let failure = placement.failure { return "cannot be read: \(failure)" }
      return Self.holds(placement.content, message) ? nil : "holds \(placement.content) now"
    }
  }

  /// Checks that a torn write leaves the old message if the memory is unchanged, and the new one or none otherwise. It
  /// must be possible to write the tag again.
  func writing(_ message: [UInt8], over old: [UInt8]) throws -> Report {
    try walk { channel in
      try channel.tag.writeNDEF(message, over: &channel)
    } again: { channel in
      do {
        try channel.tag.writeNDEF(message, isVerifying: true, over: &channel)
        return .done
      } catch {
        return .failed("cannot be written again: \(error)")
      }
    } judge: { placement in
      let isWritten = Self.holds(placement.content, message)
      if placement.failure == nil, !isWritten { return "was reported as written but holds \(placement.content)" }
      if placement.accident == nil, let failure = placement.failure { return "cannot be written: \(failure)" }
      let isOld = placement.isUntouched && Self.holds(placement.content, old)
      return isWritten || isOld || isNone(placement.content) ? nil : "holds \(placement.content) now"
    }
  }

  /// Checks that a torn lock keeps the message and that the tag can be locked again.
  func locking(_ message: [UInt8]) throws -> Report {
    // Some tags keep a part of their lock state outside of `memory`.
    try walk(knowsMemories: false) { channel in
      try channel.tag.lockNDEF(over: &channel)
    } again: { channel in
      do {
        var again = Again.done
        do { try channel.tag.lockNDEF(over: &channel) } catch TagWriteError.readOnly { again = .needless }
        let status = try channel.tag.queryNDEF(over: &channel)
        guard status.access == .readOnly else { return .failed("is \(status.access.rawValue) after all") }
        let content = try channel.tag.readNDEF(over: &channel)
        return Self.holds(content, message) ? again : .failed("holds \(content) after all")
      } catch {
        return .failed("cannot be locked again: \(error)")
      }
    } judge: { placement in
      guard Self.holds(placement.content, message) else { return "holds \(placement.content) now" }
      if placement.accident == nil, let failure = placement.failure { return "cannot be locked: \(failure)" }
      // After a complete lock, there is no work left for a second attempt.
      if placement.failure == nil, case .done = placement.again { return "was reported as locked but is not" }
      return nil
    }
  }

  /// Whether a failure is reported as temporary.
  private func isPassing(_ content: TagContent, _ accident: Accident?) -> Bool {
    accident?.leavesTag == true && Reading(content).isDoubtful()
  }

  private struct Unexpected: Error { let content: TagContent }

  private func walk(
    knowsMemories: Bool = true, _ act: (inout TargetChannel) throws -> Void, again: (inout TargetChannel) -> Again,
    judge: (Placement) -> String?
  ) throws -> Report {
    let reader = try OpenReader()
    // Use one tag for all accidents. With a different UID, no memory would be the same as an earlier one.
    let original = try makeTag()
    var known: [[UInt8]: Aftermath]? = knowsMemories ? [:] : nil
    var report = Report()
    let usual = try place(original, reader, nil, &known, act, again).exchanges
    for accident in accidents {
      var isStruck = false
      for number in Swift.stride(from: 1, through: Self.most, by: stride) {
        let placement = try place(original, reader, (accident, number), &known, act, again)
        let moment = placement.accident.map { "\($0.words) \(number)" } ?? "left alone"
        if let finding = judge(placement) ?? placement.again.failure {
          report.findings.append("a tag \(moment) \(finding)")
        }
        if placement.exchanges > 2 * usual + 8 {
          report.findings.append("a tag \(moment) takes \(placement.exchanges) exchanges instead of \(usual)")
        }
        guard placement.accident != nil else { break }
        isStruck = true
        report.exchanges = max(report.exchanges, number)
        if number == Self.most { report.findings.append("the action continues after \(number) exchanges") }
      }
      if !isStruck { report.findings.append("the accident did not happen: \(accident.words)") }
    }
    return report
  }

  private func place(
    _ original: SimulatedTag, _ reader: OpenReader, _ planned: (accident: Accident, exchange: Int)?,
    _ known: inout [[UInt8]: Aftermath]?, _ act: (inout TargetChannel) throws -> Void,
    _ again: (inout TargetChannel) -> Again
  ) throws -> Placement {
    let fault = planned.map { $0.accident.fault($0.exchange) }
    let attempt = try reader.attempt(on: original, modulation, fault, act)
    let memory = attempt.tag.memory
    let aftermath = try known?[memory] ?? aftermath(of: attempt.tag, reader, again)
    known?[memory] = aftermath
    return Placement(
      accident: attempt.isStruck ? planned?.accident : nil, failure: attempt.failure, content: aftermath.content,
      again: aftermath.again, isUntouched: memory == original.memory, exchanges: attempt.exchanges)
  }

  private func aftermath(
    of tag: SimulatedTag, _ reader: OpenReader, _ again: (inout TargetChannel) -> Again
  ) throws -> Aftermath {
    try reader.withTag(tag, modulation) { channel in
      let content = try channel.tag.readNDEF(over: &channel)
      return Aftermath(content: content, again: again(&channel))
    }
  }

  static func holds(_ content: TagContent, _ message: [UInt8]) -> Bool {
    switch content {
    case .message(let bytes): bytes == message
    case .problem(let problem): message.isEmpty && problem.code == .empty
    }
  }

  private func isNone(_ content: TagContent) -> Bool {
    guard case .problem(let problem) = content else { return false }
    return problem.description == unfinished || problem.code == .empty || problem.code == .notNDEF
  }
}
