import ReaderModels

/// What is known about the reader.
struct ReaderTraits {
  let model: ReaderModel
  /// Whether the reader takes APDUs with extended lengths.
  let takesExtendedAPDUs: Bool

  /// The model by USB vendor and product, else by name.
  init(_ properties: ReaderProperties, _ name: ReaderName) {
    var found: ReaderModel?
    if let vendor = properties.vendor, let product = properties.product {
      found = ReaderModel.find(vendor: vendor, product: product)
    }
    model = found ?? ReaderModel.find(readerName: name.text) ?? ReaderModel.generic
    takesExtendedAPDUs = properties.mostAPDUData.map { $0 > 256 } ?? false
  }
}

extension CardHandle {
  /// Asks the driver for the reader's properties. They are empty if it has none.
  func properties() throws(CardFailure) -> ReaderProperties {
    do throws(CardFailure) {
      let features = try control(ReaderProperties.featureRequest)
      guard let request = ReaderProperties.request(inFeatures: features) else { return ReaderProperties() }
      return ReaderProperties(try control(request))
    } catch {
      // Any driver may refuse these requests.
      guard case .exchange = error else { throw error }
      return ReaderProperties()
    }
  }
}
