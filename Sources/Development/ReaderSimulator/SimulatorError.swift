/// An error of the simulator.
package struct SimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error message for the user.
  package let message: String

  /// The message is for the user.
  package init(_ message: String) { self.message = message }

  /// The message.
  package var description: String { message }
}
