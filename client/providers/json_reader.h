// JSON that is read while it arrives.
#ifndef OPENSANDBOX_CLIENT_PROVIDERS_JSON_READER_H_
#define OPENSANDBOX_CLIENT_PROVIDERS_JSON_READER_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace opensandbox::internal {

// What a JsonReader tells, in the order of the text.
class JsonHandler {
 public:
  virtual ~JsonHandler() = default;
  virtual void BeginObject() = 0;
  virtual void EndObject() = 0;
  virtual void BeginArray() = 0;
  virtual void EndArray() = 0;
  virtual void BeginString(bool is_key) = 0;
  // Decoded, well-formed UTF-8; a string comes in any number of pieces, none of which splits a character.
  virtual void StringPiece(std::string_view text) = 0;
  virtual void EndString() = 0;
  // A number, true, false or null, as it was written.
  virtual void Scalar(std::string_view token) = 0;
};

// Reads one JSON object, piece by piece, in memory that does not grow with the text: the decoded text of a string goes
// to the handler as it comes. Looks at each byte a fixed number of times. Also takes NaN, Infinity and -Infinity, as
// Python's json does. Bytes that are no UTF-8, and lone surrogates, become U+FFFD. Nesting deeper than kDepthMax and
// numbers longer than kTokenBytesMax make the text bad; nothing throws.
class JsonReader {
 public:
  enum class Status { kMore, kDone, kBad };
  static constexpr std::size_t kDepthMax = 256;
  static constexpr std::size_t kTokenBytesMax = 1024;

  // `handler` must outlive the reader.
  explicit JsonReader(JsonHandler* handler) : handler_(*handler) {}

  void Reset();
  // Takes bytes up to the end of the object or the first wrong byte, which is not taken. Returns how many it took.
  std::size_t Feed(std::string_view bytes);
  Status status() const { return status_; }
  // Some text was replaced by U+FFFD since the last Reset().
  bool had_replacements() const { return had_replacements_; }

 private:
  enum class State {
    kTop,            // before the object
    kFirstKeyOrEnd,  // after {
    kKey,            // after a comma in an object
    kColon,
    kFirstItemOrEnd,  // after [
    kValue,
    kCommaOrEnd,
    kString,
    kEscape,  // after a backslash
    kHex,     // in \uXXXX
    kToken,   // in a number or word
  };

  const char* ReadString(const char* p, const char* end);
  const char* ReadToken(const char* p, const char* end);
  void ReadStructure(char c);
  void ReadEscape(char c);
  void ReadHex(char c);
  void BeginValue(char c);
  void Open(bool object);
  void Close(bool object);
  void AfterValue();
  void EndToken();
  void Replace();
  void FlushSurrogate();
  void Bad() { status_ = Status::kBad; }

  JsonHandler& handler_;
  Status status_ = Status::kMore;
  State state_ = State::kTop;
  std::bitset<kDepthMax> is_object_;  // by depth
  std::size_t depth_ = 0;
  bool string_is_key_ = false;
  bool had_replacements_ = false;
  std::string cut_;  // the first bytes of a character whose rest has not come yet
  std::string token_;
  int hex_digits_ = 0;
  std::uint32_t hex_ = 0;
  std::uint32_t high_surrogate_ = 0;  // 0: none
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_PROVIDERS_JSON_READER_H_
