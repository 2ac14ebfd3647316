import EventLoop
import Glibc

/// The driver as a bundle, by which pcscd finds it for USB devices (ifdhandler.h, "USB readers").
enum DriverBundle {
  /// Writes the bundle into a folder, which it creates. `library` is the path of the driver.
  static func write(in folder: String, library: String) throws(SimulatorError) {
    let contents = "\(folder)/tagroute.bundle/Contents"
    for path in [folder, "\(folder)/tagroute.bundle", contents, "\(contents)/Linux"] { mkdir(path, 0o755) }
    let link = "\(contents)/Linux/libtagroute-ifd.so"
    unlink(link)
    guard symlink(library, link) == 0 else { throw SimulatorError(SystemError("make the link \(link)").description) }
    let bytes = Array(propertyList.utf8)
    let number = open("\(contents)/Info.plist", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard number >= 0, Glibc.write(number, bytes, bytes.count) == bytes.count else {
      throw SimulatorError(SystemError("write \(contents)/Info.plist").description)
    }
    close(number)
  }

  /// pcscd reads it line by line.
  private static var propertyList: String {
    let models = CardReaderModel.all
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0">
      <dict>
        <key>CFBundleExecutable</key>
        <string>libtagroute-ifd.so</string>
        <key>ifdCapabilities</key>
        <string>0x00000000</string>
      \(list("ifdVendorID", models.map { hexadecimal($0.vendor) }))
      \(list("ifdProductID", models.map { hexadecimal($0.product) }))
      \(list("ifdFriendlyName", models.map(\.friendlyName)))
      </dict>
      </plist>

      """
  }

  private static func list(_ key: String, _ values: [String]) -> String {
    let lines = values.map { "    <string>\($0)</string>\n" }.joined()
    return "  <key>\(key)</key>\n  <array>\n\(lines)  </array>"
  }

  private static func hexadecimal(_ number: UInt16) -> String { "0x\(Hexadecimal.string(BigEndian.bytes(number)))" }
}
