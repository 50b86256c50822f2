//! A reply of the model as bytes: head and body, ready to be written together.

use std::fmt::Write;

use rhumb_sim::web::{Web, WebBody, WebReply, gzip};

use super::request::Request;
use rhumb_fetch::date;

/// The buffers of a connection, used again for every answer.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// Fills the buffers. `pack` compresses pages, in one chunk, as servers do on the fly.
    pub(super) fn fill(&mut self, web: &Web, reply: &WebReply, pack: bool, request: &Request) {
        self.body.clear();
        web.render(&reply.body, &mut self.body);
        let pack = pack && matches!(reply.body, WebBody::Html(_));
        if pack {
            let packed = gzip(&self.body);
            self.body.clear();
            self.body.extend_from_slice(format!("{:x}\r\n", packed.len()).as_bytes());
            self.body.extend_from_slice(&packed);
            self.body.extend_from_slice(b"\r\n0\r\n\r\n");
        }
        self.head.clear();
        self.write_head(reply, pack, request);
    }

    fn write_head(&mut self, reply: &WebReply, packed: bool, request: &Request) {
        let head = &mut self.head;
        // Writing to a string cannot fail.
        let _ = write!(head, "HTTP/1.1 {} {}\r\n", reply.status, reason(reply.status));
        head.push_str("Server: synthetic\r\n");
        if reply.status != 304 {
            let _ = write!(head, "Content-Type: {}\r\n", reply.content_type);
            if packed {
                head.push_str("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n");
            } else {
                let length = self.body.len() as u64 + reply.flood_bytes;
                let _ = write!(head, "Content-Length: {length}\r\n");
            }
        }
        if let Some(url) = &reply.location {
            let _ = write!(head, "Location: {url}\r\n");
        }
        if let Some(tag) = &reply.etag {
            let _ = write!(head, "ETag: {tag}\r\n");
        }
        if let Some(seconds) = reply.last_modified_s {
            let _ = write!(head, "Last-Modified: {}\r\n", date::format(seconds));
        }
        if let Some(seconds) = reply.retry_after_s {
            let _ = write!(head, "Retry-After: {seconds}\r\n");
        }
        if let Some(tag) = reply.robots_tag {
            let _ = write!(head, "X-Robots-Tag: {tag}\r\n");
        }
        head.push_str(match request.keep_alive {
            true if request.asks_to_keep_alive => "Connection: keep-alive\r\n\r\n",
            true => "\r\n",
            false => "Connection: close\r\n\r\n",
        });
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        404 => "Not Found",
        410 => "Gone",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Whatever",
    }
}
