import Settings
import Testing

@Suite struct ShellWordTests {
  @Test func `a word is quoted if a shell could change it`() {
    let plain = ["--a=b", "--count=2", "2", "a.example", "https://a.example/b", "a_b,c+d@e", "a="]
    #expect(plain.map(ShellWord.quoted) == plain)
    let others = ["", "~", "*", "=x", "é", "a b", "$a", "https://a.example/?b&c", "a\nb", "\\"]
    #expect(others.map(ShellWord.quoted) == others.map { "'\($0)'" })
    #expect(["'", "it's"].map(ShellWord.quoted) == [#"''\'''"#, #"'it'\''s'"#])
  }
}
