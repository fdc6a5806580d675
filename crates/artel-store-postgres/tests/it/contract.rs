//! The suite that every store must pass.

use crate::server::empty_store;

artel_store::contract_suite!(empty_store);
artel_store::agent_contract_suite!(empty_store);
artel_store::catalog_contract_suite!(empty_store);
