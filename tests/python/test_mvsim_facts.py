"""Facts that users of MVSim's tools and network rely on: for each fact the test that sees it, or the words of the page
on what differs. Here it is only seen that these tests and words are there."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

PYTHON, CPP = ROOT / "tests" / "python", ROOT / "tests" / "cpp"
PAGE = "docs/coming-from-mvsim.md"

TOOLS = {
    "--version prints a line, exit code 0": "test_film.py::test_version",
    "no command, an unknown one: an error": "test_cli.py::test_usage",
    "their exit code; launch without a file": f"{PAGE}: as argparse has it",
    "launch with a missing file: exit code 1": "test_launch.py::test_what_is_wrong",
    "--headless has readings of cameras and 3D lidars": "test_launch.py::test_cameras_and_3d_lidars_need_no_window",
    "--realtime-factor": "test_launch.py::test_time_passes_as_asked",
    "a stall is caught up": "test_launch.py::test_the_clock_catches_up_a_second",
    "without limit": f"{PAGE}: lag is caught up without limit",
    "key 2 is the second vehicle by name": "test_launch.py::test_vehicles_are_counted_in_the_order_of_their_names",
    "w, a and space of a twist_pid": "test_launch.py::test_keys_of_differential_robots",
    "a of cars, steering ends at its limit": "test_launch.py::test_keys_of_cars",
    "w of a differential raw": "test_launch.py::test_keys_of_differential_robots",
    "a gamepad": "test_joystick.py::test_axes",
    "joystick_enabled": f"{PAGE}: | `joystick_enabled` |",
    "l makes 1 + N files, 13 columns of poses, comma and blank": "vehicle_log_test.cpp::FilesAndColumnsOfTheLanguage",
    "columns in the order of ASCII": f"{PAGE}: the time first",
    "l switches them": "test_launch.py::test_keys_of_a_terminal",
    "c and n begin new files": "test_launch.py::test_keys_of_a_terminal",
    "their names": f"{PAGE}: `session_2-`",
    "auto_start_recording": "vehicle_log_test.cpp::PausesAndLeavesOutWhomTheWorldLeavesOut",
    "save_to_rawlog": f"{PAGE}: | rawlog files |",
    "ground truth: a file a vehicle, 8 numbers a row, 50 rows a second": "test_launch.py::test_outputs",
    "save_ground_truth_trajectory": f"{PAGE}: only `--outputs DIR` writes",
    "topic hz": "test_comms_cli.py::test_topic_hz",
    "topic list --details": "test_comms_cli.py::test_topic_list",
    "the PID tuner prints gains, max_torque is 0.64 m g R": "test_tune.py::test_gains_are_those_of_mvsims_definitions",
    "KP a does not depend on a": "test_tune.py::test_aggressiveness",
    "what cannot be tuned: exit code 1": "test_tune.py::test_what_cannot_be_tuned",
    "ROS: names of one vehicle": "test_ros.py::test_a_single_vehicle_has_no_prefix",
    "ROS: names of two": "test_ros.py::test_names_types_and_hashes_are_those_of_ros",
    "ROS: silence of cmd_vel stops": "test_ros.py::test_twists_drive_and_silence_stops",
    "ROS: collision": "test_ros.py::test_a_collision_is_told_once",
    "ROS: rays that hit nothing are range_max": "test_ros.py::test_readings_are_those_of_the_api",
    "ROS: depth images": "test_ros_listeners.py::test_pictures_are_made_for_those_who_look",
    "ROS: use_sim_time": f"{PAGE}: `use_sim_time` is refused",
    "ROS: simul_map for who comes late": "test_ros_listeners.py::test_maps_are_those_of_the_file",
    "ROS: publish_log_topics": "test_ros_more.py::test_columns_of_logs_are_topics",
    "ROS: without localization": "test_ros.py::test_options_change_names",
    "ROS: base_footprint on tf_static": "test_ros_listeners.py::test_who_comes_late_gets_what_was_latched",
    "ROS: the map is told 50 ms ahead": "test_ros_more.py::test_an_identity_from_map_to_odom_is_told_ahead",
    "ESC ends launch": "test_launch.py::test_keys_of_a_terminal",
    "Ctrl-C ends launch": "test_launch.py::test_signals_end_it_in_good_order",
    "the service shutdown ends launch": "test_comms_cli.py::test_the_service_shutdown_ends_launch",
    "End in the view ends launch": "test_view_commands.py::test_keys_of_a_browser_drive",
    "the window": f"{PAGE}: in place of a window",
    "-v, --full-profiler": f"{PAGE}: `--full-profiler`",
}

COMMS = {
    "port 23700": "test_comms_hub.py::test_a_hub_listens_on_port_23700_of_the_loopback_address",
    "a frame begins with the length of its type": "test_comms_wire.py::test_a_frame_begins_with_the_length_of_its_type",
    "an empty request has 35 bytes": "test_comms_wire.py::test_an_empty_request_is_35_bytes",
    "a name in use": "test_comms_hub.py::test_a_name_in_use_is_taken_over",
    "the node World": "test_comms_world.py::test_the_world_is_a_node",
    "connect waits for the hub": "test_comms_client.py::test_a_client_waits_for_the_hub",
    "subscribing before there is a publisher": "test_comms_client.py::test_subscribe_before_anybody_publishes",
    "a topic with another type": "test_comms_hub.py::test_another_type_is_refused_with_both_names",
    "an unknown service is named": "test_comms_client.py::test_services",
    "one look-up of two calls": "test_comms_client.py::test_a_second_call_asks_the_hub_no_more",
    "a world without <publish>": f"{PAGE}: a world without it has none",
    "publish_pose_topic": "test_comms_publish.py::test_topics_are_called_as_publish_tags_say",
    "relativeToObjectId is absent": "test_comms_topics.py::test_poses_are_in_the_frame_of_the_world",
    "poses come by the wall": "test_comms_topics.py::test_poses_come_by_the_clock_of_the_wall",
    "a laser has two topics, named after the vehicle": "test_comms_topics.py::test_a_lidar_has_two_topics",
    "rays that hit nothing": "test_comms_topics.py::test_rays_that_hit_nothing_have_the_largest_range",
    "set_pose, then get_pose; objectGlobalPose": "test_comms_world.py::test_set_pose_and_get_pose",
    "relativeIncrement": "test_comms_world.py::test_an_increment_is_in_the_frame_of_the_body",
    "set_pose of nobody": "test_comms_world.py::test_poses_that_cannot_be_set",
    "a twist is of the body, and stays": "test_comms_world.py::test_a_twist_is_in_the_frame_of_the_body_and_stays",
    "blocks and raw controllers take no twist": "test_comms_world.py::test_who_takes_no_twist",
    "shutdown": "test_comms_cli.py::test_the_service_shutdown_ends_launch",
    "numbers of fields": "test_comms_wire.py::test_every_field_has_its_number",
    "SrvSetPoseAnswer has no field 3": "test_comms_wire.py::test_set_pose_answer_has_no_field_3",
    "callService and subscribeTopic of Python": "test_comms_world.py::test_a_name_of_mvsims_python_users",
    "publishing another type": "test_comms_client.py::test_wrong_types_and_topics",
    "relative poses that are half asked for": (
        "test_comms_publish.py::test_relative_poses_that_are_half_asked_for"
    ),
}


@pytest.mark.parametrize(("fact", "where"), [*TOOLS.items(), *COMMS.items()])
def test_a_fact_is_tested_or_told(fact: str, where: str) -> None:
    if where.startswith("docs/"):
        page, _, words = where.partition(": ")
        assert words in (ROOT / page).read_text(), fact
        return
    file, _, name = where.partition("::")
    if file.endswith(".cpp"):
        (path,) = CPP.rglob(file)
        assert re.search(rf"^TEST\(\w+, {name}\)", path.read_text(), re.M), fact
    else:
        assert f"\ndef {name}(" in (PYTHON / file).read_text(), fact
