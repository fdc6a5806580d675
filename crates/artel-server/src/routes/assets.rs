//! `/api/runs/{id}/assets`: files that runs made. They are somebody else's, so no browser shall show or run them.

use std::io;

use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload};
use artel_app::operations::run_asset;
use artel_app::{App, OperationError};
use artel_model::access::Scope;
use artel_model::id::RunId;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;

use super::skills::{is_known, tagged, unchanged};
use crate::error::ApiError;
use crate::extract::{Caller, Named};
use crate::precondition::quoted;
use crate::route::Route;
use crate::stream::Pieces;

/// Bytes that are read at once.
const PIECE_BYTES: usize = 64 * 1024;
/// Pieces that wait to be sent.
const PIECES_MAX: usize = 4;
/// Media types that are sent as the script said; anything else is bytes.
const PLAIN_TYPES: [&str; 12] = [
    "application/json",
    "application/pdf",
    "application/zip",
    "audio/mpeg",
    "audio/wav",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/csv",
    "text/plain",
    "video/mp4",
];
const BYTES: &str = "application/octet-stream";

pub(super) fn routes() -> Vec<Route> {
    let read = Endpoint {
        method: Method::Get,
        path: "/api/runs/{id}/assets/{*path}",
        id: "readRunAsset",
        group: "runs",
        summary: "Returns a file that a run made, named by its path, its id or its hash.",
        needs: Needs::Scope(Scope::RunsWrite),
        query: None,
        headers: &["If-None-Match"],
        body: Body::None,
        answers: &[
            Answer { status: 200, meaning: "The file.", payloads: &[Payload::Other(BYTES)] },
            Answer { status: 304, meaning: "It is what `If-None-Match` names.", payloads: &[] },
            Answer {
                status: 404,
                meaning: "There is no such file or run, or it is not yours.",
                payloads: &[],
            },
        ],
    };
    vec![Route::new(read, read_asset)]
}

async fn read_asset(
    State(app): State<App>,
    Caller(caller): Caller,
    Named((id, name)): Named<(RunId, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (asset, path) = run_asset(&app, &caller, id, &name).await?;
    let tag = quoted(&asset.hash);
    if is_known(&headers, &tag) {
        return Ok(unchanged(tag));
    }
    let opened = File::open(&path).await.map_err(|error| gone(&error))?;
    let size = opened.metadata().await.map_err(|error| gone(&error))?.len();
    let about = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type(&asset.media_type))),
        (header::CONTENT_LENGTH, HeaderValue::from(size)),
        (header::CONTENT_DISPOSITION, disposition(&asset.path)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    ];
    Ok(tagged(tag, (about, HttpBody::new(Pieces(pieces(opened)))).into_response()))
}

/// Reads a file piece by piece, as fast as it is taken. A file that cannot be read to its end is cut off, which whoever
/// reads notices by its length.
fn pieces(mut file: File) -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel(PIECES_MAX);
    tokio::spawn(async move {
        loop {
            let mut piece = vec![0; PIECE_BYTES];
            let Ok(count @ 1..) = file.read(&mut piece).await else { return };
            piece.truncate(count);
            if sender.send(piece.into()).await.is_err() {
                return;
            }
        }
    });
    receiver
}

/// What was pruned is gone; everything else is ours to look into.
fn gone(error: &io::Error) -> OperationError {
    if error.kind() == io::ErrorKind::NotFound {
        return OperationError::not_found("file");
    }
    tracing::error!(error = error as &dyn std::error::Error, "a file that a run made cannot be read");
    OperationError::unavailable("asset_unavailable", "The file cannot be read. Please try again later.")
}

fn media_type(said: &str) -> &'static str {
    PLAIN_TYPES.into_iter().find(|plain| plain.eq_ignore_ascii_case(said.trim())).unwrap_or(BYTES)
}

/// Names the file to be saved; only what is plain of its name is kept.
fn disposition(path: &str) -> HeaderValue {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = path.rsplit('/').next().unwrap_or_default().chars().filter(|c| is_plain(*c)).collect();
    let name = name.trim_start_matches('.');
    let text =
        if name.is_empty() { "attachment".to_owned() } else { format!("attachment; filename=\"{name}\"") };
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_browser_would_run_is_named() {
        assert_eq!(media_type("Image/PNG"), "image/png");
        for odd in ["text/html", "image/svg+xml", "application/javascript", "text/plain; charset=x", ""] {
            assert_eq!(media_type(odd), BYTES, "{odd}");
        }
        assert_eq!(disposition("out/a \"b\"\r\n.png"), "attachment; filename=\"ab.png\"");
        assert_eq!(disposition("../.."), "attachment");
    }
}
