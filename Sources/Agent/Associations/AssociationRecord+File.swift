extension AssociationRecord {
  private static let magic = "tagroute association 1"

  /// The record as a file: header lines, an empty line, then the document's bytes.
  var encoded: [UInt8] {
    var lines = [Self.magic, "attempted \(attempted)", "due \(due)", "failures \(failures)"]
    if let failure {
      let message = String(failure.message.prefix(500).map { $0.isNewline ? " " : $0 })
      lines.append("failure \(failure.code.rawValue) \(message)")
    }
    var body: [UInt8] = []
    switch answer {
    case .file(let file)?:
      lines.append("file \(answered)")
      body = file
    case Answer.none?: lines.append("absent \(answered)")
    case nil: break
    }
    return Array((lines.joined(separator: "\n") + "\n\n").utf8) + body
  }

  /// The maximum size of a record without its document, in bytes.
  static let maximumHeader = 4096

  /// Reads a record from such a file. It does not check the document, which the caller has to parse. Nil if the bytes
  /// are not a record. The caller then asks the domain again.
  init?(encoded bytes: [UInt8]) {
    var rest = bytes[...]
    var lines: [String] = []
    while true {
      guard let end = rest.firstIndex(of: 0x0A), bytes.count - rest.count <= Self.maximumHeader,
        let line = String(validating: rest[..<end], as: UTF8.self)
      else { return nil }
      rest = rest[(end + 1)...]
      if line.isEmpty { break }
      lines.append(line)
    }
    guard lines.first == Self.magic else { return nil }
    for line in lines.dropFirst() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2, read(words[0], words[1]) else { return nil }
    }
    if case .file? = answer { answer = .file(Array(rest)) }
  }

  private mutating func read(_ key: String, _ value: String) -> Bool {
    if key == "failure" {
      let words = value.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2, let code = FetchFailure.Code(rawValue: words[0]) else { return false }
      failure = FetchFailure(code, words[1])
      return true
    }
    guard let number = Int64(value), (0..<1 << 48).contains(number) else { return false }
    switch key {
    case "attempted": attempted = number
    case "due": due = number
    case "failures": failures = Int(clamping: min(number, 1000))
    case "file": (answer, answered) = (.file([]), number)
    case "absent": (answer, answered) = (Answer.none, number)
    default: return false
    }
    return true
  }
}
