//! Agents with real processes.

mod calls;
mod command;
mod command_remote;
mod command_sandbox;
mod command_stage;
mod command_work;
mod lifecycle;
mod llm;
mod llm_limits;
mod llm_scene;
mod metrics;
mod model_server;
mod post;
mod post_dead;
mod post_house;
mod post_killed;
mod post_load;
mod post_redis;
mod post_sqlite;
mod post_topics;
mod post_waits;
#[path = "../../../artel-bus/tests/it/server.rs"]
#[expect(dead_code, reason = "the tests of the bus need more of it")]
mod redis_server;
mod spawning;
mod terminating;
mod trees;
mod viewers;
mod workplace;
