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
  ///
  /// - Parameters:
  ///   - uniqueIdentifier: the UID.
  ///   - dataStorageFormatIdentifier: the data storage format identifier, DSFID.
  ///   - applicationFamilyIdentifier: the application family identifier, AFI.
  ///   - blockSize: the size of a block in bytes.
  ///   - totalBlocks: the number of blocks.
  ///   - icReference: the manufacturer's reference of the chip.
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
  ///
  /// - Parameter blockSecurityStatus: the status byte of each block.
  public init(blockSecurityStatus: [Int]) { self.blockSecurityStatus = blockSecurityStatus }
}
