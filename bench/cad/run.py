"""Measures artel-cad from outside, as an environment's user sees it: requests on stdin, answers on stdout.

    python3 bench/cad/run.py target/release/artel-cad [CACHE]

CACHE is the folder of the compiled kernel (as `artel-cad warmup --cache` takes it). Needs nothing but Python; prints one table.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time


class Cad:
    """A running `artel-cad serve`."""

    def __init__(self, program, cache, folder):
        command = [program, "serve", "--data", folder] + (["--cache", cache] if cache else [])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next_id = 0

    def call(self, method, **params):
        self.next_id += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return answer["result"]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def quantile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] * 1000


def show(name, times):
    print(f"| {name} | {quantile(times, 0.5):.2f} | {quantile(times, 0.99):.2f} | {max(times) * 1000:.1f} |", flush=True)


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(name, count, work):
    show(name, [timed(lambda: work(index)) for index in range(count)])


def one_by_one(program, cache):
    """Each operation alone."""
    with tempfile.TemporaryDirectory() as folder:
        cad = Cad(program, cache, folder)
        cad.call("solid.primitive", kind="box", size=[100, 80, 20], entity_id="plate")
        square = [[0, 0], [40, 0], [40, 10], [10, 10], [10, 30], [0, 30]]
        cad.call("entity.create_polyline", points=square, closed=True, entity_id="outline")
        measure("create a point", 300, lambda i: cad.call("entity.create_point", x=i, y=0))
        measure("create a line", 300, lambda i: cad.call("entity.create_line", start=[0, 0], end=[i + 1, 1]))
        measure("query an entity", 300, lambda i: cad.call("entity.query", entity_id="plate"))
        measure("a box", 100, lambda i: cad.call("solid.primitive", kind="box", size=[10, 10, 10], entity_id=f"b{i}"))
        measure("extrude an outline", 100, lambda i: cad.call("solid.extrude", profile_id="outline", distance=5))

        def drill(index):
            x, y = 5 + 9 * (index % 10), 5 + 7 * (index // 10)
            cad.call("solid.primitive", kind="cylinder", radius=2, height=30, position=[x, y, -5], entity_id="tool")
            start = time.perf_counter()
            cad.call("solid.boolean", operation="subtract", target_id="plate", tool_ids=["tool"])
            drills.append(time.perf_counter() - start)

        drills = []
        for index in range(60):
            drill(index)
        show("subtract a cylinder from a plate with 0 to 59 holes (verified)", drills)
        measure("fillet four edges", 60, lambda i: cad.call("solid.fillet", solid_id=f"b{i}", radius=1, edges_along=[0, 0, 1]))
        measure("export the plate as STEP", 20, lambda i: cad.call("file.export", format="step", entity_ids=["plate"]))
        measure("a picture of the plate, 1200 x 900", 5, lambda i: cad.call("file.export", format="png", entity_ids=["plate"]))
        memory(cad)
        cad.end()


def memory(cad):
    def resident(pid):
        with open(f"/proc/{pid}/status", encoding="utf8") as status:
            return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) / 1024

    pid = cad.process.pid
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf8") as children:
        kernel = sum(resident(int(child)) for child in children.read().split())
    print(f"| memory: the process, its kernel | {resident(pid):.0f} MiB | {kernel:.0f} MiB | |", flush=True)


def together(program, cache, processes, count):
    """Simple operations of many processes on one folder."""
    with tempfile.TemporaryDirectory() as folder:
        times = []

        def work(number):
            cad = Cad(program, cache, folder)
            cad.call("workspace.create", workspace_id=f"w{number}")
            cad.call("solid.primitive", kind="box", size=[1, 1, 1], workspace_id=f"w{number}", entity_id="first")
            ready.wait()
            own = []
            for index in range(count):
                place = {"workspace_id": f"w{number}"}
                calls = [
                    lambda: cad.call("entity.create_point", x=index, y=number, **place),
                    lambda: cad.call("entity.create_line", start=[0, 0], end=[index + 1, 1], **place),
                    lambda: cad.call("entity.query", entity_id="first", **place),
                    lambda: cad.call("solid.primitive", kind="box", size=[1, 1, 1], **place),
                ]
                own.append(timed(calls[index % 4]))
            times.extend(own)
            cad.end()

        ready = threading.Barrier(processes)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(processes)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rate = len(times) / (time.perf_counter() - start)
        show(f"point, line, query, box in turn, {processes} processes ({rate:.0f}/s with their start)", times)


def merges(program, cache):
    for count in [100, 1000, 10000]:
        with tempfile.TemporaryDirectory() as folder:
            cad = Cad(program, cache, folder)
            cad.call("workspace.create", workspace_id="a")
            for index in range(count):
                cad.call("entity.create_point", x=index, y=0, workspace_id="a")
            taken = timed(lambda: cad.call("workspace.merge", source_workspace_id="a", target_workspace_id="main"))
            again = timed(lambda: cad.call("workspace.merge", source_workspace_id="a", target_workspace_id="main"))
            show(f"merge {count} entities; the second time {again * 1000:.1f} ms", [taken])
            cad.end()


def starts(program, cache):
    with tempfile.TemporaryDirectory() as folder:

        def first_answer():
            cad = Cad(program, cache, folder)
            cad.call("workspace.list")
            times.append(time.perf_counter() - start)
            cad.call("solid.primitive", kind="box", size=[1, 1, 1])
            solids.append(time.perf_counter() - start)
            cad.end()

        times, solids = [], []
        for _ in range(20):
            start = time.perf_counter()
            first_answer()
        show("start until the first answer (kernel compiled)", times)
        show("start until the first solid", solids)


def main():
    program = os.path.abspath(sys.argv[1])
    cache = sys.argv[2] if len(sys.argv) > 2 else None
    print("| work | p50 ms | p99 ms | max ms |\n|---|---|---|---|")
    starts(program, cache)
    one_by_one(program, cache)
    together(program, cache, 10, 100)
    together(program, cache, 50, 20)
    merges(program, cache)


if __name__ == "__main__":
    main()
