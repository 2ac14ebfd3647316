import TestKit

/// What /proc says about a process and its children.
enum ProcessTree {
  /// The processes that a process has started and that still live.
  static func children(of process: Int32) throws -> [Int32] {
    guard let threads = fileNames(in: "/proc/\(process)/task") else { throw RigError("process \(process) is gone") }
    return try threads.flatMap { thread in
      let list = String(decoding: try readFile("/proc/\(process)/task/\(thread)/children"), as: UTF8.self)
      return list.split(separator: " ").compactMap { Int32($0) }
    }
  }
}
