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

  @Test func `programs that are started do not get the variable that silences libdispatch`() async {
    await #expect(processExitsWith: .success) {
      unsetenv("LIBDISPATCH_LOG")
      ProcessEnvironment.silenceDispatch()
      #expect(getenv("LIBDISPATCH_LOG").map { String(cString: $0) } == "NO")
      #expect(ProcessEnvironment.current["LIBDISPATCH_LOG"] == nil)
      // What the user has set stays in force.
      setenv("LIBDISPATCH_LOG", "stderr", 1)
      ProcessEnvironment.silenceDispatch()
      #expect(getenv("LIBDISPATCH_LOG").map { String(cString: $0) } == "stderr")
    }
  }
}
