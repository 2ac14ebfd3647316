/// Why a tag was not read, written or locked. Unless a case says otherwise, the tag still holds its previous message.
///
/// Reading ends only with `channel` and `refused`.
package enum TagWriteError: Error, Sendable, Hashable {
  /// An exchange failed. If writing had begun, the tag may hold no message now.
  case channel(TagChannelError)
  /// The tag cannot be read or written for this reason. If a tag of Type 3 or 5 refuses a write after others, it may
  /// hold no message now.
  case refused(TagProblem)
  case readOnly
  /// The message does not fit. The longest one that fits has `capacity` bytes.
  case tooLong(capacity: Int)
  /// The text names the missing requirement.
  case cannotLock(String)
  /// The message read back differs from the message written.
  case notAsWritten
  /// The message read back differs from the message written in characters that the tag may have put there.
  case mirroring

  /// The tag looks blank, but formatting it would overwrite data.
  static let holdsData = refused(.unsupported, "the tag is not formatted, because it holds data")

  static func refused(_ code: TagProblem.Code, _ detail: String) -> TagWriteError {
    .refused(TagProblem(code, detail))
  }

  /// `contents` are the bytes that were read.
  static func damaged(_ detail: String, _ contents: [UInt8]) -> TagWriteError {
    .refused(TagProblem(.damaged, detail).holding(contents))
  }

  static func silence(_ code: TagProblem.Code, _ detail: String) -> TagWriteError {
    .refused(TagProblem(code, detail, isConcludedFromSilence: true))
  }

  /// Throws the failed exchange if that ended reading.
  var problem: TagProblem {
    get throws(TagChannelError) {
      switch self {
      case .channel(let error): throw error
      case .refused(let problem): return problem
      case .readOnly, .tooLong, .cannotLock, .notAsWritten, .mirroring: return TagProblem(.unsupported, description)
      }
    }
  }
}

extension TagWriteError: CustomStringConvertible {
  /// A sentence for people: "the tag is read-only".
  package var description: String {
    switch self {
    case .channel(let error): error.reason
    case .refused(let problem): problem.description
    case .readOnly: "the tag is read-only"
    case .tooLong(let capacity): "the message does not fit: the tag has room for \(capacity) bytes"
    case .cannotLock(let reason): reason
    case .notAsWritten: "the tag does not hold what was written to it; it may be worn out"
    case .mirroring:
      "the tag returns other characters than were written to it, as tags do that put their UID, a counter or a "
        + "code into the message"
    }
  }
}

extension TagChannel {
  mutating func ask(_ command: [UInt8]) throws(TagWriteError) -> [UInt8] {
    do throws(TagChannelError) { return try exchange(command) } catch { throw .channel(error) }
  }

  /// Returns nil if the tag is silent. It then has to be reselected.
  mutating func askOrNil(_ command: [UInt8]) throws(TagWriteError) -> [UInt8]? {
    do throws(TagChannelError) {
      return try exchange(command)
    } catch {
      guard error.code == .noAnswer else { throw .channel(error) }
      return nil
    }
  }

  mutating func reselectTag() throws(TagWriteError) {
    do throws(TagChannelError) { try reselect() } catch { throw .channel(error) }
  }
}
