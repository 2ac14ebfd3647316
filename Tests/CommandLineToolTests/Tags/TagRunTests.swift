import Bus
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
    let known = Failure(message: "it is away", exitCode: 75, sheet: "Es ist weg.")
    #expect(run.handle(.worked(known)) == [.hide, .print, .close("Es ist weg.")])
    #expect(run.handle(.closed) == [.finish(.failed(known))])
    // The sheet is in the user's language, the terminal's words are not; and without any it would say that all went
    // well.
    run = active()
    _ = run.handle(.detected(1, name: "1"))
    #expect(run.handle(.worked(failure)) == [.hide, .print, .close("The terminal says why.")])
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
    let late = Failure(
      message: "no tag came within 5 s: try again", exitCode: 75, sheet: "No tag came in time.")
    #expect(run.handle(.timeIsUp) == [.hide, .close("No tag came in time.")])
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

  @Test(arguments: [ReaderSessionEnd.Reason.daemonStopping, .daemonGone])
  func whoeverWaitsForATagIsNotToldThatTheDaemonWasStartedAnew(reason: ReaderSessionEnd.Reason) {
    var run = active()
    let again: [Run.Action] = [.show("waiting for the daemon"), .startAgain]
    #expect(run.handle(.ended(ReaderSessionEnd(reason))) == again)
    #expect(run.handle(.began) == [.show("waiting for the reader")])
    #expect(run.handle(.ended(ReaderSessionEnd(reason))) == again)
    #expect(run.handle(.notBegun(failure)) == [.hide, .finish(.failed(failure))])
    // The time is for all of it.
    run = active()
    _ = run.handle(.ended(ReaderSessionEnd(reason)))
    let late = Failure(
      message: "no tag came within 5 s: try again", exitCode: 75, sheet: "No tag came in time.")
    #expect(run.handle(.timeIsUp) == [.hide, .finish(.failed(late))])
    run = active()
    _ = run.handle(.ended(ReaderSessionEnd(reason)))
    #expect(run.handle(.interrupted(2)) == [.hide, .finish(.signalled(2))])
  }

  /// Nobody knows what the tag holds now, and another session might do the same to it twice.
  @Test func aTagThatWasBeingWorkedOnWhenTheDaemonEndedIsNotTriedAgain() {
    var run = active()
    _ = run.handle(.detected(1, name: "1"))
    #expect(run.handle(.ended(ReaderSessionEnd(.daemonGone))) == [])
    let expected = Failure(.init(.daemonGone), whileWorking: true)
    #expect(expected.exitCode == 75 && expected.message.contains("try again"))
    #expect(run.handle(.worked(failure)) == [.hide, .print, .hide, .finish(.failed(expected))])
    for name in [BusError.Name.noReply, BusError.Name.nameHasNoOwner] {
      let broken = Failure(tag: BusError(name: name, message: "it has gone"))
      #expect(broken.exitCode == 75 && broken.message.contains("try again"), "\(broken.message)")
    }
  }

  @Test func followingGoesOnWithTheNextDaemonAndDoesNotTellOfATagTwice() {
    var run = active(following: true)
    _ = run.handle(.detected(1, name: "1"))
    #expect(run.handle(.ended(ReaderSessionEnd(.daemonGone))) == [])
    #expect(
      run.handle(.worked(failure)) == [
        .hide, .print, .report(failure), .show("waiting for the daemon"), .startAgain,
      ])
    _ = run.handle(.began)
    #expect(run.handle(.activated) == [.show("hold a tag near the reader"), .settle])
    #expect(run.handle(.detected(2, name: "1")) == [])
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [.start])
  }

  /// As the daemon says it.
  /// The session has ended, and the next one has the reader.
  private func beginAnew(_ run: inout Run) {
    _ = run.handle(.ended(ReaderSessionEnd(.timedOut)))
    _ = run.handle(.began)
    _ = run.handle(.activated)
  }

  @Test func whatASessionsEndTakesAwayLiesThereStill() {
    var run = active(following: true)
    for (tag, name) in [(1, "1"), (2, "2"), (3, "3")] {
      _ = run.handle(.detected(tag, name: name))
      _ = run.handle(.worked(nil))
    }
    _ = run.handle(.removed(3))
    _ = run.handle(.progress(1))
    _ = run.handle(.removed(1))
    _ = run.handle(.removed(2))
    beginAnew(&run)
    #expect(run.handle(.detected(4, name: "1")) == [])
    #expect(run.handle(.detected(5, name: "2")) == [])
    #expect(run.handle(.detected(6, name: "3")) == [.hide, .work(6)])
  }

  @Test func whatWasTakenAwayAMomentBeforeTheEndIsNewWhenItComesAgain() {
    var run = active(following: true)
    _ = run.handle(.detected(1, name: "1"))
    _ = run.handle(.worked(nil))
    #expect(run.handle(.removed(1)) == [.forget(1)])
    #expect(run.handle(.forgotten(1)) == [])
    beginAnew(&run)
    #expect(run.handle(.detected(2, name: "1")) == [.hide, .work(2)])
  }

  @Test func oneTagThatIsForgottenTakesNoOtherAlong() {
    var run = active(following: true)
    for tag in [1, 2] {
      _ = run.handle(.detected(tag, name: "\(tag)"))
      _ = run.handle(.worked(nil))
    }
    _ = run.handle(.removed(1))
    _ = run.handle(.removed(2))
    _ = run.handle(.forgotten(1))
    beginAnew(&run)
    #expect(run.handle(.detected(3, name: "2")) == [])
    #expect(run.handle(.detected(4, name: "1")) == [.hide, .work(4)])
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
    #expect(run.handle(.removed(2)) == [.forget(2)])
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
    #expect(run.handle(.removed(2)) == [.forget(2)])
    // It was away meanwhile.
    #expect(run.handle(.detected(3, name: "a")) == [.hide, .work(3)])
    _ = run.handle(.worked(nil))
    _ = run.handle(.ended(ReaderSessionEnd(.timedOut)))
    _ = run.handle(.began)
    _ = run.handle(.settled)
    #expect(run.handle(.detected(4, name: "a")) == [.hide, .work(4)])
  }
}
