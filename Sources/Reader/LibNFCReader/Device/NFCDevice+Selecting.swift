import ReaderKit
import Tags

/// Looking for tags and selecting one of them.
extension NFCDevice {
  /// The longest time that a FeliCa tag needs after the field comes on until it listens (NFC Forum Digital Protocol,
  /// guard time of NFC-F). For the other technologies the chip itself waits long enough.
  private static let startUpFeliCa = Duration.milliseconds(20)

  /// Looks for one tag, switching the field on if it is off, and activates it. Returns nil if there is none.
  func select(_ modulation: Modulation) throws(Failure) -> TagActivation? {
    try list(modulation, atMost: 1).first
  }

  /// Looks for tags, switching the field on if it is off. A single tag is selected afterwards; of two tags none is.
  /// `most` is 1, or 2 if `Modulation.mayBeTwo`. The chip keeps no more. FeliCa cards are looked for by `systems`, all of
  /// them if it is empty. The list may be long, so it is only tried if any card answers.
  func list(
    _ modulation: Modulation, atMost most: UInt8, systems: [UInt16]? = nil
  ) throws(Failure) -> [TagActivation] {
    let command = [Command.listPassiveTarget, most, modulation.rawValue]
    guard modulation.isFeliCa else { return try list(modulation, command + modulation.initiatorData) }
    try powerFeliCa()
    let systems = systems ?? declaredSystems
    if systems.count != 1 {
      let any = try list(modulation, command + modulation.initiatorData)
      if any.isEmpty || systems.isEmpty { return any }
    }
    for system in systems {
      let tags = try list(modulation, command + Modulation.poll(for: system))
      if !tags.isEmpty { return tags }
    }
    return []
  }

  /// Looks for the tag that was found before. Returns nil if it is not there. For FeliCa and Type 1, another tag may
  /// answer instead.
  func selectAgain(_ tag: TagActivation) throws(Failure) -> TagActivation? {
    guard case .typeA(let activation) = tag else { return try choose(tag, orAlike: false) }
    let command = [Command.listPassiveTarget, 0x01, Modulation.typeA.rawValue]
    return try list(.typeA, command + Self.withCascadeTags(activation.uid)).first
  }

  /// Takes every tag's power and selects this one again. The tag is then in its initial state and may have a new
  /// identifier. Returns nil if it is not there.
  func selectAnew(_ tag: TagActivation) throws(Failure) -> TagActivation? {
    try release()
    if case .typeA = tag, !tag.mayChangeIdentifier { return try selectAgain(tag) }
    let found = try choose(tag, orAlike: true)
    return found.flatMap { $0.isSamePlacement(as: tag) ? $0 : nil }
  }

  /// Looks for a tag that a look cannot name, so that another tag may answer. If the result is a different tag, the
  /// wanted one is not there.
  ///
  /// With `orAlike`, accepts a tag that may be the wanted one with a new identifier, if the wanted one is not found.
  private func choose(_ tag: TagActivation, orAlike: Bool) throws(Failure) -> TagActivation? {
    guard let modulation = tag.modulation else { return nil }
    // Another system of the card has another IDm.
    let found = try list(modulation, atMost: 1, systems: declaredSystems.isEmpty ? nil : tag.felicaSystem).first
    if let found, found.isSameTag(as: tag) || !modulation.mayBeTwo { return found }
    // A similar tag may be another one of the same make, and the wanted tag may be the second one.
    if found != nil {
      try deselect()
      if let chosen = try chooseOfTwo(tag, modulation, orAlike: orAlike) { return chosen }
    }
    guard modulation == .typeB else { return nil }
    // A chip that looks by REQB does not wake a released tag (ISO/IEC 14443-3, 7.4). Without power the tag forgets its
    // release.
    try release()
    return try chooseOfTwo(tag, modulation, orAlike: orAlike)
  }

  private func chooseOfTwo(
    _ tag: TagActivation, _ modulation: Modulation, orAlike: Bool
  ) throws(Failure) -> TagActivation? {
    let all = try list(modulation, atMost: 2)
    let same = all.firstIndex { $0.isSameTag(as: tag) }
    guard let index = same ?? (orAlike ? all.firstIndex { $0.isAlike(tag) } : nil) else {
      try deselect()
      return nil
    }
    target = UInt8(index + 1)
    // The tag that was found first is asleep. The chip wakes it if it is chosen, and puts the other one to sleep.
    return try isDone([Command.select, target]) ? all[index] : nil
  }

  private func list(_ modulation: Modulation, _ command: [UInt8]) throws(Failure) -> [TagActivation] {
    let (tags, isWhole) = try look(modulation, command)
    guard !isWhole else { return tags }
    // A tag with a malformed part of the answer is asleep now, and answers no look until it has lost its power. The
    // field goes off so that the second look can find it.
    try switchFieldOff()
    if modulation.isFeliCa { try powerFeliCa() }
    let again = try look(modulation, command)
    // A tag with a malformed answer to both looks is ignored. It is no reason to give the reader up.
    if !again.isWhole { try switchFieldOff() }
    return again.tags
  }

  /// Returns the tags that the chip has found, and whether they are as many as it says.
  private func look(
    _ modulation: Modulation, _ command: [UInt8]
  ) throws(Failure) -> (tags: [TagActivation], isWhole: Bool) {
    awaitReset()
    fieldOnSince = fieldOnSince ?? line.now
    target = 1
    let answer = try perform(command)
    // No tag can make the chip leave out the number of tags.
    guard let count = answer.first else { throw refusal("empty answer") }
    let tags = (try? TargetList.all(of: answer, modulation)) ?? []
    return (tags, tags.count >= count)
  }

  /// The chip expects a UID of more than four bytes with its cascade tags (ISO/IEC 14443-3, 6.5.4).
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
      fieldOnSince = line.now
    }
    guard let fieldOnSince else { return }
    line.sleep(for: Self.startUpFeliCa - fieldOnSince.duration(to: line.now))
  }

  /// If the field is off, waits until every tag has lost its power. A tag that kept its power would continue in its old
  /// state. The time between two commands is too short for a tag to lose its power.
  private func awaitReset() {
    guard !isFieldOn, let fieldOffSince else { return }
    line.sleep(for: PollPlan.resetTime - fieldOffSince.duration(to: line.now))
  }
}
