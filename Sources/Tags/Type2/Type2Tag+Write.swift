extension Type2Tag {
  /// The state of a tag that is needed to write or lock it.
  private struct Survey {
    var access: Type2Access
    let block: NDEFBlock
    /// Whether the capability container lets anyone write.
    var isWritable: Bool { access.container[3] & 0x0F == 0 }

    /// The first page that a password protects; `Int.max` if there is none.
    var firstProtectedPage = Int.max
    /// Whether a dynamic lock bit is set. The pages that each bit locks depend on the model. If any is set, all pages
    /// from 16 on are treated as locked.
    var areHigherPagesLocked = false

    /// Whether the tag has no NDEF TLV. The block is then the place for one.
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

  /// Writes zero as the length first, then the other pages, and the page of the length last. An interrupted write
  /// leaves the tag empty.
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

  /// Sets the capability container to read-only first (section 6.2), then the lock bits.
  func lock(over channel: inout some TagChannel) throws(TagWriteError) {
    try surveying(&channel) { (survey, channel) throws(TagWriteError) in
      guard !survey.isNew else { throw .cannotLock("there is no NDEF message on the tag: write one first") }
      guard let dynamic = try Self.dynamicLocks(&survey, &channel) else {
        let reason = "the tag does not say where the lock bits of its pages from 16 on are"
        throw .cannotLock(
          survey.access.canAskForModel ? reason : reason + ", and this reader cannot ask for its model")
      }
      try Self.findProtection(&survey, &channel)
      guard (Type2Locks.static.pages + dynamic.pages).allSatisfy({ $0 < survey.firstProtectedPage }) else {
        throw .refused(Type2Protection.problem)
      }
      var container = survey.access.container
      let areAllSet = [Type2Locks.static, dynamic].allSatisfy { $0.areAllSet(in: survey.access.memory) }
      if container[3] & 0x0F == 0x0F, areAllSet { throw .readOnly }
      if container[3] & 0x0F != 0x0F, !Type2Locks.isLocked(3, survey.access.memory) {
        container[3] |= 0x0F
        try survey.access.write(container, to: 3, &channel)
      }
      guard try Self.set(dynamic, &survey, &channel) else {
        throw .cannotLock(
          "the tag says that it is read-only now, but does not let its dynamic lock bits be set: it can still be written"
        )
      }
      guard try Self.set(.static, &survey, &channel) else {
        throw .cannotLock("the tag says that it is read-only now, but does not let its lock bits be set")
      }
    }
  }

  /// Sets lock bits and reads them back. A tag also confirms a write to frozen bits, although it does not set them.
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
    _ access: inout Type2Access, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Survey {
    try access.open(from: 2, &channel)
    let block = try access.block(&channel)
    return Survey(access: access, block: block)
  }

  /// Finds the first page that a password protects, if the tag has a page with this setting. A tag whose model is not
  /// known refuses to have such a page written.
  private static func findProtection(_ survey: inout Survey, _ channel: inout some TagChannel) throws(TagWriteError) {
    guard let place = try model(&survey.access, &channel)?.protection else { return }
    // If the tag does not let this page be read, it protects at least this page, and may protect any other.
    guard try survey.access.isReadable(place.page, &channel) else {
      survey.firstProtectedPage = 0
      return
    }
    // An NTAG203 has no such page: READ returns its first page instead.
    guard !survey.access.isFirstPage(at: place.address / Type2Access.pageSize) else { return }
    survey.firstProtectedPage = place.firstProtectedPage(survey.access.memory)
  }

  /// Finds out if a dynamic lock bit is set.
  private static func findDynamicLock(_ survey: inout Survey, _ channel: inout some TagChannel) throws(TagWriteError) {
    let locks = try dynamicLocks(&survey, &channel)
    survey.areHigherPagesLocked = locks?.isAnySet(in: survey.access.memory) ?? false
  }

  /// Finds and reads the dynamic lock bytes. A tag of 48 bytes has none. Returns nil if they are unknown, because bytes
  /// of the message must not be mistaken for lock bytes.
  private static func dynamicLocks(
    _ survey: inout Survey, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Type2Locks? {
    guard survey.access.area.count > 48 else { return .standard(behind: 0..<0) }
    guard let found = try findDynamicLocks(&survey, &channel),
      found.pages.allSatisfy({ $0 < survey.access.pageLimit })
    else { return nil }
    for page in found.pages where survey.access.memory[page * Type2Access.pageSize] == nil {
      try survey.access.readLocks(inPage: page, &channel)
    }
    return found
  }

  /// Uses a lock control TLV, else the lock bytes of the tag's model, else the default of the specification. That
  /// default may be wrong for a silent NXP tag, because its answer to GET_VERSION may have been lost. If the reader
  /// cannot ask for the model, only a lock control TLV counts.
  private static func findDynamicLocks(
    _ survey: inout Survey, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Type2Locks? {
    let isNXP = survey.access.isNXP
    let area = survey.access.area
    if let locks = Type2Locks.ofControls(survey.block.lockControls) {
      // An NTAG203 leaves the factory with a TLV that includes the lock bits of its counter.
      let silent = isNXP && locks == .ntag203Control ? Type2Model.silent(size: survey.access.container[2]) : nil
      return silent?.locks ?? locks
    }
    guard survey.access.canAskForModel else { return nil }
    if let model = try model(&survey.access, &channel) { return model.locks }
    guard isNXP else { return .standard(behind: area) }
    let isVersionKnown = try survey.access.version(&channel) != nil
    // All NXP tags of this size answer GET_VERSION. A silent one is a tag by another vendor with the first UID byte of
    // NXP.
    return !isVersionKnown && survey.access.container[2] == 0x10 ? .standard(behind: area) : nil
  }

  /// Returns nil if the tag is not by NXP, if its model is not known, or if the reader cannot ask for it. Silence then
  /// says nothing about the model.
  private static func model(
    _ access: inout Type2Access, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Type2Model? {
    guard access.canAskForModel else { return nil }
    if let version = try access.version(&channel) { return Type2Model.telling(version) }
    return access.isNXP ? Type2Model.silent(size: access.container[2]) : nil
  }

  /// Runs `body` on a surveyed tag, and then leaves the tag in the state in which it was found, unless an exchange
  /// failed.
  private func surveying<Channel: TagChannel, Value>(
    _ channel: inout Channel, _ body: (inout Survey, inout Channel) throws(TagWriteError) -> Value
  ) throws(TagWriteError) -> Value {
    try opening(&channel) { (access, channel) throws(TagWriteError) in
      var survey = try Self.survey(&access, &channel)
      defer { access = survey.access }
      return try body(&survey, &channel)
    }
  }
}
