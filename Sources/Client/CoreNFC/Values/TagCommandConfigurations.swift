public import Foundation

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
  ///
  /// - Parameters:
  ///   - manufacturerCode: the manufacturer, one byte.
  ///   - customCommandCode: the command code, A0 to DF.
  ///   - requestParameters: the parameters of the command; nil for none.
  public init(manufacturerCode: Int, customCommandCode: Int, requestParameters: Data?) {
    super.init()
    self.manufacturerCode = manufacturerCode
    self.customCommandCode = customCommandCode
    self.requestParameters = requestParameters ?? Data()
  }

  /// Makes a configuration.
  ///
  /// - Parameters:
  ///   - manufacturerCode: the manufacturer, one byte.
  ///   - customCommandCode: the command code, A0 to DF.
  ///   - requestParameters: the parameters of the command; nil for none.
  ///   - maximumRetries: how often the command is sent again if the tag does not answer.
  ///   - retryInterval: the time before the command is sent again, in seconds.
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
  ///
  /// - Parameters:
  ///   - range: the numbers of the blocks.
  ///   - chunkSize: how many blocks one command reads.
  public init(range: NSRange, chunkSize: Int) {
    super.init()
    self.range = range
    self.chunkSize = chunkSize
  }

  /// Makes a configuration.
  ///
  /// - Parameters:
  ///   - range: the numbers of the blocks.
  ///   - chunkSize: how many blocks one command reads.
  ///   - maximumRetries: how often a command is sent again if the tag does not answer.
  ///   - retryInterval: the time before a command is sent again, in seconds.
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
