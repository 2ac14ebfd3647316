import UniversalLinks

/// The last answer of a domain about one document, and when to ask again.
///
/// An answer is valid for ``maximumAge``, even if later requests fail. Times are seconds since 1970.
package struct AssociationRecord: Sendable, Hashable {
  package enum Answer: Sendable, Hashable {
    /// The domain has this file, which is a valid document.
    case file([UInt8])
    /// The domain has no such file.
    case none
  }

  /// How long an answer is valid if no newer one arrives: 30 days. After that the user is asked again.
  package static let maximumAge: Int64 = 30 * 86_400
  /// The wait after a failure, in seconds. It doubles with each further failure, up to `lastRetry` (a day).
  static let firstRetry: Int64 = 3600
  static let lastRetry: Int64 = 86_400

  /// Nil if there is none.
  package internal(set) var answer: Answer?
  package internal(set) var answered: Int64 = 0
  package internal(set) var attempted: Int64 = 0
  /// When to ask the domain again.
  package internal(set) var due: Int64 = 0
  /// In a row.
  package internal(set) var failures = 0
  /// Of the last request; nil if it did not fail.
  package internal(set) var failure: FetchFailure?

  /// For a document that was never requested.
  package init() {}

  /// The outcome is already checked for this kind of document.
  package mutating func take(_ outcome: FetchOutcome, at now: Int64) {
    attempted = now
    switch outcome {
    case .found(let file, let cacheControl):
      answer(.file(file), at: now, for: CacheLifetime.seconds(cacheControl))
    case .absent:
      answer(.none, at: now, for: CacheLifetime.standard)
    case .failed(let failure):
      self.failure = failure
      due = now + min(Self.firstRetry << min(Int64(failures), 16), Self.lastRetry)
      failures = min(failures + 1, 1000)
    }
  }

  private mutating func answer(_ answer: Answer, at now: Int64, for lifetime: Int64) {
    self.answer = answer
    answered = now
    due = now + lifetime
    failures = 0
    failure = nil
  }

  /// Whether to ask the domain now. Also true if the clock was set back to before the last request, because the wait
  /// would otherwise become longer.
  package func isDue(at now: Int64) -> Bool { now >= due || now < attempted }

  /// Nil if the last answer is no longer valid.
  package func current(at now: Int64) -> Answer? {
    // An answer from the future was stored when the clock was wrong, so its age is unknown.
    now >= answered && now - answered < Self.maximumAge ? answer : nil
  }
}

extension AssociationRecord {
  private static let magic = "tagroute association 1"

  /// Header lines, an empty line, then the document's bytes.
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

  /// Without the document, in bytes.
  static let maximumHeader = 4096

  /// Does not check the document, which the caller has to parse. Nil if the bytes are not a record. The caller then
  /// asks the domain again.
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

extension AssociationRecord {
  /// Whether the last answer of the domain names an application for at least some links, and is still valid. `now` is
  /// in seconds since 1970.
  package func names(_ desktopID: String, in document: AssociationDocument, at now: Int64) -> Bool {
    guard case .file(let file)? = current(at: now) else { return false }
    switch document {
    case .appSiteAssociation: return (try? AppSiteAssociation(json: file))?.names(desktopID) == true
    case .assetLinks: return (try? AssetLinks(json: file))?.names(desktopID) == true
    }
  }
}

/// A file in which a domain names the applications that may open its links.
package enum AssociationDocument: String, Sendable, Hashable, CaseIterable {
  /// Apple, "Supporting associated domains".
  case appSiteAssociation = "apple-app-site-association"
  /// Google, "Digital Asset Links", with the targets that ``AssetLinks`` documents.
  case assetLinks = "assetlinks.json"

  /// On the domain (RFC 8615).
  package var path: String { "/.well-known/\(rawValue)" }

  /// Nil if the file is valid.
  func mistake(in file: [UInt8]) -> AssociationError? {
    do throws(AssociationError) {
      switch self {
      case .appSiteAssociation: _ = try AppSiteAssociation(json: file)
      case .assetLinks: _ = try AssetLinks(json: file)
      }
      return nil
    } catch {
      return error
    }
  }
}
