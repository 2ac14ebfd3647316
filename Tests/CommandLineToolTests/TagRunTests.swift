import TagrouteClient
import Testing

@testable import CommandLineTool

struct TagRunTests {
  private typealias Run = TagRun<Int>
  private let failure = Failure(message: "it is away", exitCode: 75)

  /// A run whose session is active.
  private func active(following: Bool = false) -> Run {
    var run = Run(isFollowing: following, timeout: 5)
    _ = run.handle(.began)
    _ = run.handle(.activated)
    return run
  }

  @Test func theFirstTagIsWorkedOnAndTheSessionEndsInGoodOrder() {
    var run = Run(isFollowing: false, timeout: nil)
    #expect(run.handle(.began) == [.show("waiting for the reader")])
    #expect(run.handle(.activated) == [.show("hold a tag near the reader")])
    #expect(run.handle(.detected(1, name: "1")) == [.hide, .work(1)])
    #expect(run.handle(.detected(2, name: "2")) == [])
    #expect(run.handle(.progress(100)) == [.show("100 bytes")])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .close(nil)])
    #expect(run.handle(.ended(ReaderSessionEnd(.invalidated))) == [.hide, .finish(.done)])
  }

  @Test func aFailureIsOnTheSheetAndInTheExitCode() {
    var run = active()
    _ = run.handle(.detected(1, name: "1"))
    #expect(run.handle(.worked(failure)) == [.hide, .print, .close("it is away")])
    #expect(run.handle(.closed) == [.finish(.failed(failure))])
  }

  @Test func aSessionThatEndsWithoutATagSaysWhy() {
    var run = active()
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [.hide, .finish(.failed(Failure(.init(.timedOut))))])
    #expect(Failure(.init(.timedOut)).exitCode == 75)
    #expect(Failure(.init(.daemonGone)).exitCode == 69)
  }

  @Test func whatIsDoneIsDoneThoughTheSessionEndsBeforeThatIsKnown() {
    var run = active()
    _ = run.handle(.detected(1, name: "1"))
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .hide, .finish(.done)])
  }

  @Test func whatTheEndHasBrokenOffFailsWithTheEndsReason() {
    var run = active()
    _ = run.handle(.detected(1, name: "1"))
    _ = run.handle(.ended(ReaderSessionEnd(.readerLost)))
    #expect(run.handle(.worked(failure)) == [.hide, .print, .hide, .finish(.failed(Failure(.init(.readerLost))))])
  }

  /// A tag has come, and may be half written.
  @Test func aSessionWhoseTimeIsUpDuringTheWorkDoesNotSayThatNoTagCame() {
    var run = active()
    _ = run.handle(.detected(1, name: "1"))
    _ = run.handle(.ended(ReaderSessionEnd(.timedOut)))
    let expected = Failure(.init(.timedOut), whileWorking: true)
    #expect(run.handle(.worked(failure)) == [.hide, .print, .hide, .finish(.failed(expected))])
    #expect(!expected.message.contains("no tag came") && expected.message.contains("being written"))
    #expect(expected.exitCode == 75)
  }

  @Test func aSignalEndsTheSessionFirst() {
    var run = active()
    #expect(run.handle(.interrupted(2)) == [.hide, .close(nil)])
    #expect(run.handle(.detected(1, name: "1")) == [])
    #expect(run.handle(.closed) == [.finish(.signalled(2))])
    // Where the daemon does not answer, the second one is enough.
    #expect(run.handle(.interrupted(15)) == [.hide, .finish(.signalled(15))])
  }

  @Test func aSignalBeforeThereIsASessionEndsAtOnce() {
    var run = Run(isFollowing: false, timeout: nil)
    #expect(run.handle(.interrupted(2)) == [.hide, .finish(.signalled(2))])
  }

  @Test func aSignalWhileATagIsWorkedOnCountsMoreThanWhatBecomesOfThat() {
    var run = active()
    _ = run.handle(.detected(1, name: "1"))
    #expect(run.handle(.interrupted(2)) == [.hide, .close(nil)])
    #expect(run.handle(.worked(failure)) == [.hide, .print])
    #expect(run.handle(.ended(ReaderSessionEnd(.invalidated))) == [.hide, .finish(.signalled(2))])
  }

  @Test func theTimeIsForTheWaitingAndNotForTheWork() {
    var run = active()
    let late = Failure(message: "no tag came in time, which is 5 s: try again", exitCode: 75)
    #expect(run.handle(.timeIsUp) == [.hide, .close(late.message)])
    #expect(run.handle(.closed) == [.finish(.failed(late))])
    run = active()
    _ = run.handle(.detected(1, name: "1"))
    #expect(run.handle(.timeIsUp) == [])
  }

  @Test func followingGoesOnOverFailuresAndSessions() {
    var run = active(following: true)
    #expect(run.handle(.detected(1, name: "1")) == [.hide, .work(1)])
    #expect(run.handle(.detected(2, name: "2")) == [])
    #expect(run.handle(.worked(failure)) == [.hide, .print, .report(failure), .hide, .work(2)])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .show("hold a tag near the reader")])
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [.start])
    #expect(run.handle(.began) == [.show("waiting for the reader")])
    #expect(run.handle(.timeIsUp) == [.hide, .close(nil)])
    #expect(run.handle(.closed) == [.finish(.done)])
  }

  @Test func followingAfterASessionsEndWaitsForTheWorkFirst() {
    var run = active(following: true)
    _ = run.handle(.detected(1, name: "1"))
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .start])
  }

  @Test func aTagThatIsAwayBeforeItsTurnIsPassedOver() {
    var run = active(following: true)
    _ = run.handle(.detected(1, name: "1"))
    _ = run.handle(.detected(2, name: "2"))
    #expect(run.handle(.removed(2)) == [])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .show("hold a tag near the reader")])
  }

  @Test func aTagThatRestsOverTheEndOfASessionIsNotAnother() {
    var run = active(following: true)
    _ = run.handle(.detected(1, name: "a"))
    _ = run.handle(.worked(nil))
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [.start])
    _ = run.handle(.began)
    #expect(run.handle(.activated) == [.show("hold a tag near the reader"), .settle])
    #expect(run.handle(.detected(2, name: "a")) == [])
    #expect(run.handle(.removed(2)) == [])
    // It was away meanwhile.
    #expect(run.handle(.detected(3, name: "a")) == [.hide, .work(3)])
    _ = run.handle(.worked(nil))
    _ = run.handle(.ended(ReaderSessionEnd(.timedOut)))
    _ = run.handle(.began)
    _ = run.handle(.settled)
    #expect(run.handle(.detected(4, name: "a")) == [.hide, .work(4)])
  }
}
