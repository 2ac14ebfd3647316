import Names
import Tags
import Testing

@testable import PCSCReader
@testable import ReaderModels

/// The kind of error with which an exchange with a tag fails; nil if it succeeds.
func errorCode<Value>(_ body: () throws -> Value) -> TagChannelError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? TagChannelError)?.code
  }
}

/// Answers exactly the APDUs that it expects, in order. `remaining` is 0 when all were sent.
struct ScriptedConnection: CardConnection {
  enum Step {
    case command([UInt8], Result<[UInt8], CardFailure>)
    case powerCycle(CardFailure?)

    static func send(_ command: String, _ answer: String) -> Step { .command(hex(command), .success(hex(answer))) }
    static func send(_ command: String, _ answer: [UInt8]) -> Step { .command(hex(command), .success(answer)) }
    /// An APDU that gets no answer.
    static func fail(_ command: String, _ failure: CardFailure) -> Step { .command(hex(command), .failure(failure)) }
    static let reset = Step.powerCycle(nil)
  }

  private var script: ArraySlice<Step>

  init(_ script: [Step]) { self.script = script[...] }

  var remaining: Int { script.count }

  mutating func transmit(_ command: [UInt8]) throws(CardFailure) -> [UInt8] {
    guard case .command(command, let result)? = script.popFirst() else {
      Issue.record("unexpected command \(command.map { String($0, radix: 16) })")
      throw .exchange("unexpected command")
    }
    return try result.get()
  }

  mutating func reset() throws(CardFailure) {
    guard case .powerCycle(let failure)? = script.popFirst() else {
      Issue.record("unexpected reset")
      throw .exchange("unexpected reset")
    }
    if let failure { throw failure }
  }
}

typealias ScriptedLink = CardLink<ScriptedConnection>
typealias ScriptedCardChannel = CardChannel<ScriptedConnection>

func cardLink(_ model: ReaderModel, _ script: ScriptedConnection.Step...) -> ScriptedLink {
  CardLink(ScriptedConnection(script), model: model)
}

func cardChannel(
  _ model: ReaderModel, _ tag: TagActivation, extended: Bool = false, _ script: ScriptedConnection.Step...
) -> ScriptedCardChannel {
  CardChannel(CardLink(ScriptedConnection(script), model: model, takesExtendedAPDUs: extended), tag: tag)
}

extension CardChannel where Connection == ScriptedConnection {
  var remaining: Int { link.connection.remaining }
}

extension ReaderModel {
  /// The model of the table with this title.
  static func titled(_ title: String) -> ReaderModel {
    guard let model = all.first(where: { $0.title == title }) else {
      Issue.record("there is no model \(title)")
      return generic
    }
    return model
  }

  static var acr122: ReaderModel { titled("ACS ACR122U") }
  static var acr1252: ReaderModel { titled("ACS ACR1252U") }
  static var acr1552: ReaderModel { titled("ACS ACR1552U") }
  static var omnikey: ReaderModel { titled("HID OMNIKEY 5022 CL") }
  static var uTrust3700: ReaderModel { titled("Identiv uTrust 3700 F") }
  static var uTrust3720: ReaderModel { titled("Identiv uTrust 3720 F") }
  static var springCardReader: ReaderModel { titled("SpringCard") }
  static var r502: ReaderModel { titled("Feitian R502") }
}

extension TagActivation {
  static let type1 = TagActivation.jewel(JewelActivation(atqa: [0x0C, 0x00], uid: [1, 2, 3, 4]))
  static let type2 = TagActivation.typeA(TypeAActivation(type: .type2, uid: [4, 1, 2, 3, 4, 5, 6]))
  static let type3 = TagActivation.felica(
    FeliCaActivation(idm: [1, 2, 3, 4, 5, 6, 7, 8], pmm: [], systemCode: [0x12, 0xFC], bitRate: 212))
  static let type4 = TagActivation.typeA(TypeAActivation(type: .type4A, uid: [4, 1, 2, 3, 4, 5, 6]))
  static let type5 = TagActivation.typeV(TypeVActivation(uid: [0xE0, 4, 1, 0, 0, 0, 0, 1]))
  static let classic = TagActivation.typeA(TypeAActivation(atqa: [], sak: 0x08, uid: [1, 2, 3, 4]))
}

/// The bytes of a text with hexadecimal bytes: "FF CA 00".
func hex(_ text: String) -> [UInt8] { text.split(separator: " ").compactMap { UInt8($0, radix: 16) } }
