"""The same work in build123d, which a person would pick instead: one Python process, no workspaces, nothing kept on disk.

    python3 -m venv target/bench/cad-venv && target/bench/cad-venv/bin/pip install build123d==0.13.0
    target/bench/cad-venv/bin/python bench/cad/build123d_compare.py
"""

import tempfile
import time

start = time.perf_counter()
from build123d import Axis, Box, Cylinder, Face, Pos, Wire, export_step, extrude, fillet  # noqa: E402

loaded = time.perf_counter() - start


def show(name, times):
    times = sorted(times)
    pick = lambda part: times[min(len(times) - 1, int(len(times) * part))] * 1000
    print(f"| {name} | {pick(0.5):.2f} | {pick(0.99):.2f} | {times[-1] * 1000:.1f} |", flush=True)


def timed(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


print("| work | p50 ms | p99 ms | max ms |\n|---|---|---|---|")
show("start (import)", [loaded])
show("a box, with volume", [timed(lambda: Box(10, 10, 10).volume)[0] for _ in range(100)])
square = [(0, 0), (40, 0), (40, 10), (10, 10), (10, 30), (0, 30)]
show("extrude an outline, with volume", [timed(lambda: extrude(Face(Wire.make_polygon(square)), 5).volume)[0] for _ in range(100)])

plate = Box(100, 80, 20)
drills = []
for index in range(60):
    tool = Pos(-45 + 9 * (index % 10), -35 + 7 * (index // 10), 0) * Cylinder(2, 30)
    seconds, plate = timed(lambda: plate - tool)
    drills.append(seconds)
show("subtract a cylinder from a plate with 0 to 59 holes (not verified)", drills)
boxes = [Box(10, 10, 10) for _ in range(60)]
show("fillet four edges", [timed(lambda box=box: fillet(box.edges().filter_by(Axis.Z), 1))[0] for box in boxes])
with tempfile.NamedTemporaryFile(suffix=".step") as file:
    show("export the plate as STEP", [timed(lambda: export_step(plate, file.name))[0] for _ in range(20)])
