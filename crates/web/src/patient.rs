//! A viewer's connection that must take what it is sent: one that does not read is given up after a
//! while, so that it cannot hold its place for as long as it likes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// A viewer takes what is to be written within this time, or so many bytes of it: a line of some
/// 13 kbit/s.
pub const WRITE_TIME_MAX: Duration = Duration::from_secs(10);
const WRITE_BYTES_MIN: usize = 16 << 10;

pub struct Patient {
    stream: TcpStream,
    time_max: Duration,
    /// Since the stream was full: until when it has to take how many bytes.
    full: Option<Full>,
}

struct Full {
    until: Pin<Box<Sleep>>,
    left: usize,
}

impl Patient {
    pub fn new(stream: TcpStream, time_max: Duration) -> Patient {
        Patient { stream, time_max, full: None }
    }

    /// What became of a write of `all` bytes.
    fn wrote(
        &mut self,
        all: usize,
        written: Poll<io::Result<usize>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &written {
            let is_enough = self.full.as_ref().is_none_or(|full| *bytes >= full.left);
            match &mut self.full {
                Some(full) if !is_enough && *bytes < all => full.left -= bytes,
                full => *full = None,
            }
        }
        let has_room = matches!(&written, Poll::Ready(Ok(bytes)) if *bytes == all);
        if has_room || matches!(&written, Poll::Ready(Err(_))) {
            return written;
        }
        let time_max = self.time_max;
        let full = self.full.get_or_insert_with(|| Full {
            until: Box::pin(sleep(time_max)),
            left: WRITE_BYTES_MIN,
        });
        if full.until.deadline() <= Instant::now() || full.until.as_mut().poll(cx).is_ready() {
            let what = "the viewer does not read what it asked for";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, what)));
        }
        written
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(bytes.len(), written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let all = slices.iter().map(|slice| slice.len()).sum();
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.wrote(all, written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    async fn pair(time_max: Duration) -> (Patient, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let viewer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (Patient::new(listener.accept().await.unwrap().0, time_max), viewer)
    }

    #[tokio::test]
    async fn a_viewer_that_reads_nothing_is_given_up_and_one_that_reads_is_not() {
        let page = vec![7; 64 << 20];
        let (mut ours, theirs) = pair(Duration::from_millis(50)).await;
        let error = ours.write_all(&page).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(theirs);
        let (mut ours, mut theirs) = pair(WRITE_TIME_MAX).await;
        let reading = tokio::spawn(async move {
            let mut all = 0;
            let mut piece = vec![0; 1 << 20];
            while let Ok(bytes @ 1..) = theirs.read(&mut piece).await {
                all += bytes;
            }
            all
        });
        ours.write_all(&page).await.unwrap();
        drop(ours);
        assert_eq!(reading.await.unwrap(), page.len());
    }
}
