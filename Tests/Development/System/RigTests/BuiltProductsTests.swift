import Glibc
import Testing

@testable import Rig

/// An installed `tagroute` is in `bin`. Programs that users do not start themselves are in `libexec`. The demo finds
/// both.
@Suite struct BuiltProductsTests {
  @Test func `programs are found beside this one or in libexec`() throws {
    let directory = try TemporaryDirectory()
    for file in ["bin/tagroute-simulator", "libexec/tagrouted"] {
      try directory.write("", to: file)
      chmod(directory.file(file), 0o755)
    }
    let bin = directory.file("bin")
    #expect(try BuiltProducts.program("tagroute-simulator", beside: bin) == "\(bin)/tagroute-simulator")
    #expect(try BuiltProducts.program("tagrouted", beside: bin) == "\(bin)/../libexec/tagrouted")
    let error = #expect(throws: RigError.self) { try BuiltProducts.program("tagroute-agent", beside: bin) }
    #expect(error?.description.contains("install it") == true)
  }
}
