//! How slowly a client may take part: the body of a request must arrive in time, and what is written must be read.
//! Knows nothing of what is sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use artel_model::limit::BODY_DRAINED_BYTES_MAX;
use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::body_budget::BodyShare;

/// Says whether the body of a request came too slowly.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tardy(Arc<AtomicBool>);

impl Tardy {
    pub(crate) fn is_tardy(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The body came too slowly.
#[derive(Debug, thiserror::Error)]
#[error("the body took too long to arrive")]
pub(crate) struct TooSlow;

/// A body that must arrive in time, counted from when its handler begins to read it, and for which there must be room.
///
/// The piece with which it grows too large is passed on last: the rest is read and thrown away before, within a limit. A
/// connection that is closed while its client still sends is reset, and the client may never read the refusal.
pub(crate) struct TimedBody<B> {
    body: B,
    allowed: Duration,
    left: Option<Pin<Box<Sleep>>>,
    tardy: Tardy,
    share: BodyShare,
    size: Size,
}

/// How large a body is, and may be.
#[derive(Debug)]
struct Size {
    read: usize,
    max: usize,
    /// The piece that is too much.
    held: Option<Frame<Bytes>>,
}

impl Size {
    /// Takes note of a piece; returns it, unless more has to be thrown away first.
    fn pass(&mut self, frame: Frame<Bytes>) -> Option<Frame<Bytes>> {
        self.read = self.read.saturating_add(frame.data_ref().map_or(0, Bytes::len));
        if self.read <= self.max {
            return Some(frame);
        }
        let held = self.held.take().unwrap_or(frame);
        if self.read - self.max > BODY_DRAINED_BYTES_MAX {
            return Some(held);
        }
        self.held = Some(held);
        None
    }
}

impl<B> TimedBody<B> {
    pub(crate) fn new(
        body: B,
        bytes_max: usize,
        allowed: Duration,
        (tardy, share): (Tardy, BodyShare),
    ) -> Self {
        let size = Size { read: 0, max: bytes_max, held: None };
        Self { body, allowed, left: None, tardy, share, size }
    }
}

impl<B> HttpBody for TimedBody<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Into<axum::BoxError>,
{
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        while let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            let frame = match frame {
                None => return Poll::Ready(self.size.held.take().map(Ok)),
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                Some(Ok(frame)) => frame,
            };
            if let Some(frame) = self.size.pass(frame) {
                let taken = self.share.take(frame.data_ref().map_or(0, Bytes::len));
                return Poll::Ready(Some(taken.map(|()| frame).map_err(Into::into)));
            }
        }
        let allowed = self.allowed;
        ready!(self.left.get_or_insert_with(|| Box::pin(sleep(allowed))).as_mut().poll(context));
        self.tardy.0.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err(TooSlow.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.size.held.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection that is given up when the other side reads nothing for too long: answers and live streams would pile up.
pub(crate) struct ReadOrLose<T> {
    inner: T,
    allowed: Duration,
    stuck: Option<Pin<Box<Sleep>>>,
}

impl<T> ReadOrLose<T> {
    pub(crate) fn new(inner: T, allowed: Duration) -> Self {
        Self { inner, allowed, stuck: None }
    }

    fn watch<R>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.stuck = None;
            return written;
        }
        let allowed = self.allowed;
        ready!(self.stuck.get_or_insert_with(|| Box::pin(sleep(allowed))).as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answer")))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for ReadOrLose<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for ReadOrLose<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, parts);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(context);
        self.watch(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.inner).poll_shutdown(context);
        self.watch(context, closed)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const ALLOWED: Duration = Duration::from_secs(5);

    /// A body that brings what a channel holds.
    struct Pieces(tokio::sync::mpsc::Receiver<Bytes>);

    impl HttpBody for Pieces {
        type Data = Bytes;
        type Error = axum::BoxError;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
            self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
        }
    }

    /// A body that brings a piece, and then nothing more.
    struct Stuck(Option<Bytes>);

    impl HttpBody for Stuck {
        type Data = Bytes;
        type Error = axum::BoxError;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
            self.0.take().map_or(Poll::Pending, |piece| Poll::Ready(Some(Ok(Frame::data(piece)))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stops_coming_is_given_up() {
        let tardy = Tardy::default();
        let stuck = Stuck(Some(Bytes::from_static(b"some")));
        let share = crate::body_budget::BodyBudget::new(100).share();
        let mut body = TimedBody::new(stuck, 100, ALLOWED, (tardy.clone(), share));
        assert!(body.frame().await.unwrap().is_ok() && !tardy.is_tardy());
        assert!(body.frame().await.unwrap().is_err() && tardy.is_tardy());
    }

    #[tokio::test]
    async fn a_body_that_is_too_large_is_read_to_its_end_before_it_is_refused() {
        for (pieces, passed) in [(vec![3, 3, 3], vec![3, 3, 3]), (vec![6, 5, 7, 9], vec![6, 5])] {
            let (sender, pieces_of) = tokio::sync::mpsc::channel(8);
            for piece in pieces {
                sender.send(Bytes::from(vec![b'x'; piece])).await.unwrap();
            }
            drop(sender);
            let share = crate::body_budget::BodyBudget::new(100).share();
            let mut body = TimedBody::new(Pieces(pieces_of), 10, ALLOWED, (Tardy::default(), share));
            let mut read = Vec::new();
            while let Some(frame) = body.frame().await {
                read.push(frame.unwrap().into_data().unwrap().len());
            }
            assert_eq!(read, passed);
            assert!(body.body.0.is_closed() && body.body.0.is_empty(), "nothing is left unread");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_loses_its_connection() {
        let (server, mut client) = tokio::io::duplex(8);
        let mut server = ReadOrLose::new(server, ALLOWED);
        let writing =
            tokio::spawn(async move { server.write_all(&[0; 64]).await.map_err(|error| error.kind()) });
        let mut few = [0; 16];
        client.read_exact(&mut few).await.unwrap();
        assert_eq!(writing.await.unwrap(), Err(io::ErrorKind::TimedOut));
    }
}
