import Glibc
import Rig

/// What /proc says about a process and its children.
enum ProcessTree {
  /// The processes that a process has started and that still live.
  static func children(of process: Int32) throws -> [Int32] {
    try threads(of: process).flatMap { thread in
      let list = String(decoding: try readFile("/proc/\(process)/task/\(thread)/children"), as: UTF8.self)
      return list.split(separator: " ").compactMap { Int32($0) }
    }
  }

  private static func threads(of process: Int32) throws -> [Int32] {
    guard let folder = opendir("/proc/\(process)/task") else { throw RigError("process \(process) is gone") }
    defer { closedir(folder) }
    var threads: [Int32] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let thread = Int32(name) { threads.append(thread) }
    }
    return threads
  }
}
