import EventLoop
import TagrouteClient

// For `tagroute-bench core-nfc`: the smallest program that uses TagrouteClient. `availability-core-nfc` asks the same.
let daemon = try await DaemonClient.connect(on: EventLoop(label: "availability"))
print(try await daemon.readingAvailable())
