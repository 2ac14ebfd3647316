import Glibc
import Testing

@testable import Rig

/// Installed, `tagroute` is in `bin`, and what nobody starts by hand in `libexec`: the demo has to find both.
@Suite struct BuiltProductsTests {
  @Test func programsAreBesideThisOneOrInLibexec() throws {
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
