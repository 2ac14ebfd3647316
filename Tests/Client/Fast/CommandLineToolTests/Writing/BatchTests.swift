import TagrouteClient
import Testing

@testable import CommandLineTool

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
