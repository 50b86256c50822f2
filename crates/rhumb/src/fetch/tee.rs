//! A stream that keeps a copy of the bytes of both directions.
//!
//! It sits under hyper and over TLS, so what it keeps is HTTP byte for byte: case, order, chunk
//! extensions and trailers included. The copy is shared with the exchange, because hyper hides the
//! stream once it has it; only one task ever touches it, so the lock is never waited for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// What went over the wire since the last [`Tee::begin`].
#[derive(Default)]
pub(super) struct Copied {
    pub sent: Vec<u8>,
    pub received: Vec<u8>,
    pub first_byte_at: Option<Instant>,
    pub unclean_close: bool,
    /// The next read that finds nothing is to ask the kernel whether the other end has gone.
    pub ask_kernel: bool,
}

/// A handle on the copy.
#[derive(Clone, Default)]
pub(super) struct Tee(Arc<Mutex<Copied>>);

impl Tee {
    pub fn lock(&self) -> MutexGuard<'_, Copied> {
        self.0.lock().expect("no code panics while it holds the copy")
    }

    /// Takes all that was copied and starts anew.
    pub fn take(&self) -> Copied {
        std::mem::take(&mut *self.lock())
    }
}

pub(super) enum Wire {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Wire {
    fn socket(&self) -> BorrowedFd<'_> {
        match self {
            Wire::Plain(stream) => stream.as_fd(),
            Wire::Tls(stream) => stream.get_ref().0.as_fd(),
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

impl AsyncRead for TeeStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = match &mut self.wire {
            Wire::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Wire::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        };
        match polled {
            Poll::Ready(Ok(())) => {
                let fresh = &buf.filled()[before..];
                if !fresh.is_empty() {
                    let mut copied = self.tee.lock();
                    copied.first_byte_at.get_or_insert_with(Instant::now);
                    copied.received.extend_from_slice(fresh);
                }
                Poll::Ready(Ok(()))
            }
            // Many servers cut TLS without a goodbye. Whether that cut the message too, its own
            // framing tells; so here it is an end like any other, with a note.
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.tee.lock().unclean_close = true;
                Poll::Ready(Ok(()))
            }
            Poll::Pending if std::mem::take(&mut self.tee.lock().ask_kernel) => {
                self.wire.poll_end()
            }
            other => other,
        }
    }
}

impl AsyncWrite for TeeStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = match &mut self.wire {
            Wire::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Wire::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        };
        if let Poll::Ready(Ok(written)) = &polled {
            self.tee.lock().sent.extend_from_slice(&buf[..*written]);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.wire {
            Wire::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Wire::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.wire {
            Wire::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Wire::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
