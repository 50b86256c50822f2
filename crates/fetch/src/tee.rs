//! A stream that keeps a copy of the bytes of both directions.
//!
//! It sits under hyper and over TLS, so what it keeps is HTTP byte for byte: case, order, chunk
//! extensions and trailers included. The copy is shared with the exchange, because hyper hides the
//! stream once it has it; only one task ever touches it, so the lock is never waited for.

use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Room for the beginning of a response, which most end with.
const FIRST_BYTES: usize = 32 << 10;
/// Read at once at most: so much may be here that hyper has not seen.
const READ_BYTES_MAX: usize = 64 << 10;
/// Read at once where nobody has made room for more.
const BEYOND_BYTES: usize = 16 << 10;
/// Handed to hyper at once. It keeps a buffer for each connection, also while that rests, and makes
/// it larger when it is filled: just below 16 KiB, it stays at that.
const PIECE_BYTES_MAX: usize = (16 << 10) - 1;

/// What went over the wire since the last [`Tee::take`].
#[derive(Default)]
pub(super) struct Copied {
    pub sent: Vec<u8>,
    pub received: Vec<u8>,
    /// So many of the bytes received have been handed on.
    handed: usize,
    pub first_byte_at: Option<Instant>,
    pub unclean_close: bool,
    /// Bytes received that end the reading: everything counts, also what frames a body.
    pub received_max: usize,
    /// The reading has ended for that reason.
    pub is_full: bool,
    /// The next read that finds nothing is to ask the kernel whether the other end has gone.
    pub ask_kernel: bool,
    /// Nothing may be here when the next request is written: it would be taken for its answer.
    pub expects_silence: bool,
}

/// A handle on the copy.
#[derive(Clone, Default)]
pub(super) struct Tee(Arc<Mutex<Copied>>);

impl Tee {
    pub fn lock(&self) -> MutexGuard<'_, Copied> {
        self.0.lock().expect("no code panics while it holds the copy")
    }

    /// Starts anew, and ends the reading after so many bytes.
    pub fn begin(&self, received_max: usize) {
        *self.lock() = Copied { received_max, ..Copied::default() };
    }

    /// Goes on reading up to so many bytes in all.
    pub fn allow(&self, received_max: usize) {
        let mut copied = self.lock();
        (copied.received_max, copied.is_full) = (received_max, false);
    }

    /// As many bytes came as were allowed, and more are wanted.
    pub fn is_full(&self) -> bool {
        self.lock().is_full
    }

    /// Bytes received so far.
    pub fn received(&self) -> usize {
        self.lock().received.len()
    }

    /// Takes all that was copied and starts anew. What hyper has not seen is left out: the message
    /// is over, or was cut before that.
    pub fn take(&self) -> Copied {
        let mut copied = std::mem::take(&mut *self.lock());
        copied.received.truncate(copied.handed);
        copied
    }
}

pub(super) enum Wire {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    /// Within the TLS of a proxy.
    Nested(Box<TlsStream<TlsStream<TcpStream>>>),
}

impl Wire {
    fn socket(&self) -> BorrowedFd<'_> {
        match self {
            Wire::Plain(stream) => stream.as_fd(),
            Wire::Tls(stream) => stream.get_ref().0.as_fd(),
            Wire::Nested(stream) => stream.get_ref().0.get_ref().0.as_fd(),
        }
    }

    pub fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Wire::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Wire::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
            Wire::Nested(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }

    pub fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Wire::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Wire::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
            Wire::Nested(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Wire::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Wire::Tls(stream) => Pin::new(stream).poll_flush(cx),
            Wire::Nested(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    pub fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Wire::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Wire::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
            Wire::Nested(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    /// What the server said that it speaks, if it said so.
    pub fn protocol(&self) -> Option<&[u8]> {
        match self {
            Wire::Plain(_) => None,
            Wire::Tls(stream) => stream.get_ref().1.alpn_protocol(),
            Wire::Nested(stream) => stream.get_ref().1.alpn_protocol(),
        }
    }

    /// Ready if the other end has gone, or has said something that the runtime has not heard of:
    /// on a connection that rests, one is as good a reason as the other not to use it again.
    fn poll_end(&self) -> Poll<io::Result<()>> {
        match recv(self.socket(), &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok(_) => Poll::Ready(Ok(())),
            Err(Errno::AGAIN | Errno::INTR) => Poll::Pending,
            Err(errno) => Poll::Ready(Err(errno.into())),
        }
    }
}

pub(super) struct TeeStream {
    pub wire: Wire,
    pub tee: Tee,
}

impl TeeStream {
    /// Reads what has come, whether or not the reader has room for it.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut copied = self.tee.lock();
        if copied.received.len() >= copied.received_max && !copied.ask_kernel {
            // Nothing will call again: the exchange sees the mark, and makes room or gives up.
            copied.is_full = true;
            return Poll::Pending;
        }
        let received = &mut copied.received;
        let read = match &mut self.wire {
            Wire::Plain(stream) => poll_read_into(stream, received, cx),
            Wire::Tls(stream) => poll_read_into(stream, received, cx),
            Wire::Nested(stream) => poll_read_into(stream, received, cx),
        };
        if copied.received.is_empty() {
            // A connection that rests holds no room.
            copied.received = Vec::new();
        }
        match read {
            Poll::Ready(Ok(bytes)) => {
                if bytes > 0 {
                    copied.first_byte_at.get_or_insert_with(Instant::now);
                }
                Poll::Ready(Ok(()))
            }
            // Many servers cut TLS without a goodbye. Whether that cut the message too, its own
            // framing tells; so here it is an end like any other, with a note.
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                copied.unclean_close = true;
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending if std::mem::take(&mut copied.ask_kernel) => self.wire.poll_end(),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// How many bytes came; none is the end.
fn poll_read_into(
    stream: &mut (impl AsyncRead + Unpin),
    received: &mut Vec<u8>,
    cx: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    if received.is_empty() {
        received.reserve(FIRST_BYTES);
    }
    if received.len() < received.capacity() {
        let mut limited = stream.take(READ_BYTES_MAX as u64);
        return pin!(limited.read_buf(received)).poll(cx);
    }
    // Most likely all that was promised is here, and nothing will come: to make room for it would
    // be to copy the whole body.
    let mut beyond = [const { MaybeUninit::uninit() }; BEYOND_BYTES];
    let mut beyond = ReadBuf::uninit(&mut beyond);
    ready!(Pin::new(stream).poll_read(cx, &mut beyond))?;
    received.extend_from_slice(beyond.filled());
    Poll::Ready(Ok(beyond.filled().len()))
}

impl AsyncRead for TeeStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let is_handed = {
            let copied = self.tee.lock();
            copied.handed == copied.received.len()
        };
        if is_handed {
            ready!(self.poll_fill(cx))?;
        }
        let mut copied = self.tee.lock();
        let rest = &copied.received[copied.handed..];
        let piece = rest.len().min(buf.remaining()).min(PIECE_BYTES_MAX);
        buf.put_slice(&rest[..piece]);
        copied.handed += piece;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TeeStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        // Asked between two system calls: a task that waits for its turn is late by milliseconds.
        if std::mem::take(&mut self.tee.lock().expects_silence) && self.wire.poll_end().is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let polled = self.wire.poll_write(cx, buf);
        if let Poll::Ready(Ok(written)) = &polled {
            self.tee.lock().sent.extend_from_slice(&buf[..*written]);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire.poll_shutdown(cx)
    }
}
