import Names
import PN53x
import ReaderKit
import Tags

/// How to check whether the selected tag is still there, with a single command if its kind has one.
enum PresenceCheck: Hashable {
  /// A command of the tag that reads a little data.
  case exchange([UInt8])
  /// The chip checks an ISO-DEP card with an empty block.
  case emptyBlock
  /// The chip looks for the tag again. If `sleepFirst`, it puts the tag to sleep before, because an awake tag would
  /// miss the look.
  case look(sleepFirst: Bool)

  init(_ tag: TagActivation) {
    switch tag.type {
    // READ of block 0 (NFC Forum Type 2 Tag, 5.2). Every tag supports it.
    case .type2: self = .exchange([0x30, 0x00])
    case .type4A, .type4B: self = .emptyBlock
    // A look is a poll, or a request and RID: less than any command of these tags. Not every FeliCa tag supports
    // Request Response.
    case .type1, .type3: self = .look(sleepFirst: false)
    // Before authentication, MIFARE Classic answers no cheaper command.
    default: self = .look(sleepFirst: true)
    }
  }

  /// Returns whether the tag answers.
  func perform(_ tag: TagActivation, on device: NFCDevice) throws(NFCDevice.Failure) -> Bool {
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
