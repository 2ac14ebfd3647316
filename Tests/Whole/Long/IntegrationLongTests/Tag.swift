@testable import IntegrationTests

/// The tag that a test places. Swift Testing has another type of this name.
typealias Tag = IntegrationTests.Tag
