//! API keys. A key cannot manage keys: whoever got hold of one could otherwise never be locked out.

use artel_api::keys::{Key, KeyRequest, KeysQuery, MadeKey};
use artel_api::{Answer, Body, Endpoint, Method, Needs, Paged, Payload, shape};
use artel_app::App;
use artel_app::operations::KeyOperations;
use artel_model::access::Scope;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::auth::ClientAddress;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, Named, QueryOf};
use crate::route::Route;

const MADE: &[Answer] = &[
    Answer {
        status: 201,
        meaning: "The key, which is shown this once.",
        payloads: &[Payload::Json(shape::<MadeKey>)],
    },
    Answer { status: 409, meaning: "The owner has too many keys.", payloads: &[] },
];
const LISTED: &[Answer] =
    &[Answer { status: 200, meaning: "Keys.", payloads: &[Payload::Json(shape::<Paged<Key>>)] }];
const REVOKED: &[Answer] = &[
    Answer { status: 204, meaning: "It is revoked.", payloads: &[] },
    Answer { status: 404, meaning: "There is no such key of yours.", payloads: &[] },
];

pub(super) fn routes() -> Vec<Route> {
    let list = Endpoint {
        method: Method::Get,
        path: "/api/catalog-api-keys",
        id: "listKeys",
        group: "keys",
        summary: "Lists API keys, the last made first, without their secrets.",
        needs: Needs::Person(Scope::CatalogRead),
        query: Some(shape::<KeysQuery>),
        headers: &[],
        body: Body::None,
        answers: LISTED,
    };
    let make = Endpoint {
        method: Method::Post,
        id: "makeKey",
        summary: "Makes an API key; its secret is shown once.",
        query: None,
        body: Body::Required(&[Payload::Json(shape::<KeyRequest>)]),
        answers: MADE,
        ..list
    };
    let revoke = Endpoint {
        method: Method::Delete,
        path: "/api/catalog-api-keys/{key_id}",
        id: "revokeKey",
        summary: "Revokes an API key; it is refused from then on.",
        query: None,
        answers: REVOKED,
        ..list
    };
    vec![Route::new(list, list_keys), Route::new(make, make_key), Route::new(revoke, revoke_key)]
}

async fn make_key(
    State(app): State<App>,
    Caller(caller): Caller,
    ClientAddress(from): ClientAddress,
    JsonBody(wish): JsonBody<KeyRequest>,
) -> Result<(StatusCode, Json<MadeKey>), ApiError> {
    let made = KeyOperations::of(&app).make(&caller, Some(from), wish).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

async fn list_keys(
    State(app): State<App>,
    Caller(caller): Caller,
    QueryOf(query): QueryOf<KeysQuery>,
) -> Result<Json<Paged<Key>>, ApiError> {
    Ok(Json(KeyOperations::of(&app).list(&caller, query).await?))
}

async fn revoke_key(
    State(app): State<App>,
    Caller(caller): Caller,
    ClientAddress(from): ClientAddress,
    Named(key_id): Named<String>,
) -> Result<StatusCode, ApiError> {
    KeyOperations::of(&app).revoke(&caller, Some(from), &key_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
