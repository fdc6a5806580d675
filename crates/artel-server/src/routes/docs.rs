//! A page that shows the OpenAPI document to people. It is static: everything it shows it fetches from the description.

use artel_api::{Answer, Body, Endpoint, Method, Needs, Payload};
use axum::http::header;
use axum::response::{Html, IntoResponse};

use crate::route::Route;

const PAGE: &str = include_str!("docs/page.html");
const SCRIPT: &str = include_str!("docs/page.js");
const STYLE: &str = include_str!("docs/page.css");

pub(super) fn routes() -> Vec<Route> {
    let page = Endpoint {
        method: Method::Get,
        path: "/api/docs",
        id: "docs",
        group: "server",
        summary: "A page that shows this description to people.",
        needs: Needs::Nothing,
        query: None,
        headers: &[],
        body: Body::None,
        answers: &[Answer { status: 200, meaning: "The page.", payloads: &[Payload::Other("text/html")] }],
    };
    let script = Endpoint {
        path: "/api/docs/page.js",
        id: "docsScript",
        summary: "The script of that page.",
        answers: &[Answer {
            status: 200,
            meaning: "The script.",
            payloads: &[Payload::Other("text/javascript")],
        }],
        ..page
    };
    let style = Endpoint {
        path: "/api/docs/page.css",
        id: "docsStyle",
        summary: "The style of that page.",
        answers: &[Answer { status: 200, meaning: "The style.", payloads: &[Payload::Other("text/css")] }],
        ..page
    };
    vec![
        Route::new(page, async || Html(PAGE)),
        Route::new(script, async || text("text/javascript; charset=utf-8", SCRIPT)),
        Route::new(style, async || text("text/css; charset=utf-8", STYLE)),
    ]
}

fn text(media: &'static str, body: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, media)], body)
}
