import NDEF

/// What is done with a tag of a reader session.
public enum ReaderOperation: Sendable, Hashable {
  /// Finds out whether it can be read and written, and how much goes on it. Comes to `status`.
  case query
  /// Reads the NDEF message. Comes to `message`; a tag that is formatted and holds none to the failure `empty`.
  case read
  /// Writes an NDEF message, which replaces the one that is there; empty takes that away. Comes to `done`. Where `verify` is set,
  /// it is read back.
  case write([UInt8], verify: Bool)
  /// Makes the tag read-only for ever. Comes to `done`.
  case lock
  /// Sends a command as the table at `TagChannel` has it for the kind of tag, and gives the answer. A card of ISO-DEP gets any bytes,
  /// APDU or native command, of up to `ReaderLimits.command`; what may be sent at all is decided before this. Comes to `answer`.
  case transceive([UInt8], timeout: UInt32)

  /// The timeout of `transceive`, in milliseconds: how long the tag may take for its answer, as far as the chip lets that be said.
  public static let timeouts: ClosedRange<UInt32> = 1...5000
}

/// What an operation has come to.
public enum ReaderOperationResult: Sendable, Hashable {
  /// Whether the tag can be read and written, and the most bytes that an NDEF message on it can have.
  case status(TagAccess, capacity: UInt32)
  /// The NDEF message, whole and decodable.
  case message([UInt8])
  /// It is done.
  case done
  /// What the tag has answered, for FeliCa from the response code on, for ISO-DEP with its status word.
  case answer([UInt8])
  /// It was not done, and why in words for a person.
  case failed(ReaderOperationFailure, reason: String)
}

/// What can be done with a tag's NDEF message.
public enum TagAccess: UInt8, Sendable, Hashable, CaseIterable {
  /// It is no tag that can hold one, or not formatted.
  case notSupported
  /// It can be read and written.
  case readWrite
  /// It can only be read.
  case readOnly
}

/// Why an operation was not done.
public enum ReaderOperationFailure: UInt8, Sendable, Hashable, CaseIterable {
  /// The tag is away, or its stay is not one of this session.
  case tagLost
  /// Not with this kind of tag, or it is not formatted for NDEF.
  case notSupported
  /// The tag is read-only.
  case readOnly
  /// The message, or the command, is too long for the tag or the reader.
  case tooLong
  /// The tag refuses: it is protected, or holds what contradicts itself.
  case refused
  /// The tag is there and did not answer in time. It was selected anew: whatever state it was in is lost.
  case timeout
  /// Too many operations wait already.
  case busy
  /// What was read back is not what was written.
  case notAsWritten
  /// The tag cannot be made read-only.
  case cannotLock
  /// The tag is formatted and holds no message.
  case empty
  /// The reader or its process failed.
  case deviceLost
  /// The session has ended, or does not exist.
  case sessionEnded
}

private enum OperationKind: UInt8 { case query = 1, read, write, lock, transceive }
private enum ResultKind: UInt8 { case status = 1, message, done, answer, failed }

extension FrameWriter {
  mutating func write(_ operation: ReaderOperation) {
    switch operation {
    case .query: write(OperationKind.query.rawValue)
    case .read: write(OperationKind.read.rawValue)
    case .lock: write(OperationKind.lock.rawValue)
    case .write(let message, let verify):
      write(OperationKind.write.rawValue)
      write(bytes: message)
      write(verify)
    case .transceive(let command, let timeout):
      write(OperationKind.transceive.rawValue)
      write(bytes: command)
      write(timeout)
    }
  }

  mutating func write(_ result: ReaderOperationResult) {
    switch result {
    case .status(let access, let capacity):
      write(ResultKind.status.rawValue)
      write(access.rawValue)
      write(capacity)
    case .message(let bytes):
      write(ResultKind.message.rawValue)
      write(bytes: bytes)
    case .done: write(ResultKind.done.rawValue)
    case .answer(let bytes):
      write(ResultKind.answer.rawValue)
      write(bytes: bytes)
    case .failed(let failure, let reason):
      write(ResultKind.failed.rawValue)
      write(failure.rawValue)
      write(text: reason, ReaderLimits.text)
    }
  }
}

extension FrameReader {
  mutating func operation() throws(ReaderLinkError) -> ReaderOperation {
    let number = try integer(UInt8.self)
    switch OperationKind(rawValue: number) {
    case .query: return .query
    case .read: return .read
    case .lock: return .lock
    case .write:
      let message = try bytes(0...ReaderLimits.message, "an NDEF message")
      return .write(message, verify: try boolean())
    case .transceive:
      let command = try bytes(1...ReaderLimits.command, "a command")
      let timeout = try integer(UInt32.self)
      guard ReaderOperation.timeouts.contains(timeout) else {
        throw ReaderLinkError("a timeout of \(timeout) milliseconds")
      }
      return .transceive(command, timeout: timeout)
    case nil: throw ReaderLinkError("an operation of the unknown kind \(number)")
    }
  }

  mutating func operationResult() throws(ReaderLinkError) -> ReaderOperationResult {
    let number = try integer(UInt8.self)
    switch ResultKind(rawValue: number) {
    case .status:
      let access = try integer(UInt8.self)
      guard let access = TagAccess(rawValue: access) else { throw ReaderLinkError("an access of \(access)") }
      return .status(access, capacity: try integer(UInt32.self))
    case .message: return .message(try ndefMessage())
    case .done: return .done
    case .answer: return .answer(try bytes(0...ReaderLimits.answer, "an answer"))
    case .failed:
      let code = try integer(UInt8.self)
      guard let failure = ReaderOperationFailure(rawValue: code) else { throw ReaderLinkError("a failure of \(code)") }
      return .failed(failure, reason: try text(ReaderLimits.text))
    case nil: throw ReaderLinkError("a result of the unknown kind \(number)")
    }
  }

  /// An NDEF message that decodes: the process has checked this, and the daemon hands on nothing that it has only been told.
  mutating func ndefMessage() throws(ReaderLinkError) -> [UInt8] {
    let bytes = try bytes(1...ReaderLimits.message, "an NDEF message")
    guard (try? NDEFMessage(decoding: bytes)) != nil else { throw ReaderLinkError("an NDEF message that is none") }
    return bytes
  }
}
