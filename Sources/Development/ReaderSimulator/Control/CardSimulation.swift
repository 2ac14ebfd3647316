import EventLoop
import Glibc

/// Virtual readers and their pcscd, in a directory of their own.
struct CardSimulation {
  let readers: SimulatedCardReaders
  /// The socket of pcscd.
  var socket: String { daemon.socket }
  private let daemon: PrivatePCSCD
  private let directory: String

  /// Adds a reader of each model, and starts pcscd.
  static func start(_ models: [CardReaderModel]) async throws(SimulatorError) -> CardSimulation {
    let directory = try makeDirectory()
    do throws(SimulatorError) {
      let readers = try await SimulatedCardReaders.start(socket: "\(directory)/readers")
      for model in models { await readers.addReader(model) }
      let daemon = try await readers.startPCSCD(in: directory)
      return CardSimulation(readers: readers, daemon: daemon, directory: directory)
    } catch {
      removeDirectory(directory)
      throw error
    }
  }

  private init(readers: SimulatedCardReaders, daemon: PrivatePCSCD, directory: String) {
    (self.readers, self.daemon, self.directory) = (readers, daemon, directory)
  }

  /// Ends pcscd and removes the directory.
  func stop() async {
    await daemon.stop()
    await readers.stop()
    Self.removeDirectory(directory)
  }

  private static func makeDirectory() throws(SimulatorError) -> String {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = "\(parent)/tagroute-simulator.XXXXXX".utf8CString.map { $0 }
    guard mkdtemp(&template) != nil else {
      throw SimulatorError(SystemError("make a directory in \(parent)").description)
    }
    let path = String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    // Clients of other users may go through to pcscd's socket.
    chmod(path, 0o711)
    return path
  }

  private static func removeDirectory(_ path: String) {
    for name in ["readers", "pcscd.comm", "pcscd.log", "reader.conf.d/readers"] { unlink("\(path)/\(name)") }
    rmdir("\(path)/reader.conf.d")
    rmdir(path)
  }
}
