import Daemon
package import ReaderProtocol

extension TagReport {
  /// Why there is no message; nil if there is one.
  package var problem: String? {
    switch content {
    case .message: nil
    case .bare(let reason), .damaged(let reason, _), .problem(let reason): reason
    }
  }

  /// Whether the tag is known to have no message.
  package var isBare: Bool { if case .bare = content { true } else { false } }
}

extension ReaderOperationResult {
  /// Why the operation failed; nil if it did not.
  package var failure: ReaderOperationFailure? { if case .failed(let failure, _) = self { failure } else { nil } }

  /// Why the operation failed, in words.
  package var reason: String? { if case .failed(_, let reason) = self { reason } else { nil } }
}

extension ReaderProcessEvent {
  /// Whether the process ended without being stopped.
  package var isCrash: Bool { if case .crashed = self { true } else { false } }

  /// Whether the device is lost. Every reader session then ends.
  package var isLoss: Bool {
    switch self {
    case .phase(.failed, _), .phase(.absent, _): true
    default: false
    }
  }
}
