//! Which model is asked, where, and with which key. Knows nothing of where that is configured.

use std::fmt;

use reqwest::Url;

/// Milliseconds that planning with a model may take, when nothing else is configured.
const DEADLINE_MS_DEFAULT: u64 = 5000;
/// Tokens that a reply may have, where the protocol wants a number.
const OUTPUT_TOKENS_DEFAULT: u32 = 4096;

/// How to reach a model.
#[derive(Clone, Debug)]
pub struct LlmConfig {
    /// How it is spoken to.
    pub protocol: LlmProtocol,
    /// Where it is: `https://api.openai.com/v1`, `http://localhost:11434/v1`, `https://api.anthropic.com`.
    pub base_url: String,
    /// Its name, where nothing else is asked for.
    pub model: String,
    /// The key of the endpoint, if it wants one.
    pub api_key: Option<ApiKey>,
    /// Milliseconds that one plan may take, corrections included; agents have times of their own.
    pub deadline_ms: u64,
    /// Tokens that a reply may have, where the protocol wants a number.
    pub output_tokens_max: u32,
    /// The proxy to go through.
    pub proxy: Option<String>,
    /// Hosts that are reached without it, with commas between them, as `NO_PROXY` lists them.
    pub no_proxy: Option<String>,
}

/// The protocols of endpoints.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LlmProtocol {
    /// `POST {base}/chat/completions`: OpenAI, Ollama, llama.cpp, vLLM and others.
    OpenAi,
    /// `POST {base}/v1/messages`: Anthropic.
    Anthropic,
}

/// A key that is never shown.
#[derive(Clone, Eq, PartialEq)]
pub struct ApiKey(String);

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LlmConfigError {
    /// The address is none.
    #[error("the model's endpoint is not an address: {why}")]
    Address {
        /// What is wrong with it.
        why: String,
    },
    /// The address holds a name or a password, which would be shown with it.
    #[error("the model's endpoint must not hold a name or a password; configure the key by itself")]
    Credentials,
    /// The key holds something that cannot be sent.
    #[error("the model's key holds characters that cannot be sent, such as the end of a line")]
    Key,
    /// The model has no name.
    #[error("the model is not named")]
    Model,
    /// The client cannot be made: a proxy that is no address, or a machine without certificates.
    #[error("cannot prepare connections to the model's endpoint")]
    Client(#[source] reqwest::Error),
    /// The machine's cryptography cannot be used.
    #[error("cannot prepare encryption: {why}")]
    Encryption {
        /// What the library says.
        why: String,
    },
}

impl LlmConfig {
    /// Returns the usual configuration for a protocol and a model.
    pub fn new(protocol: LlmProtocol, model: impl Into<String>) -> Self {
        Self {
            protocol,
            base_url: protocol.base_url_default().to_owned(),
            model: model.into(),
            api_key: None,
            deadline_ms: DEADLINE_MS_DEFAULT,
            output_tokens_max: OUTPUT_TOKENS_DEFAULT,
            proxy: None,
            no_proxy: None,
        }
    }

    /// Returns the address that requests are sent to.
    pub(super) fn endpoint(&self) -> Result<Url, LlmConfigError> {
        let address = |why: String| LlmConfigError::Address { why };
        let text = format!("{}{}", self.base_url.trim().trim_end_matches('/'), self.protocol.path());
        let url = Url::parse(&text).map_err(|error| address(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(address(format!("it begins with `{}:`, not with `https:` or `http:`", url.scheme())));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(LlmConfigError::Credentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(address("it holds `?` or `#`".to_owned()));
        }
        Ok(url)
    }
}

impl LlmProtocol {
    /// Returns where the protocol's own endpoint is.
    pub fn base_url_default(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/chat/completions",
            Self::Anthropic => "/v1/messages",
        }
    }
}

impl ApiKey {
    /// Makes a key of a text; spaces around it are not part of it.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns a text without the key.
    pub(super) fn hide_in(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "***") }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(protocol: LlmProtocol, base: &str, expected: &str) {
        let config = LlmConfig { base_url: base.to_owned(), ..LlmConfig::new(protocol, "m") };
        let endpoint = config.endpoint();
        assert_eq!(endpoint.map_or_else(|error| error.to_string(), String::from), expected);
    }

    #[test]
    fn endpoints_are_addresses_without_secrets() {
        check(
            LlmProtocol::OpenAi,
            "http://localhost:11434/v1/",
            "http://localhost:11434/v1/chat/completions",
        );
        check(LlmProtocol::Anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1/messages");
        let none = "the model's endpoint is not an address: relative URL without a base";
        check(LlmProtocol::OpenAi, "localhost", none);
        let file =
            "the model's endpoint is not an address: it begins with `file:`, not with `https:` or `http:`";
        check(LlmProtocol::OpenAi, "file:///etc", file);
        let secret = "the model's endpoint must not hold a name or a password; configure the key by itself";
        check(LlmProtocol::OpenAi, "https://me:secret@host/v1", secret);
        check(
            LlmProtocol::OpenAi,
            "https://host/v1?key=x",
            "the model's endpoint is not an address: it holds `?` or `#`",
        );
    }

    #[test]
    fn keys_are_not_shown() {
        let config = LlmConfig {
            api_key: Some(ApiKey::new(" sk-secret\n")),
            ..LlmConfig::new(LlmProtocol::OpenAi, "m")
        };
        assert!(!format!("{config:?}").contains("secret"));
        assert_eq!(ApiKey::new("sk-secret").hide_in("bad key sk-secret!"), "bad key ***!");
        assert_eq!(ApiKey::new("").hide_in("as it is"), "as it is");
    }
}
