/// The absolute path of the checkout that this program was built from, for tests that read the project's own files.
package let repositoryRoot = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
