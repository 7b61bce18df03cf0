// The registry of the terms of environment files: one line each, by the name in class="..." (for <reset>: the
// tag). The line also declares the class.
#include "task/terms.h"

#include <array>

namespace mvsim {

constexpr auto kActions = std::to_array<TermClass<Action>>({
    {"twist", term<class TwistAction>},
    {"wheel_torque", term<class WheelTorqueAction>},
    {"speed_steer", term<class SpeedSteerAction>},
    {"steer_torque", term<class SteerTorqueAction>},
    {"throttle_brake", term<class ThrottleBrakeAction>},
});

constexpr auto kObservations = std::to_array<TermClass<Observation>>({
    {"scan", term<class ScanObservation>},
    {"gnss", term<class GnssObservation>},
    {"imu", term<class ImuObservation>},
    {"image", term<class ImageObservation>},
    {"depth", term<class DepthObservation>},
    {"labels", term<class LabelsObservation>},
    {"range_image", term<class RangeImageObservation>},
    {"points", term<class PointsObservation>},
    {"reading", term<class ReadingObservation>},
    {"goal", term<class GoalObservation>},
    {"goal_heading", term<class GoalHeadingObservation>},
    {"waypoint", term<class WaypointObservation>},
    {"velocity", term<class VelocityObservation>},
    {"odometry", term<class OdometryObservation>},
    {"attitude", term<class AttitudeObservation>},
    {"dock", term<class DockObservation>},
    {"hitch", term<class HitchObservation>},
    {"neighbours", term<class NeighboursObservation>},
    {"centreline", term<class CentrelineObservation>},
    {"track_error", term<class TrackErrorObservation>},
    {"opponent", term<class OpponentObservation>},
    {"steer", term<class SteerObservation>},
    {"wheels", term<class WheelsObservation>},
    {"height_scan", term<class HeightScanObservation>},
    {"row_index", term<class RowIndexObservation>},
    {"row_parity", term<class RowParityObservation>},
    {"last_action", term<class LastActionObservation>},
});

constexpr auto kRewards = std::to_array<TermClass<Reward>>({
    {"progress", term<class ProgressReward>},
    {"pose_progress", term<class PoseProgressReward>},
    {"goal", term<class GoalReward>},
    {"all_goals", term<class AllGoalsReward>},
    {"collision", term<class CollisionReward>},
    {"time", term<class TimeReward>},
    {"turn", term<class TurnReward>},
    {"action_rate", term<class ActionRateReward>},
    {"clearance", term<class ClearanceReward>},
    {"heading", term<class HeadingReward>},
    {"speed", term<class SpeedReward>},
    {"speed_error", term<class SpeedErrorReward>},
    {"sideslip", term<class SideslipReward>},
    {"wheel_slip", term<class WheelSlipReward>},
    {"failure", term<class FailureReward>},
    {"track_progress", term<class TrackProgressReward>},
    {"track_offset", term<class TrackOffsetReward>},
    {"rivals_progress", term<class RivalsProgressReward>},
    {"lap", term<class LapReward>},
    {"overtake", term<class OvertakeReward>},
    {"rear_contact", term<class RearContactReward>},
    {"steer_rate", term<class SteerRateReward>},
    {"discomfort", term<class DiscomfortReward>},
    {"row_progress", term<class RowProgressReward>},
    {"row_end", term<class RowEndReward>},
    {"row_offset", term<class RowOffsetReward>},
    {"dock_progress", term<class DockProgressReward>},
    {"docked", term<class DockedReward>},
    {"dock_error", term<class DockErrorReward>},
    {"hitch", term<class HitchReward>},
});

constexpr auto kTerminations = std::to_array<TermClass<Termination>>({
    {"goal", term<class GoalTermination>},
    {"collision", term<class CollisionTermination>},
    {"contacts", term<class ContactsTermination>},
    {"off_map", term<class OffMapTermination>},
    {"stuck", term<class StuckTermination>},
    {"tilt", term<class TiltTermination>},
    {"laps", term<class LapsTermination>},
    {"off_track", term<class OffTrackTermination>},
    {"backwards", term<class BackwardsTermination>},
    {"rows", term<class RowsTermination>},
    {"docked", term<class DockedTermination>},
    {"dock_missed", term<class DockMissedTermination>},
    {"hitch", term<class HitchTermination>},
});

constexpr auto kResets = std::to_array<TermClass<ResetTerm>>({
    {"place", term<class PlaceBlocks>},
});

std::span<const TermClass<Action>> action_classes() {
  return kActions;
}
std::span<const TermClass<Observation>> observation_classes() {
  return kObservations;
}
std::span<const TermClass<Reward>> reward_classes() {
  return kRewards;
}
std::span<const TermClass<Termination>> termination_classes() {
  return kTerminations;
}
std::span<const TermClass<ResetTerm>> reset_classes() {
  return kResets;
}

}  // namespace mvsim
