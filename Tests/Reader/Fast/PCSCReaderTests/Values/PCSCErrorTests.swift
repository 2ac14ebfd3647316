import Testing

@testable import PCSCReader

/// What an error of pcsc-lite says about the card.
@Suite struct PCSCErrorTests {
  /// Otherwise a tag that was being read when pcscd ended would be announced as damaged. It would then be known.
  /// libpcsclite 1.9.9 has `securityViolation` for a connection that was reset.
  @Test(
    arguments: [.communication, .noService, .serviceStopped, .securityViolation, .invalidHandle] as [PCSCError])
  func `the end of pcscd is no failure of the card`(error: PCSCError) {
    guard case .readerGone = Setback(CardReader.CallFailure.pcscd(error)) else {
      Issue.record("\(error) counts as a failure of the card")
      return
    }
  }

  @Test(arguments: [.notTransacted, .removedCard, .noCard] as [PCSCError])
  func `a failed exchange says nothing about pcscd`(error: PCSCError) {
    #expect(!error.endsContext)
    guard case .failed = Setback(CardReader.CallFailure.pcscd(error)) else {
      Issue.record("\(error) counts as the end of pcscd")
      return
    }
  }
}
