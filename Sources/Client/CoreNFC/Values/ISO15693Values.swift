public import Foundation

/// What a tag says about itself (ISO/IEC 15693-3, 10.4.12; iOS 14). A number is -1 if the tag does not give it.
public struct NFCISO15693SystemInfo: Sendable {
  /// The UID, eight bytes.
  public var uniqueIdentifier: Data
  /// The data storage format identifier, DSFID.
  public var dataStorageFormatIdentifier: Int
  /// The application family identifier, AFI.
  public var applicationFamilyIdentifier: Int
  /// The size of a block in bytes.
  public var blockSize: Int
  /// The number of blocks.
  public var totalBlocks: Int
  /// The manufacturer's reference of the chip.
  public var icReference: Int

  /// Makes the information.
  public init(
    uniqueIdentifier: Data, dataStorageFormatIdentifier: Int, applicationFamilyIdentifier: Int, blockSize: Int,
    totalBlocks: Int, icReference: Int
  ) {
    self.uniqueIdentifier = uniqueIdentifier
    self.dataStorageFormatIdentifier = dataStorageFormatIdentifier
    self.applicationFamilyIdentifier = applicationFamilyIdentifier
    self.blockSize = blockSize
    self.totalBlocks = totalBlocks
    self.icReference = icReference
  }
}

/// The security status of several blocks (ISO/IEC 15693-3, 10.4.13; iOS 14).
public struct NFCISO15693MultipleBlockSecurityStatus: Sendable {
  /// The status byte of each block; 0 if the block is not locked.
  public var blockSecurityStatus: [Int]

  /// Makes the status.
  public init(blockSecurityStatus: [Int]) { self.blockSecurityStatus = blockSecurityStatus }
}

/// The flags of a request (ISO/IEC 15693-3, 7.3.1; iOS 11).
public struct NFCISO15693RequestFlag: OptionSet, Sendable {
  /// The byte.
  public let rawValue: UInt8

  /// Makes flags.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The tag answers with two sub-carriers.
  public static let dualSubCarriers = NFCISO15693RequestFlag(rawValue: 0x01)
  /// The tag answers with the high data rate.
  public static let highDataRate = NFCISO15693RequestFlag(rawValue: 0x02)
  /// The protocol is extended.
  public static let protocolExtension = NFCISO15693RequestFlag(rawValue: 0x08)
  /// Only the selected tag answers.
  public static let select = NFCISO15693RequestFlag(rawValue: 0x10)
  /// Only the tag with the UID in the request answers.
  public static let address = NFCISO15693RequestFlag(rawValue: 0x20)
  /// The meaning depends on the command.
  public static let option = NFCISO15693RequestFlag(rawValue: 0x40)
  /// The meaning depends on the command (iOS 14).
  public static let commandSpecificBit8 = NFCISO15693RequestFlag(rawValue: 0x80)
}

/// The flags of an answer (ISO/IEC 15693-3, 7.4.1; iOS 14).
public struct NFCISO15693ResponseFlag: OptionSet, Sendable {
  /// The byte.
  public let rawValue: UInt8

  /// Makes flags.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The tag reports an error.
  public static let error = NFCISO15693ResponseFlag(rawValue: 0x01)
  /// The response buffer of the tag holds valid data.
  public static let responseBufferValid = NFCISO15693ResponseFlag(rawValue: 0x02)
  /// The answer is the last one.
  public static let finalResponse = NFCISO15693ResponseFlag(rawValue: 0x04)
  /// The protocol is extended.
  public static let protocolExtension = NFCISO15693ResponseFlag(rawValue: 0x08)
  /// Bit 5, part of a block's security status.
  public static let blockSecurityStatusBit5 = NFCISO15693ResponseFlag(rawValue: 0x10)
  /// Bit 6, part of a block's security status.
  public static let blockSecurityStatusBit6 = NFCISO15693ResponseFlag(rawValue: 0x20)
  /// The tag asks for more time.
  public static let waitTimeExtension = NFCISO15693ResponseFlag(rawValue: 0x40)
}

/// How often a command is repeated (iOS 11).
open class NFCTagCommandConfiguration: NSObject, NSCopying {
  /// How often the command is sent again if the tag does not answer.
  open var maximumRetries = 0
  /// The time before the command is sent again, in seconds.
  open var retryInterval: TimeInterval = 0

  /// Makes a configuration without retries.
  public required override init() { super.init() }

  /// A copy of the same class.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = type(of: self).init()
    copy.maximumRetries = maximumRetries
    copy.retryInterval = retryInterval
    return copy
  }
}

/// A manufacturer's command for a tag of ISO/IEC 15693 (iOS 11).
open class NFCISO15693CustomCommandConfiguration: NFCTagCommandConfiguration {
  /// The manufacturer, one byte (ISO/IEC 7816-6).
  open var manufacturerCode = 0
  /// The command code, A0 to DF.
  open var customCommandCode = 0
  /// The parameters of the command; empty for none.
  open var requestParameters = Data()

  /// Makes a configuration in which everything is 0 or empty.
  public required init() { super.init() }

  /// Makes a configuration without retries.
  public init(manufacturerCode: Int, customCommandCode: Int, requestParameters: Data?) {
    super.init()
    self.manufacturerCode = manufacturerCode
    self.customCommandCode = customCommandCode
    self.requestParameters = requestParameters ?? Data()
  }

  /// Makes a configuration.
  public init(
    manufacturerCode: Int, customCommandCode: Int, requestParameters: Data?, maximumRetries: Int,
    retryInterval: TimeInterval
  ) {
    super.init()
    self.manufacturerCode = manufacturerCode
    self.customCommandCode = customCommandCode
    self.requestParameters = requestParameters ?? Data()
    self.maximumRetries = maximumRetries
    self.retryInterval = retryInterval
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = super.copy(with: zone)
    if let copy = copy as? NFCISO15693CustomCommandConfiguration {
      copy.manufacturerCode = manufacturerCode
      copy.customCommandCode = customCommandCode
      copy.requestParameters = requestParameters
    }
    return copy
  }
}

/// How the blocks of a tag of ISO/IEC 15693 are read (iOS 11).
open class NFCISO15693ReadMultipleBlocksConfiguration: NFCTagCommandConfiguration {
  /// The numbers of the blocks.
  open var range = NSRange(location: 0, length: 0)
  /// How many blocks one command reads.
  open var chunkSize = 0

  /// Makes a configuration in which everything is 0.
  public required init() { super.init() }

  /// Makes a configuration without retries.
  public init(range: NSRange, chunkSize: Int) {
    super.init()
    self.range = range
    self.chunkSize = chunkSize
  }

  /// Makes a configuration.
  public init(range: NSRange, chunkSize: Int, maximumRetries: Int, retryInterval: TimeInterval) {
    super.init()
    self.range = range
    self.chunkSize = chunkSize
    self.maximumRetries = maximumRetries
    self.retryInterval = retryInterval
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = super.copy(with: zone)
    if let copy = copy as? NFCISO15693ReadMultipleBlocksConfiguration {
      copy.range = range
      copy.chunkSize = chunkSize
    }
    return copy
  }
}
