/// Why the simulator cannot do what it was asked to.
public struct SimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, for a person to read.
  public let message: String

  /// - Parameter message: what is wrong, for a person to read.
  public init(_ message: String) { self.message = message }

  /// The message.
  public var description: String { message }
}
