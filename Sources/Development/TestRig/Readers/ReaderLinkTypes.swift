public import ReaderLink

extension TagReport {
  /// Why there is no message; nil if there is one.
  public var problem: String? {
    switch content {
    case .message: nil
    case .bare(let reason), .damaged(let reason, _), .problem(let reason): reason
    }
  }

  /// Whether the tag is known to have no message.
  public var isBare: Bool { if case .bare = content { true } else { false } }
}

extension ReaderOperationResult {
  /// Why the operation failed; nil if it did not.
  public var failure: ReaderOperationFailure? { if case .failed(let failure, _) = self { failure } else { nil } }

  /// Why the operation failed, in words.
  public var reason: String? { if case .failed(_, let reason) = self { reason } else { nil } }
}

extension ReaderProcessEvent {
  /// Whether the process ended without being stopped.
  public var isCrash: Bool { if case .crashed = self { true } else { false } }

  /// Whether the device is lost. Every reader session then ends.
  public var isLoss: Bool {
    switch self {
    case .phase(.failed, _), .phase(.absent, _): true
    default: false
    }
  }
}
