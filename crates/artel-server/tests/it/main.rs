//! The server over real HTTP: a socket on loopback, real processes, a store in memory.

mod agents;
mod assets;
mod auth_matrix;
mod canonical;
mod chat;
mod chat_model;
mod client;
mod crowd;
mod discovery;
mod entitlement;
mod events;
mod findings;
mod hardening;
mod hardening_secrets;
mod hubs;
mod keys;
mod limits;
mod looks;
mod mcp;
mod mcp_clients;
mod mcp_hostile;
mod mcp_talker;
mod messages;
#[path = "../../../artel-agents/tests/it/model_server.rs"]
#[expect(dead_code, reason = "the tests of agents need more of it")]
mod model_server;
mod openapi;
mod operator;
mod place;
mod plans;
mod principal_calls;
mod provider;
mod readiness;
mod runs;
mod saved_skills;
mod scanning;
mod schemathesis;
mod skill_files;
mod skills;
mod skills_place;
mod skills_store;
mod standing;
mod supervisor;
mod trail;
mod two_principals;
mod watching;
