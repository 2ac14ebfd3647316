import Bus
import Names

/// The errors that the daemon returns to its callers.
extension BusError {
  static func invalidArgument(_ message: String) -> BusError {
    BusError(name: Names.Errors.invalidArgument, message: message)
  }

  static func notPossible(_ message: String) -> BusError { BusError(name: Names.Errors.notPossible, message: message) }

  static func notAuthorized(_ message: String) -> BusError {
    BusError(name: Names.Errors.notAuthorized, message: message)
  }

  static func tooMany(_ message: String) -> BusError { BusError(name: Names.Errors.tooMany, message: message) }
}
