// Ends Box2D's search for the time of impact where its rounds repeat.
#pragma once

#include <box2d/b2_contact.h>
#include <array>
#include <cstdint>
#include <vector>

namespace mvsim {

// Box2D solves a step again from the moment at which a moving body touches a static one, up to nine times for
// each contact. A body that leans on a wall touches it from the start. From the second or third round on each
// round then begins where the one before began, and so it ends where that one ended. These rounds are left
// out: the result has the same bits.
class ImpactRounds {
 public:
  // Call before each step of Box2D, with the number of bodies that are not static, or with 0 for a step
  // without a search. Their user data are the numbers below it.
  void begin_step(size_t moving_bodies);
  // Call when Box2D is about to solve a contact (PreSolve). Disables a contact whose round would be a
  // repetition.
  void before_solving(b2Contact& contact);
  // Call when Box2D has solved a contact (PostSolve).
  void after_solving() { is_new_round_ = true; }

 private:
  // Where a round begins. A body's contacts with static bodies and these values determine the round.
  struct Start {
    const b2Contact* contact = nullptr;
    int contacts = 0;                  // of the world; a round may add some
    std::array<uint32_t, 7> motion{};  // bits of the moment, the body's pose and its velocity

    bool operator==(const Start&) const = default;
  };
  static Start start_of(b2Contact& contact, const b2Body& body);

  std::vector<Start> latest_;  // by moving body
  bool is_new_round_ = false;  // the next contact that is solved begins one
};

}  // namespace mvsim
