// Whoever starts processes also needs folders for them.
@_exported public import TestSupport
