/// How large the arguments of a call to an exported interface may be; a larger call is refused with
/// `org.freedesktop.DBus.Error.LimitsExceeded`, and no more of it than this is ever decoded.
public struct CallLimits: Sendable, Hashable {
  /// Values of any kind, those inside containers too; an array of bytes counts as one.
  public let values: Int
  /// Bytes of text and of byte arrays together.
  public let bytes: Int

  /// - Parameters:
  ///   - values: values of any kind, those inside containers too; an array of bytes counts as one.
  ///   - bytes: bytes of text and of byte arrays together.
  public init(values: Int, bytes: Int) {
    self.values = values
    self.bytes = bytes
  }

  /// For calls of a few names, numbers and options: 1,000 values, 64 KiB.
  public static let small = CallLimits(values: 1000, bytes: 64 << 10)
  /// For calls that carry the NDEF message of a tag, which has at most 1 MiB, and `small` besides.
  public static let tagMessage = CallLimits(values: 1000, bytes: (1 << 20) + small.bytes)
}
