import EventLoop
import Glibc
import NDEF
import Notifications
import Routing
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
    let link: String
    switch option {
    case .ndef: return try await ndef(values[0]).records
    case .uri, .smartPoster: link = try self.link(values[0])
    case .geo: link = try Self.geoURI(values[0])
    default: link = ""
    }
    let contents = try await contents(option, values)
    let record: NDEFRecord
    do throws(NDEFError) {
      switch option {
      case .uri, .geo, .ndef: record = URIRecord(link).record()
      case .text: record = try TextRecord(values[0], language: language).record()
      case .smartPoster:
        let titles = arguments.options["title"].map { [TextRecord($0, language: language)] } ?? []
        record = try SmartPosterRecord(uri: link, titles: titles).record()
      case .wifi:
        let passphrase = arguments.has("no-password") ? nil : String(decoding: contents, as: UTF8.self)
        record = try WiFiRecord([WiFiNetwork(ssid: values[0], passphrase: passphrase)]).record()
      case .vcard: record = try .media("text/vcard", payload: contents)
      case .mime: record = try .media(values[0], payload: contents)
      case .external, .externalText:
        let typed = NDEFRecord(typeNameFormat: .external, type: Array(values[0].utf8))
        record = try .external(typed.externalType ?? values[0], payload: contents)
      }
    } catch {
      // The offset is one in the record, which the user does not see.
      throw .usage("--\(option.rawValue): \(error.reason)")
    }
    let text = option == .smartPoster ? arguments.options["title"] : try? TextRecord(record).text
    if let text, DisplayText(text).isEmpty {
      throw .usage("--\(option.rawValue): no tap would show this text: it has no visible character")
    }
    let hasType = record.typeNameFormat == .mediaType || record.typeNameFormat == .external
    guard !hasType || RecordType(record) != nil else {
      throw .usage("--\(option.rawValue): no tap would offer this type: no app can declare it")
    }
    return [record]
  }

  /// The link in the spelling that a tap offers.
  private mutating func link(_ text: String) throws(Failure) -> String {
    let link = try TypedLink.uri(text).string
    if link != text { respelled.append(link) }
    return link
  }

  /// The bytes that the option names: of a file, of a text, or the password; empty for other records.
  private mutating func contents(_ option: RecordOption, _ values: [String]) async throws(Failure) -> [UInt8] {
    switch option {
    case .mime, .external: return try await file(values[1])
    case .externalText: return Array(values[1].utf8)
    case .vcard:
      let card = try await file(values[0])
      guard String(decoding: card.prefix(11), as: UTF8.self).uppercased() == "BEGIN:VCARD" else {
        throw .usage("\(values[0]) is not a contact card: it does not begin with BEGIN:VCARD")
      }
      return card
    case .wifi where !arguments.has("no-password"):
      if let path = arguments.options["password-file"] {
        return WiFiPassword.firstLine(of: try await file(path))
      }
      return try await WiFiPassword.ask(for: values[0])
    case .uri, .text, .smartPoster, .wifi, .geo, .ndef: return []
    }
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

  /// A place as a URI (RFC 5870). `text` is a latitude and a longitude in degrees.
  static func geoURI(_ text: String) throws(Failure) -> String {
    guard text.utf8.count <= 64, text.split(separator: ",").count == 2, Place(coordinates: text) != nil else {
      throw .usage("--geo takes a latitude and a longitude in degrees, such as 48.2010,16.3695")
    }
    return "geo:\(text)"
  }
}

/// A link as a person types it.
enum TypedLink {
  /// Whether a word without an option is likely a link: `card.vcf` may be the name of a file.
  static func isMeant(by word: String, isFile: (String) -> Bool = { access($0, F_OK) == 0 }) -> Bool {
    (try? uri(word)) != nil && ((try? URI(word)) != nil || !isFile(word))
  }

  /// The link in the spelling that a tap offers. A host without a scheme gets `https://`. So does `example.com:8080`,
  /// although it could be a link of the scheme `example.com`.
  static func uri(_ text: String) throws(Failure) -> URI {
    let typed = text.drop(while: \.isWhitespace)
    let name = typed.prefix { !"/?#:".contains($0) }
    let rest = typed[name.endIndex...]
    let hasPort = rest.first == ":" && rest.dropFirst().first?.isNumber == true
    if name.contains(".") || name == "localhost", hasPort || rest.first != ":" {
      if let uri = try? URI("https://" + typed) { return uri }
      // Likely a mistake, such as `example.com:99999`. A plus sign is in no host, but may be in a scheme.
      guard !hasPort || name.contains("+") else {
        throw .usage(
          "no tap would offer this link: it begins with a host and a port, and what follows the host is wrong; "
            + "write it as in example.com:8080/menu, with a port up to 65535")
      }
    }
    do throws(URIError) {
      return try URI(text)
    } catch {
      let remedy =
        error.code == .badScheme ? "; write it in full, such as https://example.com/menu or tel:+15550100" : ""
      throw .usage("no tap would offer this link: \(error.message)\(remedy)")
    }
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
