import Glibc

/// `tagroute-simulator`, the program.
public enum SimulatorProgram {
  /// Runs until it is told to stop.
  ///
  /// - Parameter arguments: the command line without the program's name.
  public static func main(_ arguments: [String]) async {
    guard let reader = try? await SimulatedReader.start() else { return }
    let path = await reader.path
    print("ready \(path)")
    fflush(nil)
    let message: [UInt8] = [0xD1, 0x01, 0x0C, 0x55, 0x04] + Array("example.com".utf8)
    if let tag = try? SimulatedTag.type2(.ntag215, message: message) { await reader.place(tag) }
    while let line = readLine() { if line == "quit" { break } }
    await reader.stop()
  }
}
