/// An error of the simulator.
public struct SimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error message for the user.
  public let message: String

  /// The message is for the user.
  public init(_ message: String) { self.message = message }

  /// The message.
  public var description: String { message }
}
