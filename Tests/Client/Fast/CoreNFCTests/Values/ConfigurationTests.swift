import Foundation
import Testing

@testable import CoreNFC

@Suite struct ConfigurationTests {
  @Test func `a copy of a configuration has its values and changes alone`() throws {
    let configuration = NFCTagCommandConfiguration()
    #expect(configuration.maximumRetries == 0)
    #expect(configuration.retryInterval == 0)
    configuration.maximumRetries = 3
    configuration.retryInterval = 0.5
    let copy = try #require(configuration.copy() as? NFCTagCommandConfiguration)
    #expect(copy !== configuration)
    #expect(copy.maximumRetries == 3)
    #expect(copy.retryInterval == 0.5)
    copy.maximumRetries = 1
    #expect(configuration.maximumRetries == 3)
  }

  @Test func `a custom command has its values, and a copy of the same class`() throws {
    let plain = NFCISO15693CustomCommandConfiguration(
      manufacturerCode: 7, customCommandCode: 0xA1, requestParameters: nil)
    #expect(plain.requestParameters.isEmpty)
    #expect(plain.maximumRetries == 0)
    let configuration = NFCISO15693CustomCommandConfiguration(
      manufacturerCode: 7, customCommandCode: 0xA1, requestParameters: Data([1]), maximumRetries: 5,
      retryInterval: 0.1)
    let copy = try #require(configuration.copy() as? NFCISO15693CustomCommandConfiguration)
    #expect(copy !== configuration)
    #expect(copy.manufacturerCode == 7)
    #expect(copy.customCommandCode == 0xA1)
    #expect(copy.requestParameters == Data([1]))
    #expect(copy.maximumRetries == 5)
    #expect(copy.retryInterval == 0.1)
  }

  @Test func `the reading of blocks has its values, and a copy of the same class`() throws {
    let plain = NFCISO15693ReadMultipleBlocksConfiguration(range: NSRange(location: 1, length: 2), chunkSize: 3)
    #expect(plain.maximumRetries == 0)
    let configuration = NFCISO15693ReadMultipleBlocksConfiguration(
      range: NSRange(location: 1, length: 2), chunkSize: 3, maximumRetries: 4, retryInterval: 5)
    let copy = try #require(configuration.copy() as? NFCISO15693ReadMultipleBlocksConfiguration)
    #expect(copy !== configuration)
    #expect(copy.range == NSRange(location: 1, length: 2))
    #expect(copy.chunkSize == 3)
    #expect(copy.maximumRetries == 4)
    #expect(copy.retryInterval == 5)
  }

  @Test func `a configuration and an answer of a wallet can be copied`() throws {
    let url = URL(string: "https://example.com")
    let configuration = NFCVASCommandConfiguration(
      vasMode: .normal, passTypeIdentifier: "pass.com.example", url: url)
    let copy = try #require(configuration.copy() as? NFCVASCommandConfiguration)
    #expect(copy !== configuration)
    #expect(copy.mode == .normal)
    #expect(copy.passTypeIdentifier == "pass.com.example")
    #expect(copy.url == url)
    let response = NFCVASResponse(status: .success, vasData: Data([1]), mobileToken: Data([2]))
    #expect(response.copy() as? NFCVASResponse === response)
    #expect(response.vasData == Data([1]))
    #expect(response.mobileToken == Data([2]))
  }
}
