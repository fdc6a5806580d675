//! Ids as columns. sqlx can do it too, but with that feature it binds every crate of the workspace to the version of
//! SQLite that sqlx asks for, even if its part for SQLite is not built.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, Postgres};
use sqlx::{Encode, Type};
use uuid::Uuid;

/// The numbers of the types `uuid` and `uuid[]`, the same in every server.
const UUID: Oid = Oid(2950);
const UUID_ARRAY: Oid = Oid(2951);

/// An id as an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Id(pub(crate) Uuid);

impl Type<Postgres> for Id {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(UUID)
    }
}

impl PgHasArrayType for Id {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(UUID_ARRAY)
    }
}

impl Encode<'_, Postgres> for Id {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }
}
