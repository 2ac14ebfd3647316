import Tags

/// What asks the selected tag, with one command where there is one, whether it is still there.
enum PresenceCheck: Hashable {
  /// A command of the tag's own that reads a little.
  case exchange([UInt8])
  /// The chip asks an ISO-DEP card with an empty block.
  case emptyBlock
  /// The chip looks for it anew. What listens has to be sent to sleep before that, or it misses the look.
  case look(sleepFirst: Bool)

  init(_ tag: TagActivation) {
    switch tag.type {
    // READ of block 0 (NFC Forum Type 2 Tag, 5.2); every tag has it.
    case .type2: self = .exchange([0x30, 0x00])
    case .type4A, .type4B: self = .emptyBlock
    // Finding one is a poll, or a request and RID: less than any command of theirs. Not every FeliCa tag knows Request
    // Response.
    case .type1, .type3: self = .look(sleepFirst: false)
    // MIFARE Classic answers nothing that costs less before it has been authenticated.
    default: self = .look(sleepFirst: true)
    }
  }

  /// - Returns: whether the tag answers.
  func perform(_ tag: TagActivation, on device: Device) throws(Device.Failure) -> Bool {
    switch self {
    case .exchange(let command):
      if case .bytes = try tag.framing.exchange(command, with: device) { return true }
      return false
    case .emptyBlock:
      return try device.isCardPresent()
    case .look(let sleepFirst):
      if sleepFirst { try device.deselect() }
      return try device.selectAgain(tag).map { $0.isSameTag(as: tag) } ?? false
    }
  }
}
