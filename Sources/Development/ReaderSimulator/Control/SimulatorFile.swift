import EventLoop
import Glibc

/// A file of the command line, or of a control line.
enum SimulatorFile {
  static func read(_ path: String, atMost most: Int) throws(SimulatorError) -> [UInt8] {
    // A pipe without a writer must not stop the program.
    let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard number >= 0 else { throw SimulatorError("\(path): \(SystemError("open it").description)") }
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try FileDescriptor(owning: number).readAll(atMost: most + 1)
    } catch {
      throw SimulatorError("\(path): \(error.description)")
    }
    guard bytes.count <= most else { throw SimulatorError("\(path): more than \(most) bytes") }
    return bytes
  }
}
