import Glibc

/// The location of this program. Files that were built or installed together with it are found from there.
public enum OwnProgram {
  /// The directory of the program; nil if it is unknown or not UTF-8.
  public static var directory: String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &buffer, buffer.count)
    guard length > 0, let slash = buffer[..<length].lastIndex(of: CChar(UInt8(ascii: "/"))) else { return nil }
    return String(validating: buffer[..<slash].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
