import Glibc

/// Where this program is: what was built or installed together with it is found from there.
public enum OwnProgram {
  /// The directory that holds it; nil where that cannot be told, or is not UTF-8.
  public static var directory: String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &buffer, buffer.count)
    guard length > 0, let slash = buffer[..<length].lastIndex(of: CChar(UInt8(ascii: "/"))) else { return nil }
    return String(validating: buffer[..<slash].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
