import NDEF

/// A line on standard input.
enum ControlCommand: Equatable {
  enum Contents: Equatable {
    case uri(String)
    case messageFile(String)
    case memoryFile(String)
    /// No contents: the card does not support NDEF.
    case none
  }

  /// The kinds of tags. The raw value is the name on the control line.
  enum Kind: String, CaseIterable {
    case type1 = "1"
    case type2 = "2"
    case type3 = "3"
    case type4 = "4"
    case type4B = "4b"
    case type5 = "5"
    case mifareClassic = "classic"
    case desfire
    case payment
    case transit
    case application
    case contact
    case paymentChip = "payment-chip"
    case openPGP = "openpgp"
    case piv

    /// Whether a tag of this kind can hold a message.
    var holdsMessages: Bool { ![.payment, .transit, .application].contains(self) && !hasContacts }
    /// Whether this is a card with contacts, which only a PC/SC reader takes.
    var hasContacts: Bool { [.contact, .paymentChip, .openPGP, .piv].contains(self) }
    /// Whether the tag is a FeliCa card, which generates its own IDm.
    var isFeliCa: Bool { self == .type3 || self == .transit }
  }

  /// A tag to place on the reader.
  struct Tap: Equatable {
    var contents: Contents
    var type = Kind.type2
    var model: SimulatedType2Model?
    var card: Type3Options.Model?
    var vicinity: SimulatedType5Model?
    var uid: TagUID?
    /// Whether to keep the tags that are on the reader already.
    var isAdditional = false
    /// The number of the slot, as in pcscd's list; nil for the first one that takes such a card.
    var slot: Int?
  }

  case tap(Tap)
  case remove(UInt64?)
  case fault(Fault)
  /// A fault of a PC/SC reader.
  case cardFault(CardFault)
  case noFaults
  case unplug
  case plug
  /// The recorded card comes or goes.
  case next
  case counters(reset: Bool)
  /// The answer lists the models of the PC/SC readers.
  case model
  /// The answer follows once the host has sent this many more commands.
  case wait(Int)
  case help
  case quit

  static let summary = """
    tap URI [--type \(Kind.allCases.map(\.rawValue).joined(separator: "|"))] [--model NAME] [--uid HEX|random] [--add] [--slot NUMBER]; tap --ndef FILE …; tap --type 2 --memory FILE; \
    tap --type \(Kind.allCases.filter { !$0.holdsMessages }.map(\.rawValue).joined(separator: "|")); remove [TAG]; \
    fault delay MS|none; fault status WORD [TIMES]|removal|flicker|silence|mute (with --pcsc); unplug; plug; \
    next (with --replay); counters [reset]; model; wait COMMANDS; quit
    """

  /// The error names the mistake and its reason.
  init(_ line: String) throws(SimulatorError) {
    let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    let rest = Array(words.dropFirst())
    switch words.first {
    case "tap": self = .tap(try Self.tap(rest))
    case "remove": self = .remove(try rest.first.map { word throws(SimulatorError) in try Self.tag(word) })
    case "fault": self = try Self.fault(rest)
    case "unplug": self = .unplug
    case "plug": self = .plug
    case "next" where rest.isEmpty: self = .next
    case "model" where rest.isEmpty: self = .model
    case "counters" where rest.isEmpty || rest == ["reset"]: self = .counters(reset: !rest.isEmpty)
    case "wait":
      guard rest.count == 1, let count = rest.first.flatMap(Int.init), (1...10_000).contains(count) else {
        throw SimulatorError("wait: give a number of commands, 1 to 10000")
      }
      self = .wait(count)
    case "help": self = .help
    case "quit": self = .quit
    case nil: throw SimulatorError("command: empty line")
    case let word?: throw SimulatorError("\(word.prefix(40)): no such command; try help")
    }
  }

  /// Parses the arguments of `tap`. The value of `--tap` on the command line uses it too.
  static func tap(_ words: [String]) throws(SimulatorError) -> Tap {
    var tap = Tap(contents: .uri(""))
    var hasContents = false
    var words = words[...]
    while let word = words.popFirst() {
      switch word {
      case "--add": tap.isAdditional = true
      case "--slot":
        guard let number = words.popFirst().flatMap({ Int($0) }), number >= 0 else {
          throw SimulatorError("--slot: give the number of a slot")
        }
        tap.slot = number
      case "--type":
        guard let kind = words.popFirst().flatMap(Kind.init) else {
          throw SimulatorError("--type: one of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        tap.type = kind
      case "--model":
        let value = words.popFirst()
        tap.model = SimulatedType2Model.all.first { $0.name == value }
        tap.card = value.flatMap(Type3Options.Model.init)
        tap.vicinity = SimulatedType5Model.all.first { $0.name == value }
        guard tap.model != nil || tap.card != nil || tap.vicinity != nil else {
          let names =
            SimulatedType2Model.all.map(\.name) + Type3Options.Model.allCases.map(\.rawValue)
            + SimulatedType5Model.all.map(\.name)
          throw SimulatorError("--model: one of \(names.joined(separator: ", "))")
        }
      case "--uid": tap.uid = try uid(words.popFirst())
      case "--ndef", "--memory":
        guard let path = words.popFirst() else { throw SimulatorError("\(word): a file's name is missing") }
        guard !hasContents else { throw SimulatorError("\(word): one content is enough") }
        tap.contents = word == "--ndef" ? .messageFile(path) : .memoryFile(path)
        hasContents = true
      default:
        guard !word.hasPrefix("--") else { throw SimulatorError("\(word.prefix(40)): no such option; try help") }
        guard !hasContents else { throw SimulatorError("\(word.prefix(40)): one content is enough") }
        tap.contents = .uri(word)
        hasContents = true
      }
    }
    guard hasContents == tap.type.holdsMessages else {
      throw SimulatorError(
        hasContents ? "tap: such a card holds no message" : "tap: a URI, --ndef or --memory is missing")
    }
    if !hasContents { tap.contents = .none }
    if case .memoryFile = tap.contents, tap.type != .type2 { throw SimulatorError("--memory: only for --type 2") }
    if tap.model != nil && tap.type != .type2 || tap.card != nil && tap.type != .type3
      || tap.vicinity != nil && tap.type != .type5
    {
      throw SimulatorError("--model: not one of --type \(tap.type.rawValue)")
    }
    if case .memoryFile = tap.contents, tap.uid != nil { throw SimulatorError("--uid: the memory holds it already") }
    if tap.type == .type5, tap.uid != nil { throw SimulatorError("--uid: a Type 5 tag makes up its UID") }
    if tap.type.isFeliCa, tap.uid != nil { throw SimulatorError("--uid: a FeliCa card makes up its IDm") }
    return tap
  }

  private static func uid(_ word: String?) throws(SimulatorError) -> TagUID {
    if word == "random" { return .random }
    guard let word, let bytes = HexText.bytes(word) else {
      throw SimulatorError("--uid: 8, 14 or 20 hexadecimal digits, or random")
    }
    do throws(SimulatorError) { return try .fixed(bytes) } catch { throw SimulatorError("--uid: \(error)") }
  }

  private static func tag(_ word: String) throws(SimulatorError) -> UInt64 {
    guard let number = UInt64(word) else { throw SimulatorError("remove: \(word.prefix(40)) is not a tag's number") }
    return number
  }

  private static func fault(_ words: [String]) throws(SimulatorError) -> ControlCommand {
    switch words.first {
    case "none" where words.count == 1: return .noFaults
    case "delay":
      guard words.count == 2, let milliseconds = UInt32(words[1]) else {
        throw SimulatorError("fault delay: give one number of milliseconds")
      }
      return .fault(.delay(.milliseconds(Int(milliseconds))))
    case "status":
      let times = words.count == 3 ? Int(words[2]) : 1
      guard (2...3).contains(words.count), words[1].count == 4, let word = UInt16(words[1], radix: 16), let times,
        times > 0
      else { throw SimulatorError("fault status: give four hexadecimal digits, and how often") }
      return .cardFault(.status(word, times: times))
    case "removal" where words.count == 1: return .cardFault(.removal())
    case "flicker" where words.count == 1: return .cardFault(.flicker())
    case "silence" where words.count == 1: return .cardFault(.silence())
    case "mute" where words.count == 1: return .cardFault(.mute())
    case let name: throw SimulatorError("fault: \(name?.prefix(40) ?? "nothing") is not one; try help")
    }
  }
}

/// The tags and cards of `tap` commands.
extension ControlCommand.Tap {
  /// The limit for files. No tag holds more, and no message may be longer.
  private static let longestFile = 1 << 20

  /// The card for a PC/SC reader.
  func makeCard() throws(SimulatorError) -> SimulatedCard {
    switch type {
    case .contact: .contact()
    case .paymentChip: .paymentChip()
    case .openPGP: .openPGP()
    case .piv: .piv()
    default: SimulatedCard(try makeTag())
    }
  }

  /// The tag with its contents. Fails for a card with contacts.
  func makeTag() throws(SimulatorError) -> SimulatedTag {
    let message: [UInt8]
    switch contents {
    case .memoryFile(let path): return try .type2(model, memory: SimulatorFile.read(path, atMost: Self.longestFile))
    case .messageFile(let path):
      message = try SimulatorFile.read(path, atMost: Self.longestFile)
      do { _ = try NDEFMessage(decoding: message) } catch {
        throw SimulatorError("\(path): not an NDEF message: \(error)")
      }
    case .uri(let uri):
      do { message = try NDEFMessage.uri(uri).encoded() } catch { throw SimulatorError("\(uri.prefix(80)): \(error)") }
    case .none: message = []
    }
    let uid = self.uid ?? .generated()
    switch type {
    case .type1: return try .topaz(message: message, uid: self.uid ?? .generatedTopaz())
    case .type2: return try .type2(model ?? .ntag215, message: message, uid: uid)
    case .type3: return try .type3(message: message, options: Type3Options(card ?? .liteS))
    case .type4: return try .type4(message: message, uid: uid)
    case .type4B: return try .type4B(message: message, pupi: try Self.pupi(self.uid))
    case .type5: return try .type5(vicinity ?? .slix2, message: message)
    case .mifareClassic: return try .mifareClassic(.classic1K, message: message, uid: uid)
    case .desfire: return try .desfire(message: message, uid: uid)
    case .payment: return .paymentCard(uid: uid)
    case .transit: return try .transitCard()
    case .application: return .applicationCard(uid: uid)
    case .contact, .paymentChip, .openPGP, .piv: throw SimulatorError("--type \(type.rawValue): only with --pcsc")
    }
  }

  private static func pupi(_ uid: TagUID?) throws(SimulatorError) -> TagPUPI {
    guard let uid else { return .generated() }
    guard let bytes = uid.fixedBytes else { return .random }
    return try .fixed(bytes)
  }
}

/// Bytes as hexadecimal digits and back.
enum HexText {
  static func string(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
  }

  /// Nil if `text` is not an even number of hexadecimal digits.
  static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}
