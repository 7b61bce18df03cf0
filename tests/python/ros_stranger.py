"""Run as another host: looks for a world at an address and tries to hear and to drive it. Arguments: its own address,
that of the world, domain, seconds. Prints how many messages came and whether the robot moved."""

import sys
import time

from cyclonedds.domain import Domain

own, other, domain, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
domain_entity = Domain(
    domain,
    f'<CycloneDDS><Domain><General><Interfaces><NetworkInterface address="{own}"/></Interfaces></General><Discovery>'
    f'<ParticipantIndex>auto</ParticipantIndex><Peers><Peer address="{other}"/></Peers></Discovery></Domain>'
    "</CycloneDDS>",
)

import ros_peer as ros  # noqa: E402 (Cyclone takes the first configuration of a domain)

peer = ros.Peer(domain)
peer.listen("/r1/odom", ros.Odometry)
drive = peer.driver("/r1/cmd_vel")
odometry = peer.heard["/r1/odom"]
moved = False
until = time.monotonic() + seconds
while time.monotonic() < until and not moved:
    drive(0.3, 0)
    time.sleep(0.02)
    peer.take()
    moved = any(message.twist.twist.linear.x > 0.25 for message in odometry)
print(len(odometry), moved)
