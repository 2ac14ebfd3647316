/// What ends an operation on a tag early.
enum TagStop: Error {
  /// A state of the tag.
  case problem(TagProblem)
  /// An exchange that failed.
  case channel(TagChannelError)

  static func problem(_ code: TagProblem.Code, _ detail: String) -> TagStop { .problem(TagProblem(code, detail)) }

  /// A state of the tag that is concluded from its silence.
  static func silence(_ code: TagProblem.Code, _ detail: String) -> TagStop {
    .problem(TagProblem(code, detail, isConcludedFromSilence: true))
  }
}

extension Result where Failure == TagProblem {
  /// Does something; a state of the tag is a result of it, a failed exchange is thrown on.
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
  /// Does something on the way to writing, whatever ends which is a reason not to.
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
  /// Finds the status out; a tag that says why it has none is not supported.
  init(_ body: () throws(TagStop) -> NDEFStatus) throws(TagChannelError) {
    switch try Result(body) {
    case .success(let status): self = status
    case .failure(let problem): self.init(notSupported: problem)
    }
  }
}
