import Testing

@testable import Bus

@Suite struct ValueTests {
  @Test func `an accessor returns a value only for its own type`() {
    #expect(Value.string("a").asString == "a")
    #expect(Value.objectPath("/a").asString == nil)
    #expect(Value.objectPath("/a").asObjectPath == "/a")
    #expect(Value.uint32(1).asUInt32 == 1)
    #expect(Value.int32(1).asUInt32 == nil)
    #expect(Value.boolean(true).asBool == true)
    #expect(Value.bytes([1]).asBytes == [1])
    #expect(Value.strings(["a"]).asStrings == ["a"])
    #expect(Value.strings([]).asObjectPaths == nil)
    #expect(Value.variant(.byte(1)).asByte == nil)
    #expect(Value.variant(.byte(1)).unwrapped.asByte == 1)
  }

  @Test func `the values of a dictionary are wrapped in variants and unwrapped`() {
    let value = Value.dictionary(["b": .uint32(1), "a": .variant(.string("x"))])
    #expect(
      value
        == .dictionary(
          key: "s", value: "v",
          [
            DictionaryEntry(.string("a"), .variant(.string("x"))),
            DictionaryEntry(.string("b"), .variant(.uint32(1))),
          ]))
    #expect(value.asDictionary == ["a": .string("x"), "b": .uint32(1)])
    #expect(Value.dictionary(key: "u", value: "v", []).asDictionary == nil)
  }
}
