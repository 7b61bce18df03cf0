#include "worldfile/expression.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/math.h"
#include "worldfile/limits.h"

namespace mvsim {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct Operator {
  std::string_view text;
  int level;  // higher binds tighter
};

// Longer ones first where one begins like another.
constexpr Operator kOperators[] = {
    {"||", 1},  {"|", 1},  {"nor", 1}, {"xor", 1}, {"or", 1}, {"&&", 2}, {"&", 2},  {"nand", 2},
    {"and", 2}, {"<=", 3}, {"<>", 3},  {"<", 3},   {">=", 3}, {">", 3},  {"==", 3}, {"!=", 3},
    {"=", 3},   {"+", 4},  {"-", 4},   {"*", 5},   {"/", 5},  {"%", 5},
};

double apply(std::string_view op, double a, double b) {
  const bool p = a != 0, q = b != 0;
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  if (op == "%") return std::fmod(a, b);
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  if (op == "==" || op == "=") return a == b;
  if (op == "!=" || op == "<>") return a != b;
  if (op == "and" || op == "&" || op == "&&") return p && q;
  if (op == "nand") return !(p && q);
  if (op == "nor") return !(p || q);
  if (op == "xor") return p != q;
  return p || q;
}

class Evaluator {
 public:
  Evaluator(std::string_view text, const VariableText& variables, RandomStream& random)
      : text_(text), variables_(variables), random_(random) {}

  double run() {
    const double value = conditional(true);
    if (skip_blanks(); at_ < text_.size()) fail("unexpected '" + std::string(1, text_[at_]) + "'");
    if (!std::isfinite(value)) throw ExpressionError("the result is not a finite number");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ExpressionError(what + " at character " + std::to_string(at_ + 1));
  }

  // Counts how deep the calls of this parser are nested.
  class Depth {
   public:
    explicit Depth(Evaluator& e) : depth_(e.depth_) {
      if (++depth_ > 2 * kMaxExpressionDepth) {
        --depth_;
        e.fail("nested too deeply");
      }
    }
    ~Depth() { --depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    int& depth_;
  };

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }

  // In a branch that is not taken (`live` false) names are still checked, but no random number is drawn.
  double conditional(bool live) {
    const Depth depth(*this);
    const double condition = binary(1, live);
    if (!accept('?')) return condition;
    const double yes = conditional(live && condition != 0);
    expect(':');
    const double no = conditional(live && condition == 0);
    return condition != 0 ? yes : no;
  }

  const Operator* next_operator() {
    skip_blanks();
    for (const Operator& op : kOperators) {
      const std::string_view found = text_.substr(at_, op.text.size());
      if (is_letter(op.text[0])) {
        const size_t after = at_ + op.text.size();
        const bool goes_on = after < text_.size() && (is_letter(text_[after]) || is_digit(text_[after]));
        if (!goes_on && lower_case(found) == op.text) return &op;
      } else if (found == op.text) {
        return &op;
      }
    }
    return nullptr;
  }

  double binary(int level, bool live) {
    double left = unary(live);
    for (const Operator* op = next_operator(); op && op->level >= level; op = next_operator()) {
      at_ += op->text.size();
      const double right = binary(op->level + 1, live);
      left = apply(op->text, left, right);
    }
    return left;
  }

  // A sign binds looser than ^: -2^2 is -4.
  double unary(bool live) {
    const Depth depth(*this);
    if (accept('-')) return -unary(live);
    if (accept('+')) return unary(live);
    const double base = primary(live);
    if (!accept('^')) return base;
    return expression_power(base, unary(live));
  }

  double primary(bool live) {
    const char c = peek();
    if (accept('(')) {
      const double value = conditional(live);
      expect(')');
      return value;
    }
    if (is_digit(c) || c == '.') return number();
    if (is_letter(c)) return name(live);
    fail("expected a number, a name or '('");
  }

  double number() {
    double value = 0;
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc()) fail("expected a number");
    at_ = static_cast<size_t>(end - text_.data());
    if (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.'))
      fail("a number is followed by '" + std::string(1, text_[at_]) + "'");
    return value;
  }

  double name(bool live) {
    const size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    const std::string found(text_.substr(start, at_ - start));
    const std::string lower = lower_case(found);
    if (lower == "not") return unary(live) == 0;
    if (peek() == '(') return call(found, lower, live);
    return variable(found, lower);
  }

  double variable(const std::string& found, const std::string& lower) const {
    if (lower == "true") return 1;
    if (lower == "false") return 0;
    if (const std::string* text = variables_(lower)) {
      if (const auto value = leading_number(*text)) return *value;
      throw ExpressionError("the variable " + found + " is not a number: '" + shortened(*text) + "'");
    }
    if (lower == "pi" || lower == "m_pi") return kPi;
    if (lower == "m_e") return 2.71828182845904523536;
    if (lower == "inf") return std::numeric_limits<double>::infinity();
    if (lower == "epsilon") return 1e-10;
    throw ExpressionError("unknown name '" + found + "'", found);
  }

  double call(const std::string& found, const std::string& lower, bool live) {
    if (lower == "if") return if_call(live);
    const std::vector<double> x = arguments(live);
    const auto need = [&](size_t min, size_t max) {
      if (x.size() < min || x.size() > max)
        throw ExpressionError(found + "() is given " + std::to_string(x.size()) + " arguments, expected " +
                              std::to_string(min) + (max == min ? "" : " or more"));
    };
    if (lower == "rand" || lower == "randn") {
      need(0, 0);
      if (!live) return 0;
      return lower == "rand" ? random_.uniform() : random_.normal();
    }
    if (lower == "unifrnd") {
      need(2, 2);
      return live ? random_.uniform(x[0], x[1]) : 0;
    }
    if (lower == "randomize") {
      need(1, 1);
      if (!(std::fabs(x[0]) < 9e15)) throw ExpressionError("randomize() needs a whole number below 9e15");
      constexpr uint16_t kReseeded = 1;  // not the stream of the world seed of the same number
      const auto seed = static_cast<uint64_t>(static_cast<int64_t>(x[0]));
      if (live) random_ = RandomStream(seed, 0, StreamPurpose::kWorldExpression, kReseeded);
      return 0;
    }
    const ExpressionFunction* function = find_expression_function(lower);
    if (!function) throw ExpressionError("unknown function '" + found + "'", found);
    need(function->min, function->max);
    return function->value(x.data(), x.size());
  }

  std::vector<double> arguments(bool live) {
    const Depth depth(*this);
    std::vector<double> out;
    expect('(');
    if (accept(')')) return out;
    do out.push_back(conditional(live));
    while (accept(','));
    expect(')');
    return out;
  }

  double if_call(bool live) {
    const Depth depth(*this);
    expect('(');
    const double condition = conditional(live);
    expect(',');
    const double yes = conditional(live && condition != 0);
    expect(',');
    const double no = conditional(live && condition == 0);
    expect(')');
    return condition != 0 ? yes : no;
  }

  std::string_view text_;
  const VariableText& variables_;
  RandomStream& random_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

double evaluate_expression(std::string_view text, const VariableText& variables, RandomStream& random) {
  return Evaluator(text, variables, random).run();
}

std::optional<double> leading_number(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const size_t digit = text.starts_with('-') ? 1 : 0;
  if (digit >= text.size() || !(is_digit(text[digit]) || text[digit] == '.')) return std::nullopt;
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc()) return std::nullopt;
  return value;
}

std::string number_text(double value) {
  char buffer[40];
  const auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, value == 0 ? 0.0 : value);
  return status == std::errc() ? std::string(buffer, end) : std::string("0");
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace mvsim
