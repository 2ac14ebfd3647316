/// Formatting a tag whose capability container has only zeros.
///
/// The container is in one-time programmable bits, so a wrong size would be permanent. It is written only if the tag
/// itself tells its model, and only if its memory holds no data.
extension Type2Tag {
  private static let emptyMessage: [UInt8] = [0x03, 0x00, 0xFE, 0x00]
  private static let containerPage = 3
  private static let firstDataPage = 4

  func isBlank(over channel: inout some TagChannel) throws(TagWriteError) -> Bool {
    try opening(&channel) { (access, channel) throws(TagWriteError) in
      try access.begin(from: 2, &channel)
      return Self.isBlank(access)
    }
  }

  private static func isBlank(_ access: Type2Access) -> Bool { access.container == [0, 0, 0, 0] }

  /// Writes an empty NDEF TLV first, and the container last. A tag that is removed in between is still blank.
  func format(over channel: inout some TagChannel) throws(TagWriteError) {
    try opening(&channel) { (access, channel) throws(TagWriteError) in
      try access.begin(from: 2, &channel)
      guard Self.isBlank(access) else { throw .refused(.notNDEF, "the capability container is not empty") }
      let pages = Self.containerPage...Self.firstDataPage
      guard !pages.contains(where: { Type2Locks.isLocked($0, access.memory) }) else { throw .readOnly }
      guard access.isNXP, let model = try access.version(&channel).flatMap(Type2Model.ofVersion) else {
        let reason = "the model of the tag is unknown, and the size of its memory with it"
        throw .refused(.unsupported, access.canAskForModel ? reason : "this reader cannot ask for the model of the tag")
      }
      if let protection = model.protection {
        guard try access.isReadable(protection.page, &channel),
          protection.firstProtectedPage(access.memory) > Self.firstDataPage
        else { throw .refused(Type2Protection.problem) }
      }
      guard try access.isUnused(model.bytes, besides: Self.emptyMessage, &channel) else { throw .holdsData }
      try access.write(Self.emptyMessage, to: Self.firstDataPage, &channel)
      try access.write([0xE1, 0x10, model.size, 0x00], to: Self.containerPage, &channel)
    }
  }
}
