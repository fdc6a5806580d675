//! The suite that every store passes.

use crate::support::empty_store;

artel_store::contract_suite!(empty_store);
artel_store::agent_contract_suite!(empty_store);
artel_store::catalog_contract_suite!(empty_store);
