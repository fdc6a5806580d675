//! An answer that comes line by line.

use artel_model::limit::CLIENT_ANSWER_BYTES_MAX;
use reqwest::Response;
use serde::de::DeserializeOwned;

use super::caller::Client;
use super::error::ClientError;

/// An answer that comes line by line, each a document of its own.
pub struct Lines {
    client: Client,
    response: Response,
    waiting: Vec<u8>,
}

impl Lines {
    pub(crate) fn of(client: Client, response: Response) -> Self {
        Self { client, response, waiting: Vec::new() }
    }

    /// Waits for the next line; nothing at the end.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, ClientError> {
        loop {
            if let Some(end) = self.waiting.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.waiting.drain(..=end).collect();
                return self.read(&line).map(Some);
            }
            let piece = self.response.chunk().await.map_err(|source| self.client.unreachable(source))?;
            let Some(piece) = piece else {
                let rest = std::mem::take(&mut self.waiting);
                return if rest.is_empty() { Ok(None) } else { self.read(&rest).map(Some) };
            };
            if self.waiting.len() + piece.len() > CLIENT_ANSWER_BYTES_MAX {
                return Err(self.client.too_large(CLIENT_ANSWER_BYTES_MAX));
            }
            self.waiting.extend_from_slice(&piece);
        }
    }

    fn read<T: DeserializeOwned>(&self, line: &[u8]) -> Result<T, ClientError> {
        let status = self.response.status().as_u16();
        serde_json::from_slice(line).map_err(|error| self.client.garbled(status, &error.to_string()))
    }
}
