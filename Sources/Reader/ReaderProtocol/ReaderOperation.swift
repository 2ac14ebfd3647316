import NDEF

/// An operation on a tag of a reader session.
package enum ReaderOperation: Sendable, Hashable {
  /// Find out whether the tag can be read and written, and its capacity. Result: `status`.
  case query
  /// Read the NDEF message. Result: `message`. A formatted tag without a message gives the failure `empty`.
  case read
  /// Write an NDEF message, which replaces the present one. Empty bytes remove the message. If `verify` is set, the
  /// process reads it back. If `format` is set, it formats a blank tag first. Result: `done`.
  case write([UInt8], verify: Bool, format: Bool = false)
  /// Make the tag read-only forever. Result: `done`.
  case lock
  /// Send a command, in the form that the table at `TagChannel` gives for the kind of tag. An ISO-DEP card gets any
  /// bytes, APDU or native command, of up to `ReaderLimits.command`. The daemon decides earlier which commands are
  /// allowed. Result: `answer`.
  case transceive([UInt8], timeout: UInt32)

  /// In milliseconds, for `transceive`: how long the tag may take to answer, as far as the chip supports it.
  package static let timeouts: ClosedRange<UInt32> = 1...5000
}

package enum ReaderOperationResult: Sendable, Hashable {
  /// The capacity is the size limit of an NDEF message, in bytes.
  case status(TagAccess, capacity: UInt32)
  /// The NDEF message, complete and decodable.
  case message([UInt8])
  case done
  /// The tag's answer: for FeliCa from the response code on, for ISO-DEP with its status word.
  case answer([UInt8])
  /// The operation failed. The reason is for a person.
  case failed(ReaderOperationFailure, reason: String)
}

/// The access to a tag's NDEF message.
package enum TagAccess: UInt8, Sendable, Hashable, CaseIterable {
  /// The tag cannot hold a message, or is not formatted.
  case notSupported
  case readWrite
  case readOnly
}

/// Why an operation failed.
package enum ReaderOperationFailure: UInt8, Sendable, Hashable, CaseIterable {
  /// The tag was removed, or its placement does not belong to this session.
  case tagLost
  /// This kind of tag does not support the operation, or the tag is not formatted for NDEF.
  case notSupported
  case readOnly
  /// The message, or the command, is too long for the tag or the reader.
  case tooLong
  /// The tag refused: it is protected, or its data contradict each other.
  case refused
  /// The tag is present, but did not answer in time. The process selected it again, which reset its state.
  case timeout
  case busy
  /// The process read back something else than it wrote.
  case notAsWritten
  case cannotLock
  /// The tag is formatted and has no message.
  case empty
  /// The reader or its process failed.
  case deviceLost
  case sessionEnded
  /// The tag is blank, and the operation was not to format it.
  case notFormatted
}

private enum OperationKind: UInt8 { case query = 1, read, write, lock, transceive }
private enum ResultKind: UInt8 { case status = 1, message, done, answer, failed }

extension FrameWriter {
  mutating func write(_ operation: ReaderOperation) {
    switch operation {
    case .query: write(OperationKind.query.rawValue)
    case .read: write(OperationKind.read.rawValue)
    case .lock: write(OperationKind.lock.rawValue)
    case .write(let message, let verify, let format):
      write(OperationKind.write.rawValue)
      write(bytes: message)
      write(verify)
      write(format)
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
      let verify = try boolean()
      return .write(message, verify: verify, format: try boolean())
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

  /// It decodes. The process has checked this, but the daemon does not forward unchecked data.
  mutating func ndefMessage() throws(ReaderLinkError) -> [UInt8] {
    let bytes = try bytes(1...ReaderLimits.message, "an NDEF message")
    guard (try? NDEFMessage(decoding: bytes)) != nil else { throw ReaderLinkError("an NDEF message that is none") }
    return bytes
  }
}
