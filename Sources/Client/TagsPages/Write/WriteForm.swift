import NDEF
import Notifications
import Records

/// The message that the user puts together. Keeps what was typed, also what is wrong.
package struct WriteForm: Sendable {
  package private(set) var records: [RecordForm] = []
  /// Whether to show everything that is wrong, also in fields that the user has not visited.
  package var showsMistakes = false
  private let language: String
  private var lastID = 0
  /// The record that was removed last, with its place.
  private var removed: (record: RecordForm, place: Int)?

  /// `locale` is that of the user, such as `de_DE.UTF-8`. It gives the language of texts.
  package init(locale: String) {
    let code = locale.prefix { !"_.@".contains($0) }
    let isLanguage = (2...3).contains(code.utf8.count) && code.utf8.allSatisfy { (0x61...0x7A).contains($0) }
    language = isLanguage ? String(code) : "en"
    add(.link)
  }

  /// Returns the new record, which is the last one.
  @discardableResult package mutating func add(_ kind: RecordForm.Kind) -> RecordForm {
    lastID += 1
    let record = RecordForm(id: lastID, kind: kind, texts: kind == .text ? [.language: language] : [:])
    records.append(record)
    return record
  }

  package mutating func remove(_ id: Int) {
    guard let place = place(id) else { return }
    removed = (records.remove(at: place), place)
  }

  /// Puts the removed record back. Returns it with its place; nil if there is none.
  package mutating func restore() -> (record: RecordForm, place: Int)? {
    guard let (record, place) = removed else { return nil }
    removed = nil
    let free = min(place, records.count)
    records.insert(record, at: free)
    return (record, free)
  }

  /// Moves a record towards the end, or towards the beginning if `distance` is negative. Returns its new place.
  package mutating func move(_ id: Int, by distance: Int) -> Int? {
    guard let place = place(id) else { return nil }
    let next = place + distance
    guard records.indices.contains(next) else { return nil }
    records.swapAt(place, next)
    return next
  }

  package func place(_ id: Int) -> Int? { records.firstIndex { $0.id == id } }

  package mutating func change(_ id: Int, _ body: (inout RecordForm) -> Void) {
    if let place = place(id) { body(&records[place]) }
  }

  /// The message with what is wrong in it.
  package struct Draft: Sendable {
    /// Nil if there is no record, or if something is wrong.
    package fileprivate(set) var message: [UInt8]?
    /// By the id of the record. The first one of each record.
    package fileprivate(set) var mistakes: [Int: RecordForm.Mistake] = [:]
    /// The records for the user. Empty without a message.
    package fileprivate(set) var lines: [String] = []
  }

  package var draft: Draft {
    var draft = Draft()
    var encoded: [NDEFRecord] = []
    for record in records {
      do throws(RecordForm.Mistake) {
        encoded += try record.records()
      } catch {
        draft.mistakes[record.id] = error
      }
    }
    guard draft.mistakes.isEmpty, !records.isEmpty else { return draft }
    // A whole message stays as it is in its file, because there are several encodings.
    let whole = records.count == 1 && records[0].kind == .message ? records[0].file?.contents : nil
    draft.message = whole ?? (try? NDEFMessage(records: encoded).encoded())
    draft.lines = encoded.prefix(Self.mostLines).map { DisplayText(RecordReport($0).line, limit: 300).string }
    return draft
  }

  /// What is wrong in this field, if the user is to see it.
  package func visibleMistake(_ draft: Draft, _ id: Int, _ field: RecordForm.Field) -> String? {
    guard let mistake = draft.mistakes[id], mistake.field == field, let place = place(id),
      showsMistakes || records[place].visited.contains(field)
    else { return nil }
    return DisplayText(mistake.words, limit: 300).string
  }

  private static let mostLines = 20
}
