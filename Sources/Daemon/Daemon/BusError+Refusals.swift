import Bus
import Names

/// The errors that the daemon returns to its callers.
extension BusError {
  static func invalidArgument(_ message: String) -> BusError {
    BusError(name: Names.Errors.invalidArgument, message: message)
  }

  static func notPossible(_ message: String) -> BusError { BusError(name: Names.Errors.notPossible, message: message) }

  /// A reader cannot read any tag of these kinds.
  static func cannotRead(_ technologies: [TagType]) -> BusError {
    let reason = "the reader cannot read \(technologies.map(\.rawValue).joined(separator: ", "))"
    guard technologies.contains(.type5) else { return .notPossible(reason) }
    return .notPossible("\(reason). Only some readers that pcscd drives support ISO/IEC 15693 (type-5)")
  }

  static func notAuthorized(_ message: String) -> BusError {
    BusError(name: Names.Errors.notAuthorized, message: message)
  }

  static func tooMany(_ message: String) -> BusError { BusError(name: Names.Errors.tooMany, message: message) }
}
