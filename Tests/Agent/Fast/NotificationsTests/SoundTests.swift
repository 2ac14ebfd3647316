import Bus
import Testing

@testable import Notifications

/// Which calls of `Notify` ask for a sound.
@Suite struct SoundTests {
  private static let key = NotificationKey("a")
  private static let sounding = NotificationServer.sample(capabilities: ["actions", "body", "sound"])

  private func notification(_ sound: NotificationSound, body: String = "menu.example.com") -> Notification {
    var notification = sampleNotification(body: body)
    notification.sound = sound
    return notification
  }

  private func hints(_ sound: NotificationSound, _ server: NotificationServer) -> [String: Value] {
    let arguments = NotifyArguments(sampleNotification(), replaces: 0, keySuffix: "", sound: sound, server: server)
    return (arguments.values[6].asDictionary ?? [:]).filter { ["sound-name", "suppress-sound"].contains($0.key) }
  }

  @Test func `a sound is named, and silence is asked for, only on a server with sounds`() {
    #expect(hints(.arrival, Self.sounding) == ["sound-name": .string("message-new-instant")])
    #expect(hints(.failure, Self.sounding) == ["sound-name": .string("dialog-error")])
    #expect(hints(.silent, Self.sounding) == ["suppress-sound": .boolean(true)])
    for sound in [NotificationSound.arrival, .failure, .silent] { #expect(hints(sound, .sample()) == [:]) }
  }

  /// Both daemons report this name, and neither plays the sound of a name.
  @Test func `notification-daemon counts as a server without sounds`() {
    #expect(hints(.arrival, .sample(name: "Notification Daemon", capabilities: ["sound"])) == [:])
  }

  @Test func `the caller plays the sound for a server without sounds, once and when the notification is up`() {
    var board = board()
    let call = board.handle(.show(Self.key, notification(.arrival), replacing: nil))
    #expect(call.reports.isEmpty)
    let up = board.answer(call, id: 1)
    #expect(up.reports == [.shown(Self.key, at: .sample(id: 1)), .soundDue(Self.key, .arrival)])
    let again = board.answer(
      board.handle(.show(Self.key, notification(.silent, body: "changed"), replacing: nil)), id: 1)
    #expect(again.reports == [.shown(Self.key, at: .sample(id: 1))])
    var other = NotificationBoard { "" }
    _ = other.handle(.ownerChanged(Self.sounding.owner))
    _ = other.handle(.described(Self.sounding))
    let played = other.answer(other.handle(.show(Self.key, notification(.arrival), replacing: nil)), id: 1)
    #expect(played.reports.count == 1)
  }

  @Test func `a notification that is shown again is silent, and a new one in its place has its sound`() {
    var board = board(with: Self.sounding)
    let first = board.handle(.show(Self.key, notification(.arrival), replacing: nil))
    #expect(first.calls.map(\.sound) == [.arrival])
    _ = board.answer(first, id: 1)
    let again = board.handle(.show(Self.key, notification(.silent, body: "changed"), replacing: nil))
    #expect(again.calls.map(\.sound) == [.silent])
    _ = board.answer(again, id: 1)
    let failed = board.handle(.show(Self.key, notification(.failure), replacing: nil))
    #expect(failed.calls.map(\.sound) == [.failure])
    _ = board.answer(failed, id: 1)
    let next = board.handle(.show(NotificationKey("b"), notification(.arrival), replacing: Self.key))
    #expect(next.calls.map(\.sound) == [.arrival])
  }

  @Test func `the next server shows a notification without its sound`() {
    var board = board(with: Self.sounding)
    _ = board.answer(board.handle(.show(Self.key, notification(.arrival), replacing: nil)), id: 1)
    _ = board.handle(.ownerChanged(":1.8"))
    let other = board.handle(.described(.sample(":1.8", capabilities: ["actions", "body", "sound"])))
    #expect(other.calls.map(\.sound) == [.silent])
  }

  @Test func `a sound that no server has played is kept`() {
    var board = board(with: Self.sounding)
    let refused = board.refuse(board.handle(.show(Self.key, notification(.arrival), replacing: nil)))
    let retry = refused.timers.flatMap { board.handle(.timeout($0)) }
    #expect(retry.calls.map(\.sound) == [.arrival])
    // The server leaves before it replies.
    _ = board.handle(.ownerChanged(":1.8"))
    let other = board.handle(.described(.sample(":1.8", capabilities: ["actions", "body", "sound"])))
    #expect(other.calls.map(\.sound) == [.arrival])
  }

  @Test func `a change of the words before the first server does not silence the sound`() {
    var board = NotificationBoard { "" }
    _ = board.handle(.show(Self.key, notification(.arrival), replacing: nil))
    _ = board.handle(.show(Self.key, notification(.silent, body: "changed"), replacing: nil))
    _ = board.handle(.ownerChanged(Self.sounding.owner))
    let calls = board.handle(.described(Self.sounding)).calls
    #expect(calls.map(\.sound) == [.arrival])
    #expect(calls.map(\.notification.body.string) == ["changed"])
  }

  @Test func `two changes during a call keep the last sound`() {
    var board = board(with: Self.sounding)
    let first = board.handle(.show(Self.key, notification(.arrival), replacing: nil))
    _ = board.handle(.show(Self.key, notification(.failure), replacing: nil))
    _ = board.handle(.show(Self.key, notification(.silent, body: "changed"), replacing: nil))
    #expect(board.answer(first, id: 1).calls.map(\.sound) == [.failure])
  }
}
