import EventLoop
import Glibc
import Testing

struct ProcessEnvironmentTests {
  /// In a process of its own: the environment is one for all tests.
  @Test func `holds what the process was given, values with an equals sign and empty ones included`() async {
    await #expect(processExitsWith: .success) {
      setenv("TAGROUTE_TEST", "a=b", 1)
      setenv("TAGROUTE_EMPTY", "", 1)
      unsetenv("TAGROUTE_NONE")
      #expect(ProcessEnvironment.current["TAGROUTE_TEST"] == "a=b")
      #expect(ProcessEnvironment.current["TAGROUTE_EMPTY"] == "")
      #expect(ProcessEnvironment.current["TAGROUTE_NONE"] == nil)
    }
  }
}
