import Notifications
import Settings
import Testing

@testable import Agent

struct SoundSettingTests {
  @Test func `the setting chooses between a tap and a failure`() {
    for (setting, tap, failure) in [
      (AgentConfiguration.Sound.off, NotificationSound.silent, NotificationSound.silent),
      (.on, .arrival, .failure), (.failures, .silent, .failure),
    ] {
      #expect(setting.chosen(.arrival) == tap && setting.chosen(.failure) == failure)
      #expect(setting.chosen(.silent) == .silent)
    }
  }
}
