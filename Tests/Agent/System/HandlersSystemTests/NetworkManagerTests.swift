import Bus
import EventLoop
import Handlers
import NDEF
import TestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct NetworkManagerTests {
  private let bus: PrivateBus
  private let network = WiFiNetwork(ssid: "Guest", passphrase: "visitors")

  init() async throws { bus = try await PrivateBus.start() }

  private func client(limit: Duration = .seconds(20)) async throws -> NetworkManager {
    let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "wifi-test"))
    return NetworkManager(connection, timeout: .seconds(20), limit: limit)
  }

  private func standIn(
    _ mood: NetworkManagerStandIn.Mood = .joins, deviceType: UInt32 = 2, deviceState: UInt32 = 30,
    isEnabled: Bool = true
  ) async throws -> NetworkManagerStandIn {
    try await .start(
      on: BusAddress(bus.address), mood, deviceType: deviceType, deviceState: deviceState, isEnabled: isEnabled)
  }

  @Test func `without NetworkManager, nothing is joined`() async throws {
    let client = try await client()
    #expect(await client.availability() == .noNetworkManager)
    #expect(await client.join(network, saving: false) == .failed(HandOverFailure(.noNetworkManager)))
  }

  @Test(
    arguments: [
      (2, 30, true, .available), (2, 100, true, .available), (1, 100, true, .noDevice), (2, 10, true, .noDevice),
      (2, 20, false, .off),
    ] as [(UInt32, UInt32, Bool, WiFiAvailability)])
  func `a Wi-Fi device that is on is needed`(
    type: UInt32, state: UInt32, isEnabled: Bool, availability: WiFiAvailability
  ) async throws {
    let manager = try await standIn(deviceType: type, deviceState: state, isEnabled: isEnabled)
    let client = try await client()
    #expect(await client.availability() == availability)
    if availability != .available { #expect(await client.join(network, saving: false) != .delivered) }
    #expect(await manager.all.isEmpty)
  }

  @Test func `a profile is in memory, and is saved only on request`() async throws {
    let manager = try await standIn()
    let client = try await client()
    #expect(await client.join(network, saving: false) == .delivered)
    guard case .add(let settings, _, let options) = try await manager.next() else {
      throw RigError("nothing was added")
    }
    #expect(options == ["persist": .string("memory")])
    #expect(settings["802-11-wireless"]?["ssid"] == .bytes(Array("Guest".utf8)))
    #expect(settings["connection"]?["autoconnect"] == .boolean(false))
    #expect(await manager.all.count == 1)
    #expect(await client.join(network, saving: true) == .delivered)
    let requests = await manager.all
    guard requests.count == 4, case .update(let kept, flags: 1) = requests[2] else {
      throw RigError("nothing was saved: \(requests)")
    }
    #expect(kept["connection"]?["autoconnect"] == .boolean(true) && kept["connection"]?["uuid"] != nil)
    #expect(kept["802-11-wireless-security"] == ["key-mgmt": .string("wpa-psk"), "psk": .string("visitors")])
    // The profile that was not saved.
    #expect(requests[3] == .delete)
    #expect(await manager.passwords == ["visitors"])
  }

  @Test func `many taps leave one profile, with the password of the last sticker`() async throws {
    let manager = try await standIn()
    let client = try await client()
    for saving in [false, true] {
      for number in 1...5 {
        let sticker = WiFiNetwork(ssid: "Guest", passphrase: "visitors-\(number)")
        #expect(await client.join(sticker, saving: saving) == .delivered)
        #expect(await manager.passwords == ["visitors-\(number)"])
      }
    }
    #expect(await client.join(WiFiNetwork(ssid: "Other", passphrase: "visitors"), saving: true) == .delivered)
    #expect(await manager.passwords == ["visitors", "visitors-5"])
  }

  @Test func `a sticker with a wrong password does not remove a saved profile`() async throws {
    let manager = try await standIn()
    let client = try await client()
    for round in 1...2 {
      let password = "visitors-\(round)"
      await manager.change(to: .joins)
      #expect(await client.join(WiFiNetwork(ssid: "Guest", passphrase: password), saving: true) == .delivered)
      await manager.change(to: .wantsAnotherPassword)
      let wrong = WiFiNetwork(ssid: "Guest", passphrase: "not this one")
      for saving in [false, true] {
        #expect(await client.join(wrong, saving: saving) == .failed(HandOverFailure(.networkPassword)))
        #expect(await manager.passwords == [password])
      }
    }
  }

  @Test func `a profile is deleted even if NetworkManager does not say that it has added it`() async throws {
    let manager = try await standIn(.addsWithoutReply)
    let client = try await client(limit: .milliseconds(50))
    #expect(
      await client.join(network, saving: false) == .failed(HandOverFailure(.networkNotJoined, "it took too long")))
    #expect(await manager.all.count == 2)
    #expect(await manager.all.last == .delete)
    #expect(await manager.passwords.isEmpty)
  }

  @Test func `a wrong password deletes the profile`() async throws {
    let manager = try await standIn(.wantsAnotherPassword)
    let client = try await client()
    #expect(await client.join(network, saving: true) == .failed(HandOverFailure(.networkPassword)))
    #expect(await manager.all.count == 2)
    #expect(await manager.all.last == .delete)
  }

  @Test func `a network that is never joined is given up`() async throws {
    let manager = try await standIn(.hangs)
    let client = try await client(limit: .milliseconds(50))
    #expect(
      await client.join(network, saving: true) == .failed(HandOverFailure(.networkNotJoined, "it took too long")))
    #expect(await manager.all.last == .delete)
  }

  @Test func `an error is known by its name only`() async throws {
    let error = BusError(
      name: "org.freedesktop.NetworkManager.PermissionDenied", message: "psk visitors is not allowed")
    let manager = try await standIn(.refuses(error))
    let client = try await client()
    guard case .failed(let failure) = await client.join(network, saving: true) else { throw RigError("it was joined") }
    #expect(failure.code == .networkNotJoined && failure.detail == error.name && failure.error == error.name)
    #expect(await manager.all.count == 1)
  }

  @Test func `a network that cannot be used is not sent`() async throws {
    let manager = try await standIn()
    let short = WiFiNetwork(ssid: "Guest", passphrase: "short")
    let client = try await client()
    #expect(await client.join(short, saving: true) == .failed(HandOverFailure(.networkUnusable)))
    #expect(await manager.all.isEmpty)
  }
}
