"""The same messages with autogen-core: one publisher, ten subscribers of a topic, 256 bytes; and requests with answers.

Prints one line of numbers: deliveries/s, p50 and p99 of single messages, requests/s, p50 and p99 of single requests; times
in microseconds. Everything runs in one process, on the runtime that the library has for that.
"""

import asyncio
import time
from dataclasses import dataclass

from autogen_core import (
    AgentId,
    DefaultTopicId,
    MessageContext,
    RoutedAgent,
    SingleThreadedAgentRuntime,
    TypeSubscription,
    message_handler,
)

SUBSCRIBERS = 10
PAYLOAD = "x" * 256
MESSAGES = 3_000
REQUESTS = 5_000
OPEN_REQUESTS = 64
PINGS = 1_000


@dataclass
class Event:
    text: str


@dataclass
class Question:
    text: str


@dataclass
class Answer:
    text: str


class Seen:
    """What all listeners have seen together, and when the last of them saw the latest."""

    def __init__(self) -> None:
        self.count = 0
        self.at = 0.0
        self.wanted = 0
        self.done = asyncio.Event()


class Listener(RoutedAgent):
    def __init__(self, seen: Seen) -> None:
        super().__init__("listens")
        self.seen = seen

    @message_handler
    async def on_event(self, message: Event, ctx: MessageContext) -> None:
        self.seen.count += 1
        self.seen.at = time.perf_counter()
        if self.seen.count >= self.seen.wanted:
            self.seen.done.set()


class Responder(RoutedAgent):
    def __init__(self) -> None:
        super().__init__("answers")

    @message_handler
    async def on_question(self, message: Question, ctx: MessageContext) -> Answer:
        return Answer("")


async def publish(runtime: SingleThreadedAgentRuntime, seen: Seen, messages: int) -> float:
    """Publishes, waits until everybody has seen everything, and returns the seconds that took."""
    seen.count, seen.wanted = 0, messages * SUBSCRIBERS
    seen.done.clear()
    start = time.perf_counter()
    for _ in range(messages):
        await runtime.publish_message(Event(PAYLOAD), DefaultTopicId(type="bench"))
    await seen.done.wait()
    return seen.at - start


async def ask(runtime: SingleThreadedAgentRuntime, requests: int) -> list[float]:
    took = []
    for _ in range(requests):
        start = time.perf_counter()
        await runtime.send_message(Question(PAYLOAD), AgentId("responder", "one"))
        took.append(time.perf_counter() - start)
    return took


def percentile(times: list[float], percent: int) -> float:
    return sorted(times)[(len(times) - 1) * percent // 100] * 1e6


async def main() -> None:
    runtime = SingleThreadedAgentRuntime()
    seen = Seen()
    for number in range(SUBSCRIBERS):
        name = f"listener{number}"
        await Listener.register(runtime, name, lambda: Listener(seen))
        await runtime.add_subscription(TypeSubscription("bench", name))
    await Responder.register(runtime, "responder", Responder)
    runtime.start()
    await publish(runtime, seen, 100)
    deliveries = MESSAGES * SUBSCRIBERS / await publish(runtime, seen, MESSAGES)
    single = [await publish(runtime, seen, 1) for _ in range(PINGS)]
    start = time.perf_counter()
    await asyncio.gather(*(ask(runtime, REQUESTS // OPEN_REQUESTS) for _ in range(OPEN_REQUESTS)))
    requests = REQUESTS // OPEN_REQUESTS * OPEN_REQUESTS / (time.perf_counter() - start)
    waits = await ask(runtime, PINGS)
    await runtime.stop()
    numbers = [deliveries, percentile(single, 50), percentile(single, 99)]
    numbers += [requests, percentile(waits, 50), percentile(waits, 99)]
    print("autogen-core", *(f"{number:.1f}" for number in numbers))


asyncio.run(main())
