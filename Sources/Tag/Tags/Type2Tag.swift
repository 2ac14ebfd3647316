/// NFC Forum Type 2 Tag Operation Specification 1.1.
///
/// Page 3 is the capability container. A sequence of TLV blocks begins in page 4. The first READ, from page 3, returns
/// the container and the first 12 bytes behind it.
struct Type2Tag: NDEFTag {
  /// The first byte identifies the manufacturer. All bytes together identify the tag's first page.
  let uid: [UInt8]

  func message(over channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    try opening(&channel) { (access, channel) throws(TagWriteError) in
      try Self.read(&access, &channel).bytes
    }
  }

  private static func read(
    _ access: inout Type2Access, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> (bytes: [UInt8], addresses: ArraySlice<Int>) {
    try access.open(from: 3, &channel)
    let addresses = try access.block(&channel).messageAddresses
    try access.require(addresses, &channel)
    return (access.memory.known(at: addresses), addresses)
  }

  /// Ignores the UID or counter that an NTAG may put into the message.
  func holds(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) -> Bool {
    try opening(&channel) { (access, channel) throws(TagWriteError) in
      let (read, addresses) = try Self.read(&access, &channel)
      guard read != message, read.count == message.count else { return read == message }
      let mirrored = try access.mirroredAddresses(&channel)
      return zip(addresses, zip(read, message)).allSatisfy { $1.0 == $1.1 || mirrored.contains($0) }
    }
  }

  /// Runs `body`, and then leaves the tag in the state in which it was found, unless an exchange failed.
  func opening<Channel: TagChannel, Value>(
    _ channel: inout Channel, _ body: (inout Type2Access, inout Channel) throws(TagWriteError) -> Value
  ) throws(TagWriteError) -> Value {
    var access = Type2Access(uid: uid)
    let result: Result<Value, TagWriteError>
    do throws(TagWriteError) {
      result = .success(try body(&access, &channel))
    } catch {
      if case .channel = error { throw error }
      result = .failure(error)
    }
    try access.close(&channel)
    return try result.get()
  }
}

/// Formatting a tag with only zeros in the capability container.
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

extension Type2Tag {
  /// What a write or a lock needs to know about the tag.
  private struct Survey {
    var access: Type2Access
    let block: NDEFBlock
    /// According to the capability container.
    var isWritable: Bool { access.container[3] & 0x0F == 0 }

    /// `Int.max` if there is none.
    var firstProtectedPage = Int.max
    /// True if any dynamic lock bit is set, because the pages that each bit locks depend on the model.
    var areHigherPagesLocked = false

    /// True without an NDEF TLV. The block is then the place for one.
    var isNew: Bool { block.addresses.first.map { access.memory[$0] != 0x03 } ?? false }

    /// The number of data bytes of the NDEF TLV in front of the first page that cannot be written. Below two, the
    /// length cannot be changed.
    var room: Int {
      // The type byte of an existing TLV is not rewritten.
      let kept = isNew ? 0 : 1
      return kept
        + block.addresses.dropFirst(kept).prefix { address in
          let page = address / Type2Access.pageSize
          return !Type2Locks.isLocked(page, access.memory) && !(areHigherPagesLocked && page > 15)
            && page < firstProtectedPage && page < access.pageLimit
        }.count
    }

    /// Why the tag cannot be written at all.
    var refusal: TagWriteError {
      let page = block.lengthAddress / Type2Access.pageSize
      return page >= firstProtectedPage ? .refused(Type2Protection.problem) : .readOnly
    }

    func reachesHigherPages(_ addresses: some Sequence<Int>) -> Bool {
      addresses.contains { $0 / Type2Access.pageSize > 15 }
    }
  }

  func status(over channel: inout some TagChannel) throws(TagWriteError) -> NDEFStatus {
    try surveying(&channel) { (survey, channel) throws(TagWriteError) in
      if survey.isWritable {
        try Self.findProtection(&survey, &channel)
        if survey.reachesHigherPages(survey.block.addresses.prefix(survey.room)) {
          try Self.findDynamicLock(&survey, &channel)
        }
      }
      let isWritable = survey.isWritable && survey.room >= 2
      let capacity = NDEFBlock.capacity(bytes: isWritable ? survey.room : survey.block.addresses.count)
      if survey.isWritable, !isWritable, case .refused(let problem) = survey.refusal {
        return NDEFStatus(readOnly: problem, capacity: capacity)
      }
      return NDEFStatus(capacity: capacity, isWritable: isWritable)
    }
  }

  /// The length is written as zero first, and with its true value last. An interrupted write leaves the tag empty.
  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) {
    try surveying(&channel) { (survey, channel) throws(TagWriteError) in
      guard survey.isWritable else { throw .readOnly }
      let bytes = survey.block.bytes(holding: message)
      if message.count <= NDEFBlock.capacity(bytes: survey.room) {
        try Self.findProtection(&survey, &channel)
        if survey.reachesHigherPages(bytes.map(\.address)) { try Self.findDynamicLock(&survey, &channel) }
      }
      guard survey.room >= 2 else { throw survey.refusal }
      let capacity = NDEFBlock.capacity(bytes: survey.room)
      guard message.count <= capacity else { throw .tooLong(capacity: capacity) }
      try Self.put(bytes.prefix(survey.room - 1), &survey, &channel)
    }
  }

  private static func put(
    _ bytes: ArraySlice<(address: Int, byte: UInt8)>, _ survey: inout Survey, _ channel: inout some TagChannel
  ) throws(TagWriteError) {
    let plan = NDEFWritePlan(bytes, over: survey.block, isNew: survey.isNew, pageSize: Type2Access.pageSize)
    try survey.access.require(plan.kept, &channel)
    for (page, bytes) in plan.writes(survey.access.memory) { try survey.access.write(bytes, to: page, &channel) }
  }

  /// Sets the capability container to read-only first (section 6.2), then the lock bits of the tag's model. On an
  /// unknown model, it sets only the static lock bits: a lock control TLV may be wrong, because programs write wrong
  /// ones.
  func lock(over channel: inout some TagChannel) throws(TagWriteError) {
    try surveying(isExact: true, &channel) { (survey, channel) throws(TagWriteError) in
      guard !survey.isNew else { throw .cannotLock("there is no NDEF message on the tag: write one first") }
      try Self.findProtection(&survey, &channel)
      let known = try Self.dynamicLocks(&survey, &channel)
      let dynamic = known?.areCertain == true ? known : nil
      let locks = [dynamic ?? Type2Locks.none, .static]
      guard locks.flatMap(\.pages).allSatisfy({ $0 < survey.firstProtectedPage }) else {
        throw .refused(Type2Protection.problem)
      }
      var container = survey.access.container
      let areAllSet = locks.allSatisfy { $0.areAllSet(in: survey.access.memory) }
      if container[3] & 0x0F == 0x0F, areAllSet { throw .readOnly }
      if container[3] & 0x0F != 0x0F, !Type2Locks.isLocked(3, survey.access.memory) {
        container[3] |= 0x0F
        try survey.access.write(container, to: 3, &channel)
      }
      for lock in locks where try !Self.set(lock, &survey, &channel) {
        throw .cannotLock(
          "the tag says that it is read-only now, but does not let its lock bits be set: it can still be written")
      }
      var isComplete = dynamic != nil || survey.access.model == nil
      if isComplete { isComplete = try survey.access.isEndCertain(&channel) }
      guard isComplete else {
        throw .cannotLock(
          "the tag says that it is read-only now, but \(survey.access.whyLocksAreUnknown): programs that ignore what it "
            + "says can still write to its pages from 16 on")
      }
    }
  }

  /// Reads the lock bits back, because a tag also confirms a write to frozen bits, although it does not set them.
  /// Returns false if the tag is present but refuses.
  private static func set(
    _ locks: Type2Locks, _ survey: inout Survey, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Bool {
    for page in locks.pages {
      let contents = locks.locked(page, survey.access.memory)
      guard contents != survey.access.memory.known(at: addresses(of: page)) else { continue }
      guard try survey.access.isAccepted(contents, page, &channel) else { return false }
      try survey.access.readLocks(inPage: page, &channel)
    }
    return locks.areAllSet(in: survey.access.memory)
  }

  private static func addresses(of page: Int) -> Range<Int> {
    page * Type2Access.pageSize..<(page + 1) * Type2Access.pageSize
  }

  /// Reads the static lock bytes, the capability container and everything up to the NDEF TLV.
  private static func survey(
    isExact: Bool, _ access: inout Type2Access, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Survey {
    try access.open(from: 2, &channel)
    try access.identify(isExact: isExact, &channel)
    let block = try access.block(&channel)
    return Survey(access: access, block: block)
  }

  /// No effect if the model has no page with this setting.
  private static func findProtection(_ survey: inout Survey, _ channel: inout some TagChannel) throws(TagWriteError) {
    guard let place = survey.access.model?.protection else { return }
    // If the tag does not let this page be read, it protects at least this page, and may protect any other.
    let isReadable = try survey.access.isReadable(place.page, &channel)
    survey.firstProtectedPage = isReadable ? place.firstProtectedPage(survey.access.memory) : 0
  }

  private static func findDynamicLock(_ survey: inout Survey, _ channel: inout some TagChannel) throws(TagWriteError) {
    let locks = try dynamicLocks(&survey, &channel)
    survey.areHigherPagesLocked = locks?.isAnySet(in: survey.access.memory) ?? false
  }

  /// Of the tag's model. Nil if they are unknown, or this reader cannot reach them.
  private static func dynamicLocks(
    _ survey: inout Survey, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Type2Locks? {
    guard let locks = survey.access.model?.locks, locks.pages.allSatisfy({ $0 < survey.access.pageLimit })
    else { return nil }
    for page in locks.pages where survey.access.memory[page * Type2Access.pageSize] == nil {
      try survey.access.readLocks(inPage: page, &channel)
    }
    return locks
  }

  /// Leaves the tag in the state in which it was found, unless an exchange failed.
  private func surveying<Channel: TagChannel, Value>(
    isExact: Bool = false, _ channel: inout Channel,
    _ body: (inout Survey, inout Channel) throws(TagWriteError) -> Value
  ) throws(TagWriteError) -> Value {
    try opening(&channel) { (access, channel) throws(TagWriteError) in
      var survey = try Self.survey(isExact: isExact, &access, &channel)
      defer { access = survey.access }
      return try body(&survey, &channel)
    }
  }
}
