// On iOS, `import CoreNFC` alone makes `Data`, `URL`, `NSObject` and `DispatchQueue` visible.
@_exported public import Dispatch
@_exported public import Foundation
