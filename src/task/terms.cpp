// The registry of the terms of environment files: one line each, by the name in class="..." (for <reset>: the
// tag). The line also declares the class. That of an observation has its inputs on a real robot.
#include "task/terms.h"

namespace mvsim {

constexpr auto kActions = std::to_array<TermClass<Action>>({
    {"twist", term<class TwistAction>},
    {"wheel_torque", term<class WheelTorqueAction>},
    {"speed_steer", term<class SpeedSteerAction>},
    {"steer_torque", term<class SteerTorqueAction>},
    {"throttle_brake", term<class ThrottleBrakeAction>},
});

constexpr auto kObservations = std::to_array<TermClass<Observation>>({
    {"scan", term<class ScanObservation>, {"sensor"}},
    {"gnss", term<class GnssObservation>, {"sensor"}},
    {"imu", term<class ImuObservation>, {"sensor"}},
    {"image", term<class ImageObservation>, {"sensor"}},
    {"depth", term<class DepthObservation>, {"sensor"}},
    {"labels", term<class LabelsObservation>, {"sensor"}},
    {"range_image", term<class RangeImageObservation>, {"sensor"}},
    {"points", term<class PointsObservation>, {"sensor"}},
    {"reading", term<class ReadingObservation>, {"sensor"}},
    {"goal", term<class GoalObservation>, {"pose goal"}},
    {"goal_heading", term<class GoalHeadingObservation>, {"pose goal"}},
    {"waypoint", term<class WaypointObservation>, {"pose goal"}},
    {"velocity", term<class VelocityObservation>, {"velocity"}},
    {"odometry", term<class OdometryObservation>, {"odometry"}},
    {"attitude", term<class AttitudeObservation>, {"attitude"}},
    {"dock", term<class DockObservation>, {"pose"}},
    {"hitch",
     term<class HitchObservation>,
     {"", "the exact angle of the hitch", "an angle sensor at the hitch"}},
    {"neighbours",
     term<class NeighboursObservation>,
     {"", "exact poses and speeds of others", "the tracks of a detector of people or robots"}},
    {"centreline", term<class CentrelineObservation>, {"pose"}},
    {"track_error", term<class TrackErrorObservation>, {"pose"}},
    {"opponent",
     term<class OpponentObservation>,
     {"", "the exact pose and speed of the other", "the track of a detector"}},
    {"steer", term<class SteerObservation>, {"steer"}},
    {"wheels",
     term<class WheelsObservation>,
     {"", "exact slip and forces of the wheels", "an estimate from wheel speeds and the speed over ground"}},
    {"height_scan",
     term<class HeightScanObservation>,
     {.inputs = "pose attitude", .reads_bodies_of_world = true}},
    {"row_error", term<class RowErrorObservation>, {.inputs = "pose", .reads_bodies_of_world = true}},
    {"row_index", term<class RowIndexObservation>, {.inputs = "pose", .reads_bodies_of_world = true}},
    {"row_parity", term<class RowParityObservation>, {.inputs = "pose", .reads_bodies_of_world = true}},
    {"last_action", term<class LastActionObservation>, {""}},
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
