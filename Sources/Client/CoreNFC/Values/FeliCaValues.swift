public import Foundation

/// The two status flags of a FeliCa card's answer (JIS X 6319-4; iOS 14). Both are 0 on success.
public struct NFCFeliCaStatusFlag: Sendable {
  /// Where the error is: 0 for none, FF if it concerns the whole command, else the number of the block list element.
  public var statusFlag1: Int
  /// What the error is; 0 for none.
  public var statusFlag2: Int

  /// Makes the flags.
  public init(statusFlag1: Int, statusFlag2: Int) {
    self.statusFlag1 = statusFlag1
    self.statusFlag2 = statusFlag2
  }
}

/// The answer to Polling (JIS X 6319-4; iOS 14).
public struct NFCFeliCaPollingResponse: Sendable {
  /// The manufacture parameters, PMm: eight bytes.
  public var manufactureParameter: Data
  /// What was requested in addition, two bytes; nil if nothing was, or if the card does not know it.
  public var requestData: Data?

  /// Makes an answer.
  public init(manufactureParameter: Data, requestData: Data?) {
    self.manufactureParameter = manufactureParameter
    self.requestData = requestData
  }
}

/// The answer to Request Specification Version (iOS 14).
public struct NFCFeliCaRequestSpecificationVersionResponse: Sendable {
  /// Where the error is; 0 for none.
  public var statusFlag1: Int
  /// What the error is; 0 for none.
  public var statusFlag2: Int
  /// The version of the card's basic commands, as the card sends it; nil after an error.
  public var basicVersion: Data?
  /// The versions of the card's options, as the card sends them; nil after an error or if it has none.
  public var optionVersion: Data?

  /// Makes an answer.
  public init(statusFlag1: Int, statusFlag2: Int, basicVersion: Data?, optionVersion: Data?) {
    self.statusFlag1 = statusFlag1
    self.statusFlag2 = statusFlag2
    self.basicVersion = basicVersion
    self.optionVersion = optionVersion
  }
}

/// The answer to Request Service v2 (iOS 14). The name is spelt as on iOS.
public struct NFCFeliCaRequsetServiceV2Response: Sendable {
  /// Where the error is; 0 for none.
  public var statusFlag1: Int
  /// What the error is; 0 for none.
  public var statusFlag2: Int
  /// The encryption of the system.
  public var encryptionIdentifier: NFCFeliCaEncryptionId
  /// The versions of the nodes' AES keys, two bytes each; nil after an error.
  public var nodeKeyVersionListAES: [Data]?
  /// The versions of the nodes' DES keys, two bytes each; nil after an error or if there are none.
  public var nodeKeyVersionListDES: [Data]?

  /// Makes an answer.
  public init(
    statusFlag1: Int, statusFlag2: Int, encryptionIdentifier: NFCFeliCaEncryptionId, nodeKeyVersionListAES: [Data]?,
    nodeKeyVersionListDES: [Data]?
  ) {
    self.statusFlag1 = statusFlag1
    self.statusFlag2 = statusFlag2
    self.encryptionIdentifier = encryptionIdentifier
    self.nodeKeyVersionListAES = nodeKeyVersionListAES
    self.nodeKeyVersionListDES = nodeKeyVersionListDES
  }
}

/// What a FeliCa card adds to its answer to Polling (JIS X 6319-4; iOS 13).
public enum NFCFeliCaPollingRequestCode: Int, Sendable {
  /// Nothing.
  case noRequest = 0
  /// The system code.
  case systemCode = 1
  /// The bit rates that the card supports.
  case communicationPerformance = 2
}

/// The number of time slots in which FeliCa cards answer to Polling (JIS X 6319-4; iOS 13).
public enum NFCFeliCaPollingTimeSlot: Int, Sendable {
  /// One slot.
  case max1 = 0
  /// Two slots.
  case max2 = 1
  /// Four slots.
  case max4 = 3
  /// Eight slots.
  case max8 = 7
  /// Sixteen slots.
  case max16 = 15
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The encryption of a FeliCa system, in the answer to Request Service v2 (iOS 13).
public enum NFCFeliCaEncryptionId: Int, Sendable {
  /// AES.
  case AES = 0x4F
  /// AES and DES.
  case AES_DES = 0x41
}
