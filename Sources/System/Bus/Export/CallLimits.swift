/// Limits on the size of the arguments of a call to an exported interface. A larger call is refused with
/// `org.freedesktop.DBus.Error.LimitsExceeded`, and decoding stops at the limit.
public struct CallLimits: Sendable, Hashable {
  /// Values of any kind, including those inside containers. An array of bytes is one value.
  public let values: Int
  /// Bytes of text and of byte arrays together.
  public let bytes: Int

  /// - Parameters:
  ///   - values: values of any kind, including those inside containers. An array of bytes is one value.
  ///   - bytes: bytes of text and of byte arrays together.
  public init(values: Int, bytes: Int) {
    self.values = values
    self.bytes = bytes
  }

  /// For calls with a few names, numbers and options: 1,000 values, 64 KiB.
  public static let small = CallLimits(values: 1000, bytes: 64 << 10)
  /// For calls that carry the NDEF message of a tag, which has at most 1 MiB, in addition to `small`.
  public static let tagMessage = CallLimits(values: 1000, bytes: (1 << 20) + small.bytes)
}
