import EventLoop
import Glibc
import NDEF
import Records
import UniversalLinks

/// The message that the options of `write` describe. A tap of the tag offers exactly this content. Content that no tap
/// would offer is refused. `--ndef` writes any message.
struct MessageToWrite {
  /// The encoded message, and its links that differ from the typed ones. Asks for the password of a Wi-Fi network
  /// unless an option names its source.
  static func build(_ arguments: Arguments) async throws(Failure) -> (bytes: [UInt8], respelled: [String]) {
    let given = arguments.given.compactMap { given in RecordOption(rawValue: given.name).map { ($0, given.values) } }
    guard !given.isEmpty else {
      let names = RecordOption.allCases.map { "--\($0.rawValue)" }
      throw .usage("give a record to write: \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")")
    }
    try check(arguments, given.map(\.0))
    var message = MessageToWrite(arguments)
    if given.count == 1, let (option, values) = given.first, option == .ndef {
      // The bytes as they are, because there are several encodings of a message.
      return (try await message.ndef(values[0]).bytes, [])
    }
    var records: [NDEFRecord] = []
    for (option, values) in given { records += try await message.records(option, values) }
    do throws(NDEFError) {
      return (try NDEFMessage(records: records).encoded(), message.respelled)
    } catch {
      throw .usage("these records are not a message: \(error)")
    }
  }

  /// Rejects options that do not belong to the records.
  private static func check(_ arguments: Arguments, _ options: [RecordOption]) throws(Failure) {
    func count(_ option: RecordOption) -> Int { options.count { $0 == option } }
    guard !arguments.has("title") || count(.smartPoster) == 1 else { throw .usage("--title needs one --smart-poster") }
    guard !arguments.has("language") || count(.text) > 0 || arguments.has("title") else {
      throw .usage("--language needs --text or --title")
    }
    guard count(.wifi) < 2 else { throw .usage("give --wifi once") }
    for name in ["password-file", "no-password"] where arguments.has(name) && count(.wifi) == 0 {
      throw .usage("--\(name) needs --wifi")
    }
    guard !arguments.has("password-file") || !arguments.has("no-password") else {
      throw .usage("use only one of --password-file and --no-password")
    }
  }

  /// More bytes than any tag can hold.
  private static let limit = 1 << 20

  private let arguments: Arguments
  /// Standard input can be read only once.
  private var hasReadInput = false
  private var respelled: [String] = []

  private init(_ arguments: Arguments) { self.arguments = arguments }

  private var language: String { arguments.options["language"] ?? "en" }

  private mutating func records(_ option: RecordOption, _ values: [String]) async throws(Failure) -> [NDEFRecord] {
    guard let draft = try await draft(option, values) else { return try await ndef(values[0]).records }
    do throws(RecordDraftError) {
      let record = try draft.record()
      if [.uri, .smartPoster].contains(option) {
        let link = try TypedLink.uri(values[0]).string
        if link != values[0] { respelled.append(link) }
      }
      return [record]
    } catch {
      switch error.field {
      case .link: throw .usage(error.message)
      case .contact: throw .usage("\(values[0]) is \(error.message)")
      default: throw .usage("--\(option.rawValue): \(error.message)")
      }
    }
  }

  /// Nil for a whole message.
  private mutating func draft(_ option: RecordOption, _ values: [String]) async throws(Failure) -> RecordDraft? {
    switch option {
    case .uri: .link(values[0])
    case .text: .text(values[0], language: language)
    case .smartPoster: .smartPoster(link: values[0], title: arguments.options["title"], language: language)
    case .wifi: .wifi(ssid: values[0], passphrase: try await passphrase(of: values[0]))
    case .vcard: .contact(try await file(values[0]))
    case .geo: .place(coordinates: values[0])
    case .mime: .media(type: values[0], contents: try await file(values[1]))
    case .external: .external(type: values[0], contents: try await file(values[1]))
    case .externalText: .external(type: values[0], contents: Array(values[1].utf8))
    case .ndef: nil
    }
  }

  /// Nil for an open network.
  private mutating func passphrase(of network: String) async throws(Failure) -> String? {
    guard !arguments.has("no-password") else { return nil }
    let bytes =
      if let path = arguments.options["password-file"] {
        WiFiPassword.firstLine(of: try await file(path))
      } else {
        try await WiFiPassword.ask(for: network)
      }
    return String(decoding: bytes, as: UTF8.self)
  }

  private mutating func ndef(_ path: String) async throws(Failure) -> (bytes: [UInt8], records: [NDEFRecord]) {
    try Self.decoded(try await file(path), path)
  }

  private mutating func file(_ path: String) async throws(Failure) -> [UInt8] {
    guard path != "-" || !hasReadInput else { throw .usage("standard input can be used only once") }
    hasReadInput = hasReadInput || path == "-"
    return try await Self.contents(of: path)
  }

  /// The encoded message in a file, or on standard input.
  static func message(inFile path: String) async throws(Failure) -> [UInt8] {
    try decoded(try await contents(of: path), path).bytes
  }

  private static func decoded(
    _ bytes: [UInt8], _ path: String
  ) throws(Failure) -> (bytes: [UInt8], records: [NDEFRecord]) {
    do throws(NDEFError) {
      return (bytes, try NDEFMessage(decoding: bytes).records)
    } catch {
      throw .usage("\(path) is not an NDEF message: \(error)")
    }
  }

  private static func contents(of path: String) async throws(Failure) -> [UInt8] {
    let bytes = try await BlockingRead.file(path, limit: limit)
    guard bytes.count <= limit else { throw .usage("\(path) has more than \(limit) bytes") }
    return bytes
  }
}

extension TypedLink {
  /// Whether a word without an option is likely a link: `card.vcf` may be the name of a file.
  static func isMeant(by word: String, isFile: (String) -> Bool = { access($0, F_OK) == 0 }) -> Bool {
    (try? uri(word)) != nil && ((try? URI(word)) != nil || !isFile(word))
  }
}

/// The password of a Wi-Fi network. It is never an argument, because every user can see the arguments of a process.
enum WiFiPassword {
  /// The first line of a file, without its end.
  static func firstLine(of bytes: [UInt8]) -> [UInt8] {
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
  }

  /// Asks twice on the terminal, without showing the answers.
  static func ask(for network: String) async throws(Failure) -> [UInt8] {
    guard isatty(STDIN_FILENO) == 1 else {
      throw .usage("--wifi needs a password, and there is no terminal to ask: use --password-file or --no-password")
    }
    let first = try await hiddenLine("Password of \(Console.printable(network)): ")
    guard try await hiddenLine("The same password again: ") == first else {
      throw Failure(message: "the two passwords differ: nothing is written. Try again", exitCode: 1)
    }
    return first
  }

  private static func hiddenLine(_ question: String) async throws(Failure) -> [UInt8] {
    var before = termios()
    guard tcgetattr(STDIN_FILENO, &before) == 0 else {
      throw Failure(message: "the terminal cannot hide a password: use --password-file", exitCode: 1)
    }
    var hidden = before
    // Not every shell turns the echo on again if ^C ends the program here. So ^C ends the line instead. In `c_cc`, 0 is
    // VINTR and 11 is VEOL (termios(3)).
    hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
    let interrupt = before.c_cc.0
    hidden.c_cc.11 = interrupt
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    Console.tell(question)
    let line = (try? await DedicatedThread.run { readLine() }) ?? []
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
    Console.tell("\n")
    if line.last == interrupt { throw Failure(message: "nothing is written", exitCode: 128 + SIGINT) }
    guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else {
      throw Failure(message: "no password was given", exitCode: 1)
    }
    return Array(line[..<end])
  }

  /// What the terminal gives at once: a line with its end.
  private static func readLine() -> [UInt8] {
    var line = [UInt8](repeating: 0, count: 4096)
    let count = read(STDIN_FILENO, &line, line.count)
    return Array(line.prefix(max(count, 0)))
  }
}
