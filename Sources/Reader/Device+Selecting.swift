import Glibc
import Tags

/// Looking for tags and selecting one of them.
extension Device {
  /// What a FeliCa tag may need from the field's coming on until it listens (NFC Forum Digital Protocol, guard time of NFC-F).
  /// For the other technologies the chip waits long enough by itself.
  private static let startUpFeliCa = Duration.milliseconds(20)

  /// Looks for one tag, switching the field on where it is off, and activates it.
  ///
  /// - Returns: the tag; nil where there is none.
  /// - Throws: `Failure` where the chip does not answer.
  func select(_ modulation: Modulation) throws(Failure) -> TagActivation? {
    try list(modulation, atMost: 1).first
  }

  /// Looks for tags, switching the field on where it is off. One tag alone is selected afterwards; of two none is.
  ///
  /// - Parameters:
  ///   - modulation: what to look for.
  ///   - most: how many tags: 1 or, where `Modulation.mayBeTwo`, 2. The chip keeps no more.
  /// - Returns: the tags.
  /// - Throws: `Failure` where the chip does not answer as it should.
  func list(_ modulation: Modulation, atMost most: UInt8) throws(Failure) -> [TagActivation] {
    let command = [Command.listPassiveTarget, most, modulation.rawValue]
    guard modulation.isFeliCa else { return try list(modulation, command + modulation.initiatorData) }
    try powerFeliCa()
    for system in declaredSystems {
      let tags = try list(modulation, command + Modulation.poll(for: system))
      if !tags.isEmpty { return tags }
    }
    return declaredSystems.isEmpty ? try list(modulation, command + modulation.initiatorData) : []
  }

  /// Looks for the tag that was found before.
  ///
  /// - Returns: the tag; nil where it is not there, or another is.
  /// - Throws: `Failure` where the chip does not answer as it should.
  func selectAgain(_ tag: TagActivation) throws(Failure) -> TagActivation? {
    guard case .typeA(let activation) = tag else { return try choose(tag, orAlike: false) }
    let command = [Command.listPassiveTarget, 0x01, Modulation.typeA.rawValue]
    return try list(.typeA, command + Self.withCascadeTags(activation.uid)).first
  }

  /// Takes every tag's power and selects this one again: it is in the state in which it is found, and may call itself otherwise.
  ///
  /// - Returns: the tag; nil where it is not there.
  /// - Throws: `Failure` where the chip does not answer as it should.
  func selectAnew(_ tag: TagActivation) throws(Failure) -> TagActivation? {
    try release()
    if case .typeA = tag, !tag.mayChangeIdentifier { return try selectAgain(tag) }
    let found = try choose(tag, orAlike: true)
    return found.flatMap { $0.isSamePlacement(as: tag) ? $0 : nil }
  }

  /// Looks for a tag that cannot be named in a look, and for which another may lie there.
  ///
  /// - Parameters:
  ///   - tag: the tag.
  ///   - orAlike: whether one is taken for it, where it is not found, that may be it with another identifier.
  /// - Returns: what is selected then; where it is not the tag, that is not there. Nil where nothing is.
  /// - Throws: `Failure` where the chip does not answer as it should.
  private func choose(_ tag: TagActivation, orAlike: Bool) throws(Failure) -> TagActivation? {
    let found = try select(tag.modulation)
    if let found, found.isSameTag(as: tag) || !tag.modulation.mayBeTwo { return found }
    // What is alike may be another one of the same make, and the tag itself the second.
    if found != nil {
      try deselect()
      if let chosen = try chooseOfTwo(tag, orAlike: orAlike) { return chosen }
    }
    guard tag.modulation == .typeB else { return nil }
    // A chip that looks by REQB does not wake what was let go (ISO/IEC 14443-3, 7.4): without power that is forgotten.
    try release()
    return try chooseOfTwo(tag, orAlike: orAlike)
  }

  private func chooseOfTwo(_ tag: TagActivation, orAlike: Bool) throws(Failure) -> TagActivation? {
    let all = try list(tag.modulation, atMost: 2)
    let same = all.firstIndex { $0.isSameTag(as: tag) }
    guard let index = same ?? (orAlike ? all.firstIndex { $0.isAlike(tag) } : nil) else {
      try deselect()
      return nil
    }
    target = UInt8(index + 1)
    // Who was found first sleeps; the chip wakes it and sends the other to sleep.
    return try isDone([Command.select, target]) ? all[index] : nil
  }

  private func list(_ modulation: Modulation, _ command: [UInt8]) throws(Failure) -> [TagActivation] {
    let (tags, isWhole) = try look(modulation, command)
    guard !isWhole else { return tags }
    // A tag whose part of the answer makes no sense sleeps now and answers no look until it has lost its power: that it is missing
    // says nothing.
    try switchFieldOff()
    if modulation.isFeliCa { try powerFeliCa() }
    let again = try look(modulation, command)
    // What says of itself what no standard allows is no tag, and no reason to give the reader up.
    if !again.isWhole { try switchFieldOff() }
    return again.tags
  }

  /// - Returns: the tags that the chip has found, and whether they are as many as it says.
  private func look(
    _ modulation: Modulation, _ command: [UInt8]
  ) throws(Failure) -> (tags: [TagActivation], isWhole: Bool) {
    awaitReset()
    fieldOnSince = fieldOnSince ?? .now
    target = 1
    let answer = try perform(command)
    // Not even a number of tags, that is nothing a tag can bring about.
    guard let count = answer.first else { throw refusal("an answer is empty") }
    let tags = (try? TargetList.all(of: answer, modulation)) ?? []
    return (tags, tags.count >= count)
  }

  /// The chip takes a UID of more than four bytes with its cascade tags (ISO/IEC 14443-3, 6.5.4).
  private static func withCascadeTags(_ uid: [UInt8]) -> [UInt8] {
    switch uid.count {
    case 7: [0x88] + uid
    case 10: [0x88] + uid[..<3] + [0x88] + uid[3...]
    default: uid
    }
  }

  private func powerFeliCa() throws(Failure) {
    if fieldOnSince == nil {
      awaitReset()
      try perform([Command.configureRF, 0x01, 0x01])
      fieldOnSince = .now
    }
    guard let fieldOnSince else { return }
    Self.sleep(Self.startUpFeliCa - fieldOnSince.duration(to: .now))
  }

  /// Waits, where the field is off, until every tag has lost its power: one that has kept it would go on where it was. From one command
  /// to the next is less than that.
  private func awaitReset() {
    guard !isFieldOn, let fieldOffSince else { return }
    Self.sleep(PollPlan.resetTime - fieldOffSince.duration(to: .now))
  }

  private static func sleep(_ duration: Duration) {
    if duration > .zero { usleep(UInt32(duration / .microseconds(1))) }
  }
}
