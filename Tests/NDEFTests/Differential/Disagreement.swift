import NDEF

/// A point in which this decoder and ndeflib differ.
enum Disagreement {
  /// They decode what we refuse.
  case refusedByUs([UInt8], NDEFError, theirs: [DifferentialVector.Record])
  /// We decode what they refuse.
  case refusedByThem(NDEFMessage, String)
  /// Both decode the message, to different records.
  case records(NDEFMessage, theirs: [DifferentialVector.Record])
  /// Both decode the message to the same records, and encode those differently.
  case encoding(NDEFMessage, theirs: [UInt8])
  /// They read a record as what its type says, we do not.
  case viewRefusedByUs(NDEFRecord, NDEFError)
  /// We read a record as what its type says, they do not.
  case viewRefusedByThem(NDEFRecord, String)
  /// Both read a record, and see something different.
  case view(NDEFRecord, theirs: DifferentialVector.View)
  /// Both see the same in a record, and write it differently.
  case viewEncoding(NDEFRecord, theirs: [UInt8])
}

extension DifferentialVector {
  /// Where the two differ on this vector; nowhere, if all is well.
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
  /// What the record's type makes of it, and the payload that is made of that.
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
