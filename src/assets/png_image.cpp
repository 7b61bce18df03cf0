#include "assets/read_image.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

namespace mvsim {
namespace {

// Objects with destructors, outside of the functions that call libpng: it leaves these by longjmp().
struct PngDecoder {
  explicit PngDecoder(std::string_view content) : bytes(content) {}
  ~PngDecoder() { png_destroy_read_struct(&png, &info, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string_view bytes;  // not read yet
  char message[160] = "out of memory";

  png_uint_32 width = 0, height = 0;
  int depth = 0, channels = 0, passes = 1;
};

[[noreturn]] void on_png_error(png_structp png, png_const_charp text) {
  auto* decoder = static_cast<PngDecoder*>(png_get_error_ptr(png));
  std::strncpy(decoder->message, text, sizeof decoder->message - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep out, size_t count) {
  auto* decoder = static_cast<PngDecoder*>(png_get_io_ptr(png));
  if (count > decoder->bytes.size()) png_error(png, "it ends too early");
  std::memcpy(out, decoder->bytes.data(), count);
  decoder->bytes.remove_prefix(count);
}

enum class Channels { kAsStored, kRgba };  // with alpha where the image has some; with it and 8 bits each

void expand_to_rgba(PngDecoder& d) {
  png_set_expand(d.png);
  png_set_strip_16(d.png);
  png_set_gray_to_rgb(d.png);
  png_set_add_alpha(d.png, 255, PNG_FILLER_AFTER);
}

void expand_as_stored(PngDecoder& d) {
  const int type = png_get_color_type(d.png, d.info);
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(d.png);
  if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(d.png);
  if (png_get_valid(d.png, d.info, PNG_INFO_tRNS)) png_set_tRNS_to_alpha(d.png);
}

// Everything up to the pixels; false: `message` says why.
bool read_png_header(PngDecoder& d, Channels channels) {
  if (setjmp(png_jmpbuf(d.png))) return false;
  png_set_read_fn(d.png, &d, on_read);
  png_set_user_limits(d.png, kMaxImageSide, kMaxImageSide);
  // Texts, profiles and the like are passed over: neither unpacked nor kept, whatever they hold.
  png_set_keep_unknown_chunks(d.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_chunk_malloc_max(d.png, 0);  // no limit, because chunks that are skipped may be long
  png_read_info(d.png, d.info);
  d.width = png_get_image_width(d.png, d.info);
  d.height = png_get_image_height(d.png, d.info);
  if (channels == Channels::kRgba)
    expand_to_rgba(d);
  else
    expand_as_stored(d);
  d.passes = png_set_interlace_handling(d.png);
  png_read_update_info(d.png, d.info);
  d.depth = png_get_bit_depth(d.png, d.info);
  d.channels = png_get_channels(d.png, d.info);
  return true;
}

bool read_png_row(PngDecoder& d, uint8_t* row) {
  if (setjmp(png_jmpbuf(d.png))) return false;
  png_read_row(d.png, row, nullptr);
  return true;
}

// Averages the colours of each pixel of a row as stored: grey or RGB, then alpha (1 channel or none). The
// layout is a template argument because a loop with a known layout is several times as fast.
template <unsigned depth, unsigned colors, unsigned alphas>
void average(const uint8_t* row, png_uint_32 width, uint16_t* out, uint8_t* transparent) {
  constexpr size_t kBytes = depth / 8;
  for (png_uint_32 x = 0; x < width; ++x) {
    unsigned sum = 0;
    for (unsigned c = 0; c < colors; ++c, row += kBytes)
      sum += depth == 16 ? static_cast<unsigned>(row[0]) << 8 | row[kBytes - 1] : row[0];
    out[x] = static_cast<uint16_t>(sum / colors);
    if constexpr (alphas > 0) {
      transparent[x] = row[0] != 255 || row[kBytes - 1] != 255;
      row += kBytes;
    }
  }
}

using Average = void (*)(const uint8_t* row, png_uint_32 width, uint16_t* out, uint8_t* transparent);
Average average_of(const PngDecoder& d) {
  static constexpr Average kOf[2][4] = {
      {average<8, 1, 0>, average<8, 1, 1>, average<8, 3, 0>, average<8, 3, 1>},
      {average<16, 1, 0>, average<16, 1, 1>, average<16, 3, 0>, average<16, 3, 1>}};
  return kOf[d.depth == 16 ? 1 : 0][d.channels - 1];
}

Error unreadable(const std::string& path, const PngDecoder& d) {
  return Error(path + ": not a readable PNG image: " + shortened(d.message));
}

// Calls use(row number, its bytes) for every finished row.
template <typename Use>
void read_rows(PngDecoder& d, const std::string& path, LoadGuard& guard, const SourceLocation& where,
               const Use& use) {
  const size_t row_bytes = static_cast<size_t>(d.width) * static_cast<size_t>(d.channels * d.depth / 8);
  // rows of an interlaced image come several times, so all of them are kept
  const size_t kept = d.passes > 1 ? row_bytes * d.height : row_bytes;
  const TemporaryMemory memory(guard, static_cast<double>(kept), where, "the image");
  std::vector<uint8_t> rows(kept);
  for (int pass = 1; pass <= d.passes; ++pass)
    for (size_t y = 0; y < d.height; ++y) {
      guard.poll();
      uint8_t* row = rows.data() + (d.passes > 1 ? y * row_bytes : 0);
      if (!read_png_row(d, row)) throw unreadable(path, d);
      if (pass == d.passes) use(y, row);
    }
}

// Opens the image up to its pixels; these have their memory counted.
void open_png(PngDecoder& d, Channels channels, const std::string& path, size_t pixel_bytes,
              const SourceLocation& where, LoadGuard& guard) {
  d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, on_png_error, on_warning);
  if (d.png) d.info = png_create_info_struct(d.png);
  if (!d.png || !d.info || !read_png_header(d, channels)) throw unreadable(path, d);
  admit_image(path, d.width, d.height, pixel_bytes, where, guard);
}

}  // namespace

bool is_png(std::string_view bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1a\n");
}

GrayLevels read_png(std::string_view bytes, const std::string& path, const SourceLocation& where,
                    LoadGuard& guard) {
  PngDecoder d(bytes);
  open_png(d, Channels::kAsStored, path, sizeof(uint16_t), where, guard);
  GrayLevels out{static_cast<int>(d.width), static_cast<int>(d.height), d.depth == 16 ? 65535 : 255, {}, {}};
  const size_t pixels = static_cast<size_t>(d.width) * d.height;
  const bool has_alpha = d.channels % 2 == 0;
  if (has_alpha) guard.take(static_cast<double>(pixels), where, "the transparency of the image");
  out.data.resize(pixels);
  out.transparent.resize(has_alpha ? pixels : 0);
  const Average average = average_of(d);
  read_rows(d, path, guard, where, [&](size_t y, const uint8_t* row) {
    const size_t first = y * d.width;
    average(row, d.width, out.data.data() + first, has_alpha ? out.transparent.data() + first : nullptr);
  });
  if (has_alpha && std::find(out.transparent.begin(), out.transparent.end(), 1) == out.transparent.end()) {
    out.transparent = {};
    guard.give_back(static_cast<double>(pixels));
  }
  return out;
}

ColorImage read_color_png(std::string_view bytes, const std::string& path, const SourceLocation& where,
                          LoadGuard& guard) {
  PngDecoder d(bytes);
  open_png(d, Channels::kRgba, path, 4, where, guard);
  ColorImage out{static_cast<int>(d.width), static_cast<int>(d.height), {}};
  const size_t row_bytes = static_cast<size_t>(d.width) * 4;
  out.rgba.resize(row_bytes * d.height);
  read_rows(d, path, guard, where, [&](size_t y, const uint8_t* row) {
    std::memcpy(out.rgba.data() + y * row_bytes, row, row_bytes);
  });
  return out;
}

}  // namespace mvsim
