import Bus
import Names
import Testing

@testable import CommandLineTool

/// The exit code and the message for an error of the daemon.
@Suite struct FailureTests {
  @Test(
    arguments: [
      (Names.Errors.tooMany, 75), (Names.Errors.notPossible, 75), (Names.Errors.notAuthorized, 77),
      (Names.Errors.invalidArgument, 64), (Names.Errors.failed, 1), (BusError.Name.notSupported, 69),
      (BusError.Name.nameHasNoOwner, 69), (BusError.Name.unknownMethod, 69), (Names.Errors.noSuchTap, 66),
    ] as [(String, Int32)])
  func `an error of the daemon has an exit code`(error: String, code: Int32) {
    let failure = Failure(BusError(name: error, message: "not now"), from: .daemon)
    #expect(failure.exitCode == code)
    #expect(failure.message.contains("not now") == (error != BusError.Name.nameHasNoOwner))
  }
}
