import EventLoop
import Glibc
import Testing

struct ProcessEnvironmentTests {
  /// Runs in its own process, because all tests share one environment.
  @Test func `the environment includes empty values and values with an equals sign`() async {
    await #expect(processExitsWith: .success) {
      setenv("TAGROUTE_TEST", "a=b", 1)
      setenv("TAGROUTE_EMPTY", "", 1)
      unsetenv("TAGROUTE_NONE")
      #expect(ProcessEnvironment.current["TAGROUTE_TEST"] == "a=b")
      #expect(ProcessEnvironment.current["TAGROUTE_EMPTY"] == "")
      #expect(ProcessEnvironment.current["TAGROUTE_NONE"] == nil)
    }
  }

  @Test func `child processes do not get the variable that silences libdispatch`() async {
    await #expect(processExitsWith: .success) {
      unsetenv("LIBDISPATCH_LOG")
      ProcessEnvironment.silenceDispatch()
      #expect(getenv("LIBDISPATCH_LOG").map { String(cString: $0) } == "NO")
      #expect(ProcessEnvironment.current["LIBDISPATCH_LOG"] == nil)
      // A value that the user has set is kept.
      setenv("LIBDISPATCH_LOG", "stderr", 1)
      ProcessEnvironment.silenceDispatch()
      #expect(getenv("LIBDISPATCH_LOG").map { String(cString: $0) } == "stderr")
    }
  }
}
