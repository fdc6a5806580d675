//! Reads server-sent events from pieces of text, however they are cut. Pure.

/// One event, as it was written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Message {
    pub(crate) id: Option<String>,
    pub(crate) kind: String,
    pub(crate) data: String,
}

/// Takes pieces, gives events.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    rest: Vec<u8>,
    begun: Message,
    has_data: bool,
}

impl Reader {
    /// Takes the next piece, and returns the events that are whole by then.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Vec<Message> {
        self.rest.extend_from_slice(piece);
        let mut events = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            self.line(line.trim_end_matches(['\n', '\r']), &mut events);
        }
        events
    }

    /// Returns how much is kept of an event that is not whole.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.rest.len() + self.begun.data.len()
    }

    fn line(&mut self, line: &str, events: &mut Vec<Message>) {
        if line.is_empty() {
            let message = std::mem::take(&mut self.begun);
            if std::mem::take(&mut self.has_data) {
                events.push(message);
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => self.begun.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut self.begun.kind),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.begun.data.push('\n');
                }
                self.begun.data.push_str(value);
            }
            // `retry` and comments say nothing about what happened.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "retry: 1000\n\nid: 1\nevent: log\ndata: {\"a\":1}\n\n: alive\n\nid: 2\r\nevent: end\r\ndata: x\r\ndata: y\r\n\r\n";

    #[test]
    fn events_are_whole_however_they_are_cut() {
        let expected = vec![
            Message { id: Some("1".to_owned()), kind: "log".to_owned(), data: "{\"a\":1}".to_owned() },
            Message { id: Some("2".to_owned()), kind: "end".to_owned(), data: "x\ny".to_owned() },
        ];
        for size in 1..STREAM.len() {
            let mut reader = Reader::default();
            let events: Vec<Message> =
                STREAM.as_bytes().chunks(size).flat_map(|piece| reader.take(piece)).collect();
            assert_eq!(events, expected, "in pieces of {size}");
            assert_eq!(reader.kept_bytes(), 0);
        }
    }
}
