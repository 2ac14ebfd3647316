import NDEF

/// A difference between this decoder and ndeflib.
enum Disagreement {
  /// ndeflib decodes bytes that we reject.
  case refusedByUs([UInt8], NDEFError, theirs: [DifferentialVector.Record])
  /// We decode bytes that ndeflib rejects.
  case refusedByThem(NDEFMessage, String)
  /// Both decode the message, but to different records.
  case records(NDEFMessage, theirs: [DifferentialVector.Record])
  /// Both decode the message to the same records, but encode these differently.
  case encoding(NDEFMessage, theirs: [UInt8])
  /// ndeflib reads a record as its type, and we reject it.
  case viewRefusedByUs(NDEFRecord, NDEFError)
  /// We read a record as its type, and ndeflib rejects it.
  case viewRefusedByThem(NDEFRecord, String)
  /// Both read a record, but with different fields.
  case view(NDEFRecord, theirs: DifferentialVector.View)
  /// Both read the same fields from a record, but encode them differently.
  case viewEncoding(NDEFRecord, theirs: [UInt8])
}

extension DifferentialVector {
  /// The differences between the two on this vector. Empty if they agree.
  func disagreements() -> [Disagreement] {
    let message: NDEFMessage
    do {
      message = try NDEFMessage(decoding: bytes.bytes)
    } catch {
      return records.map { [.refusedByUs(bytes.bytes, error, theirs: $0)] } ?? []
    }
    guard let records else { return [.refusedByThem(message, error ?? "")] }
    guard message.records.elementsEqual(records, by: { $1.isSame(as: $0) }) else {
      return [.records(message, theirs: records)]
    }
    var disagreements = zip(message.records, records).compactMap { $1.disagreement(on: $0) }
    let theirs = encoded?.bytes ?? bytes.bytes
    if (try? message.encoded()) != theirs { disagreements.append(.encoding(message, theirs: theirs)) }
    return disagreements
  }
}

extension DifferentialVector.Record {
  fileprivate func isSame(as record: NDEFRecord) -> Bool {
    type == record.ndeflibType && (id?.bytes ?? []) == record.id && payload.bytes == record.payload
  }

  /// Compares the typed views of a record on which both agree.
  fileprivate func disagreement(on record: NDEFRecord) -> Disagreement? {
    guard view != nil || viewError != nil else { return nil }
    let ours: (view: DifferentialVector.View, payload: [UInt8])
    do {
      ours = try record.view()
    } catch {
      return view == nil ? nil : .viewRefusedByUs(record, error)
    }
    guard let view else { return .viewRefusedByThem(record, viewError ?? "") }
    if ours.view.fingerprint != view.fingerprint { return .view(record, theirs: view) }
    let theirs = view.payload?.bytes ?? payload.bytes
    return ours.payload == theirs ? nil : .viewEncoding(record, theirs: theirs)
  }
}

extension NDEFRecord {
  /// The typed view of the record, and the payload that the view is encoded to.
  fileprivate func view() throws(NDEFError) -> (DifferentialVector.View, [UInt8]) {
    if isWellKnown(URIRecord.type) {
      let uri = try URIRecord(self)
      return (.init(uri), uri.record().payload)
    }
    if isWellKnown(TextRecord.type) {
      let text = try TextRecord(self)
      return (.init(text), try text.record().payload)
    }
    let poster = try SmartPosterRecord(self)
    return (.init(poster), try poster.record().payload)
  }
}
