import Settings
import Testing

@Suite struct MqttConfigurationTests {
  private func read(_ text: String) throws -> MqttConfiguration {
    var configuration = MqttConfiguration()
    try configuration.merge(KeyFile(bytes: Array(text.utf8), file: "m.conf"))
    return configuration
  }

  @Test func `every key sets its property`() throws {
    let configuration = try read(
      """
      [Mqtt]
      Broker=mqtts://broker.example:8884
      Version=3.1.1
      Station=kiosk_7
      Prefix=site/nfc
      Contents=hash
      IdKeyFile=/k/id
      Discovery=homeassistant
      TagIds=uid
      LiveSeconds=30
      Commands=yes
      User=station
      PasswordFile=/k/password
      CAFile=/k/ca
      CertificateFile=/k/certificate
      KeyFile=/k/key
      """)
    #expect(configuration.broker == BrokerAddress("mqtts://broker.example:8884"))
    #expect(configuration.station == "kiosk_7" && configuration.version == .threeOneOne)
    #expect(configuration.prefix == "site/nfc")
    #expect(configuration.contents == .hash)
    #expect(configuration.idKeyFile == "/k/id")
    #expect(configuration.discovery == .homeassistant && configuration.tagIDSource == .uid)
    #expect(configuration.liveSeconds == 30)
    #expect(configuration.commands)
    #expect(configuration.user == "station")
    #expect(configuration.passwordFile == "/k/password")
    #expect(configuration.caFile == "/k/ca")
    #expect(configuration.certificateFile == "/k/certificate")
    #expect(configuration.keyFile == "/k/key")
    #expect(MqttConfiguration().keys(differingFrom: configuration).count == 15)
  }

  @Test(
    arguments: [
      ("mqtts://b", true, "b", 8883), ("mqtt://b", false, "b", 1883), ("mqtt://192.0.2.1:1", false, "192.0.2.1", 1),
      ("mqtts://[2001:db8::1]", true, "2001:db8::1", 8883), ("mqtts://[::1]:65535", true, "::1", 65535),
    ] as [(String, Bool, String, UInt16)])
  func `an address has a scheme, a host and a port`(text: String, isEncrypted: Bool, host: String, port: UInt16) throws
  {
    let broker = try #require(BrokerAddress(text))
    #expect(broker.isEncrypted == isEncrypted)
    #expect(broker.host == host)
    #expect(broker.port == port)
    #expect(BrokerAddress(broker.description) == broker)
  }

  @Test(arguments: [
    "", "b", "mqtts://", "mqtts://:1", "http://b", "mqtts://b/", "mqtts://b/path", "mqtts://b:0", "mqtts://b:65536",
    "mqtts://b:", "mqtts://b:+1", "mqtts://u@b", "mqtts://u:p@b", "mqtts://[::1", "mqtts://[b]", "mqtts://[::1]x",
    "mqtts://-b", "mqtts://b c", "mqtts://b\u{0}", "mqtts://bücher.example", "MQTTS://b",
    "mqtts://" + String(repeating: "b", count: 254),
  ])
  func `any other text is no address`(text: String) {
    #expect(BrokerAddress(text) == nil)
  }

  @Test(arguments: [
    ("localhost", true), ("127.0.0.1", true), ("127.1.2.3", true), ("[::1]", true), ("127.example.org", false),
    ("localhost.example.org", false), ("192.0.2.1", false), ("[2001:db8::1]", false),
  ])
  func `only names of this machine are loopback names`(host: String, isLoopback: Bool) throws {
    #expect(try #require(BrokerAddress("mqtt://\(host)")).isLoopback == isLoopback)
  }

  @Test(arguments: [
    ("", "m.conf: there is no Broker=: write Broker=mqtts://HOST below [Mqtt]"),
    ("[Mqtt]\nStation=a\n", "m.conf:1: there is no Broker=: write Broker=mqtts://HOST below [Mqtt]"),
    (
      "[Mqtt]\nBroker=b\n",
      "m.conf:2: Broker=b is not the address of a broker: "
        + "write mqtts://HOST or mqtts://HOST:PORT, or mqtt:// for a connection without encryption"
    ),
    (
      "[Mqtt]\nBroker=mqtts://user:secret@b\n",
      "m.conf:2: Broker= has a user name: write the name to User=, the password to a PasswordFile="
    ),
    (
      "[Mqtt]\nBroker=mqtts://b\nStation=a/b\n",
      "m.conf:3: Station=a/b is not a name for a station: write 1 to 64 of the characters A-Z a-z 0-9 - and _"
    ),
    (
      "[Mqtt]\nBroker=mqtts://b\nContents=all\n",
      "m.conf:3: Contents=all is not known: write no or hash or yes"
    ),
    (
      "[Mqtt]\nBroker=mqtts://b\nDiscovery=yes\n",
      "m.conf:3: Discovery=yes is not known: write homeassistant or none"
    ),
    (
      "[Mqtt]\nBroker=mqtts://b\nLiveSeconds=0\n",
      "m.conf:3: LiveSeconds=0 is out of range: write a number of seconds from 1 to 3600"
    ),
    ("[Mqtt]\nBroker=mqtts://b\nCommands=maybe\n", "m.conf:3: Commands=maybe is neither yes nor no: write yes or no"),
    (
      "[Mqtt]\nBroker=mqtts://b\nCAFile=ca.pem\n",
      "m.conf:3: CAFile=ca.pem is not an absolute path: write one, which starts with /"
    ),
    (
      "[Mqtt]\nBroker=mqtts://b\nUser=\n",
      "m.conf:3: User= is not a user name: write 1 to 256 bytes without control characters"
    ),
    ("[Mqtt]\nBroker=mqtts://b\nPasswordFile=/p\n", "m.conf:3: a password needs a user: add User="),
    (
      "[Mqtt]\nBroker=mqtts://b\nCertificateFile=/c\n",
      "m.conf:3: a certificate needs its private key: add KeyFile="
    ),
    ("[Mqtt]\nBroker=mqtts://b\nKeyFile=/k\n", "m.conf:3: a private key needs its certificate: add CertificateFile="),
    (
      "[Mqtt]\nBroker=mqtt://b\nCAFile=/c\n",
      "m.conf:3: mqtt:// has no encryption, so certificates have no effect: write Broker=mqtts://HOST"
    ),
    (
      "[Mqtt]\nBroker=mqtt://b\nUser=u\nPasswordFile=/p\n",
      "m.conf:4: mqtt:// would send the password unencrypted: write Broker=mqtts://HOST; only localhost may do without"
    ),
    ("[Mqtt]\nBroker=mqtts://b\nHost=b\n", "m.conf:3: group [Mqtt] has no key Host: "),
    ("[MQTT]\nBroker=mqtts://b\n", "m.conf:1: there is no group [MQTT]: did you mean [Mqtt]?"),
  ])
  func `a mistake names the line and the fix`(text: String, expected: String) throws {
    let error = #expect(throws: KeyFileError.self) { try read(text) }
    #expect(error?.description.hasPrefix(expected) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: ["a+b", "#", "/a", "a/", "$SYS", "a\u{7F}", String(repeating: "a", count: 101), ""])
  func `a prefix that cannot begin a topic is a mistake`(prefix: String) {
    #expect(throws: KeyFileError.self) { try read("[Mqtt]\nBroker=mqtts://b\nPrefix=\(prefix)\n") }
  }

  @Test func `a password may go without encryption to this machine`() throws {
    let configuration = try read("[Mqtt]\nBroker=mqtt://localhost\nUser=u\nPasswordFile=/p\n")
    #expect(configuration.passwordFile == "/p")
  }
}
