/// Why an operation on a tag ends early.
enum TagStop: Error {
  /// A state of the tag.
  case problem(TagProblem)
  /// A failed exchange.
  case channel(TagChannelError)

  static func problem(_ code: TagProblem.Code, _ detail: String) -> TagStop { .problem(TagProblem(code, detail)) }

  /// A state of the tag that is concluded from its silence.
  static func silence(_ code: TagProblem.Code, _ detail: String) -> TagStop {
    .problem(TagProblem(code, detail, isConcludedFromSilence: true))
  }
}

extension TagChannel {
  mutating func ask(_ command: [UInt8]) throws(TagStop) -> [UInt8] {
    do throws(TagChannelError) { return try exchange(command) } catch { throw .channel(error) }
  }

  /// Returns nil if the tag is silent. It then has to be reselected.
  mutating func askOrNil(_ command: [UInt8]) throws(TagStop) -> [UInt8]? {
    do throws(TagChannelError) {
      return try exchange(command)
    } catch {
      guard error.code == .noAnswer else { throw .channel(error) }
      return nil
    }
  }

  mutating func reselectTag() throws(TagStop) {
    do throws(TagChannelError) { try reselect() } catch { throw .channel(error) }
  }
}

extension Result where Failure == TagProblem {
  /// Runs `body`. A state of the tag becomes the result's failure; a failed exchange is thrown.
  init(_ body: () throws(TagStop) -> Success) throws(TagChannelError) {
    do throws(TagStop) {
      self = .success(try body())
    } catch {
      switch error {
      case .problem(let problem): self = .failure(problem)
      case .channel(let error): throw error
      }
    }
  }
}

extension TagWriteError {
  /// Runs `body` and converts its error.
  static func stopping<Value>(_ body: () throws(TagStop) -> Value) throws(TagWriteError) -> Value {
    do throws(TagStop) {
      return try body()
    } catch {
      switch error {
      case .problem(let problem): throw .refused(problem)
      case .channel(let error): throw .channel(error)
      }
    }
  }
}

extension NDEFStatus {
  /// Runs `body`. If it ends with a state of the tag, NDEF is not supported for this reason.
  init(_ body: () throws(TagStop) -> NDEFStatus) throws(TagChannelError) {
    switch try Result(body) {
    case .success(let status): self = status
    case .failure(let problem): self.init(notSupported: problem)
    }
  }
}
