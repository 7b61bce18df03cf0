// Decoding of JPEG with libjpeg.
#include <cstdio>
// jpeglib.h needs size_t and FILE
#include <jpeglib.h>
// jerror.h asks for the version in jpeglib.h
#include <jerror.h>

#include <csetjmp>
#include <exception>

#include "assets/read_image.h"

namespace mvsim {
namespace {

// Limits of the decoder's work: each scan goes over all pixels. A photograph has some 10 scans.
constexpr int kMaxScans = 100;
constexpr double kMaxScannedPixels = 4e8;  // some 2 s

// Objects with destructors, outside of the functions that call libjpeg: it leaves these by longjmp().
struct JpegDecoder {
  JpegDecoder(std::string_view content, const LoadGuard& load) : bytes(content), guard(load) {}
  ~JpegDecoder() { jpeg_destroy_decompress(&jpeg); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::string_view bytes;
  const LoadGuard& guard;
  std::exception_ptr thrown;  // by the guard, within libjpeg
  std::jmp_buf leave{};
  char message[JMSG_LENGTH_MAX] = "out of memory";
};

[[noreturn]] void on_jpeg_error(j_common_ptr jpeg) {
  auto* decoder = static_cast<JpegDecoder*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, decoder->message);
  std::longjmp(decoder->leave, 1);
}

// libjpeg fills what is missing with grey and goes on, for millions of pixels if the header says so; other
// warnings are of small damage.
void on_message(j_common_ptr jpeg, int level) {
  const int code = jpeg->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) on_jpeg_error(jpeg);
}
void on_output(j_common_ptr) {}

// No exception passes through libjpeg.
bool is_stopped(JpegDecoder& decoder) {
  try {
    decoder.guard.poll();
    return false;
  } catch (...) {
    decoder.thrown = std::current_exception();
    return true;
  }
}

void on_progress(j_common_ptr jpeg) {
  auto* decoder = static_cast<JpegDecoder*>(jpeg->client_data);
  const jpeg_decompress_struct& j = decoder->jpeg;
  const double pixels = double{1} * j.image_width * j.image_height;
  if (j.input_scan_number > kMaxScans)
    std::snprintf(decoder->message, sizeof decoder->message, "it has more than %d scans", kMaxScans);
  else if (j.input_scan_number > 1 && j.input_scan_number * pixels > kMaxScannedPixels)
    std::snprintf(decoder->message, sizeof decoder->message, "its scans have more than %.0f pixels in all",
                  kMaxScannedPixels);
  else if (!is_stopped(*decoder))
    return;
  std::longjmp(decoder->leave, 1);
}

// Everything up to the pixels; false: `message` says why.
bool read_jpeg_header(JpegDecoder& d) {
  d.jpeg.err = jpeg_std_error(&d.errors);
  d.errors.error_exit = on_jpeg_error;
  d.errors.emit_message = on_message;
  d.errors.output_message = on_output;
  d.jpeg.client_data = &d;
  if (setjmp(d.leave)) return false;
  jpeg_create_decompress(&d.jpeg);
  d.progress.progress_monitor = on_progress;
  d.jpeg.progress = &d.progress;
  jpeg_mem_src(&d.jpeg, reinterpret_cast<const unsigned char*>(d.bytes.data()),
               static_cast<unsigned long>(d.bytes.size()));
  jpeg_read_header(&d.jpeg, TRUE);
  d.jpeg.out_color_space = JCS_RGB;
  d.jpeg.dct_method = JDCT_ISLOW;
  return true;
}

bool start(JpegDecoder& d) {
  if (setjmp(d.leave)) return false;
  return jpeg_start_decompress(&d.jpeg) != FALSE;
}

bool read_jpeg_row(JpegDecoder& d, uint8_t* row) {
  if (setjmp(d.leave)) return false;
  JSAMPROW rows[1] = {row};
  return jpeg_read_scanlines(&d.jpeg, rows, 1) == 1;
}

}  // namespace

ColorImage read_jpeg(std::string_view bytes, const std::string& path, const SourceLocation& where,
                     LoadGuard& guard) {
  JpegDecoder d(bytes, guard);
  const auto fail = [&] {
    if (d.thrown) std::rethrow_exception(d.thrown);
    return Error(path + ": not a readable JPEG image: " + shortened(d.message));
  };
  if (!read_jpeg_header(d)) throw fail();
  if (d.jpeg.arith_code) throw Error(path + ": JPEG image with arithmetic coding, expected Huffman coding");
  if (d.jpeg.num_components != 1 && d.jpeg.num_components != 3)
    throw Error(path + ": JPEG image of " + std::to_string(d.jpeg.num_components) +
                " channels, expected 1 or 3");
  admit_image(path, d.jpeg.image_width, d.jpeg.image_height, 4, where, guard);
  ColorImage out{static_cast<int>(d.jpeg.image_width), static_cast<int>(d.jpeg.image_height), {}};
  const size_t width = d.jpeg.image_width;
  // a progressive file keeps the coefficients of all pixels, two bytes each
  const TemporaryMemory memory(guard, 8.0 * static_cast<double>(width) * out.height, where, "the image");
  if (!start(d)) throw fail();
  out.rgba.resize(width * static_cast<size_t>(out.height) * 4);
  std::vector<uint8_t> row(width * 3);
  for (uint8_t* to = out.rgba.data(); to != out.rgba.data() + out.rgba.size();) {
    guard.poll();
    if (!read_jpeg_row(d, row.data())) throw fail();
    for (size_t x = 0; x < width; ++x, to += 4)
      to[0] = row[3 * x], to[1] = row[3 * x + 1], to[2] = row[3 * x + 2], to[3] = 255;
  }
  return out;
}

}  // namespace mvsim
