import Bus
import Rig
import TagrouteClient
import Testing

@testable import CommandLineTool

struct TagRunTests {
  private typealias Run = TagRun<Int>
  private let failure = Failure(message: "it is away", exitCode: 75)
  private let late = Failure(message: "no tag came within 5 s: try again", exitCode: 75, sheet: "No tag came in time.")

  private func active(following: Bool = false) -> Run {
    var run = Run(isFollowing: following, timeout: 5)
    _ = run.handle(.began())
    _ = run.handle(.activated)
    return run
  }

  /// A run that processes tag 1 with the name 1.
  private func working(following: Bool = false) -> Run {
    var run = active(following: following)
    _ = run.handle(.detected(1, name: "1"))
    return run
  }

  @Test func `the first tag is processed, then the session is closed`() {
    var run = Run(isFollowing: false, timeout: nil)
    #expect(run.handle(.began()) == [.show("waiting for the reader")])
    #expect(run.handle(.activated) == [.show("hold a tag near the reader")])
    #expect(run.handle(.detected(1, name: "1")) == [.hide, .work(1)])
    #expect(run.handle(.detected(2, name: "2")) == [])
    #expect(run.handle(.progress(100)) == [.show("100 bytes")])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .close(nil)])
    #expect(run.handle(.ended(ReaderSessionEnd(.invalidated))) == [.hide, .finish(.done)])
  }

  @Test func `a run that may change a tag needs it to be the only one`() {
    var run = Run(isFollowing: false, timeout: nil, mayChange: true)
    _ = run.handle(.began())
    _ = run.handle(.activated)
    var other = run
    #expect(run.handle(.detected(1, name: "1")) == [])
    #expect(run.handle(.roundEnded) == [.hide, .work(1)])
    #expect(run.handle(.detected(2, name: "2")) == [] && run.handle(.roundEnded) == [])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .close(nil)])

    #expect(other.handle(.detected(1, name: "1")) == [] && other.handle(.removed(1)) == [])
    #expect(other.handle(.roundEnded) == [])
    for tag in 2...3 { #expect(other.handle(.detected(tag, name: "\(tag)")) == []) }
    let failure = Failure(
      message: "2 tags lie on the reader: take all but one away and try again", exitCode: 75,
      sheet: "More than one tag lies there. Take all but one away.")
    #expect(other.handle(.roundEnded) == [.hide, .close(failure.sheet)])
    #expect(other.handle(.closed) == [.finish(.failed(failure))])
  }

  /// A run that may change a tag, with an active session.
  private func changing(reportsRounds: Bool = true) -> Run {
    var run = Run(isFollowing: false, timeout: 5, mayChange: true)
    _ = run.handle(.began(reportsRounds: reportsRounds))
    _ = run.handle(.activated)
    return run
  }

  @Test(arguments: [Run.Event.interrupted(2), .timeIsUp])
  private func `a run that is over changes no tag`(end: Run.Event) {
    var run = changing()
    #expect(run.handle(.detected(1, name: "1")) == [])
    #expect(run.handle(end).first == .hide)
    #expect(run.handle(.roundEnded) == [])
  }

  @Test func `a run that has refused several tags changes none of them`() {
    var run = changing()
    for tag in 1...2 { _ = run.handle(.detected(tag, name: "\(tag)")) }
    #expect(run.handle(.roundEnded).first == .hide)
    #expect(run.handle(.roundEnded) == [])
  }

  @Test func `a run on one tag does not change a second one`() {
    var run = changing()
    _ = run.handle(.detected(1, name: "1"))
    #expect(run.handle(.roundEnded) == [.hide, .work(1)])
    #expect(run.handle(.detected(2, name: "2")) == [])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .close(nil)])
    #expect(run.handle(.roundEnded) == [])
  }

  @Test func `a daemon that reports no rounds is not waited for`() {
    var run = changing(reportsRounds: false)
    #expect(run.handle(.detected(1, name: "1")) == [.hide, .work(1)])
    #expect(run.handle(.detected(2, name: "2")) == [])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .close(nil)])

    // The next daemon may be of another version.
    run = changing(reportsRounds: false)
    _ = run.handle(.ended(ReaderSessionEnd(.daemonStopping)))
    _ = run.handle(.began())
    #expect(run.handle(.detected(1, name: "1")) == [])
    #expect(run.handle(.roundEnded) == [.hide, .work(1)])
  }

  @Test(arguments: [Run.Event.timeIsUp, .ended(ReaderSessionEnd(.timedOut))])
  private func `a time limit that ends before the round does not say that no tag came`(end: Run.Event) throws {
    var run = changing()
    _ = run.handle(.detected(1, name: "1"))
    var last = run.handle(end)
    if case .timeIsUp = end {
      #expect(last == [.hide, .close("The terminal says why.")])
      last = run.handle(.closed)
    }
    guard case .finish(.failed(let failure))? = last.last else { throw RigError("the run goes on: \(last)") }
    #expect(failure.exitCode == 75 && failure.message.hasPrefix("a tag came, but"), "\(failure.message)")

    // The tag was taken away in time.
    run = changing()
    _ = run.handle(.detected(1, name: "1"))
    _ = run.handle(.removed(1))
    #expect(run.handle(.timeIsUp) == [.hide, .close("No tag came in time.")])
  }

  @Test func `a run with a count works on each tag of a round`() {
    var run = Run(isFollowing: true, timeout: nil, count: 2, mayChange: true)
    _ = run.handle(.began())
    _ = run.handle(.activated)
    #expect(run.handle(.detected(1, name: "1")) == [.hide, .work(1)])
    #expect(run.handle(.detected(2, name: "2")) == [] && run.handle(.roundEnded) == [])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .hide, .work(2)])
  }

  @Test func `a failure is shown on the sheet and sets the exit code`() {
    var run = working()
    let known = Failure(message: "it is away", exitCode: 75, sheet: "Es ist weg.")
    #expect(run.handle(.worked(known)) == [.hide, .print, .close("Es ist weg.")])
    #expect(run.handle(.closed) == [.finish(.failed(known))])
    // The sheet is in the user's language, but the terminal text is not. Without a text, the sheet would report
    // success.
    run = working()
    #expect(run.handle(.worked(failure)) == [.hide, .print, .close("The terminal says why.")])
  }

  @Test func `a session that ends without a tag gives the reason`() {
    var run = active()
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [.hide, .finish(.failed(Failure(.init(.timedOut))))])
    #expect(Failure(.init(.timedOut)).exitCode == 75)
    #expect(Failure(.init(.daemonGone)).exitCode == 69)
  }

  @Test func `finished work succeeds even if the session ends before the result is known`() {
    var run = working()
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .hide, .finish(.done)])
  }

  @Test func `work that the end of the session interrupts fails with the reason of that end`() {
    var run = working()
    _ = run.handle(.ended(ReaderSessionEnd(.readerLost)))
    #expect(run.handle(.worked(failure)) == [.hide, .print, .hide, .finish(.failed(Failure(.init(.readerLost))))])
  }

  /// A tag was found, and may be half written.
  @Test func `a session that times out during the work does not say that no tag came`() {
    var run = working()
    _ = run.handle(.ended(ReaderSessionEnd(.timedOut)))
    let expected = Failure(.init(.timedOut), whileWorking: true)
    #expect(run.handle(.worked(failure)) == [.hide, .print, .hide, .finish(.failed(expected))])
    #expect(!expected.message.contains("no tag came") && expected.message.contains("being written"))
    #expect(expected.exitCode == 75)
  }

  @Test func `a signal closes the session first`() {
    var run = active()
    #expect(run.handle(.interrupted(2)) == [.hide, .close(nil)])
    #expect(run.handle(.detected(1, name: "1")) == [])
    #expect(run.handle(.closed) == [.finish(.signalled(2))])
    // A second signal ends the run if the daemon does not answer.
    #expect(run.handle(.interrupted(15)) == [.hide, .finish(.signalled(15))])
  }

  @Test func `a signal before the session starts ends the run at once`() {
    var run = Run(isFollowing: false, timeout: nil)
    #expect(run.handle(.interrupted(2)) == [.hide, .finish(.signalled(2))])
  }

  @Test func `a signal during the work decides the result`() {
    var run = working()
    #expect(run.handle(.interrupted(2)) == [.hide, .close(nil)])
    #expect(run.handle(.worked(failure)) == [.hide, .print])
    #expect(run.handle(.ended(ReaderSessionEnd(.invalidated))) == [.hide, .finish(.signalled(2))])
  }

  @Test func `the time limit is for the wait and not for the work`() {
    var run = active()
    #expect(run.handle(.timeIsUp) == [.hide, .close("No tag came in time.")])
    #expect(run.handle(.closed) == [.finish(.failed(late))])
    run = working()
    #expect(run.handle(.timeIsUp) == [])
  }

  @Test func `read --follow continues after failures and ended sessions`() {
    var run = active(following: true)
    #expect(run.handle(.detected(1, name: "1")) == [.hide, .work(1)])
    #expect(run.handle(.detected(2, name: "2")) == [])
    #expect(run.handle(.worked(failure)) == [.hide, .print, .report(failure), .hide, .work(2)])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .show("hold a tag near the reader")])
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [.start])
    #expect(run.handle(.began()) == [.show("waiting for the reader")])
    #expect(run.handle(.timeIsUp) == [.hide, .close(nil)])
    #expect(run.handle(.closed) == [.finish(.done)])
  }

  @Test(arguments: [ReaderSessionEnd.Reason.daemonStopping, .daemonGone])
  func `a restart of the daemon while waiting for a tag is not reported as an error`(reason: ReaderSessionEnd.Reason) {
    var run = active()
    let again: [Run.Action] = [.show("waiting for the daemon"), .startAgain]
    #expect(run.handle(.ended(ReaderSessionEnd(reason))) == again)
    #expect(run.handle(.began()) == [.show("waiting for the reader")])
    #expect(run.handle(.ended(ReaderSessionEnd(reason))) == again)
    #expect(run.handle(.notBegun(failure)) == [.hide, .finish(.failed(failure))])
    // The time limit includes the restart.
    run = active()
    _ = run.handle(.ended(ReaderSessionEnd(reason)))
    #expect(run.handle(.timeIsUp) == [.hide, .finish(.failed(late))])
    run = active()
    _ = run.handle(.ended(ReaderSessionEnd(reason)))
    #expect(run.handle(.interrupted(2)) == [.hide, .finish(.signalled(2))])
  }

  /// The content of the tag is unknown now, and a second session might repeat the operation.
  @Test func `a tag that was being processed when the daemon ended is not tried again`() {
    var run = working()
    #expect(run.handle(.ended(ReaderSessionEnd(.daemonGone))) == [])
    let expected = Failure(.init(.daemonGone), whileWorking: true)
    #expect(expected.exitCode == 75 && expected.message.contains("try again"))
    #expect(run.handle(.worked(failure)) == [.hide, .print, .hide, .finish(.failed(expected))])
    for name in [BusError.Name.noReply, BusError.Name.nameHasNoOwner] {
      let broken = Failure(tag: BusError(name: name, message: "it has gone"))
      #expect(broken.exitCode == 75 && broken.message.contains("try again"), "\(broken.message)")
    }
  }

  @Test func `read --follow continues with the next daemon and does not report a tag twice`() {
    var run = working(following: true)
    #expect(run.handle(.ended(ReaderSessionEnd(.daemonGone))) == [])
    #expect(
      run.handle(.worked(failure)) == [
        .hide, .print, .report(failure), .show("waiting for the daemon"), .startAgain,
      ])
    _ = run.handle(.began())
    #expect(run.handle(.activated) == [.show("hold a tag near the reader"), .settle])
    #expect(run.handle(.detected(2, name: "1")) == [])
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [.start])
  }

  /// Ends the session with the daemon's events, and starts the next one, which has the reader.
  private func beginAnew(_ run: inout Run) {
    _ = run.handle(.ended(ReaderSessionEnd(.timedOut)))
    _ = run.handle(.began())
    _ = run.handle(.activated)
  }

  @Test func `a tag removed by the end of a session is a resting tag in the next one`() {
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

  @Test func `a tag taken away just before the end is new when it comes back`() {
    var run = working(following: true)
    _ = run.handle(.worked(nil))
    #expect(run.handle(.removed(1)) == [.forget(1)])
    #expect(run.handle(.forgotten(1)) == [])
    beginAnew(&run)
    #expect(run.handle(.detected(2, name: "1")) == [.hide, .work(2)])
  }

  @Test func `forgetting one tag keeps the others`() {
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

  @Test func `read --follow finishes the work before it starts the next session`() {
    var run = working(following: true)
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .start])
  }

  @Test func `a waiting tag that is taken away is skipped`() {
    var run = working(following: true)
    _ = run.handle(.detected(2, name: "2"))
    #expect(run.handle(.removed(2)) == [.forget(2)])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .show("hold a tag near the reader")])
  }

  @Test func `a tag that rests over the end of a session is not reported again`() {
    var run = active(following: true)
    _ = run.handle(.detected(1, name: "a"))
    _ = run.handle(.worked(nil))
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [.start])
    _ = run.handle(.began())
    #expect(run.handle(.activated) == [.show("hold a tag near the reader"), .settle])
    #expect(run.handle(.detected(2, name: "a")) == [])
    #expect(run.handle(.removed(2)) == [.forget(2)])
    // The tag was taken away and came back.
    #expect(run.handle(.detected(3, name: "a")) == [.hide, .work(3)])
    _ = run.handle(.worked(nil))
    _ = run.handle(.ended(ReaderSessionEnd(.timedOut)))
    _ = run.handle(.began())
    _ = run.handle(.settled)
    #expect(run.handle(.detected(4, name: "a")) == [.hide, .work(4)])
  }
}

/// `write --count`.
@Suite struct BatchTests {
  private typealias Run = TagRun<Int>
  private let failure = Failure(message: "it is away", exitCode: 75)

  private func active(_ count: Int) -> Run {
    var run = Run(isFollowing: true, timeout: 5, count: count)
    _ = run.handle(.began())
    _ = run.handle(.activated)
    return run
  }

  @Test func `the run ends after the last tag`() {
    var run = Run(isFollowing: true, timeout: nil, count: 2)
    _ = run.handle(.began())
    #expect(run.handle(.activated) == [.show("0 of 2 done: hold a tag near the reader")])
    #expect(run.handle(.detected(1, name: "1")) == [.hide, .work(1)])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .show("1 of 2 done: hold a tag near the reader")])
    #expect(run.handle(.detected(2, name: "2")) == [.hide, .work(2)])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .close(nil)])
    #expect(run.handle(.closed) == [.finish(.done)])
  }

  @Test func `a tag counts once, and a failed one can be tried again`() {
    var run = active(2)
    _ = run.handle(.detected(1, name: "1"))
    #expect(
      run.handle(.worked(failure)) == [
        .hide, .print, .report(failure), .show("0 of 2 done: hold a tag near the reader"),
      ])
    _ = run.handle(.removed(1))
    #expect(run.handle(.detected(2, name: "1")) == [.hide, .work(2)])
    _ = run.handle(.worked(nil))
    _ = run.handle(.removed(2))
    #expect(run.handle(.detected(3, name: "1")) == [.show("this tag is done already: take the next one")])
    #expect(run.handle(.detected(4, name: "2")) == [.hide, .work(4)])
    #expect(run.handle(.worked(nil)) == [.hide, .print, .close(nil)])
  }

  @Test func `the time limit does not interrupt a write`() {
    var run = active(3)
    _ = run.handle(.detected(1, name: "1"))
    #expect(run.handle(.timeIsUp) == [])
    let actions = run.handle(.worked(nil))
    #expect(actions == [.hide, .print, .hide, .close("No tag came in time.")])
    let expected = Failure(
      message: "only 1 of 3 tags were done within 5 s: try again", exitCode: 75, sheet: "No tag came in time.")
    #expect(run.handle(.closed) == [.finish(.failed(expected))])
  }

  @Test func `a batch goes on in the next session`() {
    var run = active(2)
    _ = run.handle(.detected(1, name: "1"))
    _ = run.handle(.worked(nil))
    #expect(run.handle(.ended(ReaderSessionEnd(.timedOut))) == [.start])
    _ = run.handle(.began())
    _ = run.handle(.activated)
    #expect(run.handle(.detected(2, name: "2")) == [.hide, .work(2)])
    _ = run.handle(.ended(ReaderSessionEnd(.timedOut)))
    #expect(run.handle(.worked(nil)) == [.hide, .print, .hide, .finish(.done)])
  }
}
