//! How slowly a client may take part: the body of a request must arrive in time, and what is written must be read.
//! Knows nothing of what is sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

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
pub(crate) struct TimedBody<B> {
    body: B,
    allowed: Duration,
    left: Option<Pin<Box<Sleep>>>,
    tardy: Tardy,
    share: BodyShare,
}

impl<B> TimedBody<B> {
    pub(crate) fn new(body: B, allowed: Duration, tardy: Tardy, share: BodyShare) -> Self {
        Self { body, allowed, left: None, tardy, share }
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
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            let frame = frame.map(|frame| {
                let frame = frame.map_err(Into::into)?;
                self.share.take(frame.data_ref().map_or(0, Bytes::len))?;
                Ok(frame)
            });
            return Poll::Ready(frame);
        }
        let allowed = self.allowed;
        ready!(self.left.get_or_insert_with(|| Box::pin(sleep(allowed))).as_mut().poll(context));
        self.tardy.0.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err(TooSlow.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
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
        let mut body = TimedBody::new(stuck, ALLOWED, tardy.clone(), share);
        assert!(body.frame().await.unwrap().is_ok() && !tardy.is_tardy());
        assert!(body.frame().await.unwrap().is_err() && tardy.is_tardy());
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
